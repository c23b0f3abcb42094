//! Shards that end, are trimmed or forgotten, and in what order they are read.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use super::made::{Made, fold_of, settle, with_table};
use super::*;

/// A shard is forgotten by the stream, and its item expires.
async fn expire(clients: &Clients, made: &Made, shard: &str) {
    made.forget(shard);
    let gone = clients.dynamodb.delete_item().table_name(TABLE);
    let gone = gone.set_key(Some(place("T", shard))).send().await;
    gone.expect("it expires");
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
        expire(&clients, &made, shard).await;
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
        expire(&clients, &made, shard).await;
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
        totals.push(of.all(NOW).await.expect("read").overview());
    }
    assert_eq!(totals[0], totals[1]);
    let all = totals[0].totals;
    assert_eq!((all.stored, all.waiting, all.dead), (1, 0, 1));
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
