//! What is applied and what is rotated counts while it serves, without a start.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use switchboard_tests::browser::Browser;
use switchboard_tests::switchboard::TOKEN;

use crate::setting::{Deployment, FIRST, SECOND, text};

#[tokio::test]
async fn before_the_first_every_source_is_404_and_the_page_says_so() {
    let deployment = Deployment::start().await;
    let answer = deployment.post("1", FIRST).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let mut browser = Browser::start().await;
    browser.open(&deployment.url).await;
    let sign_in = format!(
        "document.querySelector('#token').value = {}; document.querySelector('form button').click()",
        json!(TOKEN)
    );
    browser.evaluate(&sign_in).await;
    let is_live = "document.querySelector('#state')?.textContent === 'Live'";
    browser.wait("the page is live", is_live).await;
    let shown = "!document.querySelector('#never-applied').hidden";
    browser.wait("the page says so", shown).await;
    let line = browser.text("#never-applied").await;
    assert!(
        line.contains("No configuration was applied yet"),
        "{line:?}"
    );
    let ended = deployment.apply(&text("chat"), &[]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let gone = "document.querySelector('#never-applied').hidden && \
        document.querySelector('#routes').textContent.includes('chat')";
    browser.wait("the page shows what was applied", gone).await;
    browser.close().await;
}

#[tokio::test]
async fn what_is_applied_counts_from_the_next_event_on() {
    let deployment = Deployment::start().await;
    for (n, destination) in ["chat", "accounting"].iter().enumerate() {
        let ended = deployment.apply(&text(destination), &["--yes"]).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        let answer = deployment.post(&n.to_string(), FIRST).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        let event = deployment
            .get(&format!("api/events/{}", answer.event()))
            .await;
        let planned = &event["delivery_list"][0]["destination"];
        assert_eq!(planned, destination, "{event}");
    }
}

#[tokio::test]
async fn a_rotated_secret_counts_within_a_minute_and_the_old_one_no_more() {
    let deployment = Deployment::start().await;
    assert_eq!(deployment.apply(&text("chat"), &[]).await.code, 0);
    assert_eq!(deployment.post("1", FIRST).await.status, StatusCode::OK);
    deployment.secrets.set("sources/shop", SECOND);
    assert_eq!(deployment.post("2", FIRST).await.status, StatusCode::OK);
    deployment.clock.advance(Duration::from_mins(1));
    assert_eq!(deployment.post("3", SECOND).await.status, StatusCode::OK);
    let old = deployment.post("4", FIRST).await;
    assert_eq!(old.status, StatusCode::UNAUTHORIZED);
    assert_eq!(deployment.stands().await.0, Some(1), "nothing was applied");
}

#[tokio::test]
async fn senders_are_accepted_while_nothing_can_be_read_anew() {
    let deployment = Deployment::start().await;
    assert_eq!(deployment.apply(&text("chat"), &[]).await.code, 0);
    deployment.kept.fails(Some("the table is away"));
    deployment.secrets.remove("sources/shop");
    for n in 0..5 {
        deployment.clock.advance(Duration::from_mins(1));
        let answer = deployment.post(&n.to_string(), FIRST).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    }
}
