//! Large configurations: taken whole, and a limit is said.

use std::fmt::Write as _;

use http::StatusCode;
use switchboard_tests::run::Run;
use switchboard_tests::setting::{SOURCES, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

use crate::setting::wait_total;

#[tokio::test]
async fn a_configuration_of_a_hundred_routes_and_fifty_destinations_with_long_addresses_is_taken_whole()
 {
    let sink = Sink::start().await;
    let (name, scheme, variable, secret) = SOURCES[0];
    let mut text = format!(
        "allow_private_networks = true\n[[source]]\nname = {name:?}\nscheme = {scheme:?}\nsecrets = [\"env:{variable}\"]\n"
    );
    for n in 0..50 {
        let url = format!("{}/{}", sink.url(&format!("/{n}")), "x".repeat(1900));
        let _ = write!(text, "[[destination]]\nname = \"d-{n}\"\nurl = \"{url}\"\n");
    }
    for n in 0..100 {
        let to = n % 50;
        let kind = if n < 50 { "orders/create" } else { "*" };
        let _ = write!(
            text,
            "[[route]]\nsource = \"shop\"\nkind = \"{kind}\"\ndeliver = [{{ to = \"d-{to}\", action = \"a-{n}\" }}]\n"
        );
    }
    assert!(text.len() > 100_000);
    let switchboard = Switchboard::start(start(&text)).await;
    let event = sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await;
    assert_eq!(event.status, StatusCode::OK);
    wait_total(&switchboard, "delivered", 100).await;
    assert_eq!(sink.received().len(), 100);

    let folder = tempfile::tempdir().expect("a folder");
    let longer = text.replace(&"x".repeat(1900), &"x".repeat(2048));
    std::fs::write(folder.path().join("c.toml"), longer).expect("a file");
    let ended = Run::of(folder.path(), &["check", "--config", "c.toml"])
        .set(variable, secret)
        .ended()
        .await;
    assert_eq!(ended.code, 64);
    let lines = ended.lines();
    let due = "switchboard: destination \"d-49\": url is longer than 2048 bytes";
    assert!(lines.contains(&due), "{lines:#?}");
}
