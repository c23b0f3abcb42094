//! What lists are narrowed by, and how far a list looked that no index answers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

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

impl DeadLetterGroups {
    /// The groups of what was found, each as destination, reason and when it died; in any order.
    pub fn of(
        letters: impl IntoIterator<Item = (DestinationName, String, Timestamp)>,
        looked: Looked,
    ) -> Self {
        let mut groups: BTreeMap<(DestinationName, String), DeadLetterGroup> = BTreeMap::new();
        for (destination, reason, at) in letters {
            let group =
                groups
                    .entry((destination, reason))
                    .or_insert_with_key(|(destination, reason)| DeadLetterGroup {
                        destination: destination.clone(),
                        reason: reason.clone(),
                        count: 0,
                        oldest: at,
                        newest: at,
                    });
            group.count = group.count.saturating_add(1);
            group.oldest = group.oldest.min(at);
            group.newest = group.newest.max(at);
        }
        let mut items: Vec<_> = groups.into_values().collect();
        items.sort_by_key(|group| Reverse((group.count, group.newest)));
        Self { items, looked }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_of_destination_and_reason_the_largest_first() {
        let at = Timestamp::from_seconds;
        let letters = [
            ("chat", "a", 3),
            ("crm", "a", 9),
            ("chat", "b", 4),
            ("chat", "b", 2),
            ("chat", "a", 5),
            ("chat", "b", 3),
        ];
        let letters = letters.map(|(to, why, seconds)| {
            let to = DestinationName::parse(to).expect("a name");
            (to, why.to_owned(), at(seconds))
        });
        let groups = DeadLetterGroups::of(letters, Looked::default());
        let told = |group: &DeadLetterGroup| {
            let (to, why) = (group.destination.to_string(), group.reason.clone());
            let span = [group.oldest.seconds(), group.newest.seconds()];
            (to, why, group.count, span)
        };
        let group = |to: &str, why: &str, count, span| (to.to_owned(), why.to_owned(), count, span);
        let expected = [
            group("chat", "b", 3, [2, 4]),
            group("chat", "a", 2, [3, 5]),
            group("crm", "a", 1, [9, 9]),
        ];
        assert_eq!(groups.items.iter().map(told).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_page_of_a_search_is_given_as_a_list_that_says_how_far_it_looked() {
        let mut found: Searched<u32> = Searched::nothing();
        let text = |found: &Searched<u32>| serde_json::to_string(found).expect("JSON");
        assert_eq!(
            text(&found),
            r#"{"items":[],"next":null,"looked":{"at":0,"back_to":null}}"#
        );
        found.page.items.push(7);
        found.page.next = Cursor::new("a.b");
        found.looked = Looked {
            at: 9,
            back_to: Some(Timestamp::from_millis(250)),
        };
        assert_eq!(
            text(&found),
            r#"{"items":[7],"next":"a.b","looked":{"at":9,"back_to":"1970-01-01T00:00:00.250Z"}}"#
        );
    }
}
