//! Team chat: a readable line for every event, whatever its kind; of a body that it cannot read it says the kind only.

use rusqlite::Transaction;
use serde::Serialize;

use super::super::body::{self, Form, Order, Payment, Push, label};
use super::super::delivery::{Delivery, Label};
use super::{BookFault, Column, Proof, Receiver, add, money};

pub(super) const RECEIVER: Receiver = Receiver {
    name: "chat",
    title: "Team chat",
    book: "lines",
    proof: Proof::NotAsked,
    write,
    columns: &[Column {
        heading: "Line",
        cell: |fields| fields.text("line"),
    }],
};

/// A line as it stands in the book.
#[derive(Serialize)]
struct Line {
    line: Label,
}

/// How a kind is put into words; `None` where the body does not say enough.
type Words = fn(&Delivery) -> Option<String>;

const KINDS: [(&str, Words); 4] = [
    ("orders/create", order),
    ("payment_intent.succeeded", payment),
    ("push", push),
    ("form.submitted", form),
];

fn write(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), BookFault> {
    let words = KINDS
        .iter()
        .find(|(kind, _)| *kind == delivery.kind.as_str())
        .map(|(_, words)| words);
    let line = words
        .and_then(|words| words(delivery))
        .unwrap_or_else(|| plain(delivery));
    add(
        transaction,
        &RECEIVER,
        delivery,
        &Line {
            line: Label::new(&line),
        },
    )
    .map(drop)
}

fn plain(delivery: &Delivery) -> String {
    let kind = if delivery.kind.as_str().is_empty() {
        "an event without a kind"
    } else {
        delivery.kind.as_str()
    };
    format!("{}: {kind}", delivery.source)
}

fn order(delivery: &Delivery) -> Option<String> {
    let order: Order = body::read(delivery).ok()?;
    let number = label(order.name.or(order.number))?;
    let name = order
        .customer
        .map(|customer| [customer.first_name, customer.last_name]);
    let name: Vec<String> = name
        .into_iter()
        .flatten()
        .flatten()
        .map(|part| part.0.to_string())
        .collect();
    let by = if name.is_empty() {
        String::new()
    } else {
        format!(" by {}", name.join(" "))
    };
    let total = label(order.total_price).zip(label(order.currency));
    let total = total.map_or_else(String::new, |(amount, currency)| {
        format!(": {amount} {currency}")
    });
    Some(format!("New order {number}{by}{total}"))
}

fn payment(delivery: &Delivery) -> Option<String> {
    let payment: Payment = body::read(delivery).ok()?;
    let intent = payment.data?.object?;
    let currency = label(intent.currency)?;
    let amount = money::decimal(intent.amount?, currency.as_str());
    let order = intent
        .metadata
        .and_then(|metadata| label(metadata.order_id));
    let order = order.map_or_else(String::new, |order| format!(" for order {order}"));
    Some(format!(
        "{amount} {} received{order}",
        currency.as_str().to_uppercase()
    ))
}

fn push(delivery: &Delivery) -> Option<String> {
    let push: Push = body::read(delivery).ok()?;
    let who = label(push.pusher?.name)?;
    let repository = label(push.repository?.full_name)?;
    let commits = match push.commits.unwrap_or_default().len() {
        1 => "1 commit".to_owned(),
        n => format!("{n} commits"),
    };
    let reference = label(push.reference)?;
    let reference = reference.as_str();
    let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
    Some(format!("{who} pushed {commits} to {repository}, {branch}"))
}

fn form(delivery: &Delivery) -> Option<String> {
    let form: Form = body::read(delivery).ok()?;
    let data = form.data?;
    let name = label(data.name)?;
    let message = label(data.message).map_or_else(String::new, |message| format!(": {message}"));
    Some(format!("{name} filled in a form{message}"))
}
