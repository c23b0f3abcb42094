//! The embedded backend keeps what the ports promise.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use switchboard_embedded::Store;
use switchboard_testkit::suite::fixture::Fixture;
use tempfile::TempDir;

/// A folder that goes with the test.
struct Embedded(TempDir);

impl Embedded {
    fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    fn open(&self) -> Store {
        Store::open(self.0.path()).expect("a store")
    }
}

impl Fixture for Embedded {
    type Backend = Store;

    async fn fresh(&self) -> Store {
        self.open()
    }

    async fn reopened(&self, store: Store) -> Store {
        drop(store);
        self.open()
    }
}

switchboard_testkit::conformance!(Embedded::new());
