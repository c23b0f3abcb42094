//! Tickets whose delivery is not the dead letter any more that they tell of. The others stay where alarms see them.

use std::time::Duration;

use futures_util::future::try_join_all;
use switchboard_core::delivery::State;
use switchboard_core::ports::Answer;

use super::inbox::Taken;
use super::{Keeper, Tickets};
use crate::message::Ticket;

/// What a ticket is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worth {
    /// Its delivery is dead, at that attempt.
    Valid,
    /// It is not.
    Past,
    /// It is no ticket that can be read.
    Unreadable,
}

/// Whether there are tickets that were not looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    More,
}

impl Keeper {
    /// Removes past tickets. All others are shown again at the end of the run, so that none comes twice in it. Only where
    /// there are more than the budget covers, those that were looked at make room for the others for a while: alarms see
    /// these meanwhile.
    pub(super) async fn clear_tickets(&self, budget: u32, tickets: &mut Tickets) -> Answer<()> {
        let queue = &self.aws.place.dead_letters;
        let mut valid: Vec<Taken> = Vec::new();
        let looked = self.look_through(budget, &mut valid, tickets).await;
        let pause = match looked {
            Ok(Rest::More) => self.intervals.hide_tickets,
            Ok(Rest::None) | Err(_) => Duration::ZERO,
        };
        let valid: Vec<&Taken> = valid.iter().collect();
        let shown = self.hide(queue, &valid, pause).await;
        looked.and(shown)
    }

    async fn look_through(
        &self,
        budget: u32,
        valid: &mut Vec<Taken>,
        tickets: &mut Tickets,
    ) -> Answer<Rest> {
        let queue = &self.aws.place.dead_letters;
        let mut left = budget;
        while left > 0 {
            let taken = self.take(queue, left).await?;
            if taken.is_empty() {
                return Ok(Rest::None);
            }
            left = left.saturating_sub(u32::try_from(taken.len()).unwrap_or(u32::MAX));
            self.clear(taken, valid, tickets).await?;
        }
        // There may be no more than were looked at: then hiding those would hide all.
        let next = self.take(queue, 1).await?;
        let next: Vec<&Taken> = next.iter().collect();
        self.hide(queue, &next, Duration::ZERO).await?;
        Ok(if next.is_empty() {
            Rest::None
        } else {
            Rest::More
        })
    }

    async fn clear(
        &self,
        taken: Vec<Taken>,
        valid: &mut Vec<Taken>,
        tickets: &mut Tickets,
    ) -> Answer<()> {
        let worths = try_join_all(taken.iter().map(|taken| self.worth(&taken.text))).await;
        let worths = match worths {
            Ok(worths) => worths,
            Err(error) => {
                valid.extend(taken);
                return Err(error);
            }
        };
        let mut past = Vec::new();
        for (taken, worth) in taken.into_iter().zip(worths) {
            let counter = match worth {
                Worth::Valid => &mut tickets.left,
                Worth::Past => &mut tickets.removed,
                Worth::Unreadable => &mut tickets.unreadable,
            };
            *counter = counter.saturating_add(1);
            if worth == Worth::Past {
                past.push(taken);
            } else {
                valid.push(taken);
            }
        }
        let past: Vec<&Taken> = past.iter().collect();
        self.remove(&self.aws.place.dead_letters, &past).await
    }

    async fn worth(&self, text: &str) -> Answer<Worth> {
        let Some(ticket) = Ticket::read(text) else {
            return Ok(Worth::Unreadable);
        };
        let record = self.aws.delivery(&ticket.event, &ticket.delivery).await?;
        let dead = record.is_some_and(|record| {
            record.stood.state == State::Dead && record.stood.attempts == ticket.attempts
        });
        Ok(if dead { Worth::Valid } else { Worth::Past })
    }
}
