//! Many deliveries that fail together: their next attempts are spread, bounded, and leave room for others.

use std::collections::BTreeMap;
use std::sync::Mutex;

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_tests::setting::sender;
use switchboard_tests::sink::{Received, Sink};

use crate::setting::{pausing, post, wait_total};

fn to_accounting(received: &[Received]) -> Vec<&Received> {
    received
        .iter()
        .filter(|one| one.path == "/accounting")
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_redriven_start_spread_over_time_and_live_events_flow_meanwhile() {
    let sink = Sink::start().await;
    sink.answer(|_, _| StatusCode::FORBIDDEN);
    let switchboard = pausing(&sink, "[]").await;
    let shop = sender(&switchboard, "shop");
    post(&shop, "other", 0, 1000, "{}".to_owned()).await;
    wait_total(&switchboard, "dead", 1000).await;
    sink.answer(|_, _| StatusCode::OK);
    let before = sink.received().len();
    let redrive = json!({ "destination": "accounting" });
    let (_, answer) = switchboard
        .ask(Method::POST, "/admin/redrive", Some(redrive))
        .await;
    assert_eq!(answer, json!({ "redriven": 1000, "left": 0 }));
    // An event that comes now is delivered while most of the redriven still wait.
    let live = shop.send("live", "other", "{}").await.event();
    sink.wait("the live event is delivered", |received| {
        received
            .iter()
            .any(|one| one.header("switchboard-event") == live)
    })
    .await;
    let waiting = switchboard.total("waiting").await;
    assert!(waiting >= 300, "only {waiting} of the redriven wait still");
    wait_total(&switchboard, "delivered", 1001).await;
    let received = sink.received();
    let redriven = &to_accounting(&received)[before..];
    assert_eq!(redriven.len(), 1001, "each once");
    let mut times: Vec<i64> = redriven.iter().map(|one| one.at).collect();
    times.sort_unstable();
    // 50 starts a second: twenty seconds in all, and never a second in which a busy machine caught up with all of it.
    let took = times[times.len() - 1] - times[0];
    assert!(took >= 15_000, "they started within {took} ms");
    let mut by_second = BTreeMap::<i64, usize>::new();
    for time in &times {
        *by_second.entry(time / 1000).or_default() += 1;
    }
    let most = by_second.values().max().expect("a second");
    assert!(*most <= 300, "{most} starts in one second");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destination_that_takes_only_a_few_at_once_gets_no_more_than_six_attempts_each_and_less_every_round()
 {
    const EVENTS: usize = 500;
    let sink = Sink::start().await;
    // Five in each tenth of a second are taken; the rest is told to slow down.
    let taken = Mutex::new((0, 0));
    sink.answer(move |received, _| {
        let mut taken = taken.lock().expect("a lock");
        if received.at / 100 != taken.0 {
            *taken = (received.at / 100, 0);
        }
        taken.1 += 1;
        if taken.1 > 5 {
            StatusCode::TOO_MANY_REQUESTS
        } else {
            StatusCode::OK
        }
    });
    let switchboard = pausing(
        &sink,
        "[\"100ms\", \"200ms\", \"400ms\", \"800ms\", \"1600ms\"]",
    )
    .await;
    post(
        &sender(&switchboard, "shop"),
        "other",
        0,
        EVENTS,
        "{}".to_owned(),
    )
    .await;
    wait_total(&switchboard, "waiting", 0).await;
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    let total = |name: &str| totals[name].as_u64().expect("a total");
    assert_eq!(
        total("delivered") + total("dead"),
        EVENTS as u64,
        "{totals}"
    );
    let received = sink.received();
    let mut attempts = BTreeMap::<&str, usize>::new();
    let mut rounds = [0; 7];
    for one in &received {
        *attempts.entry(one.key()).or_default() += 1;
        rounds[one
            .header("switchboard-attempt")
            .parse::<usize>()
            .expect("a number")] += 1;
    }
    assert_eq!(attempts.len(), EVENTS);
    assert!(
        attempts.values().all(|attempts| *attempts <= 6),
        "no more than six"
    );
    assert_eq!(rounds[1], EVENTS);
    assert!(
        rounds[1..].windows(2).all(|pair| pair[1] <= pair[0]),
        "{rounds:?}"
    );
    // A dead letter had its six attempts; a delivered one ended with its success.
    let sixth = attempts.values().filter(|attempts| **attempts == 6).count() as u64;
    assert!(sixth >= total("dead"), "{sixth} had six attempts, {totals}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_that_fail_together_do_not_come_back_together() {
    const EVENTS: usize = 200;
    let sink = Sink::start().await;
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    let switchboard = pausing(&sink, "[\"2s\", \"4s\"]").await;
    post(
        &sender(&switchboard, "shop"),
        "other",
        0,
        EVENTS,
        "{}".to_owned(),
    )
    .await;
    wait_total(&switchboard, "dead", EVENTS as u64).await;
    let received = sink.received();
    let mut times = BTreeMap::<&str, Vec<i64>>::new();
    for one in &received {
        times.entry(one.key()).or_default().push(one.at);
    }
    assert_eq!(times.len(), EVENTS);
    for (n, base) in [(0, 2000), (1, 4000)] {
        let gaps: Vec<i64> = times
            .values()
            .map(|times| times[n + 1] - times[n])
            .collect();
        let (least, most) = (gaps.iter().min(), gaps.iter().max());
        let (least, most) = (*least.expect("a gap"), *most.expect("a gap"));
        // Never earlier than the band; later only by what a busy machine adds.
        assert!(
            least >= base * 8 / 10 - 20 && most <= base * 12 / 10 + 3000,
            "gaps from {least} to {most} ms"
        );
        assert!(
            least <= base * 85 / 100 && most >= base * 115 / 100,
            "they spread: from {least} to {most} ms"
        );
        let mean = gaps.iter().sum::<i64>() / i64::try_from(EVENTS).expect("a count");
        assert!(
            (base * 95 / 100..=base + 800).contains(&mean),
            "{mean} ms in the mean"
        );
    }
}
