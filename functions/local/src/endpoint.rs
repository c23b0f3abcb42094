//! Your endpoint in the built-in sample: set to its stand-in among the sample receivers, which checks the signatures.

use std::net::SocketAddr;
use std::sync::Arc;

use rand::{Rng, RngExt};
use switchboard_core::address::{Address, Networks};
use switchboard_core::endpoint::{Change, fresh_secret};
use switchboard_core::names::YOUR_ENDPOINT;
use switchboard_core::ports::SettingsStore;
use switchboard_core::scheme::{Key, standard_webhooks};
use switchboard_core::time::Clock;
use switchboard_embedded::Store;

use crate::end::Failed;

/// Sets your endpoint to its stand-in, unless it is set to an address of the user's own.
pub(crate) async fn stand_in<S: SettingsStore>(
    store: &S,
    receivers: SocketAddr,
    rng: &mut (dyn Rng + Send),
) -> Result<(), Failed> {
    let fault = |error: switchboard_core::ports::BackendError| Failed::new(error.line());
    let settings = store.settings().await.map_err(fault)?;
    let is_own = settings
        .endpoint
        .as_ref()
        .is_some_and(|endpoint| !is_stand_in(&endpoint.address));
    if is_own {
        return Ok(());
    }
    let address = Address::parse(
        &format!("http://{receivers}/{YOUR_ENDPOINT}"),
        Networks::PrivateToo,
    )
    .map_err(Failed::new)?;
    let fresh = fresh_secret(&rng.random()).ok_or_else(|| Failed::new("no secret"))?;
    store
        .change(Change::SetEndpoint { address, fresh })
        .await
        .map_err(fault)?;
    Ok(())
}

/// Clears your endpoint where an earlier run with the built-in sample left it at the stand-in, which does not run now:
/// nobody of the user's asked for copies there.
pub(crate) async fn no_stand_in<S: SettingsStore>(store: &S) -> Result<(), Failed> {
    let fault = |error: switchboard_core::ports::BackendError| Failed::new(error.line());
    let settings = store.settings().await.map_err(fault)?;
    if settings
        .endpoint
        .as_ref()
        .is_some_and(|endpoint| is_stand_in(&endpoint.address))
    {
        store.change(Change::ClearEndpoint).await.map_err(fault)?;
        tracing::info!(
            "your endpoint was the built-in sample's stand-in, which does not run now: cleared"
        );
    }
    Ok(())
}

/// The stand-in's address on whatever port the receivers had at an earlier start.
fn is_stand_in(address: &Address) -> bool {
    let url = address.url();
    let loopback = match url.host() {
        Some(url::Host::Ipv4(v4)) => v4.is_loopback(),
        Some(url::Host::Ipv6(v6)) => v6.is_loopback(),
        Some(url::Host::Domain(_)) | None => false,
    };
    loopback && url.path() == format!("/{YOUR_ENDPOINT}")
}

/// The keys that sign copies now: what the stand-in checks against.
pub(crate) struct Signing {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
}

impl Signing {
    pub(crate) fn of(store: Arc<Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// The keys; none when your endpoint is not set.
    pub(crate) async fn keys(&self) -> Vec<Key> {
        let Ok(settings) = self.store.settings().await else {
            return Vec::new();
        };
        let secrets = settings
            .endpoint
            .iter()
            .flat_map(|endpoint| endpoint.signing(self.clock.now()));
        secrets
            .filter_map(|secret| standard_webhooks::key(secret).ok())
            .collect()
    }
}
