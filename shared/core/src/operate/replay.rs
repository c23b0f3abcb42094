//! Replay: stored events delivered again on purpose, by the routes as they stand today, as new deliveries with new keys.

use crate::delivery::DeliveryKey;
use crate::fail::{self, FailPoint};
use crate::identity::Run;
use crate::names::{ActionName, DestinationName};
use crate::ports::{Ledger, Queued, SettingsStore, Spread, Views};
use crate::route::{Plan, Planned};
use crate::time::Timestamp;
use crate::views::{Cursor, EventRow, EventSearch, Looked, PageAsk};

use super::{OperateError, Operator};

/// Most events that one call replays.
pub const EVENTS: u32 = 200;

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

/// Where a replay goes on that took more than one call. As text it is `run.planned.cursor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The run of all of its deliveries: the second in which it began, so that no other has it.
    run: Run,
    /// Deliveries planned by the calls before.
    planned: u32,
    /// Where the events before end; from the newest on without it.
    after: Option<Cursor>,
}

/// What a call of a replay did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
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
    /// A replay that begins.
    pub fn begin(now: Timestamp) -> Self {
        Self {
            run: Run(u32::try_from(now.seconds()).unwrap_or(1).max(1)),
            planned: 0,
            after: None,
        }
    }

    /// Reads what a call answered; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (run, rest) = text.split_once('.')?;
        let (planned, cursor) = rest.split_once('.')?;
        let run = run.parse().ok().filter(|run| *run > 0)?;
        Some(Self {
            run: Run(run),
            planned: planned.parse().ok()?,
            after: Some(Cursor::new(cursor)?),
        })
    }

    /// The run of its deliveries.
    pub const fn run(&self) -> Run {
        self.run
    }

    /// When it began.
    fn began(&self) -> Timestamp {
        Timestamp::from_seconds(i64::from(self.run.0))
    }
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cursor = self.after.as_ref().map_or("", Cursor::as_str);
        write!(f, "{}.{}.{cursor}", self.run.0, self.planned)
    }
}

impl<B: Ledger + SettingsStore + Views> Operator<B> {
    /// Replays at most [`EVENTS`] of the events that are meant, newest first: each gets a further run, by the routes of
    /// today. Only events that were stored before it began.
    ///
    /// Cut anywhere: the same call with the same progress plans the same deliveries, which is them once. What is planned
    /// is delivered, whether the replay ever goes on or not.
    pub async fn replay(
        &self,
        replay: &Replay,
        progress: Progress,
    ) -> Result<Replayed, OperateError> {
        if let Some(to) = &replay.to {
            self.known(to.clone())?;
        }
        let began = progress.began();
        let search = EventSearch {
            until: Some(replay.search.until.map_or(began, |until| until.min(began))),
            ..replay.search.clone()
        };
        let ask = PageAsk {
            after: progress.after.clone(),
            limit: EVENTS,
        };
        let found = self.backend.events(&search, &ask).await;
        let found = found.map_err(OperateError::Backend)?;
        let settings = self.backend.settings().await;
        let copies = settings.map_err(OperateError::Backend)?.endpoint.is_some();
        let now = self.clock.now();
        let spread = Spread {
            start: began,
            per_second: replay.per_second,
        };
        let (mut events, mut planned) = (0_u32, progress.planned);
        for row in &found.page.items {
            let keys = self.run_of(row, replay.to.as_ref(), copies, progress.run);
            if keys.is_empty() {
                continue;
            }
            let nth = planned..;
            let queued: Vec<Queued> = nth
                .zip(keys)
                .map(|(nth, key)| Queued {
                    key,
                    due: spread.due(nth).max(now),
                })
                .collect();
            if !replay.is_dry {
                let stored = self.backend.replay(&row.event, progress.run, &queued).await;
                let stored = stored.map_err(|cause| OperateError::Interrupted {
                    done: planned.saturating_sub(progress.planned),
                    cause,
                })?;
                fail::reach(FailPoint::BetweenSteps);
                // Its life ended meanwhile.
                if !stored {
                    continue;
                }
            }
            events = events.saturating_add(1);
            planned = planned.saturating_add(u32::try_from(queued.len()).unwrap_or(u32::MAX));
        }
        let deliveries = planned.saturating_sub(progress.planned);
        if !replay.is_dry {
            tracing::info!(run = progress.run.0, events, deliveries, "replay");
        }
        Ok(Replayed {
            events,
            deliveries,
            looked: found.looked,
            next: found.page.next.map(|after| Progress {
                run: progress.run,
                planned,
                after: Some(after),
            }),
        })
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
