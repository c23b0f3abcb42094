//! A source's secret that is changed: what makes the new one live, and that the old one is gone then.

use http::StatusCode;
use switchboard_tests::setting::{SOURCES, configuration, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};

const NEW: &str = "shpss_the_secret_that_is_to_come_next";

/// What a message of the shop signed with this secret is answered.
async fn answered(switchboard: &Switchboard, id: &str, secret: &str) -> StatusCode {
    let shop = switchboard.sender("shop", "shopify", secret);
    shop.send(id, "orders/create", "{}").await.status
}

async fn restarted(switchboard: Switchboard, start: &Start) -> Switchboard {
    let (ended, folder) = switchboard.stop().await;
    assert_eq!(ended.code(), Some(0));
    Switchboard::start_in(folder, start.clone()).await
}

#[tokio::test]
async fn a_new_secret_is_live_after_a_restart_and_a_removed_one_holds_no_more() {
    let sink = Sink::start().await;
    let old = SOURCES[0].3;
    let file = tempfile::NamedTempFile::new().expect("a file");
    let write = |text: &str| std::fs::write(file.path(), text).expect("written");
    write(old);
    let with = |secrets: &str| {
        let text = configuration(&sink).replace("[\"env:SHOP\"]", secrets);
        start(&text).set("NEW", NEW)
    };
    let reference = format!("\"file:{}\"", file.path().display());
    let from_file = with(&format!("[{reference}]"));
    let switchboard = Switchboard::start(from_file.clone()).await;
    assert_eq!(answered(&switchboard, "1", old).await, StatusCode::OK);

    // While it runs, nothing changes; a restart reads the file again.
    write(NEW);
    assert_eq!(answered(&switchboard, "2", old).await, StatusCode::OK);
    assert_eq!(
        answered(&switchboard, "3", NEW).await,
        StatusCode::UNAUTHORIZED
    );
    let switchboard = restarted(switchboard, &from_file).await;
    assert_eq!(answered(&switchboard, "4", NEW).await, StatusCode::OK);
    assert_eq!(
        answered(&switchboard, "5", old).await,
        StatusCode::UNAUTHORIZED
    );

    // While the sender changes over, both; afterwards the new one alone.
    write(old);
    let switchboard = restarted(switchboard, &with(&format!("[{reference}, \"env:NEW\"]"))).await;
    assert_eq!(answered(&switchboard, "6", old).await, StatusCode::OK);
    assert_eq!(answered(&switchboard, "7", NEW).await, StatusCode::OK);
    let switchboard = restarted(switchboard, &with("[\"env:NEW\"]")).await;
    assert_eq!(
        answered(&switchboard, "8", old).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(answered(&switchboard, "9", NEW).await, StatusCode::OK);
}
