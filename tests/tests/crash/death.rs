//! A death at a fail point, and what comes before and after it.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use switchboard_core::fail::FailPoint;
use switchboard_tests::switchboard::{Start, Switchboard};
use switchboard_tests::wait::DEADLINE;
use tempfile::TempDir;
use tokio::time::timeout;

/// The signal that a process gives itself at a fail point.
const SIGABRT: i32 = 6;

/// Dies at this point, when it is reached for the `hit`th time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    pub(crate) point: FailPoint,
    pub(crate) hit: u64,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=stop:{}", self.point.as_str(), self.hit)
    }
}

impl Death {
    /// Starts a Switchboard that is to die so; the folder, when it died before it said where it is.
    pub(crate) async fn begun(self, folder: TempDir, start: Start) -> Result<Switchboard, TempDir> {
        let start = start.set("SWITCHBOARD_FAIL", &self.to_string());
        match Switchboard::begin(folder, start).await {
            Ok(switchboard) => Ok(switchboard),
            Err((status, folder)) => {
                self.check(status);
                Err(folder)
            }
        }
    }

    /// Waits for it.
    pub(crate) async fn came(self, switchboard: Switchboard) -> TempDir {
        let Ok((status, folder)) = timeout(DEADLINE, switchboard.ended()).await else {
            panic!("{self}: never hit, it lives on")
        };
        self.check(status);
        folder
    }

    /// [`Self::begun`] and [`Self::came`].
    pub(crate) async fn at_start(self, folder: TempDir, start: Start) -> TempDir {
        match self.begun(folder, start).await {
            Ok(switchboard) => self.came(switchboard).await,
            Err(folder) => folder,
        }
    }

    /// Whether a process that ended like this died there.
    pub(crate) fn check(self, status: ExitStatus) {
        assert_eq!(
            status.signal(),
            Some(SIGABRT),
            "{self}: never hit, it ended with {status}"
        );
    }
}
