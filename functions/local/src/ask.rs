//! The commands that ask a running Switchboard to do something.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_core::identity::DeliveryId;
use switchboard_core::secret::Secret;
use switchboard_web::client::{self, ClientFault};
use url::{Url, form_urlencoded};

use crate::command::{Endpoint, EndpointChange, Hold, Reach, Redrive, Release, Test};
use crate::end::{Failed, say};
use crate::token;
use print::{json, many, shown};

mod lists;
mod print;
mod replay;
mod standing;

pub(crate) use lists::{dead_letters, events};
pub(crate) use replay::replay;
pub(crate) use standing::status;

/// Moving thousands of deliveries takes a moment.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// What is read at a path with those of the parameters that say something.
async fn read(
    reach: &Reach,
    path: &str,
    parameters: &[(&str, Option<&str>)],
) -> Result<Value, Failed> {
    let said = parameters
        .iter()
        .filter_map(|(name, value)| value.map(|value| (name, value)));
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(said)
        .finish();
    let path = match query.as_str() {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    };
    ask(reach, Method::GET, &path, None).await
}

async fn ask(
    reach: &Reach,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Result<Value, Failed> {
    let (status, value) = asked(reach, method, path, body).await?;
    match status {
        StatusCode::OK | StatusCode::NO_CONTENT => Ok(value),
        status => Err(refused(status, &value)),
    }
}

/// What is answered, whatever it is.
async fn asked(
    reach: &Reach,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Result<(StatusCode, Value), Failed> {
    let token = token::of_client(reach.token.as_deref(), &reach.data.folder)?;
    let flags = reach.data.flag();
    answer(&reach.url, &token, Place::Here(&flags), method, path, body).await
}

/// What is answered to a request with the admin token.
pub(crate) async fn answer(
    base: &Url,
    token: &Secret,
    place: Place<'_>,
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
        .map_err(|fault| unanswered(&fault, place))?;
    Ok((status, serde_json::from_slice(&answer).unwrap_or_default()))
}

/// The failure that an answer other than 200 is.
pub(crate) fn refused(status: StatusCode, value: &Value) -> Failed {
    if status == StatusCode::UNAUTHORIZED {
        return Failed::new("the admin token is not the one of that Switchboard");
    }
    let detail = value.get("detail").and_then(Value::as_str);
    match detail.or_else(|| by_itself(status)) {
        Some(why) => Failed::new(format_args!("{why} ({status})")),
        None => Failed::new(format_args!(
            "no reason given ({status}): is a Switchboard at --url?"
        )),
    }
}

/// What to do about an answer that says no more than its status: it comes from what stands before a Switchboard.
fn by_itself(status: StatusCode) -> Option<&'static str> {
    match status {
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
            Some(
                "whatever stands before the Switchboard got no answer from it: run it again in a moment, which is safe; if it stays so, its log says why",
            )
        }
        StatusCode::TOO_MANY_REQUESTS => {
            Some("too much is asked at once: run it again in a moment")
        }
        _ => None,
    }
}

/// An address below the one that a Switchboard is reached under.
pub(crate) fn at(base: &Url, path: &str) -> Result<Url, Failed> {
    let text = format!("{}{path}", base.as_str().trim_end_matches('/'));
    text.parse()
        .map_err(|error| Failed::new(format_args!("--url cannot be used: {error}")))
}

/// Where a command looks for a Switchboard, for whoever finds none there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// It may be on this machine: these flags start it as the command would find it.
    Here(&'a str),
    /// It is deployed.
    Deployed,
}

/// There was no answer; where nobody listens, what to do about it.
pub(crate) fn unanswered(fault: &ClientFault, place: Place<'_>) -> Failed {
    match (fault, place) {
        (ClientFault::NoConnection(_), Place::Here(flags)) => Failed::new(format_args!(
            "{fault} Start it with `switchboard serve{flags}`, or give its address with --url"
        )),
        (ClientFault::NoConnection(_), Place::Deployed) => Failed::new(format_args!(
            "{fault} --url is the address of the deployed Switchboard, which its stack shows as the output Url"
        )),
        (
            ClientFault::TimeLimit(_)
            | ClientFault::Tls(_)
            | ClientFault::Broken(_)
            | ClientFault::TooLong(_)
            | ClientFault::Address(_),
            Place::Here(_) | Place::Deployed,
        ) => Failed::new(fault),
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
    let named: BTreeSet<DeliveryId> = command.deliveries.into_iter().collect();
    let body = match (command.all, &command.destination) {
        (true, _) => json!({ "all": true, "per_second": command.per_second }),
        (false, Some(name)) => json!({ "destination": name, "per_second": command.per_second }),
        (false, None) => json!({ "deliveries": named, "per_second": command.per_second }),
    };
    let answer = ask(&command.reach, Method::POST, "/admin/redrive", Some(body)).await?;
    let redriven = number(&answer, "redriven")?;
    let dead = redriven.saturating_add(number(&answer, "left")?);
    let total = u64::try_from(named.len()).unwrap_or(u64::MAX);
    match (named.first(), total, dead) {
        (Some(one), 1, 0) => {
            return Err(Failed::new(format_args!("no such dead letter: {one}")));
        }
        (Some(_), _, 0) => {
            return Err(Failed::new(format_args!(
                "none of the {total} is a dead letter"
            )));
        }
        (None | Some(_), _, _) => {}
    }
    let line = format!("{redriven} sent again, {}", left(&answer)?);
    say(&json(command.output, &answer).unwrap_or(line));
    match total.saturating_sub(dead) {
        0 => Ok(()),
        others => Err(Failed::new(format_args!(
            "{others} of the {total} {} no dead letter",
            if others == 1 { "is" } else { "are" }
        ))),
    }
}

pub(crate) async fn hold(command: Hold) -> Result<(), Failed> {
    let body = json!({ "destination": command.destination });
    let answer = ask(&command.reach, Method::POST, "/admin/hold", Some(body)).await?;
    field(&answer, "held", Value::as_str)?;
    // What `apply` was sent to works by several processes, each of which goes by what it read a moment ago.
    let counts = match answer.get("counts_within_s").and_then(Value::as_u64) {
        Some(seconds) => format!(" (it counts everywhere within {seconds} seconds)"),
        None => String::new(),
    };
    let line = format!(
        "{} is held{counts}; `switchboard release {0}{}` lets its deliveries go",
        command.destination,
        command.reach.flags()
    );
    say(&json(command.output, &answer).unwrap_or(line));
    Ok(())
}

pub(crate) async fn test(command: Test) -> Result<(), Failed> {
    let body = json!({ "destination": command.destination });
    let answer = ask(&command.reach, Method::POST, "/admin/test", Some(body)).await?;
    let outcome = field(&answer, "outcome", Value::as_str)?;
    let status = answer.get("status").and_then(Value::as_u64);
    let detail = field(&answer, "detail", Value::as_str)?;
    let line = format!(
        "{} {} after {} ms{}{}",
        command.destination,
        shown(outcome),
        number(&answer, "duration_ms")?,
        status.map_or_else(String::new, |status| format!(", answer {status}")),
        if detail.is_empty() {
            String::new()
        } else {
            format!(": {}", shown(detail))
        }
    );
    say(&json(command.output, &answer).unwrap_or(line));
    match outcome {
        "delivered" => Ok(()),
        _ => Err(Failed::new("the test delivery was not taken")),
    }
}

pub(crate) async fn release(command: Release) -> Result<(), Failed> {
    let mut body = json!({ "destination": command.destination });
    if let (Some(per_second), Some(body)) = (command.per_second, body.as_object_mut()) {
        body.insert("per_second".to_owned(), per_second.into());
    }
    let answer = ask(&command.reach, Method::POST, "/admin/release", Some(body)).await?;
    let released = number(&answer, "released")?;
    let line = format!(
        "{} is released: {} let go, {}",
        command.destination,
        many(released, "delivery", "deliveries"),
        left(&answer)?
    );
    say(&json(command.output, &answer).unwrap_or(line));
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
                None => say(&format!(
                    "it keeps its signing secret; `switchboard endpoint rotate{}` gives it a new one",
                    reach.flags()
                )),
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
