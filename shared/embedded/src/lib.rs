//! The ports over one SQLite file: one writer thread that commits many steps in one durable transaction, readers on
//! connections of their own, and one lane for each destination that attempts what is due.

mod accept;
mod alerts;
mod backup;
mod expire;
mod failure;
mod journal;
mod lane;
mod lanes;
mod minutes;
mod moves;
mod open;
#[cfg(test)]
mod plans;
mod queue;
mod readers;
mod record;
mod recording;
mod recovery;
mod release;
mod rows;
mod schema;
mod settings;
mod store;
mod totals;
mod views;
mod wakes;
mod writer;

pub use backup::{BackupError, backup};
pub use lanes::Lanes;
pub use open::{OpenError, StoreFault};
pub use store::Store;
