use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::delivery::State;

use super::stream::TableStream;
use super::*;
use crate::client::Clients;
use crate::item::delivery::tests::sample as delivery;
use crate::item::{Attributes, place};
use made::{MANY, Made, NOW, TABLE, counted, event, fold_of, nothing, settle, with_table};

mod made;
mod shards;

/// Runs `step` until it has waited `waits` times, and gives it up then.
async fn stopped<T>(step: impl Future<Output = T>, waits: u32) -> Option<T> {
    let mut step = pin!(step);
    let mut left = waits;
    std::future::poll_fn(move |context| match step.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left <= 1 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

async fn item(clients: &Clients, partition: &str, sort: &str) -> Option<Attributes> {
    let read = clients.dynamodb.get_item().table_name(TABLE);
    let read = read.set_key(Some(place(partition, sort))).send().await;
    read.expect("read").item
}

fn number(item: &Attributes, attribute: &str) -> i64 {
    let value = item.get(attribute).expect("an attribute");
    value.as_n().expect("a number").parse().expect("a number")
}

/// Checks that each of these events, which come an hour after each other, is counted once in the bucket of its hour.
async fn once_in_its_bucket(clients: &Clients, events: std::ops::Range<u32>) {
    for n in events {
        let bucket = item(clients, &format!("M#{}", 500_000 + n), "shop").await;
        assert_eq!(number(&bucket.expect("a bucket"), "e0"), 1, "{n}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_records_folded_by_many_at_once_count_once() {
    let clients = with_table().await;
    let made = Made::default();
    for shard in ["a", "b"] {
        made.at_once(shard, 3);
    }
    made.events("a", 0, 20);
    made.events("b", 20, 20);
    let folds: Vec<_> = (0..6)
        .map(|_| {
            let fold = fold_of(&clients, &made);
            tokio::spawn(async move { settle(&fold).await })
        })
        .collect();
    for fold in folds {
        fold.await.expect("it settles");
    }
    assert_eq!(counted(&clients).await, (40, 40));
    once_in_its_bucket(&clients, 0..40).await;
}

#[tokio::test]
async fn a_fold_cut_anywhere_loses_nothing_and_counts_nothing_twice() {
    let clients = with_table().await;
    let made = Made::default();
    for waits in 1..30 {
        made.events("a", waits * 10, 3);
        made.events("b", waits * 10 + 3, 2);
        let cut = fold_of(&clients, &made);
        stopped(cut.fold(NOW, MANY), waits).await;
    }
    settle(&fold_of(&clients, &made)).await;
    assert_eq!(counted(&clients).await, (145, 145));
    for waits in 1..30 {
        once_in_its_bucket(&clients, waits * 10..waits * 10 + 5).await;
    }
}

#[tokio::test]
async fn a_fold_goes_on_where_another_process_has_left() {
    let clients = with_table().await;
    let made = Made::default();
    let (one, other) = (fold_of(&clients, &made), fold_of(&clients, &made));
    for n in 0..6 {
        made.events("a", n * 10, 2);
        let fold = if n % 2 == 0 { &one } else { &other };
        settle(fold).await;
        let expected = u64::from(n + 1) * 2;
        assert_eq!(counted(&clients).await, (expected, expected));
    }
}

#[tokio::test]
async fn what_expires_takes_nothing_off() {
    let clients = with_table().await;
    let made = Made::default();
    made.events("a", 0, 3);
    made.push("a", (0..3).map(|n| (Some(event(n)), None)));
    settle(&fold_of(&clients, &made)).await;
    assert_eq!(counted(&clients).await, (3, 3));
}

#[tokio::test]
async fn more_buckets_than_a_transaction_takes_are_written_in_several() {
    let clients = with_table().await;
    let made = Made::default();
    made.events("a", 0, 250);
    settle(&fold_of(&clients, &made)).await;
    assert_eq!(counted(&clients).await, (250, 250));
    once_in_its_bucket(&clients, 0..250).await;
}

#[tokio::test]
async fn records_that_count_for_nothing_are_passed_and_written_down_now_and_then() {
    let clients = with_table().await;
    let made = Made::default();
    made.push("a", (0..900).map(|_| (None, Some(nothing()))));
    let fold = fold_of(&clients, &made);
    settle(&fold).await;
    assert_eq!(item(&clients, "T", "a").await, None, "nothing to write");
    let again = fold.fold(NOW, MANY).await.expect("folded");
    assert_eq!(again.records, 0, "this process knows how far it is");
    made.push("a", (0..200).map(|_| (None, Some(nothing()))));
    settle(&fold).await;
    let kept = item(&clients, "T", "a").await.expect("written down");
    let sequence = AttributeValue::S("a/001099".to_owned());
    assert_eq!(kept.get("sq"), Some(&sequence));
}

#[tokio::test]
async fn a_budget_that_is_spent_leaves_the_rest_for_later() {
    let clients = with_table().await;
    let made = Made::default();
    made.at_once("a", 2);
    made.events("a", 0, 10);
    let fold = fold_of(&clients, &made);
    let part = fold.fold(NOW, 3).await.expect("folded");
    assert_eq!((part.records, part.behind), (6, Behind::Yes));
    assert_eq!(counted(&clients).await, (6, 6));
    settle(&fold).await;
    assert_eq!(counted(&clients).await, (10, 10));
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_and_what_is_before_it_counts() {
    let clients = with_table().await;
    let made = Made::default();
    made.events("a", 0, 2);
    let mut newer = event(2);
    newer.insert("v".to_owned(), AttributeValue::N("2".to_owned()));
    made.push("a", [(None, Some(newer))]);
    made.events("b", 10, 2);
    let fold = fold_of(&clients, &made);
    for _ in 0..2 {
        let error = fold.fold(NOW, MANY).await.expect_err("it cannot be read");
        assert!(error.line().contains("version 2"), "{}", error.line());
        assert_eq!(counted(&clients).await, (4, 4), "and other shards count");
    }
}

#[tokio::test]
async fn the_streams_own_records_are_folded_and_the_folds_own_writes_come_to_an_end() {
    let clients = with_table().await;
    let stream = TableStream::new(
        clients.streams.clone(),
        clients.dynamodb.clone(),
        TABLE.to_owned(),
    );
    let fold = Fold::new(stream, made::totals(&clients));
    for round in 1..=3 {
        for n in 0..5 {
            let put = clients.dynamodb.put_item().table_name(TABLE);
            let put = put.set_item(Some(event(round * 100 + n))).send().await;
            put.expect("put");
        }
        settle(&fold).await;
        let expected = u64::from(round) * 5;
        assert_eq!(counted(&clients).await, (expected, expected));
    }
    settle(&fold).await;
    let quiet = fold.fold(NOW, MANY).await.expect("folded");
    assert_eq!(quiet, Folded::default(), "nothing more comes of itself");
    // Another process begins where this one wrote, and passes what is left.
    let stream = TableStream::new(
        clients.streams.clone(),
        clients.dynamodb.clone(),
        TABLE.to_owned(),
    );
    let other = Fold::new(stream, made::totals(&clients));
    settle(&other).await;
    assert_eq!(counted(&clients).await, (15, 15));
    let gone = clients.dynamodb.delete_item().table_name(TABLE);
    let stored = event(100);
    let key = place(
        stored["pk"].as_s().expect("a text").as_str(),
        stored["sk"].as_s().expect("a text").as_str(),
    );
    gone.set_key(Some(key)).send().await.expect("removed");
    settle(&other).await;
    assert_eq!(
        counted(&clients).await,
        (15, 15),
        "expiry takes nothing off"
    );
}

pub(super) fn image_of_an_event() -> Attributes {
    event(0)
}
