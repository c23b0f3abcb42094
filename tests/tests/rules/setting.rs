//! The setting of most stories: one source of each scheme, and destinations on a sink with short pauses.

use switchboard_tests::sender::Sender;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};

/// The secrets of the sources, by variable.
pub(crate) const SECRETS: [(&str, &str); 4] = [
    ("SHOP", "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"),
    ("PAYMENTS", "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH"),
    ("CODE", "a text that only GitHub and we know"),
    (
        "FORMS",
        "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=",
    ),
];

/// Sources, and two destinations whose pauses are `pauses` each.
fn configuration(sink: &Sink, pauses: &str) -> String {
    let mut text = "allow_private_networks = true\n".to_owned();
    for (name, scheme, variable) in [
        ("shop", "shopify", "SHOP"),
        ("payments", "stripe", "PAYMENTS"),
        ("code", "github", "CODE"),
        ("forms", "standard-webhooks", "FORMS"),
    ] {
        text.push_str(&format!(
            "[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"env:{variable}\"]\n"
        ));
    }
    for name in ["accounting", "warehouse"] {
        let url = sink.url(&format!("/{name}"));
        text.push_str(&format!(
            "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\npauses = [{pauses}]\ntime_limit = \"500ms\"\n"
        ));
    }
    text.push_str(
        "[[route]]\nsource = \"shop\"\nkind = \"orders/create\"\n\
         deliver = [{ to = \"accounting\", action = \"make-invoice\" }, { to = \"warehouse\", action = \"reserve-items\" }]\n\
         [[route]]\nsource = \"*\"\nkind = \"*\"\ndeliver = [{ to = \"accounting\", action = \"make-invoice\" }]\n",
    );
    text
}

/// How a Switchboard with these destinations is started.
pub(crate) fn start(sink: &Sink) -> Start {
    let pauses = ["\"40ms\""; 5].join(", ");
    SECRETS.iter().fold(
        Start::with(&configuration(sink, &pauses)),
        |start, (name, value)| start.set(name, value),
    )
}

/// A sink, and a Switchboard that delivers to it.
pub(crate) async fn running() -> (Sink, Switchboard) {
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(start(&sink)).await;
    (sink, switchboard)
}

/// The shop.
pub(crate) fn shop(switchboard: &Switchboard) -> Sender {
    switchboard.sender("shop", "shopify", SECRETS[0].1)
}
