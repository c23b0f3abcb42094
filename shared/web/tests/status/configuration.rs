//! What was applied, read and replaced by operators.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_core::ports::Stored;

use crate::deployed::{Deployment, text};
use crate::desk::{Desk, NOW, TOKEN, ask, bearer, send};

const PATH: &str = "/admin/configuration";

fn never() -> Value {
    json!({ "configuration": null, "version": null, "at": null })
}

#[tokio::test]
async fn what_is_applied_is_read_again_and_replaced_version_by_version() {
    let deployment = Deployment::new();
    assert_eq!(deployment.get(PATH).await.json(), never());
    for version in 1..4_u64 {
        let text = text(&format!("a-{version}"));
        let seen = (version > 1).then(|| version - 1);
        let applied = deployment.apply(&text, seen).await;
        assert_eq!(applied.status, StatusCode::OK, "{}", applied.text);
        assert_eq!(applied.json(), json!({ "version": version }));
        assert_eq!(
            deployment.get(PATH).await.json(),
            json!({ "configuration": text, "version": version, "at": NOW })
        );
        let routes = deployment.get("/api/routes").await.json();
        assert_eq!(
            routes["configuration"],
            json!({ "version": version, "at": NOW })
        );
        let name = format!("a-{version}");
        assert!(
            routes["retry"][name].is_object(),
            "it counts at once: {routes}"
        );
    }
}

#[tokio::test]
async fn before_the_first_there_are_no_sources_and_that_is_told() {
    let deployment = Deployment::new();
    let routes = deployment.get("/api/routes").await.json();
    assert_eq!(
        routes["configuration"],
        json!({ "version": null, "at": null })
    );
    assert_eq!(
        (&routes["sources"], &routes["items"]),
        (&json!([]), &json!([]))
    );
}

#[tokio::test]
async fn the_same_application_twice_is_answered_alike() {
    let deployment = Deployment::new();
    for _ in 0..2 {
        let applied = deployment.apply(&text("a"), None).await;
        assert_eq!(
            (applied.status, applied.json()),
            (StatusCode::OK, json!({ "version": 1 }))
        );
    }
}

#[tokio::test]
async fn a_version_that_was_not_seen_is_not_overwritten() {
    let deployment = Deployment::new();
    let over_nothing = deployment.apply(&text("a"), Some(1)).await;
    assert_eq!(over_nothing.status, StatusCode::CONFLICT);
    assert_eq!(over_nothing.json()["version"], Value::Null);
    deployment.apply(&text("a"), None).await;
    deployment.apply(&text("b"), Some(1)).await;
    for seen in [None, Some(1), Some(3)] {
        let other = deployment.apply(&text("c"), seen).await;
        assert_eq!(other.status, StatusCode::CONFLICT, "{seen:?}");
        let told = other.problem();
        assert_eq!(told, "version 2 stands, which is not the one that was seen");
        assert_eq!(other.json()["version"], 2);
    }
    assert_eq!(
        deployment.get(PATH).await.json()["configuration"],
        text("b")
    );
}

#[tokio::test]
async fn every_fault_is_named_and_no_secret_is_shown() {
    let deployment = Deployment::new();
    deployment.secrets.set("junk", "whsec_PASTED!");
    let unusable = "hosts = [\"a.example\"]\n".to_owned()
        + &text("a").replace("secret:shop", "secret:gone")
        + "sign = \"secret:junk\"\nheaders = { authorization = \"env:TOKEN\" }\n";
    let seen = deployment.apply(&unusable, None).await;
    assert_eq!(seen.status, StatusCode::BAD_REQUEST);
    let answer = seen.json();
    assert_eq!(answer["detail"], "the configuration cannot be used");
    let faults = answer["faults"].as_array().expect("faults");
    assert_eq!(faults.len(), 4, "{answer}");
    for (fault, due) in faults.iter().zip([
        "hosts is for",
        "source \"shop\": secrets: the secret secret:gone cannot be read: there is none",
        "destination \"a\": headers: authorization: env: and file: stand in",
        "destination \"a\": sign: the secret secret:junk is not base64",
    ]) {
        assert!(
            fault.as_str().is_some_and(|fault| fault.starts_with(due)),
            "{due}: {answer}"
        );
    }
    assert!(!seen.text.contains("PASTED"), "{}", seen.text);
    assert_eq!(deployment.get(PATH).await.json(), never());
}

#[tokio::test]
async fn what_is_unwise_is_told_with_the_version() {
    let deployment = Deployment::new();
    deployment.secrets.set("shop", "hunter2");
    let seen = deployment.apply(&text("a"), None).await;
    let answer = seen.json();
    assert_eq!(answer["version"], 1);
    let warnings = answer["warnings"].as_array().expect("warnings");
    let warns = |due: &str| warnings.iter().any(|line| line.to_string().contains(due));
    assert!(warns("secret:shop is shorter than"), "{answer}");
    assert!(!seen.text.contains("hunter2"), "{}", seen.text);
}

#[tokio::test]
async fn only_the_token_opens_it_and_only_from_no_other_site() {
    let deployment = Deployment::new();
    let body = json!({ "configuration": text("a"), "version": null }).to_string();
    let json_type = || ("content-type", "application/json".to_owned());
    let form = [(
        "content-type",
        "application/x-www-form-urlencoded".to_owned(),
    )];
    let signed_in = ask(Method::POST, "/sign-in", &form, &format!("token={TOKEN}"));
    let cookie = (
        "cookie",
        send(&deployment.process, signed_in).await.cookie(),
    );
    for method in [Method::GET, Method::PUT] {
        for (headers, due) in [
            (vec![], StatusCode::UNAUTHORIZED),
            (vec![bearer("another")], StatusCode::UNAUTHORIZED),
            (vec![cookie.clone()], StatusCode::FORBIDDEN),
            (
                vec![bearer(TOKEN), ("origin", "https://evil.example".into())],
                StatusCode::FORBIDDEN,
            ),
            (
                vec![bearer(TOKEN), ("host", "evil.example".into())],
                StatusCode::FORBIDDEN,
            ),
        ] {
            let headers = [headers, vec![json_type()]].concat();
            let seen = send(
                &deployment.process,
                ask(method.clone(), PATH, &headers, &body),
            )
            .await;
            assert_eq!(seen.status, due, "{method} {headers:?}");
            assert!(!seen.text.contains("version"), "{}", seen.text);
        }
    }
    assert_eq!(deployment.get(PATH).await.json(), never());
}

#[tokio::test]
async fn a_configuration_may_be_longer_than_other_bodies_up_to_its_own_limit() {
    let deployment = Deployment::new();
    let of = |bytes: usize| text("a") + "#" + &"x".repeat(bytes);
    let seen = deployment.apply(&of(200 * 1024), None).await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
    let seen = deployment.apply(&of(256 * 1024), Some(1)).await;
    assert_eq!(seen.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(seen.problem(), "what was sent is over the limit of 256 KiB");
    let long = json!({ "destination": "x".repeat(70 * 1024) }).to_string();
    let seen = deployment.admin(Method::POST, "/admin/hold", &long).await;
    assert_eq!(
        seen.status,
        StatusCode::PAYLOAD_TOO_LARGE,
        "the others' limit stays"
    );
    assert_eq!(seen.problem(), "what was sent is over the limit of 64 KiB");
}

#[tokio::test]
async fn a_body_of_another_shape_is_told_the_shape_and_not_quoted() {
    let deployment = Deployment::new();
    for body in [
        "",
        "{}",
        "[]",
        "PASTED",
        r#"{"configuration":1}"#,
        r#"{"configuration":"PASTED","version":0}"#,
        r#"{"configuration":"PASTED","version":-1}"#,
        r#"{"configuration":"PASTED","version":"1"}"#,
        r#"{"configuration":"PASTED","version":null,"force":true}"#,
    ] {
        let seen = deployment.admin(Method::PUT, PATH, body).await;
        assert_eq!(seen.status, StatusCode::BAD_REQUEST, "{body}");
        assert!(
            seen.text.contains("the version that was seen"),
            "{}",
            seen.text
        );
        assert!(!seen.text.contains("PASTED"), "{}", seen.text);
    }
    let plain = ask(Method::PUT, PATH, &[bearer(TOKEN)], "{}");
    let seen = send(&deployment.process, plain).await;
    assert_eq!(seen.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn a_store_that_fails_is_503_and_its_cause_is_not_told() {
    let deployment = Deployment::new();
    deployment.get("/healthz").await;
    deployment.store.fails(Some("the table is away"));
    for seen in [
        deployment.get(PATH).await,
        deployment.apply(&text("a"), None).await,
    ] {
        assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(!seen.header("retry-after").is_empty());
        assert_eq!(seen.problem(), "the store is not reachable");
    }
    deployment.store.fails(None);
    deployment.store.put(Some(Stored {
        format: 2,
        version: switchboard_core::ports::Version::after(None),
        text: text("a"),
        at: NOW,
    }));
    let seen = deployment.get(PATH).await;
    assert_eq!(
        seen.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{}",
        seen.text
    );
}

#[tokio::test]
async fn on_one_machine_it_is_a_file_and_nothing_to_read_or_replace() {
    let desk = Desk::new();
    let body = json!({ "configuration": text("a"), "version": null }).to_string();
    for (method, body) in [(Method::GET, ""), (Method::PUT, &*body)] {
        let seen = desk.admin(method.clone(), PATH, body).await;
        assert_eq!(seen.status, StatusCode::NOT_FOUND, "{method}");
        assert_eq!(
            seen.problem(),
            "the configuration of this Switchboard is a file on its machine: change that and start it again"
        );
    }
    let routes = desk.get("/api/routes").await.json();
    assert_eq!(routes.get("configuration"), None);
}
