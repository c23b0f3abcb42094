//! The keeper: finds what a crash left behind. It may run twice at once and die anywhere: each step changes a delivery only as
//! it was seen, sends hints that are valid already, and moves its cursor last.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_core::ports::{Answer, Keep, Ledger};
use switchboard_core::time::Timestamp;

use crate::Aws;
use crate::fold::Behind;

mod cursor;
mod events;
mod folded;
mod overdue;
mod returned;
mod tickets;

/// How far and how often the keeper looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distances {
    /// How far behind the present the first walk over recent events is: what the index may lag, and a first attempt take.
    pub sooner: Duration,
    /// How far behind the second is, for what an index showed late.
    pub later: Duration,
    /// After which a delivery is looked at whose record the keeper put.
    pub put: Duration,
    /// After which a waiting delivery is looked at again; twice as long each further time.
    pub again: Duration,
    /// Within which a delivery's hints that came back count once.
    pub returns: Duration,
}

impl Default for Distances {
    fn default() -> Self {
        Self {
            sooner: Duration::from_mins(3),
            later: Duration::from_hours(1),
            put: Duration::from_hours(1),
            again: Duration::from_mins(10),
            returns: Duration::from_hours(1),
        }
    }
}

/// What the keeper did in one run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Kept {
    /// Planned deliveries without a record that were queued and recorded.
    pub recorded: u32,
    /// Waiting deliveries whose hint was sent again.
    pub overdue: u32,
    /// Hints that came back and were sent on.
    pub returned: u32,
    /// Hints that came back and were out of date.
    pub dropped: u32,
    /// Deliveries that died since their hints came back too often.
    pub died: u32,
    /// What came back that nobody can read, by reason. It stays where it is.
    pub unreadable: BTreeMap<String, u32>,
    /// Held deliveries whose destination is not held that were put back.
    pub released: u32,
    /// Tickets of what is no longer dead that were removed.
    pub tickets: u32,
    /// Records of the stream that were folded.
    pub folded: u64,
    /// How old the present totals may be, in seconds; none when they could not be looked at.
    pub totals_behind_s: Option<u64>,
    /// Steps that failed; the next run makes them again.
    pub failed: u32,
}

/// Held deliveries that one step puts back.
const RELEASED: u32 = 500;
/// Time that is left for the fold, whatever there is to do before it.
const FOR_FOLD: Duration = Duration::from_secs(15);

/// One run of the keeper.
pub struct Keeper<'a> {
    aws: &'a Aws,
    /// The queue of what came back.
    returned: &'a str,
    distances: Distances,
    /// How long the events of what dies are kept.
    keep: Keep,
    /// When the run has to have ended.
    ends: Timestamp,
}

impl<'a> Keeper<'a> {
    /// A run that begins nothing more shortly before `ends`.
    pub const fn new(
        aws: &'a Aws,
        returned: &'a str,
        distances: Distances,
        keep: Keep,
        ends: Timestamp,
    ) -> Self {
        Self {
            aws,
            returned,
            distances,
            keep,
            ends,
        }
    }

    /// Makes all steps; one that fails does not keep the others from being made.
    pub async fn run(&self) -> Kept {
        let mut kept = Kept::default();
        let recorded = self.walk(&mut kept.recorded).await;
        ended("recording what has no record", recorded, &mut kept);
        let overdue = self.overdue(&mut kept.overdue).await;
        ended("looking at what is overdue", overdue, &mut kept);
        let returned = self.returned(&mut kept).await;
        ended("looking at what came back", returned, &mut kept);
        let released = self.release(&mut kept.released).await;
        ended("releasing what is held", released, &mut kept);
        let tickets = self.tickets(&mut kept.tickets).await;
        ended("removing tickets", tickets, &mut kept);
        let folded = self.fold(&mut kept).await;
        ended("folding", folded, &mut kept);
        kept
    }

    /// Whether there is time for more, before what the fold is left.
    fn has_time(&self) -> bool {
        self.now().plus(FOR_FOLD) < self.ends
    }

    fn now(&self) -> Timestamp {
        self.aws.clock.now()
    }

    async fn release(&self, released: &mut u32) -> Answer<()> {
        while self.has_time() {
            let moved = self.aws.recover(self.now(), RELEASED).await?;
            *released = released.saturating_add(moved.done);
            if moved.done == 0 {
                break;
            }
        }
        Ok(())
    }

    async fn fold(&self, kept: &mut Kept) -> Answer<()> {
        /// Reads of the stream between two looks at the clock.
        const READS: u32 = 200;
        /// Time that a round of reads may take.
        const ROUND: Duration = Duration::from_secs(8);
        let last = self.folded().await?;
        let mut began = self.now();
        loop {
            let folded = self.aws.fold(READS).await;
            if let Ok(folded) = &folded {
                kept.folded = kept.folded.saturating_add(folded.records);
            }
            let behind = folded.as_ref().map_or(Behind::Yes, |folded| folded.behind);
            match behind {
                Behind::No => {
                    self.set_folded(began).await?;
                    kept.totals_behind_s = Some(0);
                    return Ok(());
                }
                Behind::Yes => {
                    let last = last.unwrap_or(began);
                    kept.totals_behind_s = Some(self.now().since(last).as_secs());
                }
            }
            folded?;
            if self.now().plus(ROUND) >= self.ends {
                return Ok(());
            }
            began = self.now();
        }
    }
}

fn ended(what: &'static str, step: Answer<()>, kept: &mut Kept) {
    if let Err(error) = step {
        kept.failed = kept.failed.saturating_add(1);
        tracing::error!(step = what, error = %error.line(), "a step of the keeper failed");
    }
}
