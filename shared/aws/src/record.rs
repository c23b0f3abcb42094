//! Keeping an attempt and what follows from it.

use futures_util::future::try_join;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, Next, State};
use switchboard_core::ports::{Answer, BackendError, Keep, Recorded};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use crate::change::{Changed, Known, ROUNDS, Seen, watched};
use crate::item::delivery::{About, Delivery, Watch};
use crate::memory;
use crate::message::{Message, Origin};
use crate::read::unreadable;
use crate::token::Token;
use crate::{Aws, life};

const DOING: &str = "recording an attempt";

impl Aws {
    /// The port's step, in this order: an event that is to live longer does so; the record is written, which is the step;
    /// the one next hint is sent, or the ticket put.
    ///
    /// Cut before the write, nothing stands. Cut behind it, the keeper finds by `look` what waits and what owes a ticket, and
    /// the same call made again finds its own attempt recorded last and sends what was left. Of two that record the same
    /// attempt at once, the second finds the first's record, decides on it and changes nothing, so that no second hint is
    /// sent; only where both were made and answered in the same milliseconds in the same words is the second taken for the
    /// first's repetition, and its hint is one more copy. A write whose answer was lost is known by its token.
    pub(crate) async fn record_attempt(
        &self,
        attempt: &Attempt,
        record: &AttemptRecord,
        next: Next,
        keep: Keep,
    ) -> Answer<Recorded> {
        let Some(seen) = self.seen(attempt).await? else {
            return Ok(Recorded::Stale);
        };
        let (life, planned, until) = (seen.life, seen.planned, seen.until);
        let mut present = seen.record;
        let token = self.tokens.fresh();
        for _ in 0..ROUNDS {
            let before = match &present {
                Some(record) => record.stood.clone(),
                None => Stood::planned(planned),
            };
            let Some(after) = before.after(attempt, record, next) else {
                self.complete(record, present.as_ref()).await?;
                return Ok(Recorded::Stale);
            };
            let after = self.recorded(
                attempt,
                record,
                after,
                present.as_ref(),
                (&life, &token, until),
                keep,
            );
            if !lives_long_enough(&after, present.as_ref(), until, keep) {
                self.keep_event(&after, keep).await?;
            }
            let seen = match &present {
                Some(record) => Seen::LeftBy(record.token.clone()),
                None => Seen::Absent,
            };
            match self.change(DOING, &after, &seen, Known::Whole).await? {
                Changed::Yes => {
                    self.remember(&life, planned, &after);
                    if before.state != State::Dead || after.stood.state != State::Dead {
                        self.follow(&after).await?;
                    }
                    return Ok(Recorded::First);
                }
                Changed::No(item) => {
                    let item = item.map(|item| Delivery::read(&item));
                    let item = item.transpose().map_err(unreadable(DOING))?;
                    if item.as_ref().is_some_and(|found| is_later(found, &after)) {
                        return Ok(Recorded::Stale);
                    }
                    present = item.filter(|record| record.life == life);
                    if let Some(record) = &present {
                        self.remember(&life, planned, record);
                    }
                }
            }
        }
        Err(BackendError::new(
            DOING,
            "others change the delivery all the time",
        ))
    }

    /// How the delivery was seen when its attempt began, or how it stands; `None` when its event is not there.
    async fn seen(&self, attempt: &Attempt) -> Answer<Option<memory::Seen>> {
        let key = &attempt.key;
        if let Some(seen) = self.memory.seen(&key.id) {
            return Ok(Some(seen));
        }
        let (head, record) =
            try_join(self.head(&key.event), self.delivery(&key.event, &key.id)).await?;
        let Some(head) = head else {
            return Ok(None);
        };
        let planned = head.plan.iter().find(|queued| queued.key.id == key.id);
        Ok(Some(memory::Seen {
            planned: planned.map_or(head.received_at, |queued| queued.due),
            record: record.filter(|record| record.life == head.life),
            until: Some(head.until),
            life: head.life,
        }))
    }

    fn remember(&self, life: &Token, planned: Timestamp, record: &Delivery) {
        let seen = memory::Seen {
            life: life.clone(),
            planned,
            until: Some(record.about.until),
            record: Some(record.clone()),
        };
        self.memory.keep(&record.key.id, seen);
    }

    /// The record to be written.
    fn recorded(
        &self,
        attempt: &Attempt,
        record: &AttemptRecord,
        stood: Stood,
        before: Option<&Delivery>,
        (life, token, read): (&Token, &Token, Option<Timestamp>),
        keep: Keep,
    ) -> Delivery {
        let event = &attempt.event;
        let usual = keep.until(event.received_at);
        let known = before.map(|before| before.about.until).max(read);
        let longest = keep.until_when_dead(event.received_at);
        let longest = known.map_or(longest, |known| known.max(longest));
        let until = match stood.state {
            State::Dead | State::Held => longest,
            State::Waiting | State::Delivered => known.map_or(usual, |known| known.max(usual)),
        };
        // The one record that is not written to stay for all that may become of its event.
        let stays = if known.is_none() && stood.state == State::Delivered {
            0
        } else {
            life::of_belongings(longest)
        };
        Delivery {
            key: attempt.key.clone(),
            life: life.clone(),
            token: token.clone(),
            changed_at: record.ended(),
            about: About {
                source: event.source.clone(),
                kind: event.kind.clone(),
                received_at: event.received_at,
                until,
            },
            watch: Watch {
                look: match before {
                    // That death was there before, with its ticket or without.
                    Some(before)
                        if before.stood.state == State::Dead && stood.state == State::Dead =>
                    {
                        before.watch.look
                    }
                    Some(_) | None => watched(&stood, self.clock.now()),
                },
                looks: 0,
                ..before.map(|before| before.watch).unwrap_or_default()
            },
            stays: before.map_or(stays, |before| before.ttl().max(stays)),
            stood,
        }
    }

    /// Sends what follows from a record.
    async fn follow(&self, after: &Delivery) -> Answer<()> {
        match after.stood.state {
            State::Waiting => {
                let message = Message {
                    key: after.key.clone(),
                    due: after.stood.due,
                    life: after.life.clone(),
                    origin: Origin::Later,
                    event: None,
                };
                self.send(&[message]).await
            }
            State::Dead => self.put_owed(after).await,
            State::Held | State::Delivered => Ok(()),
        }
    }

    /// Sends what follows once more where this very attempt is the last that was recorded: the call that recorded it may
    /// have been cut before it could.
    async fn complete(&self, record: &AttemptRecord, present: Option<&Delivery>) -> Answer<()> {
        let own = present.filter(|present| present.stood.log.last() == Some(record));
        match own {
            Some(present) => self.follow(present).await,
            None => Ok(()),
        }
    }
}

/// Whether the event was seen to live as long already as a death or a hold needs: nobody makes its life shorter, and what
/// belongs to it was made to stay before it was.
fn lives_long_enough(
    after: &Delivery,
    before: Option<&Delivery>,
    read: Option<Timestamp>,
    keep: Keep,
) -> bool {
    let known = before.map(|before| before.about.until).max(read);
    match after.stood.state {
        State::Dead | State::Held => known >= Some(keep.until_when_dead(after.about.received_at)),
        State::Waiting | State::Delivered => false,
    }
}

/// Whether a record is of an event that was stored under the same id later: whoever attempts one of before comes too late.
fn is_later(found: &Delivery, than: &Delivery) -> bool {
    found.life != than.life && found.about.received_at > than.about.received_at
}
