//! What a worker does with a message that it received, beside attempting: it holds or buries the one delivery of a hint,
//! redrives the one death of a ticket, and hands a message back to its queue or on to where nobody reads it.

use std::time::Duration;

use futures_util::future::try_join;
use switchboard_core::delivery::{DeathReason, State};
use switchboard_core::ports::{Answer, BackendError, Keep};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use crate::accept::planned;
use crate::change::{Changed, Known, ROUNDS, Seen};
use crate::failure::failed;
use crate::item::delivery::Delivery;
use crate::message::{Message, Ticket};
use crate::moves::Round;
use crate::{Aws, life};

impl Aws {
    /// Moves the delivery of a hint to held, where it waits for what the hint says. Any other stays as it is. Whether its
    /// destination is held is looked at behind that as well: a release that came between may have looked for what is held
    /// before this was, so it is put back as that release would have. Cut before that, the keeper does.
    pub async fn hold_received(&self, message: &Message, now: Timestamp, keep: Keep) -> Answer<()> {
        const DOING: &str = "holding a delivery";
        let held = self
            .move_received(DOING, message, now, keep, |before| Stood {
                state: State::Held,
                ..before.clone()
            })
            .await?;
        let Some(held) = held else {
            return Ok(());
        };
        let to = &message.key.destination;
        if let Some(slots) = self.settings.reserve(to, now, 1).await? {
            // Never before its own due time.
            let due = held.stood.due;
            let dues: Vec<Timestamp> = slots.into_iter().map(|slot| slot.max(due)).collect();
            self.put_back(DOING, vec![held], &dues, now, Round::Same)
                .await?;
        }
        Ok(())
    }

    /// Makes the delivery of a hint a dead letter without an attempt, where it waits for what the hint says, and puts its
    /// ticket; also where it died so before, since the same call made again may find that its record was written and its
    /// ticket was not put. Any other stays as it is. A copy for your endpoint dies only while that is not set: that it was set again
    /// is an error, and the hint is to come again.
    pub async fn bury_received(
        &self,
        message: &Message,
        reason: DeathReason,
        now: Timestamp,
        keep: Keep,
    ) -> Answer<()> {
        const DOING: &str = "burying a delivery";
        if message.key.destination.is_your_endpoint()
            && self.settings.now().await?.settings.endpoint.is_some()
        {
            return Err(BackendError::new(DOING, "your endpoint was set again"));
        }
        let buried = self
            .move_received(DOING, message, now, keep, |before| Stood {
                state: State::Dead,
                reason: Some(reason),
                ..before.clone()
            })
            .await?;
        let dead = match buried {
            Some(dead) => Some(dead),
            None => self.buried_before(message, reason).await?,
        };
        match dead {
            Some(dead) => self.put_owed(&dead).await,
            None => Ok(()),
        }
    }

    /// The delivery of a hint where it died for that reason without the attempt that the hint asks for.
    async fn buried_before(
        &self,
        message: &Message,
        reason: DeathReason,
    ) -> Answer<Option<Delivery>> {
        let record = self.delivery(&message.key.event, &message.key.id).await?;
        Ok(record.filter(|record| {
            let stood = &record.stood;
            let died_so = stood.state == State::Dead && stood.reason == Some(reason);
            died_so && stood.due == message.due && record.life == message.life
        }))
    }

    /// Makes `after` of the delivery of a hint where it waits for what the hint says; what stands then, if it was moved.
    async fn move_received(
        &self,
        doing: &'static str,
        message: &Message,
        now: Timestamp,
        keep: Keep,
        after: impl Fn(&Stood) -> Stood,
    ) -> Answer<Option<Delivery>> {
        for _ in 0..ROUNDS {
            let Some((before, seen)) = self.waiting_for(message, now, keep).await? else {
                return Ok(None);
            };
            let stood = after(&before.stood);
            let moved = self.moved(before, stood, keep, now);
            self.keep_event(&moved, keep).await?;
            match self.change(doing, &moved, &seen, Known::Whole).await? {
                Changed::Yes => return Ok(Some(moved)),
                Changed::No(_) => {}
            }
        }
        Err(BackendError::new(
            doing,
            "others change the delivery all the time",
        ))
    }

    /// The delivery of a hint and how it was seen, if it waits for what the hint says.
    pub(crate) async fn waiting_for(
        &self,
        message: &Message,
        now: Timestamp,
        keep: Keep,
    ) -> Answer<Option<(Delivery, Seen)>> {
        let key = &message.key;
        let (head, record) =
            try_join(self.head(&key.event), self.delivery(&key.event, &key.id)).await?;
        let Some(head) = head.filter(|head| head.life == message.life) else {
            return Ok(None);
        };
        let found = if let Some(record) = record.filter(|record| record.life == head.life) {
            let seen = Seen::LeftBy(record.token.clone());
            Some((record, seen))
        } else {
            let family = self.family(&head).await?;
            let mut unrecorded = family.unrecorded(&head);
            let queued = unrecorded.find(|queued| queued.key.id == key.id);
            let token = head.life.clone();
            let longest = life::with_dead_letter(&head, keep);
            queued.map(|queued| (planned(&head, queued, token, now, longest), Seen::Absent))
        };
        Ok(found.filter(|(delivery, _)| {
            delivery.stood.state == State::Waiting && delivery.stood.due == message.due
        }))
    }

    /// Puts the dead letter of a ticket back to waiting, due at once, and sends its hint. Only the death that the ticket
    /// tells of: a delivery that was redriven since, delivered or died at another attempt stays as it is.
    pub async fn redrive_received(&self, ticket: &Ticket, now: Timestamp) -> Answer<()> {
        const DOING: &str = "redriving the dead letter of a ticket";
        let head = self.head(&ticket.event);
        let record = self.delivery(&ticket.event, &ticket.delivery);
        let (Some(head), Some(record)) = try_join(head, record).await? else {
            return Ok(());
        };
        let stood = &record.stood;
        let is_that_death = stood.state == State::Dead && stood.attempts == ticket.attempts;
        if record.life == head.life && is_that_death {
            self.put_back(DOING, vec![record], &[now], now, Round::New)
                .await?;
        }
        Ok(())
    }

    /// Hides a message that was received for so long, at most the twelve hours that its queue allows. Twice is once.
    pub async fn hide(&self, receipt: &str, pause: Duration) -> Answer<()> {
        const LONGEST: u64 = 12 * 60 * 60 - 60;
        let pause = i32::try_from(pause.as_secs().min(LONGEST)).unwrap_or_default();
        self.sqs
            .change_message_visibility()
            .queue_url(&self.place.deliveries)
            .receipt_handle(receipt)
            .visibility_timeout(pause)
            .send()
            .await
            .map_err(|error| failed("hiding a message", error))?;
        Ok(())
    }
}
