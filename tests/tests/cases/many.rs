//! Large numbers: totals stay exact, lists say that there is more, and what is busy with one thing goes on with others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::run::Run;
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::{SOURCES, configuration, sender, start};
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

/// Far longer than any of it should take, on a busy machine too.
const LONG: Duration = Duration::from_mins(3);
/// Senders at work at once.
const SENDERS: usize = 20;

/// A Switchboard whose deliveries have these pauses.
async fn pausing(sink: &Sink, pauses: &str) -> Switchboard {
    let text = configuration(sink).replace("[\"20ms\", \"40ms\"]", pauses);
    Switchboard::start(start(&text)).await
}

/// Posts events numbered from `from` to `to`, many at once, each answered 200.
async fn post(shop: &Sender, kind: &'static str, from: usize, to: usize, body: String) {
    let mut sending = JoinSet::new();
    for first in 0..SENDERS {
        let (shop, body) = (shop.clone(), body.clone());
        sending.spawn(async move {
            for n in (from + first..to).step_by(SENDERS) {
                let answer = shop.send(&format!("{kind}-{n}"), kind, body.clone()).await;
                assert_eq!(answer.status, StatusCode::OK, "{kind}-{n}");
            }
        });
    }
    sending.join_all().await;
}

async fn wait_total(switchboard: &Switchboard, name: &str, value: u64) {
    wait::within(LONG, &format!("{name} is {value}"), async || {
        (switchboard.total(name).await == value).then_some(())
    })
    .await;
}

/// Everything in a list, page by page.
async fn whole(switchboard: &Switchboard, list: &str) -> Vec<Value> {
    let (mut items, mut after) = (Vec::new(), String::new());
    loop {
        let part = switchboard
            .get(&format!("/api/{list}?limit=200{after}"))
            .await;
        items.extend(part["items"].as_array().expect("a list").clone());
        match part["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return items,
        }
    }
}

/// Sends `count` requests without a signature down one connection, and reads how many were answered 401.
async fn unsigned(url: &Url, count: usize) -> usize {
    let host = url.host_str().expect("a host");
    let port = url.port().expect("a port");
    let one = "POST /in/shop HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";
    let stream = TcpStream::connect((host, port))
        .await
        .expect("a connection");
    let (mut reading, mut writing) = stream.into_split();
    let write = async {
        for _ in 0..count {
            writing.write_all(one.as_bytes()).await.expect("it reads");
        }
        // Nothing more comes: it closes behind the last answer.
        writing.shutdown().await.expect("it reads");
    };
    let read = async {
        let mut answers = Vec::new();
        reading.read_to_end(&mut answers).await.expect("it answers");
        let answers = String::from_utf8_lossy(&answers).into_owned();
        answers.matches("HTTP/1.1 401 ").count()
    };
    timeout(LONG, async { tokio::join!(write, read).1 })
        .await
        .expect("in time")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn totals_stay_exact_and_lists_say_how_much_more_there_is() {
    let sink = Sink::start().await;
    sink.answer(|received, _| {
        if received.path == "/warehouse" {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::OK
        }
    });
    let switchboard = pausing(&sink, "[]").await;
    let shop = sender(&switchboard, "shop");
    let body = format!("{{\"x\":\"{}\"}}", "x".repeat(1992));
    assert_eq!(body.len(), 2000);
    // Of the five thousand, five hundred go to warehouse too, which rejects them.
    post(&shop, "other", 0, 4500, body.clone()).await;
    post(&shop, "orders/create", 0, 500, body).await;
    assert_eq!(unsigned(&switchboard.url, 3000).await, 3000);
    wait_total(&switchboard, "dead", 500).await;
    wait_total(&switchboard, "delivered", 5000).await;
    wait_total(&switchboard, "refused", 3000).await;
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    for (name, value) in [
        ("received", 5000),
        ("stored", 5000),
        ("repeats", 0),
        ("waiting", 0),
        ("held", 0),
    ] {
        assert_eq!(totals[name], value, "{name}: {totals}");
    }
    for (list, count) in [("events", 5000), ("dead-letters", 500)] {
        let first = switchboard.get(&format!("/api/{list}")).await;
        assert_eq!(first["items"].as_array().map(Vec::len), Some(50), "{list}");
        assert!(first["next"].is_string(), "{list} tells that there is more");
        assert_eq!(whole(&switchboard, list).await.len(), count, "{list}");
    }
    let listed = whole(&switchboard, "refusals").await.len();
    assert!((1..=1000).contains(&listed), "{listed} refusals are listed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_unsigned_requests_is_counted_whole_listed_in_bounds_and_stops_no_event() {
    const FLOOD: usize = 100_000;
    const AT_ONCE: usize = 10;
    let sink = Sink::start().await;
    let switchboard = pausing(&sink, "[]").await;
    let mut flood = JoinSet::new();
    for _ in 0..AT_ONCE {
        let url = switchboard.url.clone();
        flood.spawn(async move { unsigned(&url, FLOOD / AT_ONCE).await });
    }
    // Meanwhile events are accepted and delivered; each within the client's own deadline.
    let shop = sender(&switchboard, "shop");
    let mut accepted = 0;
    while flood.try_join_next().is_none() {
        let answer = shop.send(&accepted.to_string(), "other", "{}").await;
        assert_eq!(
            answer.status,
            StatusCode::OK,
            "event {accepted} during the flood"
        );
        accepted += 1;
    }
    let answered: usize = flood.join_all().await.into_iter().sum();
    assert_eq!(
        answered,
        FLOOD / AT_ONCE * (AT_ONCE - 1),
        "each is answered 401"
    );
    assert!(accepted > 0);
    wait_total(&switchboard, "refused", FLOOD as u64).await;
    wait_total(&switchboard, "delivered", accepted).await;
    let listed = whole(&switchboard, "refusals").await.len();
    assert!((1..=1000).contains(&listed), "{listed} refusals are listed");
    let store =
        std::fs::metadata(switchboard.folder().join("data/switchboard.sqlite")).expect("a store");
    assert!(
        store.len() < 8 * 1024 * 1024,
        "the store has {} bytes",
        store.len()
    );
}

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
