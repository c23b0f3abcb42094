//! All that operators read: whatever a call suffers that reads, what is answered 200 is whole. Only the totals may be behind,
//! where the fold is cut, and come nearer with each look.

use std::time::Duration;

use data_encoding::BASE64;
use http::HeaderMap;
use serde_json::Value;
use switchboard_tests::board::{Board, signed};
use switchboard_tests::gateway::{encoded, posted};
use switchboard_tests::lambda::Invoked;
use switchboard_tests::wait;

use crate::call::Plan;
use crate::fault::Fault;
use crate::mapping;
use crate::operated::{operators, request};
use crate::scene::{Patience, board, event, send};
use crate::stories::tell_all;
use crate::watched::{Heard, Watched};

const ASKS: usize = 40;
const BETWEEN: Duration = Duration::from_millis(250);

/// What is asked for, and a piece of every whole answer. `EVENT` stands for the event's id.
const WHOLE: [(&str, &str); 15] = [
    ("/api/events", "EVENT"),
    ("/api/events?source=code&sender_id=1", "EVENT"),
    ("/api/events?state=dead", "EVENT"),
    (
        "/api/events?destination=bad&from=2020-01-01T00:00:00Z",
        "EVENT",
    ),
    ("/api/events/EVENT", "\"attempts\":3"),
    ("/api/events/EVENT/body", "{\"a\":1}"),
    ("/api/dead-letters", "EVENT"),
    ("/api/dead-letters?destination=bad", "EVENT"),
    ("/api/dead-letters/groups", "\"bad\""),
    ("/api/refusals", "\"code\""),
    ("/api/declined", "404"),
    ("/api/routes", "\"bad\""),
    ("/metrics", "switchboard_"),
    ("/healthz", ""),
    ("/admin/configuration", "\"version\":1"),
];

/// The same of what may be behind.
const TOTALS: [(&str, &str); 2] = [
    ("/api/overview", "\"dead\":1"),
    ("/api/overview", "\"refused\":1"),
];

/// The status and the text of an answer.
fn told(invoked: &Invoked) -> Option<(u64, String)> {
    let Invoked::Answered(answer) = invoked else {
        return None;
    };
    let text = answer["body"].as_str().unwrap_or_default();
    let text = match answer["isBase64Encoded"].as_bool() {
        Some(true) => {
            let bytes = BASE64.decode(text.as_bytes()).expect("base64");
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Some(false) | None => text.to_owned(),
    };
    Some((answer["statusCode"].as_u64().expect("a status"), text))
}

/// Asks until it is answered, and that is `enough`.
async fn read(status: &mut Watched, path: &str, enough: impl Fn(&str) -> bool) -> String {
    let request = request(("GET", path, &Value::Null));
    for _ in 0..ASKS {
        match told(&status.invoke(&request).await) {
            Some((200, text)) if enough(&text) => return text,
            Some((200 | 500.., _)) | None => {}
            Some((other, text)) => panic!("{path}: an operator is told {other}: {text}"),
        }
        wait::between(BETWEEN).await;
    }
    panic!("{path} is never answered; the log:\n{}", status.log());
}

/// An event that is delivered to one and dead for another, one that is refused, and one that is declined.
async fn scene() -> (Board, String) {
    let board = board(&["good", "bad"]).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    send(&mut ingress, "1", Patience::Patient).await;
    let of_another = posted("code", &signed("2", b"{}"), &encoded(b"{ }"));
    let nowhere = posted("nowhere", &HeaderMap::new(), &encoded(b"{}"));
    for (posted, due) in [(of_another, 401), (nowhere, 404)] {
        let invoked = ingress.invoke(&posted).await;
        assert_eq!(told(&invoked).map(|(status, _)| status), Some(due));
    }
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let stored = event(&board, "1").await.expect("it is stored");
    (board, stored.row.event.to_string())
}

pub(crate) async fn story(plan: Option<Plan>) -> Heard {
    let (board, event) = scene().await;
    // Then the fold is not cut, and the first look finds all of it.
    let is_of_keys = |plan: &Plan| plan.fault == Fault::KeysUnprocessed;
    let is_folded = plan.as_ref().is_none_or(is_of_keys);
    let mut status = operators(&board, plan).await;
    if is_folded {
        let text = read(&mut status, "/api/overview", |_| true).await;
        assert!(text.contains("\"events\":1"), "the last hour: {text}");
    }
    for (path, piece) in TOTALS {
        read(&mut status, path, |text| text.contains(piece)).await;
    }
    for (path, piece) in WHOLE {
        let (path, piece) = (
            path.replace("EVENT", &event),
            piece.replace("EVENT", &event),
        );
        let text = read(&mut status, &path, |_| true).await;
        assert!(text.contains(&piece), "{path} without {piece}: {text}");
    }
    status.quiet().await;
    status.assert_hit();
    status.heard()
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_what_operators_read_is_whole() {
    let calls = Box::pin(story(None)).await.calls;
    tell_all(Plan::all_of(&calls), |plan| async {
        Box::pin(story(Some(plan))).await;
    })
    .await;
}
