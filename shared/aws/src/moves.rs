//! Moving many deliveries at once: to the dead letters and back to waiting, and to held. Each one is a change of its own, so a
//! step that is cut has moved some, and the same call again moves the rest.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::{DeathReason, State};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, BackendError, Keep, Moved, Selection, Spread};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use crate::accept::AT_ONCE;
use crate::candidates::{Candidate, Candidates, number};
use crate::change::{Changed, Known, Seen, watched};
use crate::find::Due;
use crate::item::delivery::{Delivery, Watch};
use crate::message::{Message, Origin};
use crate::unrecorded::Wanted;
use crate::{Aws, keys};

/// In which round what is put back is attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// In one that begins now.
    New,
    /// In the one that it was in.
    Same,
}

/// What was changed, and the first failure: what comes behind that is not begun.
struct Changes {
    moved: Vec<Delivery>,
    failure: Option<BackendError>,
}

impl Changes {
    /// What was changed, if all of it could be.
    fn whole(self) -> Answer<Vec<Delivery>> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.moved),
        }
    }
}

impl Aws {
    /// Makes open deliveries of a destination dead letters. Of your endpoint only while it is not set: that is looked at
    /// when what is open was found, and once more when it was buried. Where it was set in between, all of it is put back.
    ///
    /// Each event lives longer before its delivery is dead. The keeper puts the tickets. Cut in between, it only lives longer; twice finds nothing more.
    /// Cut before the second look, what was buried too late stays a dead letter, which a redrive sends.
    pub(crate) async fn bury_open(
        &self,
        destination: &DestinationName,
        reason: DeathReason,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> Answer<Moved> {
        const DOING: &str = "burying deliveries";
        let to = std::slice::from_ref(destination);
        let mut open = Candidates::default();
        for state in [State::Waiting, State::Held] {
            open.add_rows(self.find(state, to, Due::Ever, limit).await?, limit);
        }
        let wanted = Wanted {
            destination: destination.clone(),
            due: None,
        };
        let way = self.unrecorded(&wanted, open.room(limit)).await?;
        open.add_planned(&way);
        if self.is_endpoint_set_again(destination).await? {
            return Ok(Moved::default());
        }
        let left = open.left;
        let changes = self
            .change_all(DOING, open.found, keep, now, |before, _| Stood {
                state: State::Dead,
                reason: Some(reason),
                ..before.stood.clone()
            })
            .await;
        if self.is_endpoint_set_again(destination).await? {
            let dues: Vec<Timestamp> = (changes.moved.iter())
                .map(|delivery| delivery.stood.due)
                .collect();
            self.put_back(DOING, changes.moved, &dues, now, Round::Same)
                .await?;
            return Ok(Moved::default());
        }
        let done = number(&changes.whole()?);
        way.go_on(left);
        Ok(Moved { done, left })
    }

    /// Whether this is your endpoint and it is set: whoever buries its deliveries may have looked before that.
    async fn is_endpoint_set_again(&self, destination: &DestinationName) -> Answer<bool> {
        Ok(
            destination.is_your_endpoint()
                && self.settings.now().await?.settings.endpoint.is_some(),
        )
    }

    /// Moves waiting deliveries that are due to held, if their destination is held as they are found. What is held after
    /// a release came between the two, the recovery puts back.
    pub(crate) async fn shelve_due(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> Answer<Moved> {
        let to = std::slice::from_ref(destination);
        let mut due = Candidates::default();
        due.add_rows(
            self.find(State::Waiting, to, Due::By(now), limit).await?,
            limit,
        );
        let wanted = Wanted {
            destination: destination.clone(),
            due: Some(now),
        };
        let way = self.unrecorded(&wanted, due.room(limit)).await?;
        due.add_planned(&way);
        if !self
            .settings
            .now()
            .await?
            .settings
            .held
            .contains(destination)
        {
            return Ok(Moved::default());
        }
        let left = due.left;
        let moved = self
            .change_all("holding deliveries", due.found, keep, now, |before, _| {
                Stood {
                    state: State::Held,
                    ..before.stood.clone()
                }
            })
            .await
            .whole()?;
        way.go_on(left);
        let done = number(&moved);
        Ok(Moved { done, left })
    }

    /// Puts dead letters back to waiting, for a new round, then sends their hints. Cut before the hints, the keeper finds
    /// the deliveries by `look`; of two calls at once, each dead letter is moved by one.
    pub(crate) async fn requeue_dead(
        &self,
        selection: &Selection,
        spread: Spread,
        limit: u32,
    ) -> Answer<Moved> {
        let found = match selection {
            Selection::AllDead => {
                let kept = self.settings.now().await?;
                let all: Vec<DestinationName> = kept.destinations.iter().cloned().collect();
                self.find(State::Dead, &all, Due::Ever, limit).await?
            }
            Selection::DeadOf(destination) => {
                let to = std::slice::from_ref(destination);
                self.find(State::Dead, to, Due::Ever, limit).await?
            }
            Selection::Dead(ids) => self.find_dead(ids, limit).await?,
        };
        let left = found.left;
        let rows = self.of_present_lives(found.rows).await?;
        let dues: Vec<Timestamp> = (0..number(&rows)).map(|nth| spread.due(nth)).collect();
        let moved = self
            .put_back(
                "requeueing deliveries",
                rows,
                &dues,
                spread.start,
                Round::New,
            )
            .await?;
        Ok(Moved { done: moved, left })
    }

    /// Puts deliveries back to waiting for their due times, and sends the hints of those that were, also where others could
    /// not be.
    pub(crate) async fn put_back(
        &self,
        doing: &'static str,
        rows: Vec<Delivery>,
        dues: &[Timestamp],
        at: Timestamp,
        round: Round,
    ) -> Answer<u32> {
        // Nothing dies here, so nothing has to live longer.
        let keep = Keep { days: 0 };
        let found = rows.into_iter().map(Box::new).map(Candidate::Row);
        let changes = self
            .change_all(doing, found.collect(), keep, at, |before, nth| Stood {
                state: State::Waiting,
                due: dues.get(nth).copied().unwrap_or(at),
                base: match round {
                    Round::New => before.stood.attempts,
                    Round::Same => before.stood.base,
                },
                reason: None,
                ..before.stood.clone()
            })
            .await;
        let hints: Vec<Message> = (changes.moved.iter())
            .map(|delivery| Message {
                key: delivery.key.clone(),
                due: delivery.stood.due,
                life: delivery.life.clone(),
                origin: Origin::Later,
                event: None,
            })
            .collect();
        self.send(&hints).await?;
        Ok(number(&changes.whole()?))
    }

    /// Changes what was found, some at once. What something else happened to meanwhile stays.
    async fn change_all(
        &self,
        doing: &'static str,
        found: Vec<Candidate>,
        keep: Keep,
        now: Timestamp,
        after: impl Fn(&Delivery, usize) -> Stood,
    ) -> Changes {
        let wanted: Vec<(Delivery, Seen, Known)> = found
            .iter()
            .enumerate()
            .map(|(nth, candidate)| {
                let (before, seen, known) = candidate.seen(now, keep);
                let stood = after(&before, nth);
                (self.moved(before, stood, keep, now), seen, known)
            })
            .collect();
        let failed = &AtomicBool::new(false);
        let mut done = stream::iter(wanted)
            .map(|(delivery, seen, known)| async move {
                if failed.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let changed = self.change_kept(doing, delivery, keep, &seen, known).await;
                if changed.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                changed
            })
            .buffered(AT_ONCE);
        let mut changes = Changes {
            moved: Vec::new(),
            failure: None,
        };
        while let Some(one) = done.next().await {
            match one {
                Ok(moved) => changes.moved.extend(moved),
                Err(error) => changes.failure = changes.failure.or(Some(error)),
            }
        }
        changes
    }

    /// Changes a delivery, and keeps its event before that; `None` where something else happened to it meanwhile.
    async fn change_kept(
        &self,
        doing: &'static str,
        delivery: Delivery,
        keep: Keep,
        seen: &Seen,
        known: Known,
    ) -> Answer<Option<Delivery>> {
        self.keep_event(&delivery, keep).await?;
        Ok(match self.change(doing, &delivery, seen, known).await? {
            Changed::Yes => Some(delivery),
            Changed::No(_) => None,
        })
    }

    /// What a delivery is once it stands as `stood`.
    pub(crate) fn moved(
        &self,
        before: Delivery,
        stood: Stood,
        keep: Keep,
        now: Timestamp,
    ) -> Delivery {
        let mut about = before.about;
        match stood.state {
            State::Dead | State::Held => {
                about.until = about.until.max(keep.until_when_dead(about.received_at));
            }
            State::Waiting | State::Delivered => {}
        }
        Delivery {
            token: self.tokens.fresh(),
            changed_at: now,
            about,
            watch: Watch {
                look: watched(&stood, self.clock.now()),
                looks: 0,
                ..before.watch
            },
            stood,
            ..before
        }
    }

    /// Those whose event still has the life that they are of; what is left of an earlier one is removed.
    pub(crate) async fn of_present_lives(&self, rows: Vec<Delivery>) -> Answer<Vec<Delivery>> {
        let checked: Vec<Option<Delivery>> = stream::iter(rows)
            .map(|row| async move {
                let head = self.head(&row.key.event).await?;
                if head.is_some_and(|head| head.life == row.life) {
                    return Ok(Some(row));
                }
                let partition = keys::event(&row.key.event);
                let sort = keys::delivery(&row.key.id);
                self.delete_of_life(&partition, sort, &row.life).await?;
                Ok(None)
            })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(checked.into_iter().flatten().collect())
    }
}
