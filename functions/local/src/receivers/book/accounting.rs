//! Accounting: an invoice for each order, marked paid by the payment of that order. Order is not promised, so a payment
//! may come first: then its invoice stands as paid and waits for the order.

use rusqlite::{OptionalExtension, Transaction};
use serde::Serialize;
use serde_json::Value;

use super::super::body::{self, Order, Payment, Text, label};
use super::super::delivery::{Delivery, Label};
use super::{BookFault, Column, Fields, Proof, Receiver, add, money, other, replace};

pub(super) const RECEIVER: Receiver = Receiver {
    name: "accounting",
    title: "Accounting",
    book: "invoices",
    proof: Proof::NotAsked,
    write,
    columns: &[
        Column {
            heading: "Order",
            cell: |fields| fields.text("order"),
        },
        Column {
            heading: "Amount",
            cell: |fields| format!("{} {}", fields.text("amount"), fields.text("currency")),
        },
        Column {
            heading: "State",
            cell: state,
        },
    ],
};

/// The table that brings order and payment together, whichever comes first.
pub(in super::super) const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS invoice_of (
        reference TEXT NOT NULL,
        entry INTEGER NOT NULL,
        PRIMARY KEY (reference, entry)
    ) STRICT, WITHOUT ROWID;";

fn state(fields: &Fields) -> String {
    let usual = match (fields.holds("paid"), fields.holds("ordered")) {
        (true, true) => "paid",
        (true, false) => "paid, order not here yet",
        (false, _) => "open",
    };
    fields.note().unwrap_or_else(|| usual.to_owned())
}

/// An invoice as it stands in the book.
#[derive(Serialize)]
struct Invoice {
    order: Option<Label>,
    amount: Option<Label>,
    currency: Option<Label>,
    paid: bool,
    /// Whether the order has come; a payment may be ahead of it.
    ordered: bool,
    /// The delivery that paid it.
    payment: Option<Value>,
}

/// A payment as it stands in its invoice.
#[derive(Serialize)]
struct Paid<'a> {
    key: &'a str,
    event: &'a Label,
    at: String,
    id: Option<Label>,
    amount: Option<Label>,
    currency: Option<Label>,
}

fn write(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), BookFault> {
    match delivery.action.as_str() {
        "make-invoice" => make_invoice(transaction, delivery, body::read(delivery)?),
        "mark-paid" => mark_paid(transaction, delivery, body::read(delivery)?),
        _ => add(transaction, &RECEIVER, delivery, &other(delivery)).map(drop),
    }
}

/// What an order is called, without the sign that a shop puts before its number.
fn reference(text: &Text) -> String {
    text.0.as_str().trim().trim_start_matches('#').to_owned()
}

fn make_invoice(
    transaction: &Transaction<'_>,
    delivery: &Delivery,
    order: Order,
) -> Result<(), BookFault> {
    let names = [
        order.id.as_ref(),
        order.number.as_ref(),
        order.name.as_ref(),
    ];
    let references: Vec<String> = names.into_iter().flatten().map(reference).collect();
    let before = paid_before(transaction, &references)?;
    let invoice = Invoice {
        order: label(order.name.or(order.number).or(order.id)),
        amount: label(order.total_price),
        currency: label(order.currency),
        paid: before.is_some(),
        ordered: true,
        payment: before.as_ref().map(|before| before.payment.clone()),
    };
    let entry = match before {
        Some(PaidBefore {
            entry,
            ordered: false,
            ..
        }) => {
            replace(transaction, entry, delivery, &invoice)?;
            entry
        }
        Some(PaidBefore { ordered: true, .. }) | None => {
            add(transaction, &RECEIVER, delivery, &invoice)?
        }
    };
    for reference in &references {
        refer(transaction, reference, entry)?;
    }
    Ok(())
}

/// A payment of an order that is booked already.
struct PaidBefore {
    entry: i64,
    ordered: bool,
    payment: Value,
}

/// The payment of the order of any of these names; one that waits for its order before one whose order came.
fn paid_before(
    transaction: &Transaction<'_>,
    references: &[String],
) -> Result<Option<PaidBefore>, BookFault> {
    let mut statement = transaction.prepare_cached(
        "SELECT seq, json_extract(fields, '$.ordered') AS ordered, json_extract(fields, '$.payment') AS payment
         FROM invoice_of JOIN entry ON seq = entry
         WHERE reference = ?1 AND payment IS NOT NULL
         ORDER BY ordered, seq LIMIT 1",
    )?;
    for reference in references {
        let found: Option<(i64, bool, String)> = statement
            .query_row([reference], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        if let Some((entry, ordered, payment)) = found {
            let payment = serde_json::from_str(&payment).map_err(BookFault::Entry)?;
            return Ok(Some(PaidBefore {
                entry,
                ordered,
                payment,
            }));
        }
    }
    Ok(None)
}

fn mark_paid(
    transaction: &Transaction<'_>,
    delivery: &Delivery,
    payment: Payment,
) -> Result<(), BookFault> {
    let intent = payment
        .data
        .and_then(|data| data.object)
        .unwrap_or_default();
    let order = intent.metadata.and_then(|metadata| metadata.order_id);
    let currency = label(intent.currency);
    let unit = currency.as_ref().map(Label::as_str).unwrap_or_default();
    let amount = intent
        .amount
        .map(|smallest| Label::new(&money::decimal(smallest, unit)));
    let currency = currency
        .as_ref()
        .map(|currency| Label::new(&currency.as_str().to_uppercase()));
    let paid = Paid {
        key: delivery.key.as_str(),
        event: &delivery.event,
        at: delivery.at.to_string(),
        id: label(intent.id),
        amount: amount.clone(),
        currency: currency.clone(),
    };
    let paid = serde_json::to_value(paid).map_err(BookFault::Entry)?;
    let reference = order.as_ref().map(reference);
    let marked = match &reference {
        Some(reference) => transaction
            .prepare_cached(
                "UPDATE entry SET fields = json_set(fields, '$.paid', json('true'), '$.payment', json(?2))
                 WHERE seq IN (SELECT entry FROM invoice_of WHERE reference = ?1)",
            )?
            .execute((reference, paid.to_string()))?,
        None => 0,
    };
    if marked == 0 {
        let invoice = Invoice {
            order: label(order),
            amount,
            currency,
            paid: true,
            ordered: false,
            payment: Some(paid),
        };
        let entry = add(transaction, &RECEIVER, delivery, &invoice)?;
        if let Some(reference) = &reference {
            refer(transaction, reference, entry)?;
        }
    }
    Ok(())
}

fn refer(transaction: &Transaction<'_>, reference: &str, entry: i64) -> Result<(), BookFault> {
    transaction
        .prepare_cached("INSERT OR IGNORE INTO invoice_of VALUES (?1, ?2)")?
        .execute((reference, entry))?;
    Ok(())
}
