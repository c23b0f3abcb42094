//! Which addresses take events, and what everyone is answered.

use switchboard_core::refusal::Cause;

use crate::sender::soon;
use crate::store::Mood;
use crate::{MAX_BODY, Switchboard, head, signed};

#[tokio::test]
async fn an_event_is_accepted_once_and_its_copy_is_a_repeat() {
    let board = Switchboard::start().await;
    let first = board.answer(signed("/in/shop", "1", b"{}")).await;
    let event = board.store.events.lock().expect("lock")[0].id.clone();
    assert_eq!(first.status, 200);
    assert_eq!(first.value("content-type"), Some("application/json"));
    assert_eq!(
        first.body,
        format!(r#"{{"status":"accepted","event":"{event}"}}"#)
    );
    let second = board.answer(signed("/in/shop?x=/y#z", "1", b"{}")).await;
    assert_eq!(second.status, 200);
    assert_eq!(
        second.body,
        format!(r#"{{"status":"repeat","event":"{event}"}}"#)
    );
    assert_eq!(board.store.bodies(), [b"{}"]);
}

#[tokio::test]
async fn a_sources_address_is_exactly_that_and_any_other_is_unknown_and_never_a_refusal() {
    let board = Switchboard::start().await;
    let below = [
        "/in/",
        "/in//",
        "/in/shop/",
        "/in//shop",
        "/in/Shop",
        "/in/SHOP",
        "/in/sh%6Fp",
        "/in/shop%2F",
        "/in/%2Fshop",
        "/in/../in/shop",
        "/in/shop/x",
        "/in/elsewhere",
        "/in/%FF%00",
    ];
    for path in below {
        let answer = board.answer(signed(path, "1", b"{}")).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.body, r#"{"status":"unknown source"}"#, "{path}");
    }
    assert_eq!(board.store.declined(), [Cause::UnknownSource; 13]);
    for path in [
        "/in",
        "/IN/shop",
        "//in/shop",
        "/prod/in/shop",
        "/shop",
        "/",
    ] {
        let answer = board.answer(signed(path, "1", b"{}")).await;
        assert_eq!(answer.status, 404, "{path}");
    }
    assert_eq!(board.store.refused(), 0);
    assert!(board.store.bodies().is_empty());
}

#[tokio::test]
async fn any_method_but_post_is_told_so() {
    let board = Switchboard::start().await;
    for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "X"] {
        let mut sender = board.sender().await;
        let request = format!("{method} /in/shop HTTP/1.1\r\nhost: a\r\n\r\n");
        sender.say(request).await;
        let answer = soon(sender.read_head()).await.expect("an answer");
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.value("allow"), Some("POST"), "{method}");
    }
    assert!(board.store.notes.lock().expect("lock").is_empty());
}

#[tokio::test]
async fn an_unknown_source_is_answered_before_its_body_is_read() {
    let board = Switchboard::start().await;
    let answer = board
        .answer("POST /in/nobody HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n")
        .await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_refused_sender_learns_nothing_more() {
    let board = Switchboard::start().await;
    let mut wrong = signed("/in/shop", "1", b"{}");
    *wrong.last_mut().expect("a byte") = b'!';
    let unsigned = b"POST /in/shop HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}";
    for request in [&wrong[..], unsigned] {
        let answer = board.answer(request).await;
        assert_eq!(answer.status, 401);
        assert_eq!(answer.body, r#"{"status":"refused"}"#);
    }
    assert_eq!(board.store.refused(), 2);
}

#[tokio::test]
async fn a_signature_of_any_length_and_any_bytes_is_refused_or_too_large() {
    let board = Switchboard::start().await;
    for (value, status) in [
        (b"sha256=".to_vec(), 401),
        (b"sha256=0".to_vec(), 401),
        ([b"sha256=".as_slice(), &[b'a'; 63]].concat(), 401),
        ([b"sha256=".as_slice(), &[b'a'; 64]].concat(), 401),
        ([b"sha256=".as_slice(), &[0xff; 64]].concat(), 401),
        (vec![b'a'; 30_000], 401),
        (vec![b'a'; 200_000], 431),
    ] {
        let mut request = b"POST /in/shop HTTP/1.1\r\nhost: a\r\nx-hub-signature-256: ".to_vec();
        request.extend(&value);
        request.extend(b"\r\ncontent-length: 0\r\n\r\n");
        let answer = board.answer(request).await;
        assert_eq!(answer.status, status, "{} bytes", value.len());
    }
}

#[tokio::test]
async fn a_rightly_signed_request_without_an_id_is_unreadable() {
    let board = Switchboard::start().await;
    let request = String::from_utf8(signed("/in/shop", "1", b"{}")).expect("text");
    let answer = board
        .answer(request.replace("x-github-delivery: 1\r\n", ""))
        .await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.body, r#"{"status":"unreadable"}"#);
}

#[tokio::test]
async fn when_the_store_fails_or_breaks_the_sender_is_told_to_try_again() {
    let board = Switchboard::start().await;
    for mood in [Mood::Failing, Mood::Broken] {
        board.store.set(mood);
        let answer = board.answer(signed("/in/shop", "1", b"{}")).await;
        assert_eq!(answer.status, 503);
        assert_eq!(answer.value("retry-after"), Some("5"));
        assert_eq!(answer.body, r#"{"status":"try again"}"#);
    }
    board.store.set(Mood::Fine);
    let answer = board.answer(signed("/in/shop", "1", b"{}")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(board.store.declined(), [Cause::StoreUnavailable; 2]);
}

#[tokio::test]
async fn a_sender_that_waits_for_leave_to_write_gets_it_only_where_its_body_is_wanted() {
    let board = Switchboard::start().await;
    let lines = "content-length: 2\r\nexpect: 100-continue\r\n";
    let mut sender = board.sender().await;
    sender.say(head("/in/shop", "1", b"{}", lines)).await;
    assert_eq!(sender.answer().await.expect("leave").status, 100);
    sender.say("{}").await;
    assert_eq!(sender.answer().await.expect("an answer").status, 200);

    let too_long = format!(
        "content-length: {}\r\nexpect: 100-continue\r\n",
        MAX_BODY + 1
    );
    for (path, lines, status) in [("/in/nobody", lines, 404), ("/in/shop", &too_long, 413)] {
        let answer = board.answer(head(path, "1", b"{}", lines)).await;
        assert_eq!(answer.status, status, "at once");
    }
}
