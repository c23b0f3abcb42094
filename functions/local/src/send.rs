//! `send`: a correctly signed sample event, posted as its sender would.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use rand::{Rng, RngExt};
use switchboard_core::names::SourceName;
use switchboard_core::scheme::{Key, Scheme};
use switchboard_core::time::Clock;
use switchboard_web::client;

use crate::ask::{Place, at, unanswered};
use crate::command::Send;
use crate::configure::{self, Environment};
use crate::end::{Failed, say};
use crate::samples;

/// What a patient sender waits.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Builds the event, signs it, posts it and prints the answer.
pub(crate) async fn send(
    command: Send,
    environment: &Environment,
    clock: &dyn Clock,
    rng: &mut (dyn Rng + std::marker::Send),
) -> Result<(), Failed> {
    let (name, scheme, key) = signing(&command, environment)?;
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
    let sample = samples::sample(scheme, &command.kind, clock.now(), rng.random(), own);
    let headers: HeaderMap = samples::signed(scheme, &key, &sample, clock.now());
    let url = at(&command.url, &format!("/in/{name}"))?;
    let (status, answer) = client::request(
        Method::POST,
        &url,
        headers,
        Bytes::from(sample.body),
        TIME_LIMIT,
    )
    .await
    .map_err(|fault| {
        unanswered(
            &fault,
            Place::Here(&configure::flag(&command.configuration)),
        )
    })?;
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

/// The source, and what its sender signs with: told by flags, or its first secret in the configuration.
fn signing(
    command: &Send,
    environment: &Environment,
) -> Result<(SourceName, &'static Scheme, Key), Failed> {
    if let (Some(scheme), Some(reference)) = (command.scheme, &command.secret) {
        let name = SourceName::parse(&command.source).map_err(|_| {
            Failed::configuration(format_args!("there can be no source {:?}", command.source))
        })?;
        let secret = configure::secret(reference, environment)?;
        let key = (scheme.key)(&secret)
            .map_err(|fault| Failed::configuration(format_args!("--secret: {fault}")))?;
        return Ok((name, scheme, key));
    }
    let configuration = configure::load(&command.configuration, environment, None)?;
    let source = configure::source(&configuration, &command.source)?;
    let key = source
        .keys()
        .first()
        .ok_or_else(|| Failed::configuration("the source has no secret"))?;
    Ok((source.name.clone(), source.scheme, key.clone()))
}
