//! What lists are narrowed by, and how far a list looked that no index answers.

use serde::Serialize;

use crate::delivery::State;
use crate::names::{DestinationName, Kind, SourceName};
use crate::time::Timestamp;

use super::{Cursor, Page};

/// Most events that are looked at for one page of a search that no index answers.
pub const LOOKED_AT: u32 = 1000;

/// Which events are meant: those to which all of it applies.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct EventSearch {
    /// Of this source.
    pub source: Option<SourceName>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// With this sender's id.
    pub sender_id: Option<String>,
    /// With a delivery in this state; together with `destination` a delivery to that one.
    pub state: Option<State>,
    /// With a delivery to this destination.
    pub destination: Option<DestinationName>,
    /// Received at this moment or later.
    pub from: Option<Timestamp>,
    /// Received before this moment.
    pub until: Option<Timestamp>,
}

/// A page of a search: items may be few, or none, while more are to be found further back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Searched<T> {
    /// What was found, and where to go on.
    #[serde(flatten)]
    pub page: Page<T>,
    /// How far this page looked.
    pub looked: Looked,
}

/// How far a page of a search looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Looked {
    /// How many events (of a list of dead letters: how many of these) were looked at.
    pub at: u32,
    /// Everything received after this moment was looked at; `None` when that is all there is.
    pub back_to: Option<Timestamp>,
}

/// Which dead letters are listed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeadLetterSearch {
    /// Of this destination.
    pub destination: Option<DestinationName>,
}

/// Dead letters of one destination that died of the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadLetterGroup {
    /// Who should have got them.
    pub destination: DestinationName,
    /// Why they are dead, with the last attempt's outcome.
    pub reason: String,
    /// How many there are among those that were looked at.
    pub count: u64,
    /// When the first of these died.
    pub oldest: Timestamp,
    /// When the last of these died.
    pub newest: Timestamp,
}

/// The groups of the newest dead letters.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct DeadLetterGroups {
    /// The largest first.
    pub items: Vec<DeadLetterGroup>,
    /// How far it looked: at most [`LOOKED_AT`] dead letters of each destination.
    pub looked: Looked,
}

impl<T> Searched<T> {
    /// A page behind which nothing is: for a cursor that no page gave.
    pub fn nothing() -> Self {
        let (items, next) = (Vec::new(), None::<Cursor>);
        Self {
            page: Page { items, next },
            looked: Looked::default(),
        }
    }
}
