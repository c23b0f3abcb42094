//! `verify`: a captured request against a source, with the same words that the page shows.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use switchboard_core::identity::EventId;
use switchboard_core::ingress::explain;
use switchboard_core::scheme;
use switchboard_core::time::{Clock, Timestamp};

use crate::command::Verify;
use crate::configure::{self, Environment};
use crate::end::{Failed, say};

/// Says whether the request would be accepted; `Err` when not, with the reason.
pub(crate) fn verify(
    command: &Verify,
    environment: &Environment,
    clock: &dyn Clock,
) -> Result<(), Failed> {
    let configuration = configure::load(&command.configuration, environment, None)?;
    let source = configure::source(&configuration, &command.source)?;
    let headers = headers(&command.headers)?;
    let body = std::fs::read(&command.body).map_err(|error| {
        Failed::configuration(format_args!(
            "the body {} cannot be read: {error}",
            command.body.display()
        ))
    })?;
    let body = Bytes::from(body);
    let now = command
        .at
        .map_or_else(|| clock.now(), Timestamp::from_seconds);
    if let Err((reason, checked)) =
        scheme::verify(source.scheme, source.keys(), &headers, &body, now)
    {
        let refusal = explain(
            source,
            &configuration.sources,
            &headers,
            &body,
            reason,
            checked,
        );
        return Err(Failed::new(format_args!("refused: {}", refusal.line())));
    }
    match (source.scheme.identify)(&headers, &body) {
        Ok(identity) => {
            let event = EventId::of(&source.name, &identity.sender_id);
            say(&format!(
                "accepted: sender's id {:?}, kind {:?}; posted, it would be the event {event}",
                identity.sender_id.as_str(),
                identity.kind.as_str()
            ));
            Ok(())
        }
        Err(unreadable) => Err(Failed::new(format_args!(
            "the signature holds, but it is answered 400: {unreadable}"
        ))),
    }
}

fn headers(lines: &[String]) -> Result<HeaderMap, Failed> {
    let mut headers = HeaderMap::new();
    for (number, line) in (1..).zip(lines) {
        // Which one, and not what it is: a signature may stand in it.
        let fault = || {
            Failed::configuration(format_args!(
                "number {number} of the --header is not of the form 'Name: value'"
            ))
        };
        let (name, value) = line.split_once(':').ok_or_else(fault)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| fault())?;
        headers.append(
            name,
            HeaderValue::from_bytes(value.trim().as_bytes()).map_err(|_| fault())?,
        );
    }
    Ok(headers)
}
