//! The switches, for one request and lasting.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::{DEADLINE, Port, delivery, request};

async fn chat(port: &Port) -> Value {
    port.books().await["chat"].clone()
}

#[tokio::test]
async fn fail_answers_500_and_applies_nothing() {
    let port = Port::start().await;
    let answer = port
        .deliver("/chat?mode=fail", "dlv_a", "push", "post-line", "{}")
        .await;
    assert_eq!(answer.status, 500);
    assert_eq!(chat(&port).await["total"], 0);
    let next = port
        .deliver("/chat", "dlv_a", "push", "post-line", "{}")
        .await;
    assert_eq!(next.status, 200, "the mode of one request does not last");
    assert_eq!(
        (&chat(&port).await["total"], &chat(&port).await["mode"]),
        (&1.into(), &"ok".into())
    );
}

#[tokio::test]
async fn down_closes_the_connection_without_a_byte_and_applies_nothing() {
    let port = Port::start().await;
    for body in ["{}", &" ".repeat(300_000)] {
        let headers = delivery("dlv_a", "push", "post-line");
        let came = port
            .raw(request(
                "POST",
                "/chat?mode=down",
                &headers,
                body.as_bytes(),
            ))
            .await;
        assert_eq!(String::from_utf8_lossy(&came), "", "no byte comes back");
    }
    let chat = chat(&port).await;
    assert_eq!((&chat["total"], &chat["applied"]), (&0.into(), &0.into()));
}

#[tokio::test]
async fn down_also_closes_a_connection_that_was_answered_before() {
    let port = Port::start().await;
    let keep_alive = |path: &str, key: &str| {
        let request = request("POST", path, &delivery(key, "push", "post-line"), b"{}");
        String::from_utf8(request)
            .expect("text")
            .replace("Connection: close\r\n", "")
            .into_bytes()
    };
    let both = [
        keep_alive("/chat", "dlv_a"),
        keep_alive("/chat?mode=down", "dlv_b"),
    ]
    .concat();
    let came = port.raw(both).await;
    let came = String::from_utf8_lossy(&came);
    assert_eq!(
        came.matches("HTTP/1.1").count(),
        1,
        "one answer, then the end: {came}"
    );
    assert_eq!(chat(&port).await["total"], 1);
}

#[tokio::test]
async fn slow_applies_and_answers() {
    let port = Port::start().await;
    let answer = port
        .deliver("/chat?mode=slow", "dlv_a", "push", "post-line", "{}")
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(chat(&port).await["total"], 1);
}

#[tokio::test]
async fn late_applies_at_once_though_its_answer_is_not_waited_for() {
    let port = Port::start().await; // whose late answers come after an hour
    let headers = delivery("dlv_a", "push", "post-line");
    let sent = request("POST", "/chat?mode=late", &headers, b"{}");
    let address = port.address;
    let mut unanswered = spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).expect("connected");
        stream.write_all(&sent).expect("sent");
        stream
    })
    .await
    .expect("sent");
    let applied = async {
        while chat(&port).await["total"] != 1 {
            tokio::task::yield_now().await;
        }
    };
    timeout(DEADLINE, applied)
        .await
        .expect("it is applied while its answer is out");
    unanswered.set_nonblocking(true).expect("set");
    let nothing = unanswered.read(&mut [0; 1]).expect_err("no answer yet");
    assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    drop(unanswered);
    let next = port
        .deliver("/chat?mode=late", "dlv_a", "push", "post-line", "{}")
        .await;
    assert_eq!(next.status, 200, "the next attempt is answered at once");
    let chat = chat(&port).await;
    assert_eq!(
        (&chat["total"], &chat["answered_again"]),
        (&1.into(), &1.into()),
        "and not applied twice"
    );
}

#[tokio::test]
async fn a_switch_without_a_key_lasts_until_ok() {
    let port = Port::start().await;
    port.switch("/chat?mode=fail").await;
    for n in 0..2 {
        let answer = port
            .deliver("/chat", "dlv_a", "push", "post-line", "{}")
            .await;
        assert_eq!(answer.status, 500, "attempt {n}");
    }
    let other = port.deliver("/crm", "dlv_b", "push", "other", "{}").await;
    assert_eq!(other.status, 200, "the others go on");
    let once = port
        .deliver("/chat?mode=ok", "dlv_c", "push", "post-line", "{}")
        .await;
    assert_eq!(
        once.status, 200,
        "a request's own mode wins for that request"
    );
    assert_eq!(
        port.deliver("/chat", "dlv_a", "push", "post-line", "{}")
            .await
            .status,
        500,
        "and changes no switch"
    );
    port.switch("/chat?mode=ok").await;
    assert_eq!(
        port.deliver("/chat", "dlv_a", "push", "post-line", "{}")
            .await
            .status,
        200
    );
    assert_eq!(
        (&chat(&port).await["total"], &chat(&port).await["mode"]),
        (&2.into(), &"ok".into())
    );
}

#[tokio::test]
async fn a_lasting_down_is_mended_by_ok() {
    let port = Port::start().await;
    port.switch("/your-endpoint?mode=down").await;
    let came = port
        .raw(request(
            "POST",
            "/your-endpoint",
            &delivery("dlv_a", "push", "copy"),
            b"{}",
        ))
        .await;
    assert!(came.is_empty());
    port.switch("/your-endpoint?mode=ok").await;
    assert_eq!(
        port.deliver("/your-endpoint", "dlv_a", "push", "copy", "{}")
            .await
            .status,
        401
    );
}

#[tokio::test]
async fn reading_changes_nothing() {
    let port = Port::start().await;
    for path in ["/chat?mode=fail", "/books?mode=fail", "/?mode=fail"] {
        port.ask("GET", path, &[("Idempotency-Key", "dlv_a")], b"")
            .await;
    }
    let chat = chat(&port).await;
    assert_eq!((&chat["total"], &chat["mode"]), (&0.into(), &"ok".into()));
}
