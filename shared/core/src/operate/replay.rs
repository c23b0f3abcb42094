//! Replay: stored events delivered again on purpose, by the routes as they stand today, as new deliveries with new keys.

use std::sync::PoisonError;
use std::time::Duration;

use futures_util::future::join_all;

use crate::delivery::DeliveryKey;
use crate::fail::{self, FailPoint};
use crate::identity::{EventId, Run};
use crate::names::{ActionName, DestinationName};
use crate::ports::{Ledger, Queued, SettingsStore, Spread, Views};
use crate::route::{Plan, Planned};
use crate::time::Timestamp;
use crate::views::{Cursor, EventRow, EventSearch, Looked, PageAsk};

use super::{OperateError, Operator};

/// Most events that one call replays.
pub const EVENTS: u32 = 200;
/// How many of them are stored at once: a backend may take them together, or one request for each.
const AT_ONCE: usize = 16;

/// What is to be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Which events.
    pub search: EventSearch,
    /// Only what today's routes send there; to all of them without it.
    pub to: Option<DestinationName>,
    /// Starts per second.
    pub per_second: u32,
    /// Whether it is only counted.
    pub is_dry: bool,
}

/// Where a replay stands between two calls. As text it is `run.began.due.cursor`, both moments in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The run of all of its deliveries: the second in which it began, or one that is still free.
    run: Run,
    /// When it began: what came later is not meant.
    began: Timestamp,
    /// Before which moment nothing more of it is due: what was planned before keeps its pace, however late it goes on.
    due: Timestamp,
    /// Where the events before end; from the newest on without it.
    after: Option<Cursor>,
}

/// What a call of a replay did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The run of its deliveries.
    pub run: Run,
    /// Events for which a delivery was planned.
    pub events: u32,
    /// Deliveries planned for them.
    pub deliveries: u32,
    /// How far it looked.
    pub looked: Looked,
    /// What the next call goes on from, when there is more.
    pub next: Option<Progress>,
}

impl Progress {
    /// Reads what a call answered, or how a replay began; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '.');
        let run = parts.next()?.parse().ok().filter(|run| *run > 0)?;
        let mut moment = || {
            let millis = parts.next()?.parse().ok()?;
            Some(Timestamp::from_millis(millis)).filter(|moment| moment.can_be_a_date())
        };
        let (began, due) = (moment()?, moment()?);
        let after = match parts.next()? {
            "" => None,
            cursor => Some(Cursor::new(cursor)?),
        };
        Some(Self {
            run: Run(run),
            began,
            due,
            after,
        })
    }

    /// The run of its deliveries.
    pub const fn run(&self) -> Run {
        self.run
    }

    /// The moment from which on nothing is meant: where the search of this replay ends, or when it began.
    pub fn until(&self, replay: &Replay) -> Timestamp {
        let end = self.began.plus(Duration::from_millis(1));
        replay.search.until.map_or(end, |until| until.min(end))
    }
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cursor = self.after.as_ref().map_or("", Cursor::as_str);
        let (began, due) = (self.began.millis(), self.due.millis());
        write!(f, "{}.{began}.{due}.{cursor}", self.run.0)
    }
}

impl<B: Ledger + SettingsStore + Views> Operator<B> {
    /// A replay that begins now, with a run of its own and nothing planned: whoever has this before the first call goes on
    /// with the same run, whatever becomes of that call or its answer. One that is only counted takes no run.
    ///
    /// Processes do not tell each other what began: of two in one second, an event that both mean is replayed for one.
    pub async fn begin_replay(&self, replay: &Replay) -> Result<Progress, OperateError> {
        self.copies_of(replay).await?;
        let now = self.clock.now();
        let second = Run(u32::try_from(now.seconds()).unwrap_or(1).max(1));
        Ok(Progress {
            run: if replay.is_dry {
                second
            } else {
                self.run_from(second)
            },
            began: now,
            due: now,
            after: None,
        })
    }

    /// Replays at most [`EVENTS`] of the events that are meant, newest first: each gets a further run, by the routes of
    /// today. Only events that were received before it began, or at that moment.
    ///
    /// Cut anywhere: the same call with the same progress plans the same deliveries, which is them once. What is planned
    /// is delivered, whether the replay ever goes on or not. The events are looked for in each call anew: what no longer has the
    /// state that is asked for, or is routed otherwise since, is planned as it stands then.
    pub async fn replay(
        &self,
        replay: &Replay,
        progress: Progress,
    ) -> Result<Replayed, OperateError> {
        let copies = self.copies_of(replay).await?;
        let (run, began) = (progress.run, progress.began);
        let search = EventSearch {
            until: Some(progress.until(replay)),
            ..replay.search.clone()
        };
        let ask = PageAsk {
            after: progress.after,
            limit: EVENTS,
        };
        let found = self.backend.events(&search, &ask).await;
        let found = found.map_err(OperateError::Backend)?;
        let spread = Spread {
            start: progress.due.max(self.clock.now()),
            per_second: replay.per_second,
        };
        let (mut planned, mut count) = (Vec::new(), 0_u32);
        for row in &found.page.items {
            let keys = self.run_of(row, replay.to.as_ref(), copies, run);
            let queue = |(nth, key)| Queued {
                key,
                due: spread.due(nth),
            };
            let queued: Vec<Queued> = (count..).zip(keys).map(queue).collect();
            count = count.saturating_add(number(&queued));
            planned.push((&row.event, queued));
        }
        planned.retain(|(_, queued)| !queued.is_empty());
        let (events, deliveries) = if replay.is_dry {
            (number(&planned), count)
        } else {
            self.plan_all(run, &planned).await?
        };
        Ok(Replayed {
            run,
            events,
            deliveries,
            looked: found.looked,
            next: found.page.next.map(|after| Progress {
                run,
                began,
                due: spread.due(count),
                after: Some(after),
            }),
        })
    }

    /// Whether your endpoint gets copies; an error where a replay goes nowhere.
    async fn copies_of(&self, replay: &Replay) -> Result<bool, OperateError> {
        let settings = self.backend.settings().await;
        let copies = settings.map_err(OperateError::Backend)?.endpoint.is_some();
        if let Some(to) = &replay.to {
            let to = self.known(to.clone())?;
            if to.is_your_endpoint() && !copies {
                return Err(OperateError::EndpointNotSet);
            }
        }
        Ok(copies)
    }

    /// Stores the run of each of these events; how many of them, and deliveries, were there to be stored.
    async fn plan_all(
        &self,
        run: Run,
        planned: &[(&EventId, Vec<Queued>)],
    ) -> Result<(u32, u32), OperateError> {
        let (mut events, mut deliveries) = (0_u32, 0_u32);
        for some in planned.chunks(AT_ONCE) {
            let steps = some
                .iter()
                .map(|(event, queued)| self.backend.replay(event, run, queued));
            let mut failed = None;
            for ((_, queued), stored) in some.iter().zip(join_all(steps).await) {
                match stored {
                    Ok(true) => {
                        events = events.saturating_add(1);
                        deliveries = deliveries.saturating_add(number(queued));
                    }
                    // Its life ended meanwhile.
                    Ok(false) => {}
                    Err(cause) => failed = Some(cause),
                }
            }
            if let Some(cause) = failed {
                let done = deliveries;
                return Err(OperateError::Interrupted { done, cause });
            }
            fail::reach(FailPoint::BetweenRuns);
        }
        tracing::info!(run = run.0, events, deliveries, "replay");
        Ok((events, deliveries))
    }

    /// A run that this process has not taken, from this one on.
    fn run_from(&self, second: Run) -> Run {
        let mut last = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
        let run = last.map_or(second, |last| second.max(Run(last.0.saturating_add(1))));
        *last = Some(run);
        run
    }

    /// What today's routes make of an event.
    fn run_of(
        &self,
        row: &EventRow,
        to: Option<&DestinationName>,
        copies: bool,
        run: Run,
    ) -> Vec<DeliveryKey> {
        let mut plan = Plan::of(&self.configuration.routes, &row.source, &row.kind);
        if copies {
            plan.add(Planned {
                destination: DestinationName::your_endpoint(),
                action: ActionName::copy(),
            });
        }
        let meant = |planned: &&Planned| to.is_none_or(|to| *to == planned.destination);
        let key = |planned: &Planned| {
            let (destination, action) = (planned.destination.clone(), planned.action.clone());
            DeliveryKey::of(&row.event, destination, action, run)
        };
        plan.deliveries().iter().filter(meant).map(key).collect()
    }
}

fn number<T>(of: &[T]) -> u32 {
    u32::try_from(of.len()).unwrap_or(u32::MAX)
}
