//! Warehouse: one reservation for each order, with its items.

use rusqlite::Transaction;
use serde::Serialize;
use serde_json::Value;

use super::super::body::{self, Item, Order, label};
use super::super::delivery::{Delivery, Label};
use super::{BookFault, Column, Fields, Proof, Receiver, add, other, shown};

pub(super) const RECEIVER: Receiver = Receiver {
    name: "warehouse",
    title: "Warehouse",
    book: "reservations",
    proof: Proof::NotAsked,
    write,
    columns: &[
        Column {
            heading: "Order",
            cell: |fields| fields.text("order"),
        },
        Column {
            heading: "Items",
            cell: items,
        },
    ],
};

/// Most items of an order that are written out.
const MOST_ITEMS: usize = 50;

fn items(fields: &Fields) -> String {
    let one = |item: &Value| {
        format!(
            "{} × {}",
            shown(item.get("quantity")),
            shown(item.get("title"))
        )
    };
    let all: Vec<String> = fields.list("items").iter().map(one).collect();
    fields.note().unwrap_or_else(|| all.join(", "))
}

/// A reservation as it stands in the book.
#[derive(Serialize)]
struct Reservation {
    order: Option<Label>,
    items: Vec<Reserved>,
    /// Items beyond those that are written out.
    further_items: usize,
}

/// What is reserved of one item.
#[derive(Serialize)]
struct Reserved {
    sku: Option<Label>,
    title: Option<Label>,
    quantity: Option<u64>,
}

impl From<Item> for Reserved {
    fn from(item: Item) -> Self {
        Self {
            sku: label(item.sku),
            title: label(item.title),
            quantity: item.quantity,
        }
    }
}

fn write(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), BookFault> {
    let added = match delivery.action.as_str() {
        "reserve-items" => add(
            transaction,
            &RECEIVER,
            delivery,
            &reservation(body::read(delivery)?),
        ),
        _ => add(transaction, &RECEIVER, delivery, &other(delivery)),
    };
    added.map(drop)
}

fn reservation(order: Order) -> Reservation {
    let items = order.line_items.unwrap_or_default();
    Reservation {
        order: label(order.name.or(order.number).or(order.id)),
        further_items: items.len().saturating_sub(MOST_ITEMS),
        items: items
            .into_iter()
            .take(MOST_ITEMS)
            .map(Reserved::from)
            .collect(),
    }
}
