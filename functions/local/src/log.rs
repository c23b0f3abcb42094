//! Where log lines go and how they look.

use std::io::BufWriter;

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

use crate::command::LogForm;

/// Lines that wait to be written. Whoever reads them may stand still: what comes beyond these is dropped, and a
/// delivery never waits for it.
const MOST_WAITING: usize = 16 * 1024;
/// Bytes that are written at once when there is much to write.
const AT_ONCE: usize = 64 * 1024;

/// Starts the log on standard error; what waits is written when the guard is dropped. `level` is a filter such as `info`
/// or `switchboard_core=trace`.
pub(crate) fn start(form: LogForm, level: Option<&str>) -> WorkerGuard {
    let filter = EnvFilter::builder().parse_lossy(level.unwrap_or("info"));
    // A thread of its own writes, as many lines at once as there are.
    let (lines, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(MOST_WAITING)
        .thread_name("log")
        .finish(BufWriter::with_capacity(AT_ONCE, std::io::stderr()));
    // A line that cannot be written is dropped. Told of, it would go where it just could not, and end what was logging.
    let log = tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_writer(lines)
        .with_target(false);
    let started = match form {
        LogForm::Text => log.with_ansi(false).try_init(),
        LogForm::Json => log
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .try_init(),
    };
    drop(started);
    guard
}
