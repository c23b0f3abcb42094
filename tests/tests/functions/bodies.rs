//! Bodies from small to the largest that the platform passes on, as text and as bytes: whole at every destination, or
//! declined before anything is stored.

use switchboard_tests::board::{Board, batch, configuration, signed};
use switchboard_tests::gateway::{body_of, encoded, given_back, plain, posted};

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
