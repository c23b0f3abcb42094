//! The API's description against the router and against every answer that these tests see.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use http::{HeaderMap, Method, StatusCode};
use jsonschema::Validator;
use serde_json::{Value, json};
use switchboard_web::status::paths;

use crate::admin;
use crate::desk::{Desk, Seen, TOKEN, ask, bearer, event_id};
use crate::fake::Fake;

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../src/status/openapi.json")).expect("JSON")
});
const PROBLEM: &str = "/components/schemas/Problem";

/// What does not hold of a value by the schema at a place of the description.
fn faults(schema: &str, value: &Value) -> Vec<String> {
    static KNOWN: Mutex<BTreeMap<String, Validator>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = known.entry(schema.to_owned()).or_insert_with(|| {
        let mut whole = DESCRIPTION.clone();
        let place = schema.replace('{', "%7B").replace('}', "%7D");
        whole["$ref"] = json!(format!("#{place}"));
        jsonschema::validator_for(&whole).expect("a schema")
    });
    let faults = validator.iter_errors(value);
    faults
        .map(|fault| format!("{fault} at {}", fault.instance_path()))
        .collect()
}

/// A part of a path as a JSON pointer has it.
fn part(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// The path of the description that a request's is meant by.
fn template(path: &str) -> Option<&'static str> {
    let all = DESCRIPTION["paths"].as_object().expect("paths");
    let fits = |template: &&String| {
        let (of, told): (Vec<_>, Vec<_>) =
            (path.split('/').collect(), template.split('/').collect());
        let alike =
            |(of, told): (&&str, &&str)| of == told || (told.starts_with('{') && !of.is_empty());
        of.len() == told.len() && of.iter().zip(&told).all(alike)
    };
    let exact = all.keys().find(|template| *template == path);
    exact.or_else(|| all.keys().find(fits)).map(String::as_str)
}

/// Where the description tells of the answer, if it does.
fn told(method: &Method, path: &str, status: StatusCode) -> Option<String> {
    let method = match *method {
        Method::HEAD => "get".to_owned(),
        _ => method.as_str().to_lowercase(),
    };
    let place = format!(
        "/paths/{}/{method}/responses/{}",
        part(template(path)?),
        status.as_u16()
    );
    let found = DESCRIPTION.pointer(&place)?;
    let shared = found["$ref"].as_str();
    Some(shared.map_or(place, |of| of.trim_start_matches('#').to_owned()))
}

/// Holds an answer against the description; what is nowhere, or no method of its address, is a problem.
pub(crate) fn described(method: &Method, path: &str, seen: &Seen) {
    let what = format!("{method} {path}: {}", seen.status);
    let schema = if let Some(place) = told(method, path, seen.status) {
        let response = DESCRIPTION.pointer(&place).expect("told");
        let Some(content) = response["content"].as_object() else {
            assert_eq!(seen.text, "", "{what} has no body");
            return;
        };
        let kind = seen.header("content-type");
        let kind = kind.split(';').next().unwrap_or_default();
        assert!(content.contains_key(kind), "{what} is {kind:?}");
        format!("{place}/content/{}/schema", part(kind))
    } else {
        let method_is_told = template(path)
            .map(|of| &DESCRIPTION["paths"][of])
            .is_some_and(|of| !of[method.as_str().to_lowercase()].is_null());
        let is_usual = matches!(seen.status.as_u16(), 403 | 404 | 405 | 503);
        assert!(is_usual && !method_is_told, "{what} is not described");
        PROBLEM.to_owned()
    };
    let is_json = seen.header("content-type").ends_with("json");
    if is_json && *method != Method::HEAD {
        let faults = faults(&schema, &seen.json());
        assert!(faults.is_empty(), "{what}: {faults:#?}\n{}", seen.text);
    }
}

fn made(status: u16, kind: &str, text: &str) -> Seen {
    let kind = kind.parse().expect("kind");
    Seen {
        status: StatusCode::from_u16(status).expect("status"),
        headers: HeaderMap::from_iter([(http::header::CONTENT_TYPE, kind)]),
        text: text.to_owned(),
        bytes: text.to_owned().into(),
    }
}

#[test]
fn an_answer_that_is_not_described_is_seen() {
    let json = "application/json";
    let good = r#"{"held":"crm"}"#;
    described(&Method::POST, "/admin/hold", &made(200, json, good));
    for (path, status, kind, text) in [
        ("/admin/hold", 418, json, good),
        ("/admin/hold", 200, "text/plain", good),
        ("/admin/hold", 200, json, r#"{"held":5}"#),
        ("/admin/hold", 200, json, r#"{"held":"crm","more":1}"#),
        ("/admin/hold", 400, "application/problem+json", good),
        ("/nowhere", 404, json, r#"{"error":"nothing"}"#),
    ] {
        let seen = made(status, kind, text);
        let judged = std::panic::catch_unwind(|| described(&Method::POST, path, &seen));
        assert!(judged.is_err(), "{path} {status} {kind} {text}");
    }
}

#[tokio::test]
async fn every_route_is_described_and_every_description_is_a_route() {
    let desk = Desk::new();
    let routes: BTreeSet<&str> = paths::<Fake>().into_iter().collect();
    let described = DESCRIPTION["paths"].as_object().expect("paths");
    let told: BTreeSet<&str> = described.keys().map(String::as_str).collect();
    assert_eq!(routes, told);
    for (path, of) in described {
        let asked = path.replace("{event}", event_id().as_str());
        let seen = desk.send(ask(Method::PATCH, &asked, &[], "")).await;
        assert_eq!(seen.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        let taken: BTreeSet<String> = seen
            .header("allow")
            .split(',')
            .filter(|method| *method != "HEAD")
            .map(str::to_lowercase)
            .collect();
        let told: BTreeSet<String> = of.as_object().expect("methods").keys().cloned().collect();
        assert_eq!(taken, told, "{path}");
    }
}

#[tokio::test]
async fn the_description_is_served_and_all_that_it_refers_to_is_there() {
    let desk = Desk::new();
    let served = desk.get("/api/openapi.json").await.json();
    assert_eq!(served, *DESCRIPTION);
    assert_eq!(served["openapi"], "3.1.0");
    let (mut left, mut names) = (vec![&*DESCRIPTION], BTreeSet::new());
    while let Some(value) = left.pop() {
        if let Some(of) = value["$ref"].as_str() {
            let place = of.trim_start_matches('#');
            assert!(DESCRIPTION.pointer(place).is_some(), "{of}");
        }
        if let Some(name) = value["operationId"].as_str() {
            assert!(names.insert(name), "{name} stands once");
        }
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            _ => {}
        }
    }
    let schemas = DESCRIPTION["components"]["schemas"].as_object();
    for name in schemas.expect("schemas").keys() {
        let of = format!("\"#/components/schemas/{name}\"");
        let used = include_str!("../../src/status/openapi.json").contains(&of);
        assert!(used, "{name} is used");
        faults(&format!("/components/schemas/{name}"), &Value::Null);
    }
}

#[test]
fn bodies_that_are_taken_are_described_and_others_are_not() {
    let schema = |path: &str, method: &Method| {
        let method = method.as_str().to_lowercase();
        format!(
            "/paths/{}/{method}/requestBody/content/application~1json/schema",
            part(path)
        )
    };
    for (method, path, body) in admin::routes() {
        if let Ok(body) = serde_json::from_str(body) {
            let faults = faults(&schema(path, &method), &body);
            assert!(faults.is_empty(), "{path} {body}: {faults:?}");
        }
    }
    for (path, body) in admin::of_another_shape() {
        let method = match path {
            "/admin/endpoint" => Method::PUT,
            _ => Method::POST,
        };
        if let Ok(body) = serde_json::from_str(body) {
            let faults = faults(&schema(path, &method), &body);
            assert!(!faults.is_empty(), "{path} {body}");
        }
    }
}

#[tokio::test]
async fn what_stands_in_every_answer_of_a_route_that_fails_is_a_problem() {
    let desk = Desk::new();
    desk.fake
        .works_for
        .store(0, std::sync::atomic::Ordering::SeqCst);
    for path in paths::<Fake>() {
        let asked = path.replace("{event}", event_id().as_str());
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            for headers in [
                vec![],
                vec![bearer(TOKEN)],
                vec![("host", "evil.example".to_owned())],
            ] {
                let seen = desk.send(ask(method.clone(), &asked, &headers, "")).await;
                let is_page = seen.header("content-type").starts_with("text/html");
                if seen.status.as_u16() >= 400 && !is_page && path != "/healthz" {
                    seen.problem();
                }
            }
        }
    }
}
