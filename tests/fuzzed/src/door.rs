//! The real routers over the store in memory, and asking them something.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use http_body_util::BodyExt;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::{self, Configuration, Origin};
use switchboard_core::delivery::{Outcome, Unanswered};
use switchboard_core::ingress::Ingress;
use switchboard_core::ports::{Outgoing, Transport};
use switchboard_core::secret::{Reference, Secret, SecretReader};
use switchboard_core::time::Timestamp;
use switchboard_testkit::clock::HandClock;
use switchboard_web::ingress::IngressLimits;
use switchboard_web::{ingress, status};
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::store::Store;

/// The present, which stands still.
pub const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);
/// The admin token.
pub const TOKEN: &str = "the-token-of-the-operators";
/// Longest body that is taken, in bytes.
pub const MAX_BODY: usize = 4096;

/// A source of each scheme, with its secret behind its own name.
const CONFIGURATION: &str = r#"
max_body = 4096
[[source]]
name = "shopify"
scheme = "shopify"
secrets = ["env:TEXT"]
[[source]]
name = "stripe"
scheme = "stripe"
secrets = ["env:TEXT"]
[[source]]
name = "github"
scheme = "github"
secrets = ["env:TEXT"]
[[source]]
name = "standard-webhooks"
scheme = "standard-webhooks"
secrets = ["env:TEXT"]
[[destination]]
name = "crm"
url = "https://crm.example/"
[[route]]
source = "*"
kind = "*"
deliver = [{ to = "crm" }]
"#;

/// Nowhere: nothing of a test leaves the process.
struct NoWay;

impl Transport for NoWay {
    async fn post(&self, _: Outgoing) -> Outcome {
        Outcome::Unanswered(Unanswered::NoConnection)
    }
}

/// The secret of every source.
pub const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

struct Known;

impl SecretReader for Known {
    fn read(&self, _: &Reference) -> Result<String, String> {
        Ok(SECRET.to_owned())
    }
}

/// What a request was answered.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: http::HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// A router, and the store behind it.
pub struct Door {
    runtime: Runtime,
    router: Router,
    /// Its clock, which stands still unless it is moved.
    pub clock: Arc<HandClock>,
    /// What came of it.
    pub store: Arc<Store>,
    /// The configuration that it serves.
    pub configuration: Arc<Configuration>,
    /// The path of a link that signs in once; none where senders post.
    pub link: String,
}

impl Door {
    /// Where senders post.
    pub fn of_senders() -> Self {
        Self::with(|configuration, store, clock| {
            let rng = Box::new(ChaCha20Rng::seed_from_u64(1));
            let ingress = Ingress::new(configuration, store, clock, rng);
            let limits = IngressLimits::default();
            let router = ingress::router(Arc::new(ingress), MAX_BODY, limits);
            (router, String::new())
        })
    }

    /// What operators reach.
    pub fn of_operators() -> Self {
        Self::with(|configuration, backend, clock| {
            let tester = Performer::new(
                Arc::clone(&configuration),
                NoWay,
                Arc::<HandClock>::clone(&clock),
                Box::new(ChaCha20Rng::seed_from_u64(2)),
            );
            let status = Arc::new(status::Status::new(status::Setup {
                configuration,
                backend,
                clock,
                rng: Box::new(ChaCha20Rng::seed_from_u64(1)),
                admin_token: Secret::new(TOKEN).expect("a token"),
                address: "http://localhost:3000/".parse().expect("an address"),
                tester: Box::new(tester),
            }));
            let link = status.one_time_link();
            (status::router(status), link)
        })
    }

    fn with(
        make: impl FnOnce(Arc<Configuration>, Arc<Store>, Arc<HandClock>) -> (Router, String),
    ) -> Self {
        let read = configuration::read(CONFIGURATION, Origin::File, &Known);
        let configuration = Arc::new(read.expect("a configuration").configuration);
        let store = Arc::new(Store::default());
        let clock = Arc::new(HandClock::at(NOW));
        let (router, link) = make(
            Arc::clone(&configuration),
            Arc::clone(&store),
            Arc::clone(&clock),
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        Self {
            runtime,
            router,
            clock,
            store,
            configuration,
            link,
        }
    }

    /// Asks; `None` when a server would not have read such a head.
    pub fn ask(
        &self,
        method: &[u8],
        path: &[u8],
        headers: &http::HeaderMap,
        body: &[u8],
    ) -> Option<Answer> {
        let uri = Uri::try_from(path).ok()?;
        let mut request = Request::new(Body::from(Bytes::copy_from_slice(body)));
        *request.method_mut() = http::Method::from_bytes(method).ok()?;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers.clone();
        Some(self.runtime.block_on(async {
            let answer = self.router.clone().oneshot(request).await;
            let (parts, body) = answer.unwrap_or_else(|never| match never {}).into_parts();
            let body = body.collect().await.expect("a whole answer").to_bytes();
            Answer {
                status: parts.status,
                headers: parts.headers,
                body,
            }
        }))
    }
}
