//! The AWS backend keeps what the ports promise: every check of the suites, against the emulator.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use switchboard_aws::{Aws, Behind};
use switchboard_testkit::emulator::fresh_account;
use switchboard_testkit::suite::fixture::Fixture;
use tokio::sync::OnceCell;

use support::Ground;

mod support;

/// Reads of the stream in one fold.
const READS: u32 = 1000;
/// Folds until nothing may be left.
const FOLDS: u32 = 100;

/// A table and queues of their own for each check.
#[derive(Default)]
struct Emulated(OnceCell<Ground>);

impl Emulated {
    async fn open(&self) -> Aws {
        let ground = self
            .0
            .get_or_init(|| async { Ground::of(&fresh_account()).await });
        ground.await.open()
    }
}

impl Fixture for Emulated {
    type Backend = Aws;

    async fn fresh(&self) -> Aws {
        self.open().await
    }

    async fn reopened(&self, backend: Aws) -> Aws {
        backend.flush().await.expect("written");
        drop(backend);
        self.open().await
    }

    async fn settled(&self, backend: &Aws) {
        backend.flush().await.expect("written");
        for _ in 0..FOLDS {
            let folded = backend.fold(READS).await.expect("folded");
            if folded.behind == Behind::No {
                return;
            }
        }
        panic!("the fold never comes to an end");
    }
}

switchboard_testkit::conformance!(Emulated::default());
