//! The journal in the table: what was not accepted. A listed note is an item of its own list, which counts it and what was
//! only counted since the last write; where nothing is listed, counts wait in memory until the time between two writes is
//! over: whoever posts rubbish decides how much there is to count, and not how often it is written. An item whose write
//! failed, was given up or was not answered is written again under its own key: it counts once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use serde::{Deserialize, Serialize};
use switchboard_core::names::SourceName;
use switchboard_core::ports::{Answer, BackendError, Journal, Note};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_core::views::{Declined, RefusalRow};

use crate::Aws;
use crate::failure::failed;
use crate::fold::counters::{Counters, OfSource};
use crate::item::{Attributes, Reading, Unreadable, Writing, names};
use crate::keys;
use crate::token::Token;

/// What the partitions of the journal begin with.
pub(crate) const PARTITIONS: &str = "N#";
/// Partition of the refusals.
pub(crate) const REFUSED: &str = "N#refused";
/// Partition of what was declined.
pub(crate) const DECLINED: &str = "N#declined";
/// Partition of items that only count.
const COUNTED: &str = "N#counted";
/// What an item counts.
pub(crate) const COUNTS: &str = "cn";

/// How long a listed note stays.
const LISTED_STAYS: Duration = Duration::from_hours(30 * 24);
/// How long an item that only counts stays: the fold has come by long before.
const COUNTED_STAYS: Duration = Duration::from_hours(3 * 24);
/// How many items wait at most for being written, or written again: while there are so many no further one is made, and what
/// it would tell is only counted.
const MOST_UNWRITTEN: usize = 100;

const DOING: &str = "writing to the journal";

impl Journal for Aws {
    async fn note(&self, at: Timestamp, note: Note) -> Answer<()> {
        self.journal.note(at, &note, &self.tokens.fresh()).await
    }
}

impl Aws {
    /// Writes what was counted of what was not accepted and is not written yet. To be called at a process's end.
    pub async fn flush(&self) -> Answer<()> {
        self.journal.flush(&self.tokens.fresh()).await
    }

    /// The same where the time between two writes is over; for a process that stands still between two requests: each of them
    /// writes what the ones before it left in memory, whatever it is itself.
    pub async fn flush_due(&self) -> Answer<()> {
        self.journal.flush_due(&self.tokens.fresh()).await
    }
}

/// The journal of one process.
pub(crate) struct Book {
    client: Client,
    table: String,
    clock: Arc<dyn Clock>,
    /// Time between two writes of counts alone.
    every: Duration,
    waiting: Mutex<Waiting>,
}

/// What is not in the table yet, or perhaps not.
#[derive(Default)]
struct Waiting {
    /// Counts that are in no item.
    counts: Counters,
    /// Items that may be written or not.
    items: Vec<Attributes>,
    /// How many are being written.
    under_way: usize,
    /// When counts were last written, or were to be.
    written_at: Option<Duration>,
}

impl Waiting {
    /// Whether `every` has passed since the last write.
    fn is_due(&self, now: Duration, every: Duration) -> bool {
        let last = self.written_at;
        last.is_none_or(|last| now.saturating_sub(last) >= every)
    }

    /// Whether one more item may be made. None that was made is ever given up for its counts: it may be written.
    fn has_room(&self) -> bool {
        self.items.len().saturating_add(self.under_way) < MOST_UNWRITTEN
    }
}

/// An item under way: it waits again unless it is written.
struct UnderWay<'a> {
    book: &'a Book,
    item: Option<Attributes>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut waiting = self.book.waiting();
        waiting.under_way = waiting.under_way.saturating_sub(1);
        waiting.items.extend(self.item.take());
    }
}

impl Book {
    pub(crate) fn new(
        client: Client,
        table: String,
        clock: Arc<dyn Clock>,
        every: Duration,
    ) -> Self {
        Self {
            client,
            table,
            clock,
            every,
            waiting: Mutex::default(),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a note, and lists it if it is written out. `token` is that of the call.
    pub(crate) async fn note(&self, at: Timestamp, note: &Note, token: &Token) -> Answer<()> {
        let listed = listed(note);
        {
            let mut waiting = self.waiting();
            waiting.counts.add(&counts(at, note));
            let now = self.clock.ticks();
            if listed.is_none() && !waiting.is_due(now, self.every) {
                return Ok(());
            }
            // A listed note takes along what waits.
            waiting.written_at = Some(now);
        }
        // What is new comes first: the caller's time may end among the others.
        self.write_counts(at, listed, token).await?;
        self.write_again().await
    }

    /// Writes all that waits.
    pub(crate) async fn flush(&self, token: &Token) -> Answer<()> {
        self.write_again().await?;
        self.write_counts(self.clock.now(), None, token).await
    }

    /// Writes all that waits, if it is time. Of those who ask at once one writes.
    pub(crate) async fn flush_due(&self, token: &Token) -> Answer<()> {
        {
            let mut waiting = self.waiting();
            let now = self.clock.ticks();
            let is_empty = waiting.counts.is_empty() && waiting.items.is_empty();
            if is_empty || !waiting.is_due(now, self.every) {
                return Ok(());
            }
            waiting.written_at = Some(now);
        }
        self.flush(token).await
    }

    /// Writes the items that may not be written.
    async fn write_again(&self) -> Answer<()> {
        loop {
            let under_way = {
                let mut waiting = self.waiting();
                let Some(item) = waiting.items.pop() else {
                    return Ok(());
                };
                self.under_way(&mut waiting, item)
            };
            self.write(under_way).await?;
        }
    }

    /// Writes an item that counts what waits, and is listed where something is.
    async fn write_counts(
        &self,
        at: Timestamp,
        listed: Option<Listed>,
        token: &Token,
    ) -> Answer<()> {
        let under_way = {
            let mut waiting = self.waiting();
            if !waiting.has_room() || listed.is_none() && waiting.counts.is_empty() {
                return Ok(());
            }
            let text = waiting.counts.to_text();
            let text = text.map_err(|cause| BackendError::new(DOING, cause))?;
            let (partition, stays) = match &listed {
                Some(listed) => (listed.partition, LISTED_STAYS),
                None => (COUNTED, COUNTED_STAYS),
            };
            let sort = format!("{}#{}", keys::moment(at), token);
            waiting.counts = Counters::default();
            let item = Writing::at(partition, sort)
                .text(COUNTS, text)
                .moment(names::AT, at)
                .text_if_any(names::JSON, listed.map(|listed| listed.text))
                .number(names::TTL, at.plus(stays).seconds())
                .done();
            self.under_way(&mut waiting, item)
        };
        self.write(under_way).await
    }

    fn under_way(&self, waiting: &mut Waiting, item: Attributes) -> UnderWay<'_> {
        waiting.under_way = waiting.under_way.saturating_add(1);
        UnderWay {
            book: self,
            item: Some(item),
        }
    }

    async fn write(&self, mut under_way: UnderWay<'_>) -> Answer<()> {
        let put = self.client.put_item().table_name(&self.table);
        let put = put.set_item(under_way.item.clone()).send().await;
        put.map_err(|error| failed(DOING, error))?;
        under_way.item = None;
        Ok(())
    }
}

/// What a note of that moment counts.
fn counts(at: Timestamp, note: &Note) -> Counters {
    let mut counts = Counters::default();
    match note {
        Note::Refused { source, .. } => {
            let refused = OfSource {
                refused: 1,
                ..OfSource::default()
            };
            counts.source(source, refused);
            counts.latest.refusal(source, at);
        }
        Note::Declined { source, cause, .. } => {
            counts.declined((source.clone(), cause.status(), cause.to_string()), 1);
        }
    }
    counts
}

/// What is to be listed, and where.
struct Listed {
    partition: &'static str,
    text: String,
}

/// A refusal as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredRefusal {
    source: String,
    refusal: switchboard_core::refusal::Refusal,
}

/// A declined request as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredDeclined {
    source: Option<String>,
    path: String,
    status: u16,
    cause: String,
}

fn listed(note: &Note) -> Option<Listed> {
    let (partition, text) = match note {
        Note::Refused { source, listed } => {
            let stored = StoredRefusal {
                source: source.as_str().to_owned(),
                refusal: listed.clone()?,
            };
            (REFUSED, serde_json::to_string(&stored))
        }
        Note::Declined {
            source,
            cause,
            listed,
        } => {
            let stored = StoredDeclined {
                source: source.as_ref().map(|source| source.as_str().to_owned()),
                path: listed.clone()?,
                status: cause.status(),
                cause: cause.to_string(),
            };
            (DECLINED, serde_json::to_string(&stored))
        }
    };
    // Texts and numbers: nothing that JSON cannot hold.
    let text = text.ok()?;
    Some(Listed { partition, text })
}

/// A refusal of the list.
pub(crate) fn refusal(item: &Attributes) -> Result<RefusalRow, Unreadable> {
    let reading = Reading::of("refusal", item)?;
    let stored = reading.parsed(names::JSON, |text| {
        serde_json::from_str::<StoredRefusal>(text).ok()
    })?;
    let source = SourceName::parse(&stored.source);
    Ok(RefusalRow {
        at: reading.moment(names::AT)?,
        source: source.map_err(|_| reading.fault(names::JSON))?,
        refusal: stored.refusal,
    })
}

/// A declined request of the list.
pub(crate) fn declined(item: &Attributes) -> Result<Declined, Unreadable> {
    let reading = Reading::of("declined request", item)?;
    let stored = reading.parsed(names::JSON, |text| {
        serde_json::from_str::<StoredDeclined>(text).ok()
    })?;
    let source = stored.source.map(|name| SourceName::parse(&name));
    Ok(Declined {
        at: reading.moment(names::AT)?,
        source: source.transpose().map_err(|_| reading.fault(names::JSON))?,
        path: stored.path,
        status: stored.status,
        cause: stored.cause,
    })
}
