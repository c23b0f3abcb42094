//! One source and one destination, over a store whose every commit takes long.

use switchboard_tests::switchboard::Start;
use tokio::sync::Mutex;

use crate::load::Sink;

/// The source's secret.
pub(crate) const SECRET: &str = "a text that only GitHub and we know";
/// What makes commits slow: half a second each, of at most 256 steps.
pub(crate) const SLOW: &str = "before-commit=slow:500";

/// Floods take turns: each is to have the machine for itself.
pub(crate) static TURN: Mutex<()> = Mutex::const_new(());

/// How a Switchboard over it is started; not slow yet.
pub(crate) fn start(sink: &Sink) -> Start {
    let url = sink.address("/accounting");
    // Attempts may take long on a busy machine: what is looked for here is not their time limit.
    let configuration = format!(
        "allow_private_networks = true\n\
         [[source]]\nname = \"code\"\nscheme = \"github\"\nsecrets = [\"env:CODE\"]\n\
         [[destination]]\nname = \"accounting\"\nurl = \"{url}\"\ntime_limit = \"30s\"\nmax_in_flight = 256\n\
         [[route]]\nsource = \"*\"\nkind = \"*\"\ndeliver = [{{ to = \"accounting\" }}]\n"
    );
    Start::with(&configuration).set("CODE", SECRET)
}
