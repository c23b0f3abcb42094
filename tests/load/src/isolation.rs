//! What a healthy destination notices of a dead one on AWS. Batches of ten hints, five of them for the destination that is
//! measured, are offered at a steady rate to worker processes: to one that is free, to a new one where none is, and where
//! there may be no more to the first that comes free. A batch keeps its process until the slowest of its attempts ends.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::lock::locked;
use crate::platform::{Beside, Destination, Function, Program, Stage};
use crate::{clock, percentiles};

/// Hints of a batch for each of the two destinations.
const EACH: u32 = 5;

/// Batches for workers.
#[derive(Args)]
pub(crate) struct Isolation {
    /// The binary of the ingress, which makes the hints.
    #[arg(long)]
    ingress: PathBuf,
    /// The binary of the worker.
    #[arg(long)]
    worker: PathBuf,
    /// What the destination of the other hints does.
    #[arg(long)]
    beside: Beside,
    /// Batches that are offered in a second.
    #[arg(long)]
    per_second: u32,
    /// How many count.
    #[arg(long)]
    batches: u32,
    /// How many come before the first that counts: the processes start meanwhile.
    #[arg(long)]
    before: u32,
    /// Most processes at once.
    #[arg(long, default_value_t = 10)]
    processes: usize,
}

/// A batch: its hints, and the deliveries among them that are measured.
struct Batch {
    hints: Vec<String>,
    measured: Vec<String>,
}

/// The worker's processes.
struct Workers {
    stage: Stage,
    program: Program,
    places: Semaphore,
    free: Mutex<Vec<Function>>,
    started: Mutex<u32>,
}

impl Isolation {
    pub(crate) async fn play(self) -> io::Result<()> {
        let stage = Stage::new(self.beside).await?;
        let batches = self.batches(&stage).await?;
        let workers = Arc::new(Workers {
            stage,
            program: Program::function(self.worker),
            places: Semaphore::new(self.processes),
            free: Mutex::default(),
            started: Mutex::new(0),
        });
        let mut offered = BTreeMap::new();
        let mut dealing = JoinSet::new();
        let (start, mut waited) = (clock::started(), 0_u32);
        for (n, batch) in (0..).zip(batches) {
            clock::at(start, Duration::from_secs(1) * n / self.per_second.max(1)).await;
            let counts = n >= self.before;
            waited += u32::from(counts && workers.places.available_permits() == 0);
            let now = clock::started();
            let measured = batch.measured.into_iter().filter(|_| counts);
            offered.extend(measured.map(|delivery| (delivery, now)));
            let workers = Arc::clone(&workers);
            dealing.spawn(async move { workers.deal_with(&batch.hints).await });
        }
        while let Some(dealt) = dealing.join_next().await {
            dealt.map_err(io::Error::other)??;
        }
        workers.stage.judge()?;
        let under_way = under_way(&offered, &workers.stage.healthy.arrived())?;
        println!(
            "{}",
            json!({
                "under_way": percentiles::of(under_way),
                "processes": *locked(&workers.started),
                "batches_that_waited": waited,
            })
        );
        Ok(())
    }

    /// The batches, their hints sent by the real ingress.
    async fn batches(&self, stage: &Stage) -> io::Result<Vec<Batch>> {
        let ingress = stage
            .start(&Program::function(self.ingress.clone()))
            .await?;
        let mut batches = Vec::new();
        for n in 0..self.before + self.batches {
            let mut batch = Batch {
                hints: Vec::new(),
                measured: Vec::new(),
            };
            for hint in 0..EACH {
                for to in [Destination::Measured, Destination::Beside] {
                    let id = format!("{n}-{hint}-{to:?}");
                    let hint = stage.accept(&ingress, to, &id).await?;
                    if to == Destination::Measured {
                        batch.measured.extend(delivery(&hint));
                    }
                    batch.hints.push(hint);
                }
            }
            batches.push(batch);
        }
        Ok(batches)
    }
}

impl Workers {
    async fn deal_with(&self, hints: &[String]) -> io::Result<()> {
        // Whoever waits first goes first.
        let place = self.places.acquire().await.map_err(io::Error::other)?;
        // The last that came free: the platform keeps as few in use as it can.
        let free = locked(&self.free).pop();
        let worker = if let Some(worker) = free {
            worker
        } else {
            *locked(&self.started) += 1;
            self.stage.start(&self.program).await?
        };
        let dealt = Stage::deal_with(&worker, hints).await;
        locked(&self.free).push(worker);
        drop(place);
        dealt
    }
}

/// The delivery of a hint.
fn delivery(hint: &str) -> Option<String> {
    let hint: serde_json::Value = serde_json::from_str(hint).ok()?;
    hint.get("d")?.as_str().map(str::to_owned)
}

/// How long each delivery was under way from its hint's being offered, in nanoseconds. Every one has to have arrived.
fn under_way(
    offered: &BTreeMap<String, Instant>,
    arrived: &BTreeMap<String, Instant>,
) -> io::Result<Vec<u64>> {
    let took = offered.iter().map(|(delivery, offered)| {
        let arrived = arrived
            .get(delivery)
            .ok_or_else(|| io::Error::other(format!("{delivery} never arrived")))?;
        let took = arrived.saturating_duration_since(*offered).as_nanos();
        Ok(u64::try_from(took).unwrap_or(u64::MAX))
    });
    took.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_was_under_way_from_its_offer_to_its_arrival_and_a_lost_one_is_no_figure() {
        let start = clock::started();
        let later = start + Duration::from_millis(3);
        let at = |moment: Instant| BTreeMap::from([("dlv_a".to_owned(), moment)]);
        assert_eq!(
            under_way(&at(start), &at(later)).ok(),
            Some(vec![3_000_000])
        );
        assert!(under_way(&at(start), &BTreeMap::new()).is_err());
        let more = BTreeMap::from([("dlv_b".to_owned(), later)]);
        assert_eq!(under_way(&BTreeMap::new(), &more).ok(), Some(vec![]));
    }

    #[test]
    fn a_hint_names_its_delivery() {
        assert_eq!(delivery(r#"{"v":1,"d":"dlv_a"}"#).as_deref(), Some("dlv_a"));
        assert_eq!(delivery("no hint"), None);
    }
}
