//! Making an event live longer, with all that belongs to it.
//!
//! A delivery without a record looks like one that waits, and the service removes items in any order. So nothing that belongs
//! to an event may go before the event does. Deliveries, runs and repeats are written to stay as long as an event with a
//! dead letter does, but for one kind of record, since there are so many of them: that of a delivery whose first hint was
//! delivered without a read stays for the event's usual life. Whoever makes an event live longer makes what is there
//! stay longer first: the parts of its body, then its deliveries and runs, and the event last. Cut anywhere, what belongs to
//! it stays longer than it has to; and an event that lives longer already has had that done, so that it is looked at alone.
//!
//! A first attempt that is recorded behind that, by a worker that has read nothing, does not know of it. Such a worker begins
//! within half an hour of the event's receipt, and the keeper's far walk comes behind an hour: it sees what the event lives
//! for and makes every record stay as long. A record that is written over never stays shorter than it did.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::identity::EventId;
use switchboard_core::ports::{Answer, BackendError, Keep};
use switchboard_core::time::Timestamp;

use crate::accept::AT_ONCE;
use crate::change::ROUNDS;
use crate::failure::{Conditional, conditional};
use crate::item::delivery::Delivery;
use crate::item::stay::{STAY, Stay};
use crate::item::{Attributes, Reading, Unreadable, names, place};
use crate::read::{Stretch, unreadable};
use crate::token::Token;
use crate::{Aws, keys, life};

const DOING: &str = "keeping an event longer";
/// What is asked for of what belongs to an event.
const BRIEF: [&str; 4] = [names::VERSION, names::SORT, names::LIFE, names::TTL];

/// How much longer an event is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Longer {
    /// Its life ends then.
    Until(Timestamp),
    /// Its life stays as it is, but it is not removed while a delivery of it is due then.
    For(Timestamp),
}

impl Aws {
    /// Keeps an event as long as a delivery needs it that is about to stand so.
    pub(crate) async fn keep_event(&self, after: &Delivery, keep: Keep) -> Answer<()> {
        let longer = match after.stood.state {
            State::Dead | State::Held => {
                Longer::Until(keep.until_when_dead(after.about.received_at))
            }
            State::Waiting if life::is_outlasted(after.about.until, after.stood.due) => {
                Longer::For(after.stood.due)
            }
            State::Waiting | State::Delivered => return Ok(()),
        };
        self.prolong(&after.key.event, &after.life, longer).await
    }

    /// Makes an event live so much longer. Before what needs it is written: cut in between, it only lives longer. Twice is
    /// once, and an event that lives longer or is another's stays as it is.
    pub(crate) async fn prolong(
        &self,
        event: &EventId,
        life: &Token,
        longer: Longer,
    ) -> Answer<()> {
        for _ in 0..ROUNDS {
            let key = place(keys::event(event), keys::EVENT);
            let Some(item) = self.get(DOING, key, Some(&STAY)).await? else {
                return Ok(());
            };
            let before = Stay::read(&item).map_err(unreadable(DOING))?;
            let after = before.longer(longer);
            if before.life != *life || after == before {
                return Ok(());
            }
            for nth in before.parts_before(&after) {
                let condition = Condition::Stored;
                self.keep_item(event, &keys::part(life, nth), after.belongings(), condition)
                    .await?;
            }
            self.keep_belongings(event, life, after.belongings())
                .await?;
            if self.write_stay(event, &before, &after).await? {
                return Ok(());
            }
        }
        Err(BackendError::new(
            DOING,
            "others change the event all the time",
        ))
    }

    /// Makes an event's deliveries and runs stay until then, in seconds since 1970.
    async fn keep_belongings(&self, event: &EventId, life: &Token, until: i64) -> Answer<()> {
        let stretch = Stretch {
            only: Some(&BRIEF),
            ..Stretch::BEFORE_REPEATS
        };
        let items = self.stretch(DOING, &keys::event(event), stretch).await?;
        self.keep_items(event, life, &items, until).await
    }

    /// Makes those of these items of an event that are of its life and would go before that stay until then.
    pub(crate) async fn keep_items(
        &self,
        event: &EventId,
        life: &Token,
        items: &[Attributes],
        until: i64,
    ) -> Answer<()> {
        let sorts = items.iter().map(|item| short(item, life, until));
        let sorts: Result<Vec<_>, Unreadable> = sorts.collect();
        let sorts = sorts.map_err(unreadable(DOING))?.into_iter().flatten();
        stream::iter(sorts.collect::<Vec<_>>())
            .map(|sort| async move {
                self.keep_item(event, &sort, until, Condition::OfLife(life))
                    .await
            })
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<()>>()
            .await?;
        Ok(())
    }

    /// Its token stays: nothing that was decided on the item is decided otherwise for it.
    async fn keep_item(
        &self,
        event: &EventId,
        sort: &str,
        until: i64,
        condition: Condition<'_>,
    ) -> Answer<()> {
        let update = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::event(event), sort)))
            .update_expression("SET #ttl = :ttl")
            .expression_attribute_names("#ttl", names::TTL)
            .expression_attribute_values(":ttl", AttributeValue::N(until.to_string()));
        // What is not there has no end that is earlier, so nothing is made.
        let update = match condition {
            Condition::Stored => update.condition_expression("#ttl < :ttl"),
            Condition::OfLife(life) => update
                .condition_expression("lf = :life AND #ttl < :ttl")
                .expression_attribute_values(":life", AttributeValue::S(life.to_string())),
        };
        conditional(DOING, update.send().await)?;
        Ok(())
    }

    /// `false` when something else changed how long the event stays.
    async fn write_stay(&self, event: &EventId, before: &Stay, after: &Stay) -> Answer<bool> {
        let number = |number: i64| AttributeValue::N(number.to_string());
        let update = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::event(event), keys::EVENT)))
            .condition_expression("tok = :life AND un = :before AND #ttl = :ttl_before")
            .expression_attribute_names("#ttl", names::TTL)
            .expression_attribute_values(":life", AttributeValue::S(before.life.to_string()))
            .expression_attribute_values(":before", number(before.until.millis()))
            .expression_attribute_values(":ttl_before", number(before.ttl))
            .expression_attribute_values(":un", number(after.until.millis()))
            .expression_attribute_values(":ttl", number(after.ttl));
        let update = match after.parts_ttl {
            None => update.update_expression("SET un = :un, #ttl = :ttl"),
            Some(parts) => update
                .update_expression("SET un = :un, #ttl = :ttl, bt = :bt")
                .expression_attribute_values(":bt", number(parts)),
        };
        Ok(match conditional(DOING, update.send().await)? {
            Conditional::Written(_) => true,
            Conditional::Unmet(_) => false,
        })
    }
}

/// What must hold of an item that is to stay longer, beside its going too early.
#[derive(Clone, Copy)]
enum Condition<'a> {
    /// It is there: its key is this life's alone.
    Stored,
    /// It is of this life.
    OfLife(&'a Token),
}

/// The sort key of an item of this life that goes before that.
fn short(item: &Attributes, life: &Token, until: i64) -> Result<Option<String>, Unreadable> {
    let reading = Reading::of("item of an event", item)?;
    let goes: i64 = reading.number(names::TTL)?;
    if reading.token(names::LIFE)? != *life || goes >= until {
        return Ok(None);
    }
    Ok(Some(reading.text(names::SORT)?.to_owned()))
}
