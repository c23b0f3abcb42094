//! What destinations answer, and what becomes of the delivery: mended later, told to wait, or a page of complaints.

use std::net::SocketAddr;

use axum::response::IntoResponse;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::sender::now;
use switchboard_tests::setting::{configuration, running, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

/// The one delivery of an event to accounting.
async fn delivery(switchboard: &Switchboard, event: &str) -> Value {
    let view = switchboard.get(&format!("/api/events/{event}")).await;
    view["delivery_list"][0].clone()
}

/// A Switchboard whose deliveries have these pauses.
async fn pausing(sink: &Sink, pauses: &str) -> Switchboard {
    let text = configuration(sink).replace("[\"20ms\", \"40ms\"]", pauses);
    Switchboard::start(start(&text)).await
}

#[tokio::test]
async fn a_destination_that_does_not_know_us_or_is_not_there_gets_it_once_it_does_and_is() {
    let sink = Sink::start().await;
    sink.answer(|_, before| {
        if before < 4 {
            StatusCode::UNAUTHORIZED
        } else {
            StatusCode::OK
        }
    });
    // A port that was free a moment ago, and that nobody listens on until later.
    let later: SocketAddr = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address")
    };
    let pauses = format!("[{}]", "\"150ms\",".repeat(50));
    let text = configuration(&sink)
        .replace("[\"20ms\", \"40ms\"]", &pauses)
        .replace(&sink.url("/warehouse"), &format!("http://{later}/"));
    let switchboard = Switchboard::start(start(&text)).await;
    let event = sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await
        .event();
    switchboard.wait_total("delivered", 1).await;
    let log = async || {
        let view = switchboard.get(&format!("/api/events/{event}")).await;
        let list = view["delivery_list"].as_array().expect("a list").clone();
        list.iter()
            .map(|one| one["log"].as_array().expect("attempts").clone())
            .collect::<Vec<_>>()
    };
    wait::until("the other was tried without a connection", async || {
        let refused = log().await.concat();
        refused
            .iter()
            .any(|one| one["detail"] == "no connection")
            .then_some(())
    })
    .await;
    let there = Sink::start_at(later).await;
    switchboard.wait_total("delivered", 2).await;
    assert_eq!(there.received().len(), 1, "delivered once");
    let statuses: Vec<_> = log()
        .await
        .concat()
        .iter()
        .filter_map(|one| one["status"].as_u64())
        .collect();
    assert_eq!(
        statuses.iter().filter(|status| **status == 401).count(),
        4,
        "{statuses:?}"
    );
    assert_eq!(switchboard.total("dead").await, 0);
}

#[tokio::test]
async fn a_long_pause_is_carried_and_one_beyond_its_bound_is_a_fault() {
    for (pause, seconds) in [("1000s", 1000), ("86400s", 86_400)] {
        let sink = Sink::start().await;
        sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
        let switchboard = pausing(&sink, &format!("[{pause:?}]")).await;
        let event = sender(&switchboard, "shop")
            .send("1", "some/kind", "{}")
            .await
            .event();
        let found = wait::until("the first attempt is kept", async || {
            let found = delivery(&switchboard, &event).await;
            (found["attempts"] == 1).then_some(found)
        })
        .await;
        let due: jiff::Timestamp = found["due"]
            .as_str()
            .expect("a time")
            .parse()
            .expect("a time");
        let left = due.as_millisecond() - now().millis();
        assert!(
            (seconds * 800 - 60_000..=seconds * 1200).contains(&left),
            "{pause}: due in {left} ms"
        );
        // It waits on over a restart, and is not lost.
        let (_, folder) = switchboard.stop().await;
        let again = configuration(&sink).replace("[\"20ms\", \"40ms\"]", &format!("[{pause:?}]"));
        let switchboard = Switchboard::start_in(folder, start(&again)).await;
        let kept = delivery(&switchboard, &event).await;
        assert_eq!(
            (&kept["state"], &kept["due"]),
            (&json!("waiting"), &found["due"]),
            "{kept}"
        );
        assert_eq!(sink.received().len(), 1);
    }
}

#[tokio::test]
async fn retry_after_does_not_move_the_next_attempt() {
    let (sink, switchboard) = running().await;
    sink.answer(|_, before| {
        if before == 0 {
            (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "3600")]).into_response()
        } else {
            StatusCode::OK.into_response()
        }
    });
    let event = sender(&switchboard, "shop")
        .send("1", "some/kind", "{}")
        .await
        .event();
    // The pauses are the destination's own: an hour from now this would still wait.
    switchboard.wait_total("delivered", 1).await;
    assert_eq!(delivery(&switchboard, &event).await["attempts"], 2);
}

#[tokio::test]
async fn of_a_page_of_complaints_a_short_clean_piece_is_kept_without_what_was_sent() {
    let sink = Sink::start().await;
    // It quotes what it was sent, as pages for developers do, before megabytes of anything.
    sink.answer(|received, _| {
        let authorization = received.header("authorization").to_owned();
        let token = authorization.trim_start_matches("Bearer ").to_owned();
        let signature = received.header("webhook-signature").to_owned();
        let path = &received.path;
        let start = format!(
            "\u{1b}[31mno\0 such\r\nuser: {authorization} {token} {path} S3CRET-QU3RY {signature} \u{202e}"
        );
        let page = [start.into_bytes(), vec![b'x'; 5_000_000]].concat();
        (StatusCode::INTERNAL_SERVER_ERROR, page)
    });
    let secret = "Bearer a-token-of-accounting-1234567890";
    let accounting = format!("url = \"{}\"", sink.url("/accounting"));
    let quoted = accounting.replace("/accounting", "/hook/P4TH-T0KEN?key=S3CRET-QU3RY");
    let pauses = "[\"20ms\", \"20ms\", \"20ms\", \"20ms\", \"20ms\"]";
    let text = configuration(&sink)
        .replace("[\"20ms\", \"40ms\"]", pauses)
        .replace(
            &accounting,
            &format!(
                "{quoted}\nsign = \"env:SIGN\"\nheaders = {{ authorization = \"env:HEADER\" }}"
            ),
        );
    let sign = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let switchboard =
        Switchboard::start(start(&text).set("HEADER", secret).set("SIGN", sign)).await;
    let event = sender(&switchboard, "shop")
        .send("1", "some/kind", "{}")
        .await
        .event();
    switchboard.wait_total("dead", 1).await;
    let log = delivery(&switchboard, &event).await["log"].take();
    let log = log.as_array().expect("attempts");
    assert_eq!(log.len(), 6);
    for attempt in log {
        let detail = attempt["detail"].as_str().expect("text");
        assert!(detail.chars().count() <= 200, "{detail}");
        assert!(detail.starts_with("[31mno such user: "), "{detail}");
        assert!(
            !detail.chars().any(|c| c.is_control() || c == '\u{202e}'),
            "{detail:?}"
        );
        for hidden in ["a-token-of-accounting", "v1,", "P4TH", "S3CRET"] {
            assert!(!detail.contains(hidden), "{detail}");
        }
    }
    let shown = switchboard.get("/api/dead-letters").await.to_string();
    assert!(!shown.contains("a-token-of-accounting"), "{shown}");
}

#[tokio::test]
async fn an_endpoint_that_fails_in_any_way_shows_nothing_of_its_address() {
    const HIDDEN: [&str; 2] = ["P4TH-T0KEN", "S3CRET-QU3RY"];
    let sink = Sink::start().await;
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address")
    };
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent_at = silent.local_addr().expect("an address");
    let tls = sink.url("").replace("http:", "https:");
    let start = start(&configuration(&sink)).set("RUST_LOG", "trace");
    let switchboard = Switchboard::start(start).await;
    let behind = format!("/{}?token={}", HIDDEN[0], HIDDEN[1]);
    let mut shown = Vec::new();
    for (n, (place, why)) in [
        (format!("http://{closed}"), "no connection"),
        (
            tls,
            "TLS failed: the certificate or the handshake is not right",
        ),
        (format!("http://{silent_at}"), "no answer in time"),
        (
            "http://switchboard.invalid".to_owned(),
            "the name does not resolve",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let url = json!({ "url": format!("{place}{behind}") });
        let (status, _) = switchboard
            .ask(Method::PUT, "/admin/endpoint", Some(url))
            .await;
        assert_eq!(status, StatusCode::OK, "{place}");
        let event = sender(&switchboard, "shop")
            .send(&n.to_string(), "some/kind", "{}")
            .await
            .event();
        let view = wait::until(&format!("the copy fails: {why}"), async || {
            let view = switchboard.get(&format!("/api/events/{event}")).await;
            let list = view["delivery_list"].as_array().expect("a list").clone();
            let copy = list
                .iter()
                .find(|one| one["destination"] == "your-endpoint")?;
            (copy["log"][0]["detail"] == why).then_some(view)
        })
        .await;
        shown.push(view.to_string());
        for path in ["/api/overview", "/api/routes", "/api/events"] {
            shown.push(switchboard.get(path).await.to_string());
        }
    }
    shown.push(switchboard.log());
    assert!(shown.iter().any(|text| text.contains("no answer in time")));
    for hidden in HIDDEN {
        for text in &shown {
            let line = text.lines().find(|line| line.contains(hidden));
            assert_eq!(line, None, "{hidden} is shown");
        }
    }
    drop(silent);
}
