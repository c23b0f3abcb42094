//! What the queue gave back, since it was received again and again. A hint that still holds goes back to the deliveries, and
//! is counted: after the third time its delivery is dead. What nobody can read is counted by its reason, and kept.

use futures_util::future::join_all;
use switchboard_core::delivery::{DeathReason, State};
use switchboard_core::ports::{Answer, BackendError};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use super::inbox::Taken;
use super::{FAILURES, Keeper, Returned};
use crate::accept::planned;
use crate::change::{Changed, Known, ROUNDS, Seen, watched};
use crate::item::delivery::{About, Delivery, Watch};
use crate::life;
use crate::message::{Message, Origin, Ticket};

const DOING: &str = "sorting returned messages";
/// The return after which a delivery is dead.
const TOO_OFTEN: u32 = 3;

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sorted {
    SentBack,
    Dropped,
    Died,
    Ticket,
    Kept(String),
}

/// What a hint that came back stands for.
enum Standing {
    /// A delivery that waits for it, and what its change is conditional on.
    Waiting(Box<Delivery>, Seen),
    /// Nothing any more.
    Past,
}

impl Keeper {
    /// Sorts what is in the queue, until it is empty or the budget is spent. Each message is removed last: cut before that,
    /// it comes again, and what was sent twice is a copy.
    pub(super) async fn sort_returned(
        &self,
        now: Timestamp,
        budget: u32,
        returned: &mut Returned,
    ) -> Answer<()> {
        let mut left = budget;
        let mut failures: u32 = 0;
        let mut failure = None;
        while left > 0 && failures < FAILURES {
            let taken = self.take(&self.aws.place.returned, left).await?;
            if taken.is_empty() {
                break;
            }
            left = left.saturating_sub(u32::try_from(taken.len()).unwrap_or(u32::MAX));
            if let Err(error) = self.sort(&taken, now, returned).await {
                failures = failures.saturating_add(1);
                failure = Some(error);
            }
        }
        failure.map_or(Ok(()), Err)
    }

    async fn sort(&self, taken: &[Taken], now: Timestamp, returned: &mut Returned) -> Answer<()> {
        let sorted = join_all(taken.iter().map(|taken| self.sort_one(taken, now))).await;
        let mut done = Vec::new();
        let mut kept = Vec::new();
        let mut failure = None;
        for (taken, sorted) in taken.iter().zip(sorted) {
            match sorted {
                Ok(Sorted::Kept(reason)) => {
                    kept.push(taken);
                    let count = returned.unreadable.entry(reason).or_default();
                    *count = count.saturating_add(1);
                }
                Ok(sorted) => {
                    done.push(taken);
                    returned.count(&sorted);
                }
                Err(error) => failure = Some(error),
            }
        }
        let queue = &self.aws.place.returned;
        self.remove(queue, &done).await?;
        self.hide(queue, &kept, self.intervals.hide_unreadable)
            .await?;
        failure.map_or(Ok(()), Err)
    }

    async fn sort_one(&self, taken: &Taken, now: Timestamp) -> Answer<Sorted> {
        if let Some(reason) = &taken.reason {
            return Ok(Sorted::Kept(reason.clone()));
        }
        match Message::read(&taken.text) {
            Ok(message) => self.sort_hint(message, now).await,
            Err(why) => match Ticket::read(&taken.text) {
                // Moved to the deliveries by hand: what it tells of is dead still, or is removed from there.
                Some(_) => {
                    self.aws.put_ticket(taken.text.clone()).await?;
                    Ok(Sorted::Ticket)
                }
                None => Ok(Sorted::Kept(why.to_string())),
            },
        }
    }

    /// The count is written first: cut behind it, the hint comes again within the hour and is not counted twice.
    async fn sort_hint(&self, message: Message, now: Timestamp) -> Answer<Sorted> {
        for _ in 0..ROUNDS {
            let (delivery, seen) = match self.standing(&message, now).await? {
                Standing::Waiting(delivery, seen) => (*delivery, seen),
                // Dead too: it owes its ticket where whoever recorded that was cut before it.
                Standing::Past => return Ok(Sorted::Dropped),
            };
            let Some(after) = self.counted(delivery, now) else {
                return self.send_back(message).await;
            };
            self.aws.keep_event(&after, self.keep).await?;
            match self.aws.change(DOING, &after, &seen, Known::Whole).await? {
                Changed::Yes if after.stood.state == State::Dead => {
                    self.aws.put_owed(&after).await?;
                    return Ok(Sorted::Died);
                }
                Changed::Yes => return self.send_back(message).await,
                Changed::No(_) => {}
            }
        }
        Err(BackendError::new(
            DOING,
            "others change the delivery all the time",
        ))
    }

    /// A message that is sent begins to be counted anew, so it is no first hint any more.
    async fn send_back(&self, message: Message) -> Answer<Sorted> {
        let message = Message {
            origin: Origin::Later,
            ..message
        };
        self.aws.send(&[message]).await?;
        Ok(Sorted::SentBack)
    }

    async fn standing(&self, message: &Message, now: Timestamp) -> Answer<Standing> {
        let key = &message.key;
        let record = self.aws.delivery(&key.event, &key.id).await?;
        if let Some(record) = record.filter(|record| record.life == message.life) {
            if record.stood.due != message.due {
                return Ok(Standing::Past);
            }
            return Ok(match record.stood.state {
                State::Waiting => {
                    let seen = Seen::LeftBy(record.token.clone());
                    Standing::Waiting(Box::new(record), seen)
                }
                State::Dead | State::Held | State::Delivered => Standing::Past,
            });
        }
        // Planned, and never attempted: it waits for what its plan says.
        let head = self.aws.head(&key.event).await?;
        let Some(head) = head.filter(|head| head.life == message.life) else {
            return Ok(Standing::Past);
        };
        let family = self.aws.family(&head).await?;
        let planned_so = family
            .unrecorded(&head)
            .find(|queued| queued.key.id == key.id && queued.due == message.due);
        Ok(match planned_so {
            Some(queued) => {
                let longest = life::with_dead_letter(&head, self.keep);
                let record = planned(&head, queued, head.life.clone(), now, longest);
                Standing::Waiting(Box::new(record), Seen::Absent)
            }
            None => Standing::Past,
        })
    }

    /// The record with one more return; `None` where the last one was counted lately.
    fn counted(&self, before: Delivery, now: Timestamp) -> Option<Delivery> {
        let counted = before.watch.returned_at;
        if counted.is_some_and(|then| now.since(then) < self.intervals.count_returns) {
            return None;
        }
        let returns = before.watch.returns.saturating_add(1);
        let after = Delivery {
            token: self.aws.tokens.fresh(),
            watch: Watch {
                returns,
                returned_at: Some(now),
                ..before.watch
            },
            ..before
        };
        if returns < TOO_OFTEN {
            return Some(after);
        }
        let until = self.keep.until_when_dead(after.about.received_at);
        let stood = Stood {
            state: State::Dead,
            reason: Some(DeathReason::ReturnedTooOften),
            ..after.stood
        };
        Some(Delivery {
            changed_at: now,
            about: About {
                until: after.about.until.max(until),
                ..after.about
            },
            watch: Watch {
                look: watched(&stood, now),
                ..after.watch
            },
            stood,
            ..after
        })
    }
}

impl Returned {
    fn count(&mut self, sorted: &Sorted) {
        let counter = match sorted {
            Sorted::SentBack => &mut self.sent_back,
            Sorted::Dropped => &mut self.dropped,
            Sorted::Died => &mut self.died,
            Sorted::Ticket => &mut self.tickets,
            Sorted::Kept(_) => return,
        };
        *counter = counter.saturating_add(1);
    }
}
