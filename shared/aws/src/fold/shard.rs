//! Reading one shard of the stream, and counting what was read.

use std::sync::atomic::AtomicU32;

use switchboard_core::ports::{Answer, BackendError};
use switchboard_core::time::Timestamp;
use tracing::error;

use super::effect::Effect;
use super::image::Image;
use super::kept::{Kept, Written};
use super::stream::{End, Part, ReadError, Record, Shard, Stream};
use super::{Fold, Reached, Turn, take};
use crate::item::{Attributes, Unreadable};

/// Items of buckets that one transaction writes to: it takes 100 items in all.
const MOST_BUCKETS: usize = 90;
/// Records that count for nothing and are passed before it is written down that they were. The fold's own writes are
/// among them: if each were written down, it would never come to an end.
const MOST_PASSED: u32 = 1000;
/// How often in a row nothing is found in an open shard before it counts as read: a place that was looked up anew may be
/// before a stretch without records.
const PATIENCE: u32 = 3;
/// Turns to find a place that can be read: one may be expired, the next trimmed.
const TURNS: u32 = 4;

impl<S: Stream> Fold<S> {
    /// Reads a shard as far as there is something, or the budget lasts.
    pub(super) async fn shard(
        &self,
        shard: Shard,
        mut kept: Kept,
        now: Timestamp,
        left: &AtomicU32,
    ) -> Answer<Turn> {
        let mut turn = Turn::default();
        let reached = self.reached().remove(&shard.id);
        let reached = reached.filter(|reached| reached.sequence == kept.sequence);
        let mut patience = if reached.is_some() { 1 } else { PATIENCE };
        let (mut place, mut passed) = match reached {
            Some(reached) => (Some(reached.place), reached.passed),
            None => (None, 0),
        };
        loop {
            if !take(left) {
                turn.is_behind = true;
                break;
            }
            let Some(part) = self.part(&shard, place.take(), &kept).await? else {
                return Ok(turn);
            };
            let found = part.records.len();
            turn.records = turn
                .records
                .saturating_add(u64::try_from(found).unwrap_or(u64::MAX));
            let counted = self.count(&shard, &mut kept, &part.records, &mut passed, now);
            if counted.await? == Written::Lost {
                turn.is_lost = true;
                return Ok(turn);
            }
            place = part.next;
            if place.is_none() {
                turn.ended.push((shard.id, kept));
                return Ok(turn);
            }
            patience = match found {
                0 => patience.saturating_sub(1),
                _ => 1,
            };
            if patience == 0 && shard.end == End::Open {
                break;
            }
        }
        if let Some(place) = place {
            let reached = Reached {
                sequence: kept.sequence,
                place,
                passed,
            };
            self.reached().insert(shard.id, reached);
        }
        Ok(turn)
    }

    /// Reads at a place, or behind what is counted; `None` when the shard is gone.
    async fn part(
        &self,
        shard: &Shard,
        mut place: Option<String>,
        kept: &Kept,
    ) -> Answer<Option<Part>> {
        let mut behind = kept.sequence.as_deref();
        for _ in 0..TURNS {
            let found = match place.take() {
                Some(place) => Ok(place),
                None => self.stream.place(&shard.id, behind).await,
            };
            let read = match found {
                Ok(place) => self.stream.read(&place).await,
                Err(error) => Err(error),
            };
            match read {
                Ok(part) => return Ok(Some(part)),
                Err(ReadError::Expired) => {}
                Err(ReadError::Trimmed) => {
                    if behind.is_some() {
                        error!(
                            stream.shard = shard.id,
                            "the stream has lost records that were not counted: the totals miss what happened more than a day ago"
                        );
                    }
                    behind = None;
                }
                Err(ReadError::Gone) => return Ok(None),
                Err(ReadError::Failed(error)) => return Err(error),
            }
        }
        let cause = "every place in it is gone before it can be read";
        Err(BackendError::new("reading the table's stream", cause))
    }

    /// Counts records, in as few transactions as their buckets fit into. Records that count for nothing are only passed;
    /// `passed` is how many, since it was last written how far the shard is counted.
    async fn count(
        &self,
        shard: &Shard,
        kept: &mut Kept,
        records: &[Record],
        passed: &mut u32,
        now: Timestamp,
    ) -> Answer<Written> {
        let mut effect = Effect::default();
        let mut last = None;
        let mut unreadable = None;
        for record in records {
            let mut more = match effect_of(record) {
                Ok(more) => more,
                Err(cause) => {
                    unreadable = Some(cause);
                    break;
                }
            };
            if let Some(sequence) = last
                && effect.buckets.items_with(&more.buckets) > MOST_BUCKETS
            {
                let written = self.totals.count(&shard.id, kept, sequence, &effect, now);
                if written.await? == Written::Lost {
                    return Ok(Written::Lost);
                }
                effect = Effect::default();
            }
            more.counters.latest.forget_ahead_of(now);
            effect.add(more);
            last = Some(record.sequence.as_str());
            *passed = passed.saturating_add(1);
        }
        if let Some(sequence) = last
            && (!effect.is_empty() || *passed >= MOST_PASSED)
        {
            let written = self.totals.count(&shard.id, kept, sequence, &effect, now);
            if written.await? == Written::Lost {
                return Ok(Written::Lost);
            }
            *passed = 0;
        }
        let unreadable =
            unreadable.map(|cause| BackendError::new("reading the table's stream", cause));
        unreadable.map_or(Ok(Written::Yes), Err)
    }
}

fn effect_of(record: &Record) -> Result<Effect, Unreadable> {
    let read = |image: &Option<Attributes>| image.as_ref().map(Image::read).transpose();
    let new = read(&record.new)?;
    let old = match new {
        Some(Image::Nothing) => None,
        Some(_) => read(&record.old)?,
        // What is removed counts for little: it keeps nothing up where it cannot be read.
        None => read(&record.old).unwrap_or(None),
    };
    Ok(Effect::of(old.as_ref(), new.as_ref()))
}
