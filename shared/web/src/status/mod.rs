//! What operators reach: the page, the API, the admin interface, metrics and health. This file puts the routes
//! together; who may reach them stands in `access` and `guard`.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{delete, get, post, put};
use rand::CryptoRng;
use switchboard_core::configuration::Configuration;
use switchboard_core::deployed::Deployed;
use switchboard_core::operate::Operator;
use switchboard_core::ports::Backend;
use switchboard_core::secret::Secret;
use switchboard_core::time::Clock;
use url::Url;

mod access;
mod admin;
mod answer;
mod configuration;
mod guard;
mod health;
mod metrics;
mod page;
mod read;
mod routes;
mod session;
mod sign_in;

pub use guard::TrustedHost;

use session::{AdminToken, CookieScope, FailedSignIns, OneTimeCodes};

/// Longest body that any of these routes reads, but for a configuration, in bytes.
const LONGEST_BODY: usize = 64 * 1024;

/// What a [`Status`] is made of.
pub struct Setup<B> {
    /// What operators are shown of sources, routes and destinations.
    pub configuration: Arc<Configuration>,
    /// Where state lives.
    pub backend: Arc<B>,
    /// Where moments come from.
    pub clock: Arc<dyn Clock>,
    /// Where secrets and sign-in codes come from.
    pub rng: Box<dyn CryptoRng + Send>,
    /// What an operator proves to be one with.
    pub admin_token: Secret,
    /// The address that senders reach this Switchboard under, where the configuration has no `public_url`. When the one
    /// that counts is https, cookies travel over that only.
    pub address: Url,
}

/// All that the routes of operators need, made once.
pub struct Status<B> {
    configuration: Arc<Configuration>,
    backend: Arc<B>,
    clock: Arc<dyn Clock>,
    rng: Mutex<Box<dyn CryptoRng + Send>>,
    operator: Operator<B>,
    token: AdminToken,
    codes: Mutex<OneTimeCodes>,
    failed: Mutex<FailedSignIns>,
    health: health::Shared,
    address: Url,
    cookies: CookieScope,
    deployed: Option<Arc<Deployed>>,
}

impl<B: Backend> Status<B> {
    /// Makes what the routes need.
    pub fn new(setup: Setup<B>) -> Self {
        let public = setup.configuration.public_url.as_ref();
        let address = public.unwrap_or(&setup.address).clone();
        let cookies = match address.scheme() {
            "https" => CookieScope::HttpsOnly,
            _ => CookieScope::AnyScheme,
        };
        Self {
            operator: Operator::new(
                Arc::clone(&setup.configuration),
                Arc::clone(&setup.backend),
                Arc::clone(&setup.clock),
            ),
            address,
            configuration: setup.configuration,
            backend: setup.backend,
            clock: setup.clock,
            rng: Mutex::new(setup.rng),
            token: AdminToken::new(&setup.admin_token),
            codes: Mutex::default(),
            failed: Mutex::default(),
            health: health::Shared::default(),
            cookies,
            deployed: None,
        }
    }

    /// The same for a deployed Switchboard, whose configuration operators read and replace here. The one it was made with
    /// counts until it is made again: see [`crate::deployed`].
    #[must_use]
    pub fn with_deployed(self, deployed: Arc<Deployed>) -> Self {
        Self {
            deployed: Some(deployed),
            ..self
        }
    }

    /// The path of a link that signs its first user in; it holds until it is used or the process ends.
    pub fn one_time_link(&self) -> String {
        let code = self
            .codes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .issue(&self.random());
        format!("/sign-in?code={code}")
    }

    /// 256 random bits.
    fn random(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.rng
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .fill_bytes(&mut bytes);
        bytes
    }
}

/// The routes of operators. `/healthz` answers to every Host, all others to this machine's names, those in `hosts`, and a
/// [`TrustedHost`] only.
pub fn router<B: Backend>(status: Arc<Status<B>>) -> Router {
    let mut guarded = Router::new()
        .route("/", get(sign_in::front::<B>))
        .route(
            "/sign-in",
            get(sign_in::by_link::<B>).post(sign_in::by_token::<B>),
        )
        .route("/sign-out", post(sign_in::out::<B>))
        .route("/api/overview", get(read::overview::<B>))
        .route("/api/events", get(read::events::<B>))
        .route("/api/events/{event}", get(read::event::<B>))
        .route("/api/dead-letters", get(read::dead_letters::<B>))
        .route("/api/refusals", get(read::refusals::<B>))
        .route("/api/declined", get(read::declined::<B>))
        .route("/api/routes", get(routes::routes::<B>))
        .route("/metrics", get(metrics::metrics::<B>))
        .route("/admin/redrive", post(admin::redrive::<B>))
        .route("/admin/hold", post(admin::hold::<B>))
        .route("/admin/release", post(admin::release::<B>))
        .route("/admin/endpoint", put(admin::set_endpoint::<B>))
        .route("/admin/endpoint", delete(admin::clear_endpoint::<B>))
        .route("/admin/endpoint/rotate", post(admin::rotate_endpoint::<B>))
        .route(
            "/admin/configuration",
            get(configuration::stored::<B>)
                .put(configuration::apply::<B>)
                .layer(DefaultBodyLimit::max(configuration::LONGEST)),
        );
    for asset in page::ASSETS {
        guarded = guarded.route(asset.path, get(move || async move { asset.response() }));
    }
    guarded
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&status),
            guard::own_host::<B>,
        ))
        .route("/healthz", get(health::healthz::<B>))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::map_response(guard::closed))
        .with_state(status)
}
