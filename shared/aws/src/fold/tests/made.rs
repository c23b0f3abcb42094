//! A stream made of records, and a table of the emulator for the totals.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_core::names::{SenderId, SourceName};
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;
use switchboard_testkit::emulator::{Emulator, fresh_account};

use crate::client::{Clients, clients};
use crate::fold::kept::Totals;
use crate::fold::stream::{End, Part, ReadError, Record, Shard, Stream};
use crate::fold::{Behind, Fold};
use crate::item::{Attributes, Writing, names};
use crate::testing::{create_table, environment};

pub(super) const TABLE: &str = "switchboard";
pub(super) const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);
/// More reads than any test makes.
pub(super) const MANY: u32 = 200;

/// A stream that a test makes.
#[derive(Clone, Debug, Default)]
pub(super) struct Made(Arc<Mutex<BTreeMap<String, MadeShard>>>);

#[derive(Clone, Debug)]
struct MadeShard {
    records: Vec<Record>,
    end: End,
    /// How many of its oldest records are gone.
    trimmed: usize,
    /// Most records of one read.
    at_once: usize,
}

impl Made {
    fn shards(&self) -> MutexGuard<'_, BTreeMap<String, MadeShard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, shard: &str, change: impl FnOnce(&mut MadeShard) -> T) -> T {
        let empty = MadeShard {
            records: Vec::new(),
            end: End::Open,
            trimmed: 0,
            at_once: 1000,
        };
        change(self.shards().entry(shard.to_owned()).or_insert(empty))
    }

    /// Adds changes to a shard, each from the old image to the new.
    pub(super) fn push(
        &self,
        shard: &str,
        changes: impl IntoIterator<Item = (Option<Attributes>, Option<Attributes>)>,
    ) {
        self.with(shard, |made| {
            for (old, new) in changes {
                let sequence = format!("{shard}/{:06}", made.records.len());
                made.records.push(Record { sequence, old, new });
            }
        });
    }

    /// Adds events, each with a plan of one delivery.
    pub(super) fn events(&self, shard: &str, from: u32, count: u32) {
        let events = (from..from + count).map(|n| (None, Some(event(n))));
        self.push(shard, events);
    }

    pub(super) fn at_once(&self, shard: &str, most: usize) {
        self.with(shard, |made| made.at_once = most);
    }

    pub(super) fn close(&self, shard: &str) {
        self.with(shard, |made| made.end = End::Closed);
    }

    pub(super) fn trim(&self, shard: &str, records: usize) {
        self.with(shard, |made| made.trimmed = records);
    }

    pub(super) fn forget(&self, shard: &str) {
        self.shards().remove(shard);
    }
}

impl Stream for Made {
    async fn shards(&self) -> Answer<Vec<Shard>> {
        tokio::task::yield_now().await;
        let shards = self.shards();
        let shard = |(id, made): (&String, &MadeShard)| Shard {
            id: id.clone(),
            end: made.end,
        };
        Ok(shards.iter().map(shard).collect())
    }

    async fn place(&self, shard: &str, behind: Option<&str>) -> Result<String, ReadError> {
        tokio::task::yield_now().await;
        let shards = self.shards();
        let made = shards.get(shard).ok_or(ReadError::Gone)?;
        let from = match behind {
            Some(sequence) => {
                let is_it = |record: &Record| record.sequence == sequence;
                made.records.iter().position(is_it).expect("a record") + 1
            }
            None => made.trimmed,
        };
        Ok(format!("{shard}@{from}"))
    }

    async fn read(&self, place: &str) -> Result<Part, ReadError> {
        tokio::task::yield_now().await;
        let (shard, from) = place.split_once('@').expect("a place");
        let from: usize = from.parse().expect("a number");
        let shards = self.shards();
        let made = shards.get(shard).ok_or(ReadError::Gone)?;
        if from < made.trimmed {
            return Err(ReadError::Trimmed);
        }
        let to = made.records.len().min(from + made.at_once);
        let is_end = made.end == End::Closed && to == made.records.len();
        Ok(Part {
            records: made.records[from..to].to_vec(),
            next: (!is_end).then(|| format!("{shard}@{to}")),
        })
    }
}

/// The `n`th event, an hour after the one before.
pub(super) fn event(n: u32) -> Attributes {
    let mut stored = crate::item::event::tests::sample(None);
    let source = SourceName::parse("shop").expect("a name");
    let sender_id = SenderId::new(&n.to_string()).expect("an id");
    stored.head.id = switchboard_core::identity::EventId::of(&source, &sender_id);
    stored.head.sender_id = sender_id;
    stored.head.received_at = Timestamp::from_seconds(1_800_000_000 + i64::from(n) * 3600);
    stored.write()
}

/// An item that counts for nothing.
pub(super) fn nothing() -> Attributes {
    Writing::at("S", "cursor#x").number(names::AT, 1).done()
}

/// Clients of an account of this test's, where the table is.
pub(super) async fn with_table() -> Clients {
    let url = Emulator::shared().url();
    let environment = environment(&url, fresh_account().as_str()).expect("an environment");
    let clients = clients(&environment);
    create_table(&clients.dynamodb, TABLE).await.expect("made");
    clients
}

pub(super) fn totals(clients: &Clients) -> Totals {
    Totals::new(clients.dynamodb.clone(), TABLE.to_owned())
}

pub(super) fn fold_of(clients: &Clients, made: &Made) -> Fold<Made> {
    Fold::new(made.clone(), totals(clients))
}

/// Folds until nothing is left.
pub(super) async fn settle<S: Stream>(fold: &Fold<S>) {
    for _ in 0..100 {
        let folded = fold.fold(NOW, MANY).await.expect("folded");
        if folded.behind == Behind::No {
            return;
        }
    }
    panic!("the fold never comes to an end");
}

/// How many events are counted, and how many deliveries wait.
pub(super) async fn counted(clients: &Clients) -> (u64, u64) {
    let counters = totals(clients).all(NOW).await.expect("read");
    let totals = counters.overview().totals;
    (totals.stored, totals.waiting)
}
