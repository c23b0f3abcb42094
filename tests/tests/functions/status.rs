//! Asking the real status function.

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use switchboard_tests::board::{Board, TOKEN, configuration, signed};
use switchboard_tests::gateway::{asked, body_of, plain, posted};
use switchboard_tests::lambda::{Invoked, Lambda};

async fn start(board: &Board, fail: Option<&str>) -> Lambda {
    let function = board.function("status");
    let function = function.set("SWITCHBOARD_STREAM", &board.stream().await);
    match fail {
        Some(plan) => function.set("SWITCHBOARD_FAIL", plan).start().await,
        None => function.start().await,
    }
}

fn token() -> HeaderMap {
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&format!("Bearer {TOKEN}")).expect("a value");
    headers.insert(AUTHORIZATION, value);
    headers
}

fn get(path: &str, headers: &HeaderMap) -> Value {
    asked("GET", path, headers, &plain(""))
}

fn sent(method: &str, path: &str, body: &Value) -> Value {
    let mut headers = token();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    asked(method, path, &headers, &plain(&body.to_string()))
}

#[tokio::test]
async fn operators_are_answered_under_the_gateways_name_and_no_other() {
    let board = Board::start().await;
    let status = start(&board, None).await;
    let code = async |event: Value| status.invoke(&event).await.answer()["statusCode"].clone();
    assert_eq!(code(get("/healthz", &HeaderMap::new())).await, 200);
    assert_eq!(
        code(get("/", &HeaderMap::new())).await,
        200,
        "the sign-in page"
    );
    assert_eq!(code(get("/api/overview", &HeaderMap::new())).await, 401);
    assert_eq!(code(get("/api/overview", &token())).await, 200);
    let mut other = token();
    other.insert(HOST, HeaderValue::from_static("evil.example"));
    assert_eq!(code(get("/api/overview", &other)).await, 403);
}

#[tokio::test]
async fn what_was_posted_is_in_the_totals_at_once() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let status = start(&board, None).await;
    board.post(&ingress, "1", b"{}").await;
    let refused = posted("code", &signed("2", b"{}"), &plain("{ }"));
    assert_eq!(ingress.invoke(&refused).await.answer()["statusCode"], 401);
    let answer = status
        .invoke(&get("/api/overview", &token()))
        .await
        .answer();
    let totals = &body_of(&answer)["totals"];
    assert_eq!(
        (&totals["stored"], &totals["refused"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(totals["waiting"], 1);
}

#[tokio::test]
async fn a_panic_is_a_500_for_one_request_and_the_next_is_answered() {
    let board = Board::start().await;
    let status = start(&board, Some("before-redrive=panic")).await;
    let id = status.id();
    let redrive = sent("POST", "/admin/redrive", &json!({ "all": true }));
    let invoked = status.invoke(&redrive).await;
    assert!(matches!(invoked, Invoked::Failed(_)), "{invoked:?}");
    let answer = status
        .invoke(&get("/healthz", &HeaderMap::new()))
        .await
        .answer();
    assert_eq!(answer["statusCode"], 200);
    assert_eq!(status.id(), id, "the same process");
}

/// A test has 25 seconds, whatever time its destination has: this one takes all that it may.
#[tokio::test]
async fn a_test_of_a_destination_that_never_answers_is_told_before_the_gateway_gives_up() {
    let board = Board::bare().await;
    // It takes connections and says nothing.
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = silent.local_addr().expect("an address");
    let text = configuration(&format!("http://{address}/"));
    let url = format!("url = \"http://{address}/\"\n");
    let patient = text.replace(&url, &format!("{url}time_limit = \"60s\"\n"));
    assert_ne!(patient, text);
    board.apply(None, &patient).await;
    let status = start(&board, None).await;
    let wish = sent("POST", "/admin/test", &json!({ "destination": "chat" }));
    let answer = status.invoke(&wish).await.answer();
    assert_eq!(answer["statusCode"], 200, "{answer}");
    let said = body_of(&answer);
    assert_eq!(said["outcome"], "unanswered", "{said}");
    let detail = said["detail"].as_str().expect("why");
    assert!(detail.contains("within 20 s"), "{said}");
    drop(silent);
}

#[tokio::test]
async fn a_configuration_is_applied_and_the_ingress_follows_it() {
    let board = Board::bare().await;
    let (status, ingress) = (
        start(&board, None).await,
        board.function("ingress").start().await,
    );
    let event = posted("code", &signed("1", b"{}"), &plain("{}"));
    assert_eq!(ingress.invoke(&event).await.answer()["statusCode"], 404);
    let text = configuration(&board.sink.url("/"));
    let body = json!({ "configuration": text, "version": null });
    let answer = status
        .invoke(&sent("PUT", "/admin/configuration", &body))
        .await
        .answer();
    assert_eq!(answer["statusCode"], 200, "{answer}");
    let routes = status.invoke(&get("/api/routes", &token())).await.answer();
    let sources = &body_of(&routes)["sources"];
    assert_eq!(sources[0]["name"], "code", "at once where it was applied");
    let answered = switchboard_tests::wait::until("the ingress follows", async || {
        let answer = ingress.invoke(&event).await.answer();
        (answer["statusCode"] == 200).then_some(())
    });
    answered.await;
}
