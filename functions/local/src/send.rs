//! `send`: a correctly signed sample event, posted as its sender would.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use rand::{Rng, RngExt};
use switchboard_core::time::Clock;
use switchboard_web::client;

use crate::ask::{at, unanswered};
use crate::command::Send;
use crate::configure::{self, Environment};
use crate::end::{Failed, say};
use crate::samples;

/// What a patient sender waits.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Builds the event, signs it with the source's first secret, posts it and prints the answer.
pub(crate) async fn send(
    command: Send,
    environment: &Environment,
    clock: &dyn Clock,
    rng: &mut (dyn Rng + std::marker::Send),
) -> Result<(), Failed> {
    let configuration = configure::load(&command.configuration, environment, None)?;
    let source = configure::source(&configuration, &command.source)?;
    let key = source
        .keys()
        .first()
        .ok_or_else(|| Failed::configuration("the source has no secret"))?;
    let own = match &command.body {
        Some(path) => {
            let read = std::fs::read(path);
            Some(read.map_err(|error| {
                Failed::new(format_args!(
                    "the body {} cannot be read: {error}",
                    path.display()
                ))
            })?)
        }
        None => None,
    };
    let sample = samples::sample(source.scheme, &command.kind, clock.now(), rng.random(), own);
    let headers: HeaderMap = samples::signed(source.scheme, key, &sample, clock.now());
    let url = at(&command.url, &format!("/in/{}", source.name))?;
    let (status, answer) = client::request(
        Method::POST,
        &url,
        headers,
        Bytes::from(sample.body),
        TIME_LIMIT,
    )
    .await
    .map_err(|fault| unanswered(&fault, &configure::flag(&command.configuration)))?;
    let answer = String::from_utf8_lossy(&answer);
    if status == StatusCode::OK {
        say(&format!("{url} answered {status}: {answer}"));
        Ok(())
    } else {
        Err(Failed::new(format_args!(
            "{url} answered {status}: {answer}"
        )))
    }
}
