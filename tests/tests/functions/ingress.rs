//! Posting to the real ingress.

use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use switchboard_core::ports::Views;
use switchboard_testkit::emulator::Emulator;
use switchboard_testkit::proxy::{Fate, Proxy};
use switchboard_tests::board::{Board, configuration, signed};
use switchboard_tests::gateway::{asked, body_of, encoded, header_of, plain, posted};
use switchboard_tests::lambda::Invoked;
use switchboard_tests::sender::now;
use switchboard_tests::wait::DEADLINE;

#[tokio::test]
async fn the_first_request_is_stored_and_queued_before_its_answer() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let body = r#"{"ref":"refs/heads/main","text":"ü"}"#;
    let headers = signed("1", body.as_bytes());
    let answer = ingress
        .invoke(&posted("code", &headers, &plain(body)))
        .await
        .answer();
    assert_eq!(answer["statusCode"], 200, "{answer}");
    let said = body_of(&answer);
    assert_eq!(said["status"], "accepted");
    let event = board.event(said["event"].as_str().expect("an id")).await;
    assert_eq!(event.deliveries.len(), 1);
    assert_eq!(board.hints(1).await.len(), 1);
    let again = ingress
        .invoke(&posted("code", &headers, &encoded(body.as_bytes())))
        .await;
    let said = body_of(&again.answer());
    assert_eq!(said["status"], "repeat", "the same bytes, text or not");
    let totals = board.aws.overview().await.expect("totals").totals;
    assert_eq!((totals.stored, totals.repeats), (1, 1));
    assert_eq!(totals.repeats_with_other_body, 0, "exactly the same bytes");
}

#[tokio::test]
async fn what_is_refused_or_declined_is_counted_before_its_answer() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let mut headers = signed("1", b"{}");
    let status = async |event: Value| {
        let answer = ingress.invoke(&event).await.answer();
        (answer["statusCode"].as_u64(), body_of(&answer))
    };
    let (code, _) = status(posted("code", &headers, &plain("{ }"))).await;
    assert_eq!(code, Some(401));
    let totals = board.aws.overview().await.expect("totals").totals;
    assert_eq!((totals.refused, totals.declined), (1, 0));
    let (code, _) = status(posted("nobody", &headers, &plain("{}"))).await;
    assert_eq!(code, Some(404));
    headers.insert("content-length", HeaderValue::from_static("99999999"));
    let (code, _) = status(posted("code", &headers, &plain("{}"))).await;
    assert_eq!(code, Some(413));
    let totals = board.aws.overview().await.expect("totals").totals;
    assert_eq!((totals.refused, totals.declined), (1, 2));
    let (code, _) = status(asked("GET", "/in/code", &HeaderMap::new(), &plain(""))).await;
    assert_eq!(code, Some(405));
    // The path as the sender wrote it: no source has such a name.
    let (code, _) = status(posted("x/../code", &signed("2", b"{}"), &plain("{}"))).await;
    assert_eq!(code, Some(404));
}

#[tokio::test]
async fn a_flood_of_rubbish_is_counted_whole_by_few_calls() {
    // More than the calls that may be made of it before the deadline.
    const FLOOD: u32 = 300;
    let board = Board::start().await;
    let emulator = Emulator::shared().address();
    let proxy = Proxy::start(emulator, |_| Fate::Passed);
    let ingress = board.function_over("ingress", &proxy.url()).start().await;
    let rubbish = posted("code", &signed("1", b"{}"), &plain("{ }"));
    let began = now();
    for _ in 0..FLOOD {
        let answer = ingress.invoke(&rubbish).await.answer();
        assert_eq!(answer["statusCode"], 401, "{answer}");
    }
    let took = now().since(began);
    assert!(took < DEADLINE, "{FLOOD} posts took {took:?}");
    let so_often = |every: u128| usize::try_from(took.as_millis() / every).expect("a number");
    // A first burst is listed, then five a second; what is between two of them waits, for a fifth of a second at most.
    let writes = 20 + 2 * so_often(200) + 2;
    // The configuration, the secret and the settings are read at the start, and the first and the last every five seconds.
    let reads = 3 + 2 * so_often(5_000);
    let calls = proxy.requests().len();
    let most = writes + reads;
    assert!(calls <= most, "{calls} calls in {took:?}, at most {most}");

    // What waits goes with whatever is posted next.
    let counted = async {
        for number in 2.. {
            let totals = board.aws.overview().await.expect("totals").totals;
            if totals.refused == u64::from(FLOOD) {
                break;
            }
            board.post(&ingress, &number.to_string(), b"{}").await;
        }
    };
    let counted = tokio::time::timeout(DEADLINE, counted).await;
    counted.expect("all of it is counted");
    proxy.end();
}

#[tokio::test]
async fn a_panic_is_the_end_of_one_request_and_not_of_the_next() {
    let board = Board::start().await;
    let broken = board
        .function("ingress")
        .set("SWITCHBOARD_FAIL", "before-accept=panic");
    let ingress = broken.start().await;
    let id = ingress.id();
    let answer = ingress
        .invoke(&posted("code", &signed("1", b"{}"), &plain("{}")))
        .await;
    let answer = answer.answer();
    assert_eq!(answer["statusCode"], 503, "{answer}");
    assert!(header_of(&answer, "retry-after").is_some(), "{answer}");
    let answer = ingress
        .invoke(&posted("nobody", &HeaderMap::new(), &plain("")))
        .await;
    assert_eq!(answer.answer()["statusCode"], 404);
    assert_eq!(ingress.id(), id, "the same process");
    let lines = ingress.lines();
    assert!(
        lines.iter().any(|line| line["message"] == "broke off"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn before_a_configuration_is_applied_every_source_is_unknown_and_then_it_counts() {
    let board = Board::bare().await;
    let ingress = board.function("ingress").start().await;
    let event = posted("code", &signed("1", b"{}"), &plain("{}"));
    assert_eq!(ingress.invoke(&event).await.answer()["statusCode"], 404);
    board
        .apply(None, &configuration(&board.sink.url("/")))
        .await;
    let answered = switchboard_tests::wait::until("what was applied counts", async || {
        let answer = ingress.invoke(&event).await.answer();
        (answer["statusCode"] == 200).then_some(answer)
    });
    answered.await;
}

#[tokio::test]
async fn without_the_table_a_sender_is_told_to_try_again() {
    let board = Board::start().await;
    // Nobody listens there.
    let ingress = board
        .function_over("ingress", "http://127.0.0.1:9")
        .start()
        .await;
    let event = posted("code", &signed("1", b"{}"), &plain("{}"));
    let Invoked::Answered(answer) = ingress.invoke(&event).await else {
        panic!("no answer");
    };
    assert_eq!(answer["statusCode"], 503, "{answer}");
    assert!(header_of(&answer, "retry-after").is_some(), "{answer}");
}

#[tokio::test]
async fn a_request_costs_one_line_of_json_and_libraries_say_nothing() {
    let board = Board::start().await;
    let ingress = board
        .function("ingress")
        .set("RUST_LOG", "trace")
        .start()
        .await;
    board.post(&ingress, "1", b"{}").await;
    let told = |message: &str| {
        let lines = ingress.lines();
        lines
            .iter()
            .filter(|line| line["message"] == message)
            .count()
    };
    assert_eq!(told("received"), 1);
    let text = ingress.text();
    for library in ["hyper", "aws_smithy", "rustls", "AWS_ACCESS_KEY_ID"] {
        assert!(!text.contains(library), "{library}: {text}");
    }
    let ingress = board
        .function("ingress")
        .set("RUST_LOG", "warn")
        .start()
        .await;
    board.post(&ingress, "2", b"{}").await;
    assert_eq!(ingress.text(), "", "nothing went wrong");
}
