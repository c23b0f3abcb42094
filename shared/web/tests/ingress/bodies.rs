//! Bodies: whole and within the limits, or not at all.

use std::fmt::Write;

use switchboard_core::refusal::{Cause, Unreadable};
use switchboard_web::ingress::IngressLimits;
use tokio::io::AsyncWriteExt;

use crate::sender::{LONG, soon};
use crate::store::Mood;
use crate::{MAX_BODY, SHORT, Switchboard, head, signed};

const NOT_WHOLE: Cause = Cause::Unreadable(Unreadable::BodyNotWhole);

#[tokio::test]
async fn a_body_up_to_the_limit_is_stored_byte_for_byte() {
    let board = Switchboard::start().await;
    let lengths = [0, 1, 190_000, 262_143, 300_000, 700_000, MAX_BODY];
    for (n, length) in lengths.into_iter().enumerate() {
        let body: Vec<u8> = (0..=255).cycle().take(length).collect();
        let answer = board
            .answer(signed("/in/shop", &n.to_string(), &body))
            .await;
        assert_eq!(answer.status, 200, "{length} bytes");
        assert_eq!(board.store.bodies().last(), Some(&body));
    }
}

#[tokio::test]
async fn more_headers_than_destinations_take_are_unreadable_and_nothing_is_stored() {
    let board = Switchboard::start().await;
    let lines = |count: usize, length: usize| {
        let mut lines = "content-length: 2\r\n".to_owned();
        for n in 0..count {
            write!(lines, "x-of-mine-{n}: {}\r\n", "v".repeat(length)).expect("written");
        }
        lines
    };
    // What the scheme reads goes on, too.
    for (id, count, length, expected) in [
        ("1", 60, 9, 200),
        ("2", 65, 9, 400),
        ("3", 11, 1000, 200),
        ("4", 13, 1000, 400),
    ] {
        let mut request = head("/in/shop", id, b"{}", &lines(count, length));
        request.extend(b"{}");
        let answer = board.answer(request).await;
        assert_eq!(answer.status, expected, "{count} of {length} bytes");
    }
    let cause = Cause::Unreadable(Unreadable::HeadersTooLarge);
    assert_eq!(board.store.declined(), [cause, cause]);
    assert_eq!(board.store.bodies().len(), 2);
}

#[tokio::test]
async fn an_announced_body_over_the_limit_is_answered_at_once_and_nothing_is_stored() {
    let board = Switchboard::start().await;
    for length in ["1048577", "99999999999999999999999"] {
        let lines = format!("content-length: {length}\r\n");
        let answer = board.answer(head("/in/shop", "1", b"", &lines)).await;
        // A length that no number holds is refused as no length at all.
        let expected = if length.len() > 20 { 400 } else { 413 };
        assert_eq!(answer.status, expected, "{length}");
    }
    assert_eq!(board.store.declined(), [Cause::TooLarge]);
    assert!(board.store.bodies().is_empty());
}

#[tokio::test]
async fn a_sender_that_writes_on_before_it_reads_still_gets_its_413() {
    let board = Switchboard::start().await;
    let body = vec![b'x'; 8 * 1024 * 1024];
    for path in ["/in/shop", "/in/nobody"] {
        let expected = if path == "/in/shop" { 413 } else { 404 };
        let mut sender = board.sender().await;
        sender
            .say(signed(path, "1", &body))
            .await
            .expect("written whole");
        let answer = sender.answer().await.expect("an answer, no reset");
        assert_eq!(answer.status, expected);
        sender.say(signed("/in/shop", "2", b"{}")).await;
        let next = sender.answer().await.expect("the connection serves on");
        assert_eq!(next.status, 200);
    }
}

#[tokio::test]
async fn an_unwanted_body_is_not_read_for_ever() {
    let limits = IngressLimits {
        unwanted_bytes: 100_000,
        unwanted_time: LONG * 10,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    let mut sender = board.sender().await;
    let lines = "content-length: 1000000000\r\n";
    sender.say(head("/in/shop", "1", b"", lines)).await;
    let poured = async {
        let chunk = vec![b'x'; 16 * 1024];
        let mut sent = 0;
        while sender.0.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        sent
    };
    let sent = soon(poured).await;
    // What the sockets' own buffers swallow is not read by anyone.
    assert!(sent < 32 * 1024 * 1024, "{sent} bytes went out");
}

#[tokio::test]
async fn a_chunked_body_that_grows_over_the_limit_is_too_large() {
    let board = Switchboard::start().await;
    let lines = "transfer-encoding: chunked\r\n";
    let mut sender = board.sender().await;
    sender.say(head("/in/shop", "1", b"", lines)).await;
    let chunk = format!("{:x}\r\n{}\r\n", 65536, "x".repeat(65536));
    for _ in 0..17 {
        sender.say(&chunk).await;
    }
    assert_eq!(sender.answer().await.expect("an answer").status, 413);
    assert_eq!(board.store.declined(), [Cause::TooLarge]);
    assert!(board.store.bodies().is_empty());
}

#[tokio::test]
async fn chunks_of_one_byte_with_an_extension_and_a_trailer_are_the_same_body() {
    let board = Switchboard::start().await;
    let body = b"{\"order\":\"\xf0\x9f\x99\x82\"}";
    let lines = "transfer-encoding: chunked\r\ntrailer: x-sum\r\n";
    let mut sender = board.sender().await;
    sender.0.set_nodelay(true).expect("an option");
    sender.say(head("/in/shop", "1", body, lines)).await;
    for byte in body {
        sender
            .say([b"1;note=\"a;b\"\r\n".as_slice(), &[*byte], b"\r\n"].concat())
            .await;
    }
    sender.say("0\r\nx-sum: 7\r\n\r\n").await;
    assert_eq!(sender.answer().await.expect("an answer").status, 200);
    assert_eq!(board.store.bodies(), [body]);
}

#[tokio::test]
async fn half_a_body_is_unreadable_and_nothing_is_stored() {
    let board = Switchboard::start().await;
    let length = head("/in/shop", "1", b"0123456789", "content-length: 10\r\n");
    let chunked = head(
        "/in/shop",
        "1",
        b"0123456789",
        "transfer-encoding: chunked\r\n",
    );
    for half in [
        [&length[..], b"01234"].concat(),
        [&chunked[..], b"5\r\n01234\r\n"].concat(),
        [&chunked[..], b"a\r\n01234"].concat(),
    ] {
        let mut sender = board.sender().await;
        sender.say(half).await;
        sender.0.shutdown().await.expect("half closed");
        assert_eq!(sender.answer().await.expect("an answer").status, 400);
        assert!(sender.is_closed().await);
    }
    for nonsense in [
        [&chunked[..], b"zz\r\n0123456789\r\n0\r\n\r\n"].concat(),
        [&chunked[..], b"5\r\n0123456789\r\n0\r\n\r\n"].concat(),
    ] {
        let answer = board.answer(nonsense).await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.body, r#"{"status":"unreadable"}"#);
    }
    assert_eq!(board.store.declined(), [NOT_WHOLE; 5]);
    assert!(board.store.bodies().is_empty());
}

#[tokio::test]
async fn a_body_that_stands_still_is_cut() {
    let limits = IngressLimits {
        body_pause: SHORT,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    let mut sender = board.sender().await;
    sender
        .say(head("/in/shop", "1", b"{}", "content-length: 2\r\n"))
        .await;
    sender.say("{").await;
    assert_eq!(sender.answer().await.expect("an answer").status, 400);
    assert_eq!(board.store.declined(), [NOT_WHOLE]);
}

#[tokio::test]
async fn a_body_that_only_drips_is_cut() {
    let limits = IngressLimits {
        body_time: SHORT,
        unwanted_time: SHORT,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    let mut sender = board.sender().await;
    sender
        .say(head("/in/shop", "1", b"", "content-length: 100000\r\n"))
        .await;
    let dripped = async {
        // A byte each time the timer comes round, until the connection is gone.
        while sender.0.write_all(b"x").await.is_ok() {
            let _ = tokio::time::timeout(SHORT / 30, std::future::pending::<()>()).await;
        }
    };
    soon(dripped).await;
    assert_eq!(board.store.declined(), [NOT_WHOLE]);
}

#[tokio::test]
async fn bodies_beyond_the_memory_for_all_of_them_are_told_to_try_again() {
    let limits = IngressLimits {
        memory: 256 * 1024,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    board.store.set(Mood::Slow);
    let body = vec![b'x'; 150_000];
    let mut first = board.sender().await;
    first.say(signed("/in/shop", "1", &body)).await;
    soon(board.store.gate.arrived.acquire())
        .await
        .expect("arrived")
        .forget();

    let second = board.answer(signed("/in/shop", "2", &body)).await;
    assert_eq!(second.status, 503);
    assert_eq!(second.value("retry-after"), Some("5"));
    assert_eq!(board.store.declined(), [Cause::Overloaded]);

    board.store.set(Mood::Fine);
    board.store.gate.open.add_permits(1);
    assert_eq!(first.answer().await.expect("an answer").status, 200);
    let again = board.answer(signed("/in/shop", "2", &body)).await;
    assert_eq!(again.status, 200, "the memory was given back");
}

#[tokio::test]
async fn announcing_a_body_takes_no_memory_from_the_others() {
    let limits = IngressLimits {
        memory: 1024 * 1024,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    let mut idle = Vec::new();
    for _ in 0..20 {
        let mut sender = board.sender().await;
        sender
            .say(head("/in/shop", "1", b"", "content-length: 1000000\r\n"))
            .await;
        idle.push(sender);
    }
    let answer = board
        .answer(signed("/in/shop", "2", &vec![b'x'; 300_000]))
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn the_first_byte_of_a_body_takes_little_memory_from_the_others() {
    let limits = IngressLimits {
        memory: 1024 * 1024,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    let mut begun = Vec::new();
    for _ in 0..40 {
        let mut request = head("/in/shop", "1", b"x", "content-length: 1000000\r\n");
        request.push(b'x');
        let mut sender = board.sender().await;
        sender.say(request).await;
        begun.push(sender);
    }
    let answer = board
        .answer(signed("/in/shop", "2", &vec![b'x'; 100_000]))
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_flood_of_headers_is_too_large() {
    let board = Switchboard::start().await;
    let mut lines = String::new();
    for n in 0..101 {
        write!(lines, "x-{n}: 1\r\n").expect("written");
    }
    let answer = board.answer(head("/in/shop", "1", b"", &lines)).await;
    assert_eq!(answer.status, 431);
    assert!(board.store.notes.lock().expect("lock").is_empty());
}
