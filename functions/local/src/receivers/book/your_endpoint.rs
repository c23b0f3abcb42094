//! The stand-in for your endpoint: a copy of every event, each proven to come from Switchboard before it is booked.

use rusqlite::Transaction;
use serde::Serialize;
use switchboard_core::names::YOUR_ENDPOINT;

use super::super::delivery::Delivery;
use super::{BookFault, Column, Proof, Receiver, add};

pub(super) const RECEIVER: Receiver = Receiver {
    name: YOUR_ENDPOINT,
    title: "Your endpoint",
    book: "copies",
    proof: Proof::Signature,
    write,
    columns: &[
        Column {
            heading: "Kind",
            cell: |fields| fields.text("kind"),
        },
        Column {
            heading: "Source",
            cell: |fields| fields.text("source"),
        },
        Column {
            heading: "Signature",
            cell: |fields| fields.text("signature"),
        },
    ],
};

/// A copy as it stands in the book, beside what every entry has.
#[derive(Serialize)]
struct Copy {
    /// A copy whose signature does not hold never comes here.
    signature: &'static str,
    body_bytes: usize,
}

fn write(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), BookFault> {
    let copy = Copy {
        signature: "held",
        body_bytes: delivery.body.len(),
    };
    add(transaction, &RECEIVER, delivery, &copy).map(drop)
}
