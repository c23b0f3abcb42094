//! Where log lines go and how they look.

use tracing_subscriber::EnvFilter;

use crate::command::LogForm;

/// Starts the log on standard error. `level` is a filter such as `info` or `switchboard_core=trace`.
pub(crate) fn start(form: LogForm, level: Option<&str>) {
    let filter = EnvFilter::builder().parse_lossy(level.unwrap_or("info"));
    // A line that cannot be written is dropped. Told of, it would go where it just could not, and end what was logging.
    let log = tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
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
}
