//! The store of configurations in memory keeps what its port promises, so that tests over it mean something.

use switchboard_testkit::configuration::KeptConfiguration;
use switchboard_testkit::suite::configuration::Fixture;

struct InMemory;

impl Fixture for InMemory {
    type Store = KeptConfiguration;

    async fn fresh(&self) -> KeptConfiguration {
        KeptConfiguration::default()
    }

    async fn reopened(&self, store: KeptConfiguration) -> KeptConfiguration {
        store
    }
}

switchboard_testkit::configuration_conformance!(InMemory);
