//! Where log lines go and how they look, and how much the libraries beneath may say.

use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt, registry};

pub(crate) use self::lines::Writing;
use crate::command::LogForm;

mod dropped;
mod lines;

/// How the names of our own crates begin.
const OWN: &str = "switchboard";
/// The most detailed level of everybody else's lines, whatever is asked for. What they say beyond it is about single
/// frames, headers and buffers, where secrets are, and by no rule of ours.
const FOREIGN: Level = Level::INFO;

/// Starts the log on standard error; what waits is written when the guard is dropped. `level` is a filter such as `info`
/// or `switchboard_core=trace`.
pub(crate) fn start(form: LogForm, level: Option<&str>) -> Writing {
    let filter = EnvFilter::builder().parse_lossy(level.unwrap_or("info"));
    let filter = filter.and(filter_fn(may_speak).with_max_level_hint(LevelFilter::TRACE));
    let (writer, writing) = lines::start(std::io::stderr(), form);
    // A line that cannot be written is dropped. Told of, it would go where it just could not, and end what was logging.
    let lines = fmt::layer()
        .log_internal_errors(false)
        .with_writer(writer)
        .with_target(false);
    let lines = match form {
        LogForm::Text => lines.with_ansi(false).boxed(),
        LogForm::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed(),
    };
    drop(registry().with(lines.with_filter(filter)).try_init());
    writing
}

fn may_speak(line: &Metadata<'_>) -> bool {
    line.target().starts_with(OWN) || *line.level() <= FOREIGN
}
