//! CRM: a contact for each form that was filled in.

use rusqlite::Transaction;
use serde::Serialize;

use super::super::body::{self, Form, label};
use super::super::delivery::{Delivery, Label};
use super::{BookFault, Column, Proof, Receiver, add, other};

pub(super) const RECEIVER: Receiver = Receiver {
    name: "crm",
    title: "CRM",
    book: "contacts",
    proof: Proof::NotAsked,
    write,
    columns: &[
        Column {
            heading: "Name",
            cell: |fields| fields.note().unwrap_or_else(|| fields.text("name")),
        },
        Column {
            heading: "Address",
            cell: |fields| fields.text("email"),
        },
    ],
};

/// A contact as it stands in the book.
#[derive(Serialize)]
struct Contact {
    name: Option<Label>,
    email: Option<Label>,
}

fn write(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), BookFault> {
    let added = match delivery.action.as_str() {
        "add-contact" => add(
            transaction,
            &RECEIVER,
            delivery,
            &contact(body::read(delivery)?),
        ),
        _ => add(transaction, &RECEIVER, delivery, &other(delivery)),
    };
    added.map(drop)
}

fn contact(form: Form) -> Contact {
    let data = form.data.unwrap_or_default();
    Contact {
        name: label(data.name),
        email: label(data.email),
    }
}
