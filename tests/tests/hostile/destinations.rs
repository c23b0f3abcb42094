//! Destinations that hurt: answers that never begin, never end or lie. Each attempt takes its time limit at most, little
//! memory, and no place from another destination.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use switchboard_tests::process::{handles, memory, peak};
use switchboard_tests::setting::{configuration, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use crate::hurting::{Hurting, drip, pour, request, say, until_closed};

/// A head that has not ended yet.
const BEGUN: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n";
pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// What every attempt of a delivery is to come to, and in what words.
pub(crate) type Due = (&'static str, &'static str);

const DELIVERED: Due = ("delivered", "");
pub(crate) const NO_ANSWER: Due = ("unanswered", "no answer in time");
pub(crate) const CLOSED: Due = ("unanswered", "closed without an answer");
const UNREADABLE: Due = ("unanswered", "the answer is not readable as HTTP");

/// A Switchboard with these destinations besides the usual ones, two attempts each and the usual time for each; every
/// event goes to all of them.
pub(crate) async fn switchboard(sink: &Sink, hurting: &[(&str, String)]) -> Switchboard {
    let mut text = configuration(sink);
    let mut deliver = Vec::new();
    for (name, url) in hurting {
        let limit = if *name == "stuck" { "1m" } else { "3s" };
        let _ = write!(
            text,
            "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\npauses = [\"20ms\"]\ntime_limit = \"{limit}\"\n\
             max_in_flight = 2\n"
        );
        deliver.push(format!("{{ to = \"{name}\" }}"));
    }
    let deliver = deliver.join(", ");
    let _ = write!(
        text,
        "[[route]]\nsource = \"*\"\nkind = \"*\"\ndeliver = [{deliver}]\n"
    );
    Switchboard::start(start(&text)).await
}

/// Every delivery of an event by its destination, once all but those of `stuck` have come to an end.
pub(crate) async fn ended(switchboard: &Switchboard, event: &str) -> BTreeMap<String, Value> {
    wait::within(
        wait::DEADLINE * 3,
        "every delivery has come to an end",
        async || {
            let view = switchboard.get(&format!("/api/events/{event}")).await;
            let all = view["delivery_list"]
                .as_array()
                .expect("deliveries")
                .clone();
            let is_over = |one: &Value| one["state"] != "waiting" || one["destination"] == "stuck";
            all.iter().all(is_over).then(|| {
                let name = |one: &Value| one["destination"].as_str().expect("a name").to_owned();
                all.iter().map(|one| (name(one), one.clone())).collect()
            })
        },
    )
    .await
}

#[track_caller]
pub(crate) fn came_to(delivery: &Value, (outcome, detail): Due) {
    let attempts = delivery["log"].as_array().expect("attempts");
    assert!(!attempts.is_empty(), "{delivery}");
    for attempt in attempts {
        assert_eq!(attempt["outcome"], outcome, "{delivery}");
        let told = attempt["detail"].as_str().expect("a detail");
        assert!(outcome == "delivered" || told == detail, "{delivery}");
        let took = attempt["duration_ms"].as_u64().expect("a duration");
        assert!(took < 30_000, "an attempt takes its time limit: {delivery}");
    }
}

/// A destination of that name that reads a request and then does this; what each attempt comes to.
macro_rules! hurting {
    ($name:literal, $due:expr, |$stream:ident| $does:expr) => {
        (
            $name,
            Hurting::start(|mut $stream, _| async move {
                let $stream = &mut $stream;
                request($stream).await?;
                $does
            })
            .await,
            $due,
        )
    };
}

type Answering = Vec<(&'static str, Hurting, Due)>;

/// Destinations whose bodies hurt.
async fn bodies() -> Answering {
    vec![
        hurting!("endless-length", DELIVERED, |stream| {
            say(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n",
            )
            .await?;
            pour(stream, "x").await
        }),
        hurting!("endless-chunks", DELIVERED, |stream| {
            say(
                stream,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            )
            .await?;
            pour(stream, "4\r\nbody\r\n").await
        }),
        hurting!("endless-chunk", DELIVERED, |stream| {
            say(
                stream,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
            )
            .await?;
            pour(stream, "x").await
        }),
        hurting!("endless-trailers", DELIVERED, |stream| {
            say(
                stream,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
            )
            .await?;
            pour(stream, "x: trailer\r\n").await
        }),
        hurting!("endless-close", DELIVERED, |stream| {
            say(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await?;
            pour(stream, "x").await
        }),
    ]
}

/// Destinations whose heads hurt, or do not come.
async fn heads() -> Answering {
    vec![
        hurting!("dripping-head", NO_ANSWER, |stream| {
            say(stream, "HTTP/1.1 200 OK\r\nx: ").await?;
            drip(stream, "x").await
        }),
        hurting!("dripping-lines", NO_ANSWER, |stream| {
            say(stream, "HTTP/1.1 200 OK\r\n").await?;
            drip(stream, "x: y\r\n").await
        }),
        hurting!("dripping-body", DELIVERED, |stream| {
            say(stream, "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await?;
            drip(stream, "x").await
        }),
        hurting!("many-lines", UNREADABLE, |stream| {
            say(stream, &format!("{BEGUN}{}\r\n", "x: y\r\n".repeat(200))).await
        }),
        hurting!("endless-lines", UNREADABLE, |stream| {
            say(stream, BEGUN).await?;
            pour(stream, "x: y\r\n").await
        }),
        hurting!("endless-line", UNREADABLE, |stream| {
            say(stream, "HTTP/1.1 200 OK\r\nx: ").await?;
            pour(stream, "y").await
        }),
        hurting!("endless-status", UNREADABLE, |stream| {
            say(stream, "HTTP/1.1 200 ").await?;
            pour(stream, "OK").await
        }),
        hurting!("endless-interim", NO_ANSWER, |stream| {
            pour(stream, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n").await
        }),
        hurting!("dripping-interim", NO_ANSWER, |stream| {
            drip(stream, "HTTP/1.1 102 Processing\r\n\r\n").await
        }),
        hurting!("too-short", DELIVERED, |stream| {
            say(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
            )
            .await
        }),
        hurting!("too-long", DELIVERED, |stream| {
            say(stream, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nlong").await?;
            until_closed(stream).await
        }),
        hurting!("two-lengths", UNREADABLE, |stream| {
            say(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok!",
            )
            .await?;
            until_closed(stream).await
        }),
        hurting!("garbage", UNREADABLE, |stream| {
            pour(stream, "\u{1}\u{2}\u{fffd}\r\n\r\n").await
        }),
        hurting!("silent", NO_ANSWER, |stream| until_closed(stream).await),
        hurting!("closing", CLOSED, |_stream| Some(())),
        hurting!("stuck", NO_ANSWER, |stream| until_closed(stream).await),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_that_hurts_takes_its_time_limit_and_little_memory_and_holds_up_no_other() {
    const EVENTS: usize = 3;
    let sink = Sink::start().await;
    let mut hurting = bodies().await;
    hurting.extend(heads().await);
    let urls: Vec<_> = hurting
        .iter()
        .map(|(name, hurting, _)| (*name, format!("http://{}/", hurting.at)))
        .collect();
    let switchboard = switchboard(&sink, &urls).await;
    let shop = sender(&switchboard, "shop");
    let (memory_before, handles_before) = (memory(switchboard.id()), handles(switchboard.id()));
    let mut events = Vec::new();
    for number in 0..EVENTS {
        let id = format!("id-{number}");
        events.push(shop.send(&id, "orders/create", "{}").await.event());
    }
    // Those that do not hurt have all of theirs while one that does keeps its first attempts open.
    sink.wait_for(EVENTS * 2).await;
    for event in &events {
        let deliveries = ended(&switchboard, event).await;
        for (name, _, due) in hurting.iter().filter(|(name, ..)| *name != "stuck") {
            came_to(&deliveries[*name], *due);
        }
        let stuck = &deliveries["stuck"];
        assert_eq!(
            (&stuck["state"], &stuck["attempts"]),
            (&"waiting".into(), &0.into())
        );
    }
    let (memory_after, handles_after) = (peak(switchboard.id()), handles(switchboard.id()));
    assert!(
        memory_after < memory_before + 40,
        "{memory_before} MiB before, up to {memory_after}"
    );
    assert!(
        handles_after < handles_before + 100,
        "{handles_before} handles before, {handles_after} after"
    );
    assert!(
        hurting
            .iter()
            .all(|(_, hurting, _)| hurting.connections() > 0)
    );
}
