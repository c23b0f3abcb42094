//! Bodies from small to the largest that the platform passes on, as text and as bytes: whole at every destination, or
//! declined before anything is stored. The longest that come in can be read by operators.

use data_encoding::BASE64;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::EventId;
use switchboard_core::names::{Kind, SenderId, SourceName};
use switchboard_core::ports::{Keep, Ledger};
use switchboard_tests::board::{Board, TOKEN, batch, configuration, signed};
use switchboard_tests::gateway::{asked, body_of, encoded, given_back, header_of, plain, posted};
use switchboard_tests::sender::now;

const KEEP: Keep = Keep { days: 30 };

/// A configuration in which a second destination gets the same.
fn two_destinations(board: &Board) -> String {
    let url = board.sink.url("/crm");
    let second = format!("[[destination]]\nname = \"crm\"\nurl = \"{url}\"\n[[route]]");
    let both = r#"{ to = "chat", action = "post-line" }, { to = "crm", action = "add" }"#;
    configuration(&board.sink.url("/chat"))
        .replace("[[route]]", &second)
        .replace(r#"{ to = "chat", action = "post-line" }"#, both)
}

/// Every byte there is, in a row that does not repeat soon.
fn bytes(length: usize) -> Vec<u8> {
    let all = (0_u32..).flat_map(u32::to_le_bytes);
    all.take(length).collect()
}

/// Text with what JSON escapes, and with characters of one to four bytes.
fn text(length: usize) -> String {
    let line = "\"a\\b\"\t\u{e9}\u{20ac}\u{1f600}\n";
    let mut text = line.repeat(length / line.len());
    text.push_str(&"x".repeat(length - text.len()));
    text
}

#[tokio::test]
async fn bodies_of_all_lengths_come_whole_to_every_destination() {
    let board = Board::bare().await;
    board.apply(None, &two_destinations(&board)).await;
    let ingress = board.function("ingress").start().await;
    let worker = board.function("worker").start().await;
    let lengths = [0, 1, 10_000, 300_000, 1 << 20, 4 << 20];
    for (n, length) in lengths.into_iter().enumerate() {
        let text = text(length);
        let as_bytes = bytes(length);
        let sent = [
            (encoded(&as_bytes), as_bytes),
            (plain(&text), text.clone().into_bytes()),
        ];
        for (form, (given, body)) in sent.into_iter().enumerate() {
            let told = format!("{length} bytes, form {form}");
            let headers = signed(&format!("{n}-{form}"), &body);
            let answer = ingress.invoke(&posted("code", &headers, &given)).await;
            let answer = answer.answer();
            assert_eq!(answer["statusCode"], 200, "{told}: {answer}");
            let event = body_of(&answer)["event"].as_str().map(str::to_owned);
            let hints = board.hints(2).await;
            let [first, second] = &hints[..] else {
                panic!("{told}: two hints: {}", hints.len());
            };
            let answer = worker.invoke(&batch([(first, 1), (second, 1)])).await;
            let answer = answer.answer();
            assert!(given_back(&answer).is_empty(), "{told}: {answer}");
            let received = board.sink.received();
            let mut paths: Vec<_> = received[received.len() - 2..]
                .iter()
                .map(|request| {
                    assert!(request.body == body, "{told}: byte for byte");
                    request.path.as_str()
                })
                .collect();
            paths.sort_unstable();
            assert_eq!(paths, ["/chat", "/crm"], "{told}");
            let seen = board.event(&event.expect("an id")).await;
            let states = seen.deliveries.iter().map(|one| one.state.as_str());
            assert!(states.eq(["delivered"; 2]), "{told}");
        }
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_declined_before_anything_is_stored() {
    let board = Board::bare().await;
    let limited = format!("max_body = 1048576\n{}", two_destinations(&board));
    board.apply(None, &limited).await;
    let ingress = board.function("ingress").start().await;
    for given in [encoded(&bytes((1 << 20) + 1)), plain(&text((1 << 20) + 1))] {
        let body = bytes(1);
        let headers = signed("1", &body);
        let answer = ingress.invoke(&posted("code", &headers, &given)).await;
        assert_eq!(answer.answer()["statusCode"], 413);
    }
    assert!(board.stored().await.is_empty(), "not even a part of it");
    assert!(board.hints(1).await.is_empty());
}

/// What the platform hands over to a function and takes from it at most, in bytes of JSON.
const LONGEST: usize = 6 * 1024 * 1024;
/// How much longer than here what a real gateway writes around a body is at least.
const REAL_LINES: usize = 1024;

/// The longest of these bodies that an event has room for.
fn longest<T>(of: impl Fn(usize) -> T, event: impl Fn(&T) -> Value) -> T {
    let fits = |length| event(&of(length)).to_string().len() <= LONGEST - REAL_LINES;
    let (mut fitting, mut beyond) = (1, LONGEST);
    while beyond - fitting > 1 {
        let middle = usize::midpoint(fitting, beyond);
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    of(fitting)
}

fn body_asked_for(event: &str) -> Value {
    let mut headers = HeaderMap::new();
    let token = HeaderValue::from_str(&format!("Bearer {TOKEN}")).expect("a value");
    headers.insert(AUTHORIZATION, token);
    asked(
        "GET",
        &format!("/api/events/{event}/body"),
        &headers,
        &plain(""),
    )
}

#[tokio::test]
async fn the_longest_bodies_that_come_in_can_be_read_and_what_cannot_is_a_problem() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let status = board.function("status").start().await;
    let headers = signed("1", b"");
    let as_bytes = longest(bytes, |body| posted("code", &headers, &encoded(body)));
    let as_text = longest(text, |body| posted("code", &headers, &plain(body)));
    let unescaped = longest(
        |length| "x".repeat(length),
        |body| posted("code", &headers, &plain(body)),
    );
    assert!(as_bytes.len() > 4_700_000 && unescaped.len() > 6_200_000);
    let sent = [
        (encoded(&as_bytes), as_bytes.clone()),
        (plain(&as_text), as_text.into_bytes()),
        (plain(&unescaped), unescaped.into_bytes()),
        // As many senders of JSON do: it comes in base64, and goes as text.
        (encoded(b"{}"), b"{}".to_vec()),
    ];
    for (n, (given, body)) in sent.into_iter().enumerate() {
        let headers = signed(&n.to_string(), &body);
        let answer = ingress.invoke(&posted("code", &headers, &given)).await;
        let answer = answer.answer();
        assert_eq!(answer["statusCode"], 200, "{n}: {answer}");
        let event = body_of(&answer)["event"].as_str().map(str::to_owned);
        let read = status.invoke(&body_asked_for(&event.expect("an id"))).await;
        let read = read.answer();
        assert_eq!(read["statusCode"], 200, "{n}");
        let length = read.to_string().len();
        assert!(length <= LONGEST, "{n}: {length} bytes");
        let text = read["body"].as_str().expect("a body");
        let found = if read["isBase64Encoded"] == true {
            BASE64.decode(text.as_bytes()).expect("base64")
        } else {
            text.as_bytes().to_vec()
        };
        assert!(found == body, "{n}: byte for byte");
        assert_eq!(
            header_of(&read, "content-type"),
            Some("application/octet-stream")
        );
    }

    let event = long_event(&as_bytes);
    board.aws.accept(&event, &[], KEEP).await.expect("stored");
    let read = status.invoke(&body_asked_for(event.id.as_str())).await;
    let read = read.answer();
    assert_eq!(read["statusCode"], 413, "{}", read["headers"]);
    let kind = header_of(&read, "content-type");
    assert_eq!(kind, Some("application/problem+json"));
    let detail = body_of(&read)["detail"].as_str().map(str::to_owned);
    assert!(detail.expect("why").contains("6 MB"));
}

/// An event whose body is a little longer than what comes in.
fn long_event(longest: &[u8]) -> Event {
    let source = SourceName::parse("code").expect("a name");
    let sender_id = SenderId::new("long").expect("an id");
    Event {
        id: EventId::of(&source, &sender_id),
        source,
        sender_id,
        kind: Kind::default(),
        received_at: now(),
        headers: KeptHeaders::from_lines(b""),
        body: bytes(longest.len() + REAL_LINES).into(),
    }
}
