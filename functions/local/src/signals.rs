//! The signals that ask for the end: Ctrl-C and SIGTERM.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for a signal that asks for the end.
pub(crate) struct End {
    interrupt: Signal,
    terminate: Signal,
}

impl End {
    /// From here on the signals no longer end the process by themselves.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Returns when the end is asked for; may be waited for again.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
