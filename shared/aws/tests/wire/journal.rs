//! The journal on the wire: how often it is written, and that each note counts once whatever becomes of the write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use switchboard_aws::{Aws, Behind};
use switchboard_core::names::SourceName;
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Journal, Note, Views};
use switchboard_core::refusal::Refusal;
use switchboard_core::views::PageAsk;
use switchboard_testkit::emulator::Emulator;

use crate::down::switched;
use crate::ground::Ground;
use crate::lost::times;
use crate::proxy::{Fate, Proxy};
use crate::sample::clients_at;
use crate::support::START;

fn refused(reason: Option<&str>) -> Note {
    let refusal = |reason: &str| Refusal {
        reason: reason.to_owned(),
        secrets_tried: 1,
        clock_distance_s: None,
        body_length: 0,
        content_type: Piece::default(),
        near_miss: None,
    };
    Note::Refused {
        source: SourceName::parse("shop").expect("a name"),
        listed: reason.map(refusal),
    }
}

async fn note(backend: &Aws, reason: Option<&str>) {
    let noted = backend.note(START, refused(reason)).await;
    noted.expect("counted");
}

/// How many refusals are counted, and how many are listed.
async fn refusals(backend: &Aws) -> (u64, usize) {
    backend.flush().await.expect("written");
    while backend.fold(100).await.expect("folded").behind == Behind::Yes {}
    let totals = backend.overview().await.expect("totals").totals;
    let ask = PageAsk {
        after: None,
        limit: 200,
    };
    let listed = backend.refusals(&ask).await.expect("a list");
    (totals.refused, listed.items.len())
}

fn proxied(ground: &Ground, proxy: &Proxy) -> Aws {
    let clients = clients_at(&proxy.url(), ground.account());
    ground.open_with(&clients, ground.place.clone())
}

#[tokio::test]
async fn what_is_not_listed_is_written_once_a_second_at_most() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let backend = proxied(&ground, &proxy);
    for _ in 0..10 {
        note(&backend, None).await;
    }
    assert_eq!(times(&proxy, "PutItem"), 1, "the first, and the rest waits");
    ground.clock.advance(Duration::from_millis(999));
    note(&backend, None).await;
    assert_eq!(times(&proxy, "PutItem"), 1);
    ground.clock.advance(Duration::from_millis(1));
    note(&backend, None).await;
    assert_eq!(times(&proxy, "PutItem"), 2, "a second later");
    for _ in 0..3 {
        note(&backend, None).await;
    }
    note(&backend, Some("listed")).await;
    assert_eq!(times(&proxy, "PutItem"), 3, "with what had gathered");
    assert_eq!(refusals(&backend).await, (16, 1));
    assert_eq!(times(&proxy, "PutItem"), 3, "nothing was left to flush");
}

#[tokio::test]
async fn a_listed_note_is_a_write_like_any_other() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let backend = proxied(&ground, &proxy);
    note(&backend, None).await;
    ground.clock.advance(Duration::from_millis(900));
    note(&backend, Some("listed")).await;
    assert_eq!(times(&proxy, "PutItem"), 2);
    ground.clock.advance(Duration::from_millis(999));
    note(&backend, None).await;
    assert_eq!(times(&proxy, "PutItem"), 2, "counts were written with it");
    ground.clock.advance(Duration::from_millis(1));
    note(&backend, None).await;
    assert_eq!(times(&proxy, "PutItem"), 3);
    assert_eq!(refusals(&backend).await, (4, 1));
}

#[tokio::test]
async fn what_waits_is_written_by_a_later_request_when_its_time_is_over() {
    let ground = Ground::new().await;
    let (proxy, switch) = switched("PutItem");
    let backend = proxied(&ground, &proxy);
    let flush = async |expected: usize| {
        backend.flush_due().await.expect("written");
        assert_eq!(times(&proxy, "PutItem"), expected);
    };
    flush(0).await;
    for _ in 0..10 {
        note(&backend, None).await;
    }
    flush(1).await;
    ground.clock.advance(Duration::from_millis(999));
    flush(1).await;
    ground.clock.advance(Duration::from_millis(1));
    flush(2).await;
    ground.clock.advance(Duration::from_secs(1));
    flush(2).await;
    note(&backend, Some("listed")).await;
    note(&backend, None).await;
    ground.clock.advance(Duration::from_secs(1));
    switch.down();
    backend.flush_due().await.expect_err("the table is down");
    let asked = times(&proxy, "PutItem");
    flush(asked).await;
    switch.up();
    ground.clock.advance(Duration::from_secs(1));
    flush(asked + 1).await;
    assert_eq!(refusals(&backend).await, (12, 1));
}

#[tokio::test]
async fn a_write_that_is_cut_off_without_an_answer_is_made_by_a_later_request() {
    let ground = Ground::new().await;
    let mut asked = 0;
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        asked += u32::from(request.operation == "PutItem");
        if request.operation == "PutItem" && asked == 2 {
            Fate::Unanswered
        } else {
            Fate::Passed
        }
    });
    let backend = proxied(&ground, &proxy);
    for _ in 0..5 {
        note(&backend, None).await;
    }
    ground.clock.advance(Duration::from_secs(1));
    let flushed = tokio::time::timeout(Duration::from_millis(200), backend.flush_due()).await;
    flushed.expect_err("it is not answered");
    backend.flush_due().await.expect("not before its time");
    ground.clock.advance(Duration::from_secs(1));
    backend.flush_due().await.expect("written");
    let written = times(&proxy, "PutItem");
    assert_eq!(refusals(&backend).await, (5, 0));
    assert_eq!(times(&proxy, "PutItem"), written, "all of it was written");
}

#[tokio::test]
async fn a_note_whose_answers_were_lost_counts_once() {
    let ground = Ground::new().await;
    let mut left = 4;
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        if request.operation == "PutItem" && left > 0 {
            left -= 1;
            return Fate::AnswerLost;
        }
        Fate::Passed
    });
    let backend = proxied(&ground, &proxy);
    // Three attempts of one call, and the first of the next.
    let noted = backend.note(START, refused(Some("lost"))).await;
    noted.expect_err("nothing was answered");
    note(&backend, None).await;
    assert_eq!(refusals(&backend).await, (2, 1));
}

#[tokio::test]
async fn of_more_notes_at_once_than_may_wait_each_counts_once() {
    let ground = Ground::new().await;
    let lost = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&lost);
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        if request.operation == "PutItem" && down.load(Ordering::SeqCst) {
            return Fate::AnswerLost;
        }
        Fate::Passed
    });
    let backend = proxied(&ground, &proxy);
    let all = (0..120).map(|n: u32| {
        let reason = n.to_string();
        let backend = &backend;
        async move { backend.note(START, refused(Some(&reason))).await.is_err() }
    });
    let failed = join_all(all).await;
    assert!(failed.contains(&true), "nothing was answered");
    lost.store(false, Ordering::SeqCst);
    assert_eq!(refusals(&backend).await, (120, 100));
}

#[tokio::test]
async fn a_listed_note_is_written_before_those_that_wait_from_an_outage() {
    let ground = Ground::new().await;
    let puts = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&puts);
    let (down, only_one) = (100, 200);
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        if request.operation != "PutItem" {
            return Fate::Passed;
        }
        match asked.fetch_add(1, Ordering::SeqCst) {
            nth if nth < down => Fate::Lost,
            nth if nth == only_one => Fate::Passed,
            _ => Fate::Unanswered,
        }
    });
    let backend = proxied(&ground, &proxy);
    for n in ["a", "b", "c"] {
        let noted = backend.note(START, refused(Some(n))).await;
        noted.expect_err("the table is down");
    }
    puts.store(only_one, Ordering::SeqCst);
    let noted = backend.note(START, refused(Some("new")));
    let noted = tokio::time::timeout(Duration::from_millis(500), noted).await;
    noted.expect_err("the caller's time is over");
    let ask = PageAsk {
        after: None,
        limit: 100,
    };
    let listed = backend.refusals(&ask).await.expect("a list").items;
    let reasons: Vec<_> = listed.iter().map(|row| &row.refusal.reason).collect();
    assert_eq!(reasons, ["new"]);
}

#[tokio::test]
async fn notes_that_were_given_up_or_failed_are_counted_later() {
    let ground = Ground::new().await;
    let (proxy, switch) = switched("PutItem");
    switch.down();
    let backend = proxied(&ground, &proxy);
    let given_up = backend.note(START, refused(Some("given up")));
    assert!(given_up.now_or_never().is_none(), "it was under way");
    for n in 0..5 {
        let reason = n.to_string();
        let noted = backend.note(START, refused(Some(&reason))).await;
        noted.expect_err("the table is down");
    }
    backend.flush().await.expect_err("the table is down");
    switch.up();
    let (counted, listed) = refusals(&backend).await;
    assert_eq!(counted, 6, "each once");
    assert!(listed >= 1, "those that were under way: {listed}");
}
