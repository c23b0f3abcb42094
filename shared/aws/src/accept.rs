//! Storing an event with its plan, once under its id.

use std::sync::Arc;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::event::Event;
use switchboard_core::identity::EventId;
use switchboard_core::ports::{Accepted, Answer, BackendError, Keep, Queued};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use crate::change::{Known, ROUNDS, Seen, look};
use crate::failure::{Conditional, conditional, failed};
use crate::item::delivery::{About, Delivery, Watch};
use crate::item::event::{Body, Head, Stored};
use crate::item::{Attributes, Reading, Unreadable, names, part, place, plan as plan_text};
use crate::message::{Message, Origin};
use crate::queue::is_near;
use crate::read::{Stretch, unreadable};
use crate::token::Token;
use crate::{Aws, keys, life};

const DOING: &str = "storing an event";
/// Items of one call that are written at once.
pub(crate) const AT_ONCE: usize = 16;

/// What an event is stored in the place of.
enum Instead {
    /// Nothing.
    OfNothing,
    /// An event past its life that nothing needs, as it was seen.
    Of(Head),
}

impl Aws {
    /// The port's step, in this order: the source is known to lists; the parts of a big body are written, under the call's
    /// own token; the event is put, which is the step; what an earlier life left is removed; records are put of deliveries
    /// that are due far from now; hints of the others are sent.
    ///
    /// Cut before the put, nothing is stored: parts without an event expire. Cut behind it, the event and its plan stand and
    /// the keeper queues what has no record, also where the sender never comes again. Of two calls at once one puts, the
    /// other finds that and is a repeat. A put whose answer was lost is known by its token: it is new.
    pub(crate) async fn store_event(
        &self,
        event: &Event,
        plan: &[Queued],
        keep: Keep,
    ) -> Answer<Accepted> {
        let now = event.received_at;
        let token = self.tokens.fresh();
        self.settings.know_source(&event.source).await?;
        let stored = to_be_stored(event, plan, keep, &token);
        if let Body::Parts(_) = stored.body {
            // Not written for a repeat: they cost more than the read.
            if let Some(before) = self.stored_event(&event.id).await?
                && self.lasts(&before.head, now).await?
            {
                return self.repeat(event, &before, &stored.digest, &token).await;
            }
            self.put_parts(event, &token, keep).await?;
        }
        let item = stored.write();
        let mut instead = Instead::OfNothing;
        let mut replaced = false;
        for _ in 0..ROUNDS {
            let found = match self.put_event(item.clone(), &instead).await? {
                Conditional::Written(()) => None,
                Conditional::Unmet(None) => {
                    instead = Instead::OfNothing;
                    continue;
                }
                Conditional::Unmet(Some(item)) => {
                    Some(Stored::read(&item).map_err(unreadable(DOING))?)
                }
            };
            match found.filter(|found| found.head.life != token) {
                None => {
                    if replaced {
                        self.clear_former(&stored.head).await?;
                    }
                    self.queue_plan(&stored.head, event, keep).await?;
                    return Ok(Accepted::New);
                }
                Some(found) if self.lasts(&found.head, now).await? => {
                    return self.repeat(event, &found, &stored.digest, &token).await;
                }
                Some(found) => {
                    instead = Instead::Of(found.head);
                    replaced = true;
                }
            }
        }
        Err(BackendError::new(
            DOING,
            "others change the event all the time",
        ))
    }

    /// Parts live as long as their event can, dead letters and all.
    async fn put_parts(&self, event: &Event, token: &Token, keep: Keep) -> Answer<()> {
        let until = keep.until_when_dead(event.received_at);
        let parts = part::split(&event.body);
        let puts = (0..).zip(&parts).map(|(nth, bytes)| {
            let item = part::write(&event.id, token, nth, bytes, until);
            self.put(DOING, item)
        });
        stream::iter(puts.collect::<Vec<_>>())
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<()>>()
            .await?;
        Ok(())
    }

    /// Writes an item that only this call writes.
    pub(crate) async fn put(&self, doing: &'static str, item: Attributes) -> Answer<()> {
        self.dynamodb
            .put_item()
            .table_name(&self.place.table)
            .set_item(Some(item))
            .send()
            .await
            .map_err(|error| failed(doing, error))?;
        Ok(())
    }

    async fn put_event(&self, item: Attributes, instead: &Instead) -> Answer<Conditional<()>> {
        let put = self
            .dynamodb
            .put_item()
            .table_name(&self.place.table)
            .set_item(Some(item))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let put = match instead {
            Instead::OfNothing => put.condition_expression("attribute_not_exists(pk)"),
            Instead::Of(head) => put
                .condition_expression("attribute_not_exists(pk) OR (tok = :life AND un = :un)")
                .expression_attribute_values(":life", AttributeValue::S(head.life.to_string()))
                .expression_attribute_values(
                    ":un",
                    AttributeValue::N(head.until.millis().to_string()),
                ),
        };
        Ok(match conditional(DOING, put.send().await)? {
            Conditional::Written(_) => Conditional::Written(()),
            Conditional::Unmet(item) => Conditional::Unmet(item),
        })
    }

    /// Whether a stored event counts as stored at `now`: its life lasts, or a delivery is open.
    pub(crate) async fn lasts(&self, head: &Head, now: Timestamp) -> Answer<bool> {
        Ok(now < head.until || self.family(head).await?.is_open(head))
    }

    /// Removes what belongs to an earlier life of an event. It counts as absent, so where this is cut it only stays longer
    /// in lists.
    pub(crate) async fn clear_former(&self, head: &Head) -> Answer<()> {
        let belongings = self.belongings(&head.id).await?;
        for (sort, life) in belongings.into_iter().filter(|(_, of)| *of != head.life) {
            self.delete_of_life(&keys::event(&head.id), sort, &life)
                .await?;
        }
        Ok(())
    }

    /// Sort key and life of all that belongs to an event but its body: deliveries, further runs and every repeat.
    pub(crate) async fn belongings(&self, event: &EventId) -> Answer<Vec<(String, Token)>> {
        const DOING: &str = "reading what belongs to an event";
        let all = Stretch {
            last: keys::LAST,
            only: Some(&[names::VERSION, names::SORT, names::LIFE]),
            ..Stretch::BEFORE_REPEATS
        };
        let items = self.stretch(DOING, &keys::event(event), all).await?;
        let read = |item| {
            let reading = Reading::of("item of an event", item)?;
            let sort = reading.text(names::SORT)?.to_owned();
            Ok((sort, reading.token(names::LIFE)?))
        };
        let read: Result<Vec<_>, Unreadable> = items.iter().map(read).collect();
        read.map_err(unreadable(DOING))
    }

    /// Removes an item if it still is of that life.
    pub(crate) async fn delete_of_life(
        &self,
        partition: &str,
        sort: String,
        life: &Token,
    ) -> Answer<()> {
        const DOING: &str = "removing what belongs to an event";
        let deleted = self
            .dynamodb
            .delete_item()
            .table_name(&self.place.table)
            .set_key(Some(place(partition, sort)))
            .condition_expression("attribute_not_exists(pk) OR lf = :life")
            .expression_attribute_values(":life", AttributeValue::S(life.to_string()))
            .send()
            .await;
        conditional(DOING, deleted)?;
        Ok(())
    }

    /// Sees to it that every delivery of an event that was just stored is attempted when it is due.
    async fn queue_plan(&self, head: &Head, event: &Event, keep: Keep) -> Answer<()> {
        let now = self.clock.now();
        let event = Arc::new(event.clone());
        let far = head.plan.iter().filter(|queued| !is_near(queued.due, now));
        for queued in far {
            let longest = life::with_dead_letter(head, keep);
            let record = planned(head, queued, self.tokens.fresh(), now, longest);
            self.keep_event(&record, keep).await?;
            self.change(DOING, &record, &Seen::Absent, Known::Whole)
                .await?;
        }
        let messages: Vec<Message> = head
            .plan
            .iter()
            .map(|queued| Message {
                key: queued.key.clone(),
                due: queued.due,
                life: head.life.clone(),
                origin: Origin::First,
                event: Some(Arc::clone(&event)),
            })
            .collect();
        self.send(&messages).await
    }
}

/// The event as it is stored by the call with that token.
fn to_be_stored(event: &Event, plan: &[Queued], keep: Keep, token: &Token) -> Stored {
    let headers = event.headers.to_lines().len();
    let plan_length = plan_text::text(plan, event.received_at).len();
    let whole = event
        .body
        .len()
        .saturating_add(headers)
        .saturating_add(plan_length);
    let body = if whole > part::BYTES {
        let parts = part::split(&event.body).len();
        Body::Parts(u32::try_from(parts).unwrap_or(u32::MAX))
    } else {
        Body::Here(event.body.clone())
    };
    let until = keep.until(event.received_at);
    let parts_until = life::of_belongings(keep.until_when_dead(event.received_at));
    Stored {
        head: Head::new(event, plan, token.clone(), until),
        headers: event.headers.clone(),
        parts_ttl: matches!(body, Body::Parts(_)).then_some(parts_until),
        body,
        digest: event.body_digest(),
        requeued: None,
    }
}

/// The record of a planned delivery that nothing happened to yet. It stays for what may become of its event: until
/// `longest`, since whoever writes it may not know that the event lives longer by now.
pub(crate) fn planned(
    head: &Head,
    queued: &Queued,
    token: Token,
    now: Timestamp,
    longest: Timestamp,
) -> Delivery {
    Delivery {
        key: queued.key.clone(),
        life: head.life.clone(),
        token,
        stood: Stood::planned(queued.due),
        changed_at: head.received_at,
        about: About {
            source: head.source.clone(),
            kind: head.kind.clone(),
            received_at: head.received_at,
            until: head.until,
        },
        watch: Watch {
            look: Some(look(queued.due, now)),
            ..Watch::default()
        },
        stays: life::of_belongings(longest),
    }
}
