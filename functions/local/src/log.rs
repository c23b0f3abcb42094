//! Where log lines go and how they look, and how much the libraries beneath may say.

use std::io::BufWriter;

use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt, registry};

use crate::command::LogForm;

/// How the names of our own crates begin.
const OWN: &str = "switchboard";
/// The most detailed level of everybody else's lines, whatever is asked for. What they say beyond it is about single
/// frames, headers and buffers, where secrets are, and by no rule of ours.
const FOREIGN: Level = Level::INFO;
/// Lines that wait to be written. Whoever reads them may stand still: what comes beyond these is dropped, and a
/// delivery never waits for it.
const MOST_WAITING: usize = 16 * 1024;
/// Bytes that are written at once when there is much to write.
const AT_ONCE: usize = 64 * 1024;

/// Starts the log on standard error; what waits is written when the guard is dropped. `level` is a filter such as `info`
/// or `switchboard_core=trace`.
pub(crate) fn start(form: LogForm, level: Option<&str>) -> WorkerGuard {
    let filter = EnvFilter::builder().parse_lossy(level.unwrap_or("info"));
    let filter = filter.and(filter_fn(may_speak).with_max_level_hint(LevelFilter::TRACE));
    // A thread of its own writes, as many lines at once as there are.
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(MOST_WAITING)
        .thread_name("log")
        .finish(BufWriter::with_capacity(AT_ONCE, std::io::stderr()));
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
    guard
}

fn may_speak(line: &Metadata<'_>) -> bool {
    line.target().starts_with(OWN) || *line.level() <= FOREIGN
}
