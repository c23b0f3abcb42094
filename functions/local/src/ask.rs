//! The commands that ask a running Switchboard to do something.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_core::secret::Secret;
use switchboard_web::client::{self, ClientFault};
use url::Url;

use crate::command::{Endpoint, EndpointChange, Hold, Reach, Redrive, Release};
use crate::end::{Failed, say};
use crate::token;

/// Moving thousands of deliveries takes a moment.
const TIME_LIMIT: Duration = Duration::from_mins(1);

async fn ask(
    reach: &Reach,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Result<Value, Failed> {
    let token = token::of_client(reach.token.as_deref(), &reach.data.folder)?;
    let (status, value) = answer(&reach.url, &token, method, path, body).await?;
    match status {
        StatusCode::OK | StatusCode::NO_CONTENT => Ok(value),
        status => Err(refused(status, &value)),
    }
}

/// What is answered to a request with the admin token.
pub(crate) async fn answer(
    base: &Url,
    token: &Secret,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Result<(StatusCode, Value), Failed> {
    let url = at(base, path)?;
    let mut headers = HeaderMap::new();
    let bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
    headers.insert(
        AUTHORIZATION,
        bearer.map_err(|_| Failed::new("the token cannot stand in a header"))?,
    );
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = body
        .map(|body| Bytes::from(body.to_string()))
        .unwrap_or_default();
    let (status, answer) = client::request(method, &url, headers, body, TIME_LIMIT)
        .await
        .map_err(|fault| unanswered(&fault))?;
    Ok((status, serde_json::from_slice(&answer).unwrap_or_default()))
}

/// The failure that an answer other than 200 is.
pub(crate) fn refused(status: StatusCode, value: &Value) -> Failed {
    if status == StatusCode::UNAUTHORIZED {
        return Failed::new("the admin token is not the one of that Switchboard");
    }
    let why = value
        .get("error")
        .and_then(Value::as_str)
        .unwrap_or("no reason given");
    Failed::new(format_args!("{why} ({status})"))
}

/// An address below the one that a Switchboard is reached under.
pub(crate) fn at(base: &Url, path: &str) -> Result<Url, Failed> {
    let text = format!("{}{path}", base.as_str().trim_end_matches('/'));
    text.parse()
        .map_err(|error| Failed::new(format_args!("--url cannot be used: {error}")))
}

/// There was no answer; where nobody listens, what to do about it.
pub(crate) fn unanswered(fault: &ClientFault) -> Failed {
    match fault {
        ClientFault::NoConnection(_) => Failed::new(format_args!(
            "{fault} Start it with `switchboard serve`, or give its address with --url"
        )),
        ClientFault::TimeLimit(_)
        | ClientFault::Tls(_)
        | ClientFault::Broken(_)
        | ClientFault::TooLong(_)
        | ClientFault::Address(_) => Failed::new(fault),
    }
}

/// A field of an answer; whoever answers 200 without it is no Switchboard.
pub(crate) fn field<'a, T>(
    answer: &'a Value,
    name: &str,
    read: fn(&'a Value) -> Option<T>,
) -> Result<T, Failed> {
    let found = answer.get(name).and_then(read);
    found.ok_or_else(|| Failed::new("that is not a Switchboard's answer: is --url right?"))
}

fn number(answer: &Value, name: &str) -> Result<u64, Failed> {
    field(answer, name, Value::as_u64)
}

/// How many are left, and what to do about them.
fn left(answer: &Value) -> Result<String, Failed> {
    let left = number(answer, "left")?;
    let advice = if left > 0 {
        "; run it again for those"
    } else {
        ""
    };
    Ok(format!("{left} left{advice}"))
}

pub(crate) async fn redrive(command: Redrive) -> Result<(), Failed> {
    let body = match (command.all, &command.destination) {
        (true, _) => json!({ "all": true }),
        (false, Some(destination)) => json!({ "destination": destination }),
        (false, None) => json!({ "deliveries": command.deliveries }),
    };
    let answer = ask(&command.reach, Method::POST, "/admin/redrive", Some(body)).await?;
    say(&format!(
        "{} sent again, {}",
        number(&answer, "redriven")?,
        left(&answer)?
    ));
    Ok(())
}

pub(crate) async fn hold(command: Hold) -> Result<(), Failed> {
    let body = json!({ "destination": command.destination });
    let answer = ask(&command.reach, Method::POST, "/admin/hold", Some(body)).await?;
    field(&answer, "held", Value::as_str)?;
    say(&format!(
        "{} is held; `switchboard release {0}` lets its deliveries go",
        command.destination
    ));
    Ok(())
}

pub(crate) async fn release(command: Release) -> Result<(), Failed> {
    let mut body = json!({ "destination": command.destination });
    if let (Some(per_second), Some(body)) = (command.per_second, body.as_object_mut()) {
        body.insert("per_second".to_owned(), per_second.into());
    }
    let answer = ask(&command.reach, Method::POST, "/admin/release", Some(body)).await?;
    say(&format!(
        "{} is released: {} deliveries let go, {}",
        command.destination,
        number(&answer, "released")?,
        left(&answer)?
    ));
    Ok(())
}

pub(crate) async fn endpoint(command: Endpoint) -> Result<(), Failed> {
    match command.change {
        EndpointChange::Set { address, reach } => {
            let answer = ask(
                &reach,
                Method::PUT,
                "/admin/endpoint",
                Some(json!({ "url": address })),
            )
            .await?;
            say(&format!(
                "your endpoint is {}",
                field(&answer, "url", Value::as_str)?
            ));
            match answer.get("secret").and_then(Value::as_str) {
                Some(secret) => say(&format!("its signing secret, shown this once: {secret}")),
                None => say(
                    "it keeps its signing secret; `switchboard endpoint rotate` gives it a new one",
                ),
            }
        }
        EndpointChange::Clear { reach } => {
            let answer = ask(&reach, Method::DELETE, "/admin/endpoint", None).await?;
            number(&answer, "dead")?;
            say("your endpoint is cleared");
        }
        EndpointChange::Rotate { reach } => {
            let answer = ask(&reach, Method::POST, "/admin/endpoint/rotate", None).await?;
            let secret = field(&answer, "secret", Value::as_str)?;
            say(&format!(
                "its new signing secret, shown this once: {secret}"
            ));
            say("copies are signed with the old one too for 24 hours");
        }
    }
    Ok(())
}
