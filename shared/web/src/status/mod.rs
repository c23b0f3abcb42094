//! What operators reach: the page, the API, the admin interface, metrics and health. This file puts the routes
//! together; who may reach them stands in `access` and `guard`.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post, put};
use http::HeaderMap;
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
mod asked;
mod configuration;
mod cursor;
mod events;
mod guard;
mod headers;
mod health;
mod metrics;
mod openapi;
mod overview;
mod page;
mod problem;
mod rate;
mod read;
mod replay;
mod routes;
mod search;
mod session;
mod sign_in;
mod tag;
mod trial;
mod whole;

pub use answer::{too_long, try_again};
pub use guard::TrustedHost;
pub use trial::{Tested, Tester};

use answer::Failure;
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
    /// What makes test deliveries.
    pub tester: Box<dyn Tester>,
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
    overview: overview::Shared,
    headers: headers::KnownHeaders,
    tester: Box<dyn Tester>,
    tests: trial::Tests,
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
            overview: overview::Shared::default(),
            headers: headers::KnownHeaders::default(),
            tester: setup.tester,
            tests: trial::Tests::default(),
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

/// A path, and what answers there.
type Row<B> = (&'static str, MethodRouter<Arc<Status<B>>>);

/// What operators read and where they sign in.
fn reading<B: Backend>() -> Vec<Row<B>> {
    let mut rows = vec![
        ("/", get(sign_in::front::<B>)),
        (
            "/sign-in",
            get(sign_in::by_link::<B>).post(sign_in::by_token::<B>),
        ),
        ("/sign-out", post(sign_in::out::<B>)),
        ("/api/overview", get(overview::overview::<B>)),
        ("/api/events", get(events::events::<B>)),
        ("/api/events/{event}", get(events::event::<B>)),
        ("/api/events/{event}/body", get(events::body::<B>)),
        ("/api/dead-letters", get(read::dead_letters::<B>)),
        ("/api/dead-letters/groups", get(read::groups::<B>)),
        ("/api/refusals", get(read::refusals::<B>)),
        ("/api/declined", get(read::declined::<B>)),
        ("/api/routes", get(routes::routes::<B>)),
        ("/api/openapi.json", get(openapi::openapi)),
        ("/metrics", get(metrics::metrics::<B>)),
    ];
    rows.extend(page::ASSETS.map(|asset| {
        let answer = get(move |headers: HeaderMap| async move { asset.response(&headers) });
        (asset.path, answer)
    }));
    rows
}

/// What operators change.
fn admin<B: Backend>() -> Vec<Row<B>> {
    vec![
        ("/admin/redrive", post(admin::redrive::<B>)),
        ("/admin/replay", post(replay::replay::<B>)),
        ("/admin/test", post(trial::test::<B>)),
        ("/admin/hold", post(admin::hold::<B>)),
        ("/admin/release", post(admin::release::<B>)),
        (
            "/admin/endpoint",
            put(admin::set_endpoint::<B>).delete(admin::clear_endpoint::<B>),
        ),
        ("/admin/endpoint/rotate", post(admin::rotate_endpoint::<B>)),
        (
            "/admin/configuration",
            get(configuration::stored::<B>)
                .put(configuration::apply::<B>)
                .layer(DefaultBodyLimit::max(configuration::LONGEST)),
        ),
    ]
}

const HEALTH: &str = "/healthz";

/// The paths of all routes, as the API's description names them.
pub fn paths<B: Backend>() -> Vec<&'static str> {
    let rows = reading::<B>().into_iter().chain(admin());
    rows.map(|(path, _)| path).chain([HEALTH]).collect()
}

/// The routes of operators, and the 404 of everything that is nowhere. `/healthz` answers to every Host, all others to this
/// machine's names, those in `hosts`, and a [`TrustedHost`] only.
pub fn router<B: Backend>(status: Arc<Status<B>>) -> Router {
    let of = |rows: Vec<Row<B>>| {
        let routes = rows.into_iter();
        routes.fold(Router::new(), |router, (path, answer)| {
            router.route(path, answer)
        })
    };
    let seen_at_once = middleware::from_fn_with_state(Arc::clone(&status), seen_at_once::<B>);
    of(reading())
        .merge(of(admin()).route_layer(seen_at_once))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&status),
            guard::own_host::<B>,
        ))
        .route(HEALTH, get(health::healthz::<B>))
        .method_not_allowed_fallback(async || Failure::OtherMethod)
        .fallback(async || Failure::NotFound("there is no such address".to_owned()))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::map_response(guard::closed))
        .with_state(status)
}

/// What an operator changed, or may have, is seen by whoever looks next.
async fn seen_at_once<B: Backend>(
    State(status): State<Arc<Status<B>>>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    if !response.status().is_client_error() {
        status.overview.changed();
    }
    response
}
