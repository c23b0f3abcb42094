//! The setting of these stories: the shared sources and destinations, with six attempts as a round has.

use switchboard_tests::sender::Sender;
pub(crate) use switchboard_tests::setting::sender;
use switchboard_tests::setting::{self, SOURCES};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};

/// The pauses of the shared setting, and those of these stories.
const PAUSES: (&str, &str) = (
    "pauses = [\"20ms\", \"40ms\"]",
    "pauses = [\"40ms\", \"40ms\", \"40ms\", \"40ms\", \"40ms\"]\ntime_limit = \"500ms\"",
);

/// How a Switchboard that delivers to `sink` is started.
pub(crate) fn start(sink: &Sink) -> Start {
    setting::start(&setting::configuration(sink).replace(PAUSES.0, PAUSES.1))
}

/// A sink, and a Switchboard that delivers to it.
pub(crate) async fn running() -> (Sink, Switchboard) {
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(start(&sink)).await;
    (sink, switchboard)
}

/// The secret of a source.
pub(crate) fn secret(source: &str) -> &'static str {
    let found = SOURCES.iter().find(|(name, ..)| *name == source);
    found.expect("a source").3
}

/// The shop.
pub(crate) fn shop(switchboard: &Switchboard) -> Sender {
    sender(switchboard, "shop")
}
