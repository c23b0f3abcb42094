//! The events that a search looks at, newest first: those that its indexes give. What else it asks for is looked for among
//! them.

use std::collections::VecDeque;

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::identity::EventId;
use switchboard_core::names::{SenderId, SourceName};
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;
use switchboard_core::views::EventSearch;

use super::lanes::{From, Lanes, List, Row};
use crate::accept::AT_ONCE;
use crate::item::event::Head;
use crate::item::names;
use crate::read::unreadable;
use crate::{Aws, keys, schema};

const DOING: &str = "reading events";

/// The piece of the list that a page is looked for in, by sort keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    below: Option<String>,
    from: Option<String>,
}

impl Span {
    /// What of a search's time is behind the page before; `None` where nothing is.
    pub(super) fn of(search: &EventSearch, below: Option<String>) -> Option<Self> {
        let until = search.until.map(keys::moment);
        let below = below.into_iter().chain(until).min();
        let from = search.from.map(keys::moment);
        let is_empty = matches!((&below, &from), (Some(below), Some(from)) if from >= below);
        (!is_empty).then_some(Self { below, from })
    }

    fn holds(&self, sort: &str) -> bool {
        self.below
            .as_ref()
            .is_none_or(|below| sort < below.as_str())
            && self.from.as_ref().is_none_or(|from| sort >= from.as_str())
    }
}

/// An event that is to be looked at.
pub(super) struct Candidate {
    /// Its place in the list.
    pub(super) sort: String,
    pub(super) event: Known,
}

impl Candidate {
    fn of_head(head: Head) -> Self {
        Self {
            sort: place(&head),
            event: Known::Head(Box::new(head)),
        }
    }

    /// When it was received, as far as its place tells.
    pub(super) fn received_at(&self) -> Option<Timestamp> {
        keys::moment_of(&self.sort)
    }
}

/// What the list itself tells of an event.
pub(super) enum Known {
    /// All but its body.
    Head(Box<Head>),
    /// Its id.
    Id(EventId),
}

/// The list.
pub(super) struct Heads<'a> {
    lanes: Lanes<'a>,
    /// The next of the lanes.
    row: Option<Row>,
    /// What is in none of these lanes, newest first.
    beside: VecDeque<Head>,
    rows: Rows,
}

/// What the rows of the lanes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    Heads,
    Keys,
}

impl<'a> Heads<'a> {
    /// The events of a search in a span; `wanted` is how many will be looked at, as far as is known.
    pub(super) async fn of(
        aws: &'a Aws,
        search: &EventSearch,
        span: Span,
        wanted: usize,
    ) -> Answer<Self> {
        let known = aws.settings.kept().await?;
        let is_meant = |source: &&SourceName| search.source.as_ref().is_none_or(|s| s == *source);
        let sources: Vec<SourceName> = known.sources.iter().filter(is_meant).cloned().collect();
        let id = search.sender_id.as_deref();
        let (index, partitions, rows, beside) = match id {
            None => {
                let shards = |source| (0..keys::SHARDS).map(move |n| keys::recent(source, n));
                let partitions = sources.iter().flat_map(shards).collect();
                (schema::RECENT, partitions, Rows::Heads, VecDeque::new())
            }
            Some(id) => {
                let id = SenderId::new(id);
                let partitions = id.iter().map(|id| keys::scoped(id.as_str())).collect();
                let beside = match &id {
                    Some(id) => aws.unscoped(&sources, id, &span).await?,
                    None => VecDeque::new(),
                };
                (schema::SCOPED, partitions, Rows::Keys, beside)
            }
        };
        let list = List {
            doing: DOING,
            index: Some(index),
            partitions,
            from: From::Newest {
                below: span.below,
                from: span.from,
            },
            wanted,
        };
        Ok(Self {
            lanes: Lanes::new(aws, list),
            row: None,
            beside,
            rows,
        })
    }

    /// The next `count`, or as many as there are.
    pub(super) async fn take(&mut self, count: usize) -> Answer<Vec<Candidate>> {
        let mut candidates = Vec::new();
        while candidates.len() < count {
            let Some(candidate) = self.next().await? else {
                break;
            };
            candidates.push(candidate);
        }
        Ok(candidates)
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Answer<Option<Candidate>> {
        loop {
            if self.row.is_none() {
                self.row = self.lanes.next().await?;
            }
            let of_lanes = self.row.as_ref().map(|row| row.sort.as_str());
            let of_beside = self.beside.front().map(place);
            if of_beside.is_some_and(|place| of_lanes.is_none_or(|sort| place.as_str() > sort)) {
                return Ok(self.beside.pop_front().map(Candidate::of_head));
            }
            let Some(row) = self.row.take() else {
                return Ok(None);
            };
            match self.rows {
                Rows::Heads => {
                    let head = Head::read(&row.item).map_err(unreadable(DOING))?;
                    let event = Known::Head(Box::new(head));
                    return Ok(Some(Candidate {
                        sort: row.sort,
                        event,
                    }));
                }
                Rows::Keys => {
                    let partition = row.item.get(names::PARTITION);
                    let partition = partition.and_then(|value| value.as_s().ok());
                    if let Some(id) = partition.and_then(|pk| keys::event_of(pk)) {
                        return Ok(Some(Candidate {
                            sort: row.sort,
                            event: Known::Id(id),
                        }));
                    }
                }
            }
        }
    }
}

impl Aws {
    /// Events with this sender's id and without a scope: their own id is made of it and of the source.
    async fn unscoped(
        &self,
        sources: &[SourceName],
        sender_id: &SenderId,
        span: &Span,
    ) -> Answer<VecDeque<Head>> {
        let ids = sources.iter().map(|source| EventId::of(source, sender_id));
        let found: Vec<Option<Head>> = stream::iter(ids.collect::<Vec<_>>())
            .map(|id| async move { self.head(&id).await })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let found = found.into_iter().flatten();
        let mut heads: Vec<Head> = found.filter(|head| span.holds(&place(head))).collect();
        heads.sort_by_cached_key(|head| std::cmp::Reverse(place(head)));
        Ok(heads.into())
    }
}

/// Where an event stands in the list.
fn place(head: &Head) -> String {
    keys::recent_of(&head.source, head.received_at, &head.id).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_where_the_search_and_the_page_before_do() {
        let at = Timestamp::from_millis;
        let search = |from: Option<i64>, until: Option<i64>| EventSearch {
            from: from.map(at),
            until: until.map(at),
            ..EventSearch::default()
        };
        let of = |search, below: Option<&str>| Span::of(&search, below.map(str::to_owned));
        let cursor = "0000000000007#evt_a";
        let whole = of(search(None, None), None).expect("a span");
        assert!(whole.holds("") && whole.holds("~"));
        let span = of(search(Some(5), Some(9)), Some(cursor)).expect("a span");
        for (sort, is_in) in [
            ("0000000000004#evt_z", false),
            ("0000000000005#evt_a", true),
            ("0000000000007#evt_2", true),
            (cursor, false),
            ("0000000000008#evt_a", false),
        ] {
            assert_eq!(span.holds(sort), is_in, "{sort}");
        }
        let span = of(search(None, Some(7)), Some("0000000000009#evt_a")).expect("a span");
        assert!(!span.holds(cursor) && span.holds("0000000000006#evt_z"));
        assert_eq!(of(search(Some(5), Some(5)), None), None);
        assert_eq!(of(search(Some(8), None), Some(cursor)), None);
    }
}
