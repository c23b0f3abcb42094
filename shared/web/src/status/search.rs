//! Which events are meant, as a query or a body says it in texts.

use serde::Deserialize;
use switchboard_core::delivery::State;
use switchboard_core::names::{Kind, NameError, SenderId, SourceName};
use switchboard_core::time::Timestamp;
use switchboard_core::views::EventSearch;

use super::answer::Failure;
use super::asked::destination;

/// What narrows a search, as it came.
#[derive(Default, Deserialize)]
pub(super) struct SearchTexts {
    pub(super) source: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) sender_id: Option<String>,
    pub(super) state: Option<String>,
    pub(super) destination: Option<String>,
    pub(super) from: Option<String>,
    pub(super) until: Option<String>,
}

impl SearchTexts {
    /// What is meant by it.
    pub(super) fn read(self) -> Result<EventSearch, Failure> {
        let source = self.source.as_deref().map(SourceName::parse).transpose();
        let kind = self
            .kind
            .map(|text| Kind::new(&text).ok_or("kind is too long"));
        let sender_id = self.sender_id.map(|text| {
            let fits = SenderId::new(&text).is_some();
            fits.then_some(text)
                .ok_or("sender_id must not be empty nor over 1,024 bytes")
        });
        let state = self.state.map(|text| {
            let named = State::ALL.into_iter().find(|state| state.as_str() == text);
            named.ok_or("state must be waiting, held, delivered or dead")
        });
        Ok(EventSearch {
            source: source.map_err(|error: NameError| unreadable(&format!("source: {error}")))?,
            kind: kind.transpose().map_err(unreadable)?,
            sender_id: sender_id.transpose().map_err(unreadable)?,
            state: state.transpose().map_err(unreadable)?,
            destination: self.destination.as_deref().map(destination).transpose()?,
            from: moment("from", self.from)?,
            until: moment("until", self.until)?,
        })
    }
}

fn moment(name: &str, text: Option<String>) -> Result<Option<Timestamp>, Failure> {
    let read = |text: String| {
        Timestamp::parse(&text)
            .ok_or_else(|| unreadable(&format!("{name} must be like 2026-01-31T09:00:00Z")))
    };
    text.map(read).transpose()
}

fn unreadable(what: &str) -> Failure {
    Failure::Unreadable(what.to_owned())
}
