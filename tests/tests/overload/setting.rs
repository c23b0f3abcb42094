//! One source and one destination, over a store whose every commit takes long.

use switchboard_tests::switchboard::{Start, Switchboard};

use crate::load::Sink;

/// The source's secret.
pub(crate) const SECRET: &str = "a text that only GitHub and we know";
/// What makes commits slow: half a second each, of at most 256 steps.
const SLOW: &str = "before-commit=slow:500";

pub(crate) async fn running(sink: &Sink) -> Switchboard {
    let url = sink.address("/accounting");
    // Attempts may take long on a busy machine: what is looked for here is not their time limit.
    let configuration = format!(
        "allow_private_networks = true\n\
         [[source]]\nname = \"code\"\nscheme = \"github\"\nsecrets = [\"env:CODE\"]\n\
         [[destination]]\nname = \"accounting\"\nurl = \"{url}\"\ntime_limit = \"30s\"\nmax_in_flight = 256\n\
         [[route]]\nsource = \"*\"\nkind = \"*\"\ndeliver = [{{ to = \"accounting\" }}]\n"
    );
    let start = Start::with(&configuration).set("CODE", SECRET);
    Switchboard::start(start.set("SWITCHBOARD_FAIL", SLOW)).await
}
