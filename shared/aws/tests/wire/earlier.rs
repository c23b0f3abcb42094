//! What an earlier program kept of minutes and totals is read, and added to.

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::ports::{Ledger, Views};
use switchboard_core::views::minute_of;

use crate::ground::Ground;
use crate::recent::{after, health, stored};
use crate::sample::{KEEP, event, plan};
use crate::support::START;
use crate::views::folded;

#[tokio::test]
async fn hours_of_an_earlier_program_are_read_without_its_answer_times() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1", 10);
    let planned = plan(&event, 1, START);
    let accepted = backend.accept(&event, &planned, KEEP).await;
    accepted.expect("stored");
    let put = async |version: &str| {
        let number = |number: &str| AttributeValue::N(number.to_owned());
        let hour = minute_of(START).div_euclid(60);
        let put = ground.clients.dynamodb.put_item();
        let put = put
            .table_name(&ground.place.table)
            .item("pk", AttributeValue::S(format!("M#{hour}")))
            .item("sk", AttributeValue::S("to-0".to_owned()))
            .item("v", number(version))
            .item("d0", number("7"))
            .item("f0", number("2"))
            .item("h3", number("6"))
            .item("h9", number("3"))
            .item("ttl", number("4102444800"));
        put.send().await.expect("put");
    };
    put("1").await;
    folded(&backend).await;
    assert_eq!(minute_of(START).rem_euclid(60), 0, "its first minute");
    let recent = backend.recent(after(9)).await.expect("told");
    let told = health(&recent, "to-0");
    assert_eq!((told.delivered, told.failed, told.p95_ms), (7, 2, None));
    put("2").await;
    let error = backend.recent(after(9)).await.expect_err("of a later one");
    assert!(error.line().contains("version 2"), "{}", error.line());
}

#[tokio::test]
async fn totals_of_an_earlier_program_are_added_to() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let number = |number: &str| AttributeValue::N(number.to_owned());
    let base = r#"{"s":{"shop":[5,0,0,1,0]},"d":{"to-0":[0,0,4,1]},"x":[]}"#;
    let put = ground.clients.dynamodb.put_item();
    let put = put
        .table_name(&ground.place.table)
        .item("pk", text("T"))
        .item("sk", text("base"))
        .item("v", number("1"))
        .item("cn", text(base))
        .item("dn", number("1"));
    put.send().await.expect("put");
    stored(&backend, 0..1).await;
    let totals = backend.overview().await.expect("told").totals;
    assert_eq!((totals.stored, totals.refused, totals.dead), (6, 1, 2));
    let recent = backend.recent(after(9)).await.expect("told");
    let failure = health(&recent, "to-0").last_failure.clone();
    assert_eq!(failure.expect("one since then").at, after(3));
    let source = recent.sources.values().next().expect("a source");
    assert_eq!(
        (source.last_event, source.last_refusal),
        (Some(START), None)
    );
}
