//! What operators read. Lists are read from their indexes, from where the page before ended; the totals are folded on for
//! whoever looks.

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::event::Event;
use switchboard_core::identity::EventId;
use switchboard_core::ports::{Answer, Views};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, EventRow, EventSearch, EventView,
    Overview, Page, PageAsk, Recent, RefusalRow, Searched,
};
use tracing::error;

use crate::fold::Folded;
use crate::fold::counters::Counters;
use crate::item::{VERSION, names, place};
use crate::{Aws, journal, keys};

mod dead_letters;
mod events;
mod heads;
pub(crate) mod lanes;
mod notes;
pub(crate) mod oldest;
mod recent;
pub(crate) mod shared;

/// Most reads of the stream for one viewer: where the fold is further behind, the totals come nearer with each look.
const READS: u32 = 100;
/// Sort key of what is written to find out whether the table takes writes.
const READY: &str = "ready";

impl Views for Aws {
    async fn overview(&self) -> Answer<Overview> {
        Ok(self.counters().await?.overview())
    }

    async fn recent(&self, now: Timestamp) -> Answer<Recent> {
        self.last_hour(now).await
    }

    async fn events(&self, search: &EventSearch, ask: &PageAsk) -> Answer<Searched<EventRow>> {
        self.list_events(search, ask).await
    }

    async fn event(&self, id: &EventId) -> Answer<Option<EventView>> {
        self.event_view(id).await
    }

    async fn stored(&self, id: &EventId) -> Answer<Option<Event>> {
        self.whole_event(id).await
    }

    async fn dead_letters(
        &self,
        search: &DeadLetterSearch,
        ask: &PageAsk,
    ) -> Answer<Page<DeadLetter>> {
        self.list_dead_letters(search, ask).await
    }

    async fn dead_letter_groups(&self) -> Answer<DeadLetterGroups> {
        self.group_dead_letters().await
    }

    async fn refusals(&self, ask: &PageAsk) -> Answer<Page<RefusalRow>> {
        let doing = "reading refusals";
        self.list_notes(doing, journal::REFUSED, ask, journal::refusal)
            .await
    }

    async fn declined(&self, ask: &PageAsk) -> Answer<Page<Declined>> {
        let doing = "reading declined requests";
        self.list_notes(doing, journal::DECLINED, ask, journal::declined)
            .await
    }

    async fn ready(&self) -> Answer<()> {
        let write = Box::pin(self.write_something());
        self.ready.get(&*self.clock, write).await
    }
}

impl Aws {
    /// Adds what the table's stream tells to the totals, in at most `reads` reads of it. Safe to be cut, to be called twice,
    /// and to be called by many at once: each record counts once.
    pub async fn fold(&self, reads: u32) -> Answer<Folded> {
        self.fold.fold(self.clock.now(), reads).await
    }

    /// The totals, folded on.
    pub(crate) async fn counters(&self) -> Answer<Counters> {
        let make = Box::pin(async {
            // What is counted so far is true, and better than nothing.
            if let Err(error) = self.fold(READS).await {
                error!(error = error.line(), "the totals cannot be folded on");
            }
            self.fold.totals().all(self.clock.now()).await
        });
        self.totals.get(&*self.clock, make).await
    }

    /// Writes the same item over and over.
    async fn write_something(&self) -> Answer<()> {
        let number = |number: i64| AttributeValue::N(number.to_string());
        let written = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, READY)))
            .update_expression("SET v = :v, #at = :at")
            .expression_attribute_names("#at", names::AT)
            .expression_attribute_values(":v", number(VERSION.into()))
            .expression_attribute_values(":at", number(self.clock.now().millis()))
            .send()
            .await;
        written.map_err(|error| crate::failure::failed("writing to the table", error))?;
        Ok(())
    }
}

/// How many items a page may have.
fn limit(ask: &PageAsk) -> usize {
    usize::try_from(ask.limit).unwrap_or(usize::MAX)
}

/// A page without items.
fn nothing<T>() -> Page<T> {
    Page {
        items: Vec::new(),
        next: None,
    }
}

/// Where a page of a list begins that is sorted by a moment and an id.
enum After<'a> {
    /// With the newest.
    Newest,
    /// Below this sort key.
    Below(&'a str),
    /// Behind a cursor that no page gave: there is nothing.
    Unreadable,
}

impl<'a> After<'a> {
    /// Reads the cursor of a page; `is_id` says what ids of the list look like.
    fn of(ask: &'a PageAsk, is_id: impl Fn(&str) -> bool) -> Self {
        let Some(cursor) = &ask.after else {
            return Self::Newest;
        };
        let text = cursor.as_str();
        if is_sort_key(text, is_id) {
            Self::Below(text)
        } else {
            Self::Unreadable
        }
    }
}

/// Whether a text is a moment and an id, as sort keys are.
fn is_sort_key(text: &str, is_id: impl Fn(&str) -> bool) -> bool {
    let is_moment = |text: &str| text.len() == 13 && text.bytes().all(|b| b.is_ascii_digit());
    text.split_once('#')
        .is_some_and(|(moment, id)| is_moment(moment) && is_id(id))
}
