//! Heads that are cut, endless, of another protocol, or name something else than a path.

use std::fmt::Write as _;

use switchboard_tests::setting::{running, sender};
use tokio::io::AsyncWriteExt;

use crate::raw::{Then, connect, exchange, good, signed, statuses};

#[tokio::test]
async fn a_request_cut_anywhere_is_never_taken_and_one_in_single_bytes_is() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let whole = signed(
        &shop,
        "/in/shop",
        "cut",
        "connection: close\r\n",
        r#"{"a": 1}"#,
    );
    for cut in 0..whole.len() {
        let answers = exchange(&switchboard, &whole[..cut], Then::Close).await;
        assert!(
            matches!(statuses(&answers)[..], [] | [400]),
            "cut at {cut}: {answers}"
        );
    }
    assert_eq!(switchboard.total("received").await, 0, "none was stored");
    // The same again, not closed: all of them wait for the rest at once.
    let mut waiting = Vec::new();
    for cut in 0..whole.len() {
        let mut stream = connect(&switchboard).await;
        stream.write_all(&whole[..cut]).await.expect("written");
        waiting.push(stream);
    }
    good(&shop, "good").await;
    for (cut, stream) in waiting
        .iter_mut()
        .enumerate()
        .filter(|(cut, _)| cut % 40 == 0)
    {
        stream.write_all(&whole[cut..]).await.expect("the rest");
    }
    switchboard.wait_total("stored", 2).await;
    let mut stream = connect(&switchboard).await;
    for byte in signed(&shop, "/in/shop", "bytes", "", "{}") {
        stream.write_all(&[byte]).await.expect("a byte");
    }
    switchboard.wait_total("stored", 3).await;
}

#[tokio::test]
async fn a_head_beyond_its_limits_is_turned_away_and_a_long_path_is_no_source() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let many = (0..150).fold(String::new(), |mut lines, number| {
        let _ = write!(lines, "x-{number}: 1\r\n");
        lines
    });
    let ask = |path: &str, lines: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-length: 0\r\nconnection: close\r\n{lines}\r\n"
        )
    };
    let path = |length: usize| format!("/in/{}", "p".repeat(length));
    for (request, due) in [
        (ask("/in/shop", &many), &[431][..]),
        (
            ask("/in/shop", &format!("x: {}\r\n", "v".repeat(3_000_000))),
            &[431],
        ),
        (
            ask("/in/shop", &format!("{}: v\r\n", "n".repeat(70_000))),
            &[400, 431],
        ),
        (ask(&path(8_000), ""), &[404]),
        (ask(&path(60_000), ""), &[404]),
        (ask(&path(100_000), ""), &[414, 431]),
        (ask(&path(3_000_000), ""), &[414, 431]),
        (ask(&format!("/in/shop?{}", "q".repeat(50_000)), ""), &[401]),
    ] {
        let answers = exchange(&switchboard, request.as_bytes(), Then::Wait).await;
        let found = statuses(&answers);
        let shown = &request[..60];
        // Who writes on after the answer may find the connection reset before it is read.
        assert!(
            matches!(found[..], [one] if due.contains(&one))
                || (found.is_empty() && request.len() > 1_000_000),
            "{shown}: {found:?}"
        );
    }
    good(&shop, "good").await;
}

#[tokio::test]
async fn other_protocols_and_other_forms_of_a_target_get_nothing_that_is_not_theirs() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let closing = "host: test\r\nconnection: close\r\n";
    let ask = |line: &str| format!("{line} HTTP/1.1\r\n{closing}\r\n");
    for (request, due) in [
        ("GET /\r\n\r\n".to_owned(), &[400][..]),
        (
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_owned(),
            &[400, 505],
        ),
        (
            "\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03".to_owned(),
            &[400],
        ),
        ("SSH-2.0-OpenSSH_9.6\r\n".to_owned(), &[400]),
        (ask("OPTIONS *"), &[404]),
        (ask("GET *"), &[404]),
        (ask("CONNECT example.com:443"), &[400, 404, 405]),
        (ask("CONNECT 127.0.0.1:22"), &[400, 404, 405]),
        (ask("GET //evil.example/%2e%2e/api/overview"), &[404]),
        (ask("GET /in/../api/overview"), &[404]),
        (ask("GET http://evil.example/api/overview"), &[403]),
        (ask("GET http://evil.example/"), &[403]),
        (ask("POST /in/shop\0"), &[400]),
        (ask("POST  /in/shop"), &[400]),
        (ask("P\u{f6}ST /in/shop"), &[400]),
        ("GET / HTTP/3.0\r\n\r\n".to_owned(), &[400, 505]),
    ] {
        let answers = exchange(&switchboard, request.as_bytes(), Then::Close).await;
        let found = statuses(&answers);
        assert!(
            found.is_empty() || matches!(found[..], [one] if due.contains(&one)),
            "{request:?}: {answers}"
        );
    }
    let others = [
        "connection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n",
        "connection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQ\r\n",
        "expect: 200-ok\r\nconnection: close\r\n",
    ];
    for (number, lines) in others.iter().enumerate() {
        let request = signed(&shop, "/in/shop", &format!("id-{number}"), lines, "{}");
        let answers = exchange(&switchboard, &request, Then::Wait).await;
        assert_eq!(
            statuses(&answers),
            [200],
            "answered as without it: {answers}"
        );
    }
    // A whole address as the target is the same source's; whoever it names does not matter there.
    let request = signed(
        &shop,
        "http://evil.example/in/shop",
        "whole",
        "connection: close\r\n",
        "{}",
    );
    let answers = exchange(&switchboard, &request, Then::Wait).await;
    assert_eq!(statuses(&answers), [200], "{answers}");
    good(&shop, "good").await;
}
