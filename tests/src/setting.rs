//! The setting of most stories: one source of each scheme, and destinations on a sink with short pauses.

use std::fmt::Write as _;

use http::StatusCode;

use crate::sender::Sender;
use crate::sink::Sink;
use crate::switchboard::{Start, Switchboard};

/// The sources: name, scheme, the variable that holds its secret, and the secret.
pub const SOURCES: [(&str, &str, &str, &str); 4] = [
    (
        "shop",
        "shopify",
        "SHOP",
        "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",
    ),
    (
        "payments",
        "stripe",
        "PAYMENTS",
        "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH",
    ),
    (
        "code",
        "github",
        "CODE",
        "a text that only GitHub and we know",
    ),
    (
        "forms",
        "standard-webhooks",
        "FORMS",
        "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=",
    ),
];

/// The destinations; each has three attempts.
pub const DESTINATIONS: [&str; 2] = ["accounting", "warehouse"];

/// An order of the shop goes to both destinations, everything else to accounting.
pub fn configuration(sink: &Sink) -> String {
    configuration_to(&sink.url("/"))
}

/// The same, with destinations below an address that ends in a slash.
pub fn configuration_to(address: &str) -> String {
    let mut text = "allow_private_networks = true\n".to_owned();
    for (name, scheme, variable, _) in SOURCES {
        let _ = write!(
            text,
            "[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"env:{variable}\"]\n"
        );
    }
    for name in DESTINATIONS {
        let _ = write!(
            text,
            "[[destination]]\nname = \"{name}\"\nurl = \"{address}{name}\"\npauses = [\"20ms\", \"40ms\"]\n"
        );
    }
    text.push_str(
        "[[route]]\nsource = \"shop\"\nkind = \"orders/create\"\n\
         deliver = [{ to = \"accounting\", action = \"make-invoice\" }, { to = \"warehouse\", action = \"reserve-items\" }]\n\
         [[route]]\nsource = \"*\"\nkind = \"*\"\ndeliver = [{ to = \"accounting\", action = \"make-invoice\" }]\n",
    );
    text
}

/// A Switchboard with a configuration of these sources, before it is started.
pub fn start(configuration: &str) -> Start {
    SOURCES.iter().fold(
        Start::with(configuration),
        |start, (_, _, variable, secret)| start.set(variable, secret),
    )
}

/// A sink, and a Switchboard that delivers to it.
pub async fn running() -> (Sink, Switchboard) {
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(start(&configuration(&sink))).await;
    (sink, switchboard)
}

/// The sender of one of the sources.
pub fn sender(switchboard: &Switchboard, source: &str) -> Sender {
    let found = SOURCES.iter().find(|(name, ..)| *name == source);
    let (name, scheme, _, secret) = found.expect("a source");
    switchboard.sender(name, scheme, secret)
}

/// A Switchboard whose deliveries to accounting are all rejected.
pub async fn failing() -> (Sink, Switchboard) {
    let sink = Sink::start().await;
    sink.answer(|received, _| {
        if received.path == "/accounting" {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::OK
        }
    });
    let switchboard = Switchboard::start(start(&configuration(&sink))).await;
    (sink, switchboard)
}
