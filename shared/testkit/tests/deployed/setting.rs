//! What every test here begins with.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::configuration::{Configuration, Needs};
use switchboard_core::deployed::{Current, Deployed, Every};
use switchboard_core::ports::{Stored, Version};
use switchboard_core::time::Timestamp;
use switchboard_testkit::clock::HandClock;
use switchboard_testkit::configuration::{GivenSecrets, KeptConfiguration};

/// One source, whose secret is `secret:shop`, and one destination, whose name is the argument.
pub(crate) fn text(destination: &str) -> String {
    format!(
        "[[source]]\nname = \"shop\"\nscheme = \"shopify\"\nsecrets = [\"secret:shop\"]\n\
         [[destination]]\nname = {destination:?}\nurl = \"https://a.example\"\n"
    )
}

/// A configuration with everything around it.
pub(crate) struct Setting {
    pub(crate) store: Arc<KeptConfiguration>,
    pub(crate) secrets: Arc<GivenSecrets>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) deployed: Arc<Deployed>,
}

impl Setting {
    /// Nothing was applied yet; the secret `shop` is there.
    pub(crate) fn new() -> Self {
        let store = Arc::<KeptConfiguration>::default();
        let secrets = Arc::new(GivenSecrets::of(&[("shop", "the-first-secret")]));
        let clock = Arc::new(HandClock::at(Timestamp::from_seconds(1_000_000)));
        let deployed = process(&store, &secrets, &clock);
        Self {
            store,
            secrets,
            clock,
            deployed,
        }
    }

    /// Another process over the same store and secrets, which has read nothing yet.
    pub(crate) fn another(&self) -> Arc<Deployed> {
        process(&self.store, &self.secrets, &self.clock)
    }

    /// A process that needs a part of the secrets only.
    pub(crate) fn needing(&self, needs: Needs) -> Deployed {
        let (store, secrets) = (Arc::clone(&self.store), Arc::clone(&self.secrets));
        let clock = Arc::<HandClock>::clone(&self.clock);
        Deployed::new(store, secrets, clock, Every::default()).needing(needs)
    }

    /// Stores version `number` as another process would.
    pub(crate) fn put(&self, number: u64, text: &str) {
        self.store.put(Some(Stored {
            format: Stored::FORMAT,
            version: version(number),
            text: text.to_owned(),
            at: Timestamp::from_seconds(1),
        }));
    }

    pub(crate) fn after(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) async fn current(&self) -> Current {
        self.deployed.current().await.expect("a configuration")
    }

    pub(crate) async fn configuration(&self) -> Arc<Configuration> {
        self.current().await.configuration
    }

    /// The version in use; 0 before the first.
    pub(crate) async fn number(&self) -> u64 {
        let applied = self.current().await.applied;
        applied.map_or(0, |applied| applied.version.number())
    }

    /// The secret of the source, as it is used.
    pub(crate) async fn secret(&self) -> String {
        secret(&*self.configuration().await)
    }
}

/// One source, and one destination that is proven to with `secret:crm`.
pub(crate) fn text_with_header() -> String {
    format!(
        "{}headers = {{ authorization = \"secret:crm\" }}\n",
        text("a")
    )
}

fn process(
    store: &Arc<KeptConfiguration>,
    secrets: &Arc<GivenSecrets>,
    clock: &Arc<HandClock>,
) -> Arc<Deployed> {
    let (store, secrets) = (Arc::clone(store), Arc::clone(secrets));
    let clock = Arc::<HandClock>::clone(clock);
    Arc::new(Deployed::new(store, secrets, clock, Every::default()))
}

pub(crate) fn secret(configuration: &Configuration) -> String {
    let mut secrets = configuration.sources[0].secrets();
    let (secret, _) = secrets.next().expect("a secret");
    secret.expose().to_owned()
}

pub(crate) fn version(number: u64) -> Version {
    Version::new(number).expect("a version")
}
