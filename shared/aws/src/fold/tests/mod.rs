use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
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

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_closed_shard_becomes_part_of_the_base_once() {
    let clients = with_table().await;
    let made = Made::default();
    made.events("a", 0, 5);
    made.events("b", 5, 5);
    let fold = fold_of(&clients, &made);
    settle(&fold).await;
    made.events("a", 10, 1);
    for shard in ["a", "b"] {
        made.close(shard);
    }
    // A child of them, and one that held nothing.
    made.events("c", 20, 2);
    made.push("d", []);
    made.close("d");
    let folds: Vec<_> = (0..4)
        .map(|_| {
            let fold = fold_of(&clients, &made);
            tokio::spawn(async move { settle(&fold).await })
        })
        .collect();
    for fold in folds {
        fold.await.expect("it settles");
    }
    for _ in 0..3 {
        settle(&fold).await;
        assert_eq!(counted(&clients).await, (13, 13));
    }
    let base = item(&clients, "T", "base").await.expect("a base");
    assert_eq!(number(&base, "dn"), 3, "three shards are read to their end");
    for shard in ["a", "b", "d"] {
        let done = item(&clients, "T", shard).await.expect("it stays a while");
        let ttl = NOW.plus(Duration::from_hours(72)).seconds();
        assert_eq!(number(&done, "ttl"), ttl, "{shard}");
    }
    for shard in ["a", "b", "d"] {
        made.forget(shard);
        let gone = clients.dynamodb.delete_item().table_name(TABLE);
        let gone = gone.set_key(Some(place("T", shard))).send().await;
        gone.expect("it expires");
    }
    assert_eq!(counted(&clients).await, (13, 13), "the base holds them");
}

#[tokio::test]
async fn two_shards_finished_at_once_are_both_part_of_the_base() {
    let clients = with_table().await;
    let made = Made::default();
    let names: Vec<String> = (0..8).map(|n| format!("shard-{n}")).collect();
    for (n, shard) in (0..).zip(&names) {
        made.events(shard, n * 10, 2);
    }
    let fold = fold_of(&clients, &made);
    settle(&fold).await;
    let totals = made::totals(&clients);
    for _ in 0..names.len() {
        let kept = totals.shards().await.expect("read");
        let open = kept.iter().filter(|(_, kept)| kept.nth.is_none());
        let finish = open.map(|(shard, kept)| totals.finish(shard, kept, NOW));
        let finished = futures_util::future::join_all(finish).await;
        let lost = |written: &Answer<Written>| matches!(written, Ok(Written::Lost));
        assert!(finished.iter().all(Result::is_ok), "{finished:?}");
        if !finished.iter().any(lost) {
            break;
        }
    }
    for shard in &names {
        made.forget(shard);
        let gone = clients.dynamodb.delete_item().table_name(TABLE);
        let gone = gone.set_key(Some(place("T", shard))).send().await;
        gone.expect("it expires");
    }
    assert_eq!(counted(&clients).await, (16, 16));
}

#[tokio::test]
async fn totals_read_while_a_shard_is_finished_are_whole() {
    let clients = with_table().await;
    let made = Made::default();
    made.events("a", 0, 5);
    made.close("a");
    made.events("b", 5, 5);
    settle(&fold_of(&clients, &made)).await;
    let before = item(&clients, "T", "base").await.expect("a base");
    made.close("b");
    settle(&fold_of(&clients, &made)).await;
    assert_eq!(counted(&clients).await, (10, 10));
    // As a reader finds it that read the base first, and the shards when the second one was finished.
    let put = clients.dynamodb.put_item().table_name(TABLE);
    let put = put.set_item(Some(before)).send().await;
    put.expect("put");
    assert_eq!(counted(&clients).await, (10, 10), "b is counted by itself");
}

#[tokio::test]
async fn the_order_between_shards_makes_no_difference() {
    let mut totals = Vec::new();
    for order in [["a", "b"], ["b", "a"]] {
        let clients = with_table().await;
        let made = Made::default();
        for shard in order {
            // A split: the event in one shard, what became of its delivery in the next.
            if shard == "a" {
                made.events("a", 0, 1);
            } else {
                let steps = [State::Waiting, State::Held, State::Dead];
                let images: Vec<_> = steps.map(|state| delivery(state).write()).into();
                let old = std::iter::once(None).chain(images.iter().cloned().map(Some));
                let new = images.iter().cloned().map(Some);
                made.push("b", old.zip(new));
            }
            settle(&fold_of(&clients, &made)).await;
        }
        let of = self::made::totals(&clients);
        totals.push(of.all().await.expect("read").overview());
    }
    assert_eq!(totals[0], totals[1]);
    let all = totals[0].totals;
    assert_eq!((all.stored, all.waiting, all.dead), (1, 0, 1));
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

/// Lines of the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn count(&self, text: &str) -> usize {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).matches(text).count()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_shard_whose_place_is_trimmed_is_told_of_and_goes_on() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
    let _log = tracing::subscriber::set_default(subscriber.finish());
    let clients = with_table().await;
    let made = Made::default();
    made.events("a", 0, 5);
    settle(&fold_of(&clients, &made)).await;
    made.events("a", 5, 5);
    made.trim("a", 8);
    settle(&fold_of(&clients, &made)).await;
    assert_eq!(counted(&clients).await, (7, 7), "three are lost");
    assert_eq!(lines.count("ERROR"), 1);
    assert_eq!(lines.count("the stream has lost records"), 1);
    settle(&fold_of(&clients, &made)).await;
    assert_eq!(lines.count("ERROR"), 1, "once");
}

#[tokio::test]
async fn a_shard_that_the_stream_has_forgotten_becomes_part_of_the_base_after_a_day() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
    let _log = tracing::subscriber::set_default(subscriber.finish());
    let clients = with_table().await;
    let made = Made::default();
    made.events("a", 0, 5);
    let fold = fold_of(&clients, &made);
    settle(&fold).await;
    made.forget("a");
    for (hours, holds) in [(1, false), (25, false), (27, true), (28, true)] {
        let now = NOW.plus(Duration::from_hours(hours));
        fold.fold(now, MANY).await.expect("folded");
        assert_eq!(counted(&clients).await, (5, 5), "{hours}");
        let base = item(&clients, "T", "base").await;
        assert_eq!(base.is_some(), holds, "{hours}");
    }
    assert_eq!(lines.count("the stream has forgotten a shard"), 1);
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
