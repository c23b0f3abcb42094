//! The five receivers: each is one file and one row of the table, and writes what a delivery comes to into its book.

use rusqlite::Transaction;
use serde::Serialize;
use serde_json::{Map, Value};

use super::body::Unreadable;
use super::delivery::{Delivery, Label};

pub(super) mod accounting;
mod chat;
mod crm;
mod money;
mod warehouse;
mod your_endpoint;

/// A receiver, and how its book is written and shown.
pub(super) struct Receiver {
    /// The last part of its address.
    pub(super) name: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// What its book holds.
    pub(super) book: &'static str,
    /// Whether it asks for proof that Switchboard sent a delivery.
    pub(super) proof: Proof,
    /// Writes what a delivery comes to.
    pub(super) write: fn(&Transaction<'_>, &Delivery) -> Result<(), BookFault>,
    /// The columns of its book on the page.
    pub(super) columns: &'static [Column],
}

/// A column of a book on the page.
pub(super) struct Column {
    /// Its heading.
    pub(super) heading: &'static str,
    /// What stands under it.
    pub(super) cell: fn(&Fields) -> String,
}

/// Whether a receiver checks signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// It takes every delivery.
    NotAsked,
    /// It takes what is signed by Standard Webhooks with your endpoint's secret.
    Signature,
}

/// Every receiver, in the order of the page.
pub(super) const ALL: [&Receiver; 5] = [
    &accounting::RECEIVER,
    &warehouse::RECEIVER,
    &chat::RECEIVER,
    &crm::RECEIVER,
    &your_endpoint::RECEIVER,
];

/// The receiver of that name.
pub(super) fn named(name: &str) -> Option<&'static Receiver> {
    ALL.into_iter().find(|receiver| receiver.name == name)
}

/// Why a delivery was not booked.
#[derive(Debug, thiserror::Error)]
pub(super) enum BookFault {
    /// Its action needs a body of another form.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The book cannot be written.
    #[error("the book cannot be written")]
    Store(#[from] rusqlite::Error),
    /// What is to be booked is not JSON.
    #[error("the entry cannot be written")]
    Entry(#[source] serde_json::Error),
}

/// The fields of an entry that are its receiver's own.
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    /// A field as text; empty when it is not there.
    pub(super) fn text(&self, name: &str) -> String {
        shown(self.0.get(name))
    }

    /// What an entry says of itself that is not of the usual form.
    fn note(&self) -> Option<String> {
        Some(self.text("note")).filter(|note| !note.is_empty())
    }

    /// The parts of a field that is a list.
    fn list(&self, name: &str) -> &[Value] {
        self.0
            .get(name)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether a field is true.
    fn holds(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool) == Some(true)
    }
}

/// A value as a person reads it.
fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(holds)) => if *holds { "yes" } else { "no" }.to_owned(),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => String::new(),
    }
}

/// The entry of an action that the receiver has no rule for: it is booked all the same.
#[derive(Serialize)]
struct Other<'a> {
    note: &'static str,
    asked: &'a Label,
}

fn other(delivery: &Delivery) -> Other<'_> {
    Other {
        note: "no rule for this action",
        asked: &delivery.action,
    }
}

/// Adds an entry to a book and gives its number.
fn add(
    transaction: &Transaction<'_>,
    receiver: &Receiver,
    delivery: &Delivery,
    fields: &impl Serialize,
) -> Result<i64, BookFault> {
    let fields = serde_json::to_string(fields).map_err(BookFault::Entry)?;
    transaction
        .prepare_cached(
            "INSERT INTO entry (receiver, key, event, source, kind, action, attempt, at_ms, fields)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            receiver.name,
            delivery.key.as_str(),
            delivery.event.as_str(),
            delivery.source.as_str(),
            delivery.kind.as_str(),
            delivery.action.as_str(),
            delivery.attempt,
            delivery.at.millis(),
            fields,
        ))?;
    let entry = transaction.last_insert_rowid();
    transaction
        .prepare_cached("UPDATE tally SET entries = entries + 1 WHERE receiver = ?1")?
        .execute([receiver.name])?;
    Ok(entry)
}

/// Puts another delivery's entry in the place of one that was only waiting for it.
fn replace(
    transaction: &Transaction<'_>,
    entry: i64,
    delivery: &Delivery,
    fields: &impl Serialize,
) -> Result<(), BookFault> {
    let fields = serde_json::to_string(fields).map_err(BookFault::Entry)?;
    transaction
        .prepare_cached(
            "UPDATE entry SET key = ?2, event = ?3, source = ?4, kind = ?5, action = ?6, attempt = ?7, at_ms = ?8,
                 fields = ?9
             WHERE seq = ?1",
        )?
        .execute((
            entry,
            delivery.key.as_str(),
            delivery.event.as_str(),
            delivery.source.as_str(),
            delivery.kind.as_str(),
            delivery.action.as_str(),
            delivery.attempt,
            delivery.at.millis(),
            fields,
        ))?;
    Ok(())
}
