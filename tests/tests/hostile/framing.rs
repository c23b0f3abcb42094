//! Requests whose end can be read in two ways: Switchboard reads one of them, or none, and never finds a second request
//! in what another reader would take for a body.

use switchboard_tests::setting::{running, sender};

use crate::raw::{Then, exchange, framed, good, signed, statuses};

/// Bodies in chunks that are none: what stands behind the head.
fn broken_chunks() -> Vec<(&'static str, String)> {
    let long = "x".repeat(40_000);
    vec![
        ("a negative size", "-1\r\n\r\n".to_owned()),
        ("a size with a sign", "+2\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("a size as in C", "0x2\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("no size", "\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("two sizes", "2 2\r\n{}\r\n0\r\n\r\n".to_owned()),
        (
            "a size beyond all numbers",
            "fffffffffffffffff\r\n{}".to_owned(),
        ),
        (
            "a size that is no number",
            "zz\r\n{}\r\n0\r\n\r\n".to_owned(),
        ),
        (
            "a bare line feed behind the size",
            "2\n{}\r\n0\r\n\r\n".to_owned(),
        ),
        (
            "a bare line feed in an extension",
            "2;a\n{}\r\n0\r\n\r\n".to_owned(),
        ),
        (
            "no line end behind the chunk",
            "2\r\n{}0\r\n\r\n".to_owned(),
        ),
        (
            "a chunk longer than its size",
            "2\r\n{}xx\r\n0\r\n\r\n".to_owned(),
        ),
        (
            "a bare line feed behind the chunk",
            "2\r\n{}\n0\r\n\r\n".to_owned(),
        ),
        ("an extension without end", format!("2;{long}")),
        (
            "extensions without end",
            format!("{}2;", "1;x\r\n{\r\n".repeat(9000)),
        ),
        (
            "trailers without end",
            format!("2\r\n{{}}\r\n0\r\nx: {long}"),
        ),
        (
            "a trailer that is none",
            "2\r\n{}\r\n0\r\nx\0y\r\n\r\n".to_owned(),
        ),
        ("a size and no end", "7fffffffffffffff\r\n{}".to_owned()),
    ]
}

#[tokio::test]
async fn broken_chunks_are_no_body_and_hide_no_second_request() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let second = signed(&shop, "/in/shop", "second", "", "{}");
    for (what, chunks) in broken_chunks() {
        let chunked = "transfer-encoding: chunked\r\n";
        let first = framed(&shop, "/in/shop", "first", chunked, "{}", &chunks);
        let answers = exchange(&switchboard, &[&first[..], &second].concat(), Then::Close).await;
        // Told, or just closed: a trailer is not the sender's to be told of once its body was read.
        assert!(
            matches!(statuses(&answers)[..], [] | [400 | 413]),
            "{what}: {answers}"
        );
    }
    assert_eq!(switchboard.total("received").await, 0, "nothing was stored");
    good(&shop, "good").await;
}

#[tokio::test]
async fn lengths_that_contradict_each_other_are_read_in_one_way_or_not_at_all() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let second = signed(&shop, "/in/shop", "second", "", "{}");
    let hides = format!("0\r\n\r\n{}", String::from_utf8_lossy(&second));
    let length = hides.len();
    let both = [
        format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n"),
        format!("transfer-encoding: chunked\r\ncontent-length: {length}\r\n"),
        format!("Transfer-Encoding: CHUNKED\r\ncontent-length: {length}\r\n"),
        format!("content-length: {length}\r\ntransfer-encoding: identity, chunked\r\n"),
    ];
    for (number, lines) in both.iter().enumerate() {
        let id = format!("both-{number}");
        // By its chunks the body is empty, so the signature over it holds; by its length a second request is in it.
        let first = framed(&shop, "/in/shop", &id, lines, "", &hides);
        let answers = exchange(&switchboard, &first, Then::Wait).await;
        assert!(
            matches!(statuses(&answers)[..], [200 | 400 | 401]),
            "one answer, then closed: {lines:?}: {answers}"
        );
    }
    let neither = [
        format!("content-length: 2\r\ncontent-length: {length}\r\n"),
        format!("content-length: {length}\r\ncontent-length: 0\r\n"),
        "content-length: 0, 0\r\n".to_owned(),
        "content-length: +2\r\n".to_owned(),
        "content-length: -2\r\n".to_owned(),
        "content-length: 0x2\r\n".to_owned(),
        "content-length: 2 \0\r\n".to_owned(),
        "content-length: 18446744073709551616\r\n".to_owned(),
        "content-length : 2\r\n".to_owned(),
        "content-length: 2\r\n 0\r\n".to_owned(),
        "x: 1\r\n\tcontent-length: 2\r\n".to_owned(),
        "transfer-encoding : chunked\r\n".to_owned(),
        "transfer-encoding: xchunked\r\n".to_owned(),
        "transfer-encoding: chunked, identity\r\n".to_owned(),
        "transfer-encoding: identity\r\n".to_owned(),
        "transfer-encoding: \u{b}chunked\r\n".to_owned(),
        "x: a\rcontent-length: 2\r\n".to_owned(),
        "x\0y: 1\r\n".to_owned(),
        "x: a\0b\r\n".to_owned(),
        ": 1\r\n".to_owned(),
        "x y: 1\r\n".to_owned(),
    ];
    for (number, lines) in neither.iter().enumerate() {
        let id = format!("neither-{number}");
        let first = framed(&shop, "/in/shop", &id, lines, "{}", &hides);
        let answers = exchange(&switchboard, &first, Then::Wait).await;
        assert_eq!(statuses(&answers), [400], "{lines:?}: {answers}");
    }
    let old = framed(
        &shop,
        "/in/shop",
        "old",
        "transfer-encoding: chunked\r\n",
        "",
        &hides,
    );
    let old = String::from_utf8_lossy(&old).replacen("HTTP/1.1", "HTTP/1.0", 1);
    let answers = exchange(&switchboard, old.as_bytes(), Then::Wait).await;
    assert_eq!(answers.matches("HTTP/1.").count(), 1, "{answers}");
    let events = switchboard.get("/api/events?sender_id=second").await;
    assert_eq!(events["items"], serde_json::json!([]), "no second request");
    good(&shop, "good").await;
}

#[tokio::test]
async fn equal_lengths_and_a_bare_line_feed_at_the_end_of_a_line_have_one_meaning() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let second = signed(&shop, "/in/shop", "second", "connection: close\r\n", "{}");
    let twice = "content-length: 2\r\ncontent-length: 2\r\n";
    let first = framed(&shop, "/in/shop", "first", twice, "{}", "{}");
    let answers = exchange(&switchboard, &[&first[..], &second].concat(), Then::Wait).await;
    assert_eq!(statuses(&answers), [200, 200], "{answers}");
    // RFC 9112 section 2.2 lets a reader take a line feed for the end of a line. What stands behind it is a line then.
    let bare = "x: 1\ncontent-length: 2\r\nconnection: close\r\n";
    let third = framed(&shop, "/in/shop", "third", bare, "{}", "{}");
    let answers = exchange(&switchboard, &third, Then::Wait).await;
    assert_eq!(statuses(&answers), [200], "{answers}");
    assert_eq!(switchboard.total("received").await, 3);
}

#[tokio::test]
async fn requests_sent_in_one_go_are_answered_in_their_order_and_each_once() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let mut all = Vec::new();
    for number in 0..50 {
        let id = format!("id-{number}");
        all.extend(match number % 3 {
            0 => signed(&shop, "/in/shop", &id, "", "{}"),
            1 => {
                let chunked = "transfer-encoding: chunked\r\n";
                framed(
                    &shop,
                    "/in/shop",
                    &id,
                    chunked,
                    "{}",
                    "1;x\r\n{\r\n1\r\n}\r\n0\r\nx: y\r\n\r\n",
                )
            }
            _ => b"POST /in/shop HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\n{}".to_vec(),
        });
    }
    let last = b"GET /healthz HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n";
    let answers = exchange(&switchboard, &[&all[..], last].concat(), Then::Wait).await;
    let mut due: Vec<u16> = (0..50)
        .map(|number| if number % 3 == 2 { 401 } else { 200 })
        .collect();
    due.push(200);
    assert_eq!(statuses(&answers), due);
    assert_eq!(switchboard.total("stored").await, 34);
    assert_eq!(switchboard.total("refused").await, 16);
}
