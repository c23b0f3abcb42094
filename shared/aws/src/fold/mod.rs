//! The fold: adds what the table's stream tells to the totals, each record once, in whatever order the shards are read and
//! however many folds run at once. It may be cut anywhere: a record counts when the sequence number behind it is written,
//! in one transaction with all that it counts for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::iter;
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;
use tracing::error;

use self::kept::{Kept, Totals, Written};
use self::stream::Stream;

pub(crate) mod buckets;
pub(crate) mod counters;
mod effect;
mod image;
pub(crate) mod kept;
pub(crate) mod latest;
mod shard;
pub(crate) mod stream;
#[cfg(test)]
mod tests;

/// Shards that are read at once.
const AT_ONCE: usize = 8;
/// How often the fold begins anew where another one was there first.
const ROUNDS: u32 = 5;
/// How long nothing was written of a shard that the stream does not tell of any more, until its counts are final.
const FORGOTTEN: Duration = Duration::from_hours(26);

/// What a fold came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Records read, also those that count for nothing.
    pub records: u64,
    /// Whether there may be more to read.
    pub behind: Behind,
}

/// Whether a fold left something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behind {
    /// All is counted that the stream told when it was read.
    #[default]
    No,
    /// Its budget was spent, or another fold is at work.
    Yes,
}

/// How far this process has read a shard beyond what is written.
#[derive(Clone, Debug)]
struct Reached {
    /// What was written then; another fold has written since where it differs.
    sequence: Option<String>,
    /// Where to read on.
    place: String,
    /// Records passed since.
    passed: u32,
}

/// Folds a stream into the totals.
#[derive(Debug)]
pub(crate) struct Fold<S> {
    stream: S,
    totals: Totals,
    reached: Mutex<HashMap<String, Reached>>,
    one_at_a_time: tokio::sync::Mutex<()>,
}

/// One turn through all shards.
#[derive(Debug, Default)]
struct Turn {
    records: u64,
    is_behind: bool,
    is_lost: bool,
    /// Read to their end.
    ended: Vec<(String, Kept)>,
}

impl<S: Stream> Fold<S> {
    pub(crate) fn new(stream: S, totals: Totals) -> Self {
        Self {
            stream,
            totals,
            reached: Mutex::default(),
            one_at_a_time: tokio::sync::Mutex::default(),
        }
    }

    /// The totals that it adds to.
    pub(crate) const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Counts what the stream tells, in at most `reads` reads of it. Cut anywhere, made twice, or by two at once, it counts
    /// each record once.
    pub(crate) async fn fold(&self, now: Timestamp, reads: u32) -> Answer<Folded> {
        let _one = self.one_at_a_time.lock().await;
        let left = AtomicU32::new(reads);
        let mut folded = Folded::default();
        for _ in 0..ROUNDS {
            let turn = self.turn(now, &left).await?;
            folded.records = folded.records.saturating_add(turn.records);
            if !turn.is_lost {
                if !turn.is_behind {
                    return Ok(folded);
                }
                break;
            }
        }
        folded.behind = Behind::Yes;
        Ok(folded)
    }

    async fn turn(&self, now: Timestamp, left: &AtomicU32) -> Answer<Turn> {
        let (listed, kept) = tokio::join!(self.stream.shards(), self.totals.shards());
        let (listed, mut kept) = (listed?, kept?);
        let known: BTreeSet<_> = listed.iter().map(|shard| shard.id.clone()).collect();
        let mut shards = Vec::new();
        for shard in listed {
            let kept = kept.remove(&shard.id).unwrap_or_default();
            if kept.nth.is_none() {
                shards.push((shard, kept));
            }
        }
        self.reached().retain(|id, _| known.contains(id));
        let turns: Vec<_> = iter(shards)
            .map(|(shard, kept)| self.shard(shard, kept, now, left))
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let mut all = Turn {
            ended: forgotten(kept, now),
            ..Turn::default()
        };
        let mut failure = None;
        for turn in turns {
            match turn {
                Ok(turn) => {
                    all.records = all.records.saturating_add(turn.records);
                    all.is_behind |= turn.is_behind;
                    all.is_lost |= turn.is_lost;
                    all.ended.extend(turn.ended);
                }
                Err(error) => failure = Some(error),
            }
        }
        // One after the other: all of them write to the same item.
        for (id, kept) in &all.ended {
            let written = self.totals.finish(id, kept, now).await?;
            all.is_lost |= written == Written::Lost;
            self.reached().remove(id);
        }
        failure.map_or(Ok(all), Err)
    }

    fn reached(&self) -> MutexGuard<'_, HashMap<String, Reached>> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shards that the stream does not tell of any more though they were not read to their end: what was counted of them stays.
fn forgotten(kept: BTreeMap<String, Kept>, now: Timestamp) -> Vec<(String, Kept)> {
    let is_old = |kept: &Kept| kept.nth.is_none() && now.since(kept.at) > FORGOTTEN;
    let old: Vec<_> = kept.into_iter().filter(|(_, kept)| is_old(kept)).collect();
    for (id, _) in &old {
        error!(
            stream.shard = id,
            "the stream has forgotten a shard that was not read to its end: the totals may miss what happened more than a day ago"
        );
    }
    old
}

/// Takes a read from the budget, if there is one left.
fn take(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}
