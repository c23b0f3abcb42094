//! The log: one small line of JSON for each thing worth paying for, on standard output, where the platform takes it from.
//! The platform keeps the time of each line, so the lines have none.

use std::str::FromStr as _;

use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{FilterExt as _, Targets, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

use crate::environment::Environment;

/// Where the level stands.
const LEVEL: &str = "RUST_LOG";
/// Target of lines that metrics are made of. They are written at any level: a metric must not end where somebody wants to
/// read less.
pub const MEASURED: &str = "switchboard::measured";
/// How the names of our own crates begin, and of the functions themselves.
const OWN: [&str; 5] = ["switchboard", "ingress", "worker", "status", "keeper"];
/// The most detailed level of everybody else's lines, whatever is asked for.
const FOREIGN: Level = Level::WARN;

/// What may be written: a level such as `info`, or one for each crate, such as `warn,switchboard_core=debug`.
pub(crate) fn level(environment: &Environment) -> Option<Targets> {
    match environment.given(LEVEL) {
        None => Some(Targets::new().with_default(LevelFilter::INFO)),
        Some(_) => environment.parsed(LEVEL, "a level of the log, such as info", |value| {
            Targets::from_str(value).ok().filter(names_levels)
        }),
    }
}

/// A single word that is no level is read as the name of a crate: a slip that would silence everything.
fn names_levels(targets: &Targets) -> bool {
    targets.default_level().is_some()
        || targets
            .iter()
            .any(|(target, _)| OWN.iter().any(|own| target.starts_with(own)))
}

/// Starts the log, and has a panic told in it with the place it came from.
pub(crate) fn start(level: Targets) {
    let lines = fmt::layer()
        .log_internal_errors(false)
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .without_time()
        .with_writer(std::io::stdout);
    let spoken = level.and(filter_fn(may_speak).with_max_level_hint(LevelFilter::TRACE));
    let filter = filter_fn(is_measured)
        .with_max_level_hint(LevelFilter::INFO)
        .or(spoken);
    drop(registry().with(lines.with_filter(filter)).try_init());
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "broke off");
    }));
}

fn is_measured(line: &Metadata<'_>) -> bool {
    line.target() == MEASURED
}

fn may_speak(line: &Metadata<'_>) -> bool {
    *line.level() <= FOREIGN || OWN.iter().any(|own| line.target().starts_with(own))
}
