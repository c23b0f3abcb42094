//! What a replay plans, over a backend in memory that fails when it is told to.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use switchboard_core::configuration::{Origin, read};
use switchboard_core::delivery::DeliveryKey;
use switchboard_core::identity::Run;
use switchboard_core::names::{ActionName, DestinationName, SourceName};
use switchboard_core::operate::{EVENTS, OperateError, Operator, Progress, Replay, Replayed};
use switchboard_core::ports::{Ledger, Queued, SettingsStore, Views};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_core::views::EventSearch;

use fake::Kept;

mod fake;
mod progress;
mod runs;

const CONFIGURATION: &str = r#"
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:S"]
[[source]]
name = "code"
scheme = "github"
secrets = ["env:S"]
[[destination]]
name = "chat"
url = "https://chat.example/"
[[destination]]
name = "crm"
url = "https://crm.example/"
[[route]]
source = "shop"
kind = "orders/create"
deliver = [{ to = "chat", action = "post-line" }, { to = "crm" }]
[[route]]
source = "shop"
kind = "*"
deliver = [{ to = "chat", action = "post-line" }]
"#;

/// When the clock is first looked at, a quarter into its second.
const NOW: i64 = 1_800_000_000_250;

struct OneSecret;

impl SecretReader for OneSecret {
    fn read(&self, _: &Reference) -> Result<String, String> {
        Ok("a secret of sixteen bytes or more".to_owned())
    }
}

struct ByHand(AtomicI64);

impl Clock for ByHand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
    fn ticks(&self) -> Duration {
        Duration::ZERO
    }
}

/// An operator over a backend that holds nothing.
struct Setting {
    clock: Arc<ByHand>,
    kept: Arc<Kept>,
    operator: Operator<Kept>,
}

fn setting() -> Setting {
    let configuration = read(CONFIGURATION, Origin::File, &OneSecret).expect("no faults");
    let clock = Arc::new(ByHand(AtomicI64::new(NOW)));
    let kept = Arc::new(Kept::default());
    let shared: Arc<dyn Clock> = clock.clone();
    let configuration = Arc::new(configuration.configuration);
    Setting {
        operator: Operator::new(configuration, Arc::clone(&kept), shared),
        clock,
        kept,
    }
}

/// A call over any backend, as a server makes it: on whatever thread.
fn call<B: Ledger + SettingsStore + Views>(
    operator: &Operator<B>,
    replay: &Replay,
    progress: Progress,
) -> impl Future<Output = Result<Replayed, OperateError>> + Send {
    operator.replay(replay, progress)
}

impl Setting {
    /// A call; nothing here waits for anything.
    fn call(&self, replay: &Replay, progress: Progress) -> Result<Replayed, OperateError> {
        let called = call(&self.operator, replay, progress).now_or_never();
        called.expect("nothing waits")
    }

    fn begin(&self, replay: &Replay) -> Result<Replayed, OperateError> {
        self.call(replay, self.begun(replay)?)
    }

    fn begun(&self, replay: &Replay) -> Result<Progress, OperateError> {
        let begun = self.operator.begin_replay(replay).now_or_never();
        begun.expect("nothing waits")
    }

    /// So many events that are routed twice, from before now.
    fn several(&self, count: u32) {
        for n in 0..count {
            self.kept
                .event("shop", &n.to_string(), "orders/create", at(-1000));
        }
    }
}

/// The moment so many milliseconds after [`NOW`].
fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW + millis)
}

fn all() -> Replay {
    Replay {
        search: EventSearch::default(),
        to: None,
        per_second: 10,
        is_dry: false,
    }
}

fn destination(name: &str) -> DestinationName {
    DestinationName::parse(name).expect("a name")
}
