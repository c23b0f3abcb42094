//! An operator's desk: the router over the backend in memory, a clock moved by hand, and requests as people send them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use http::{HeaderMap, Method, Request, StatusCode};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use switchboard_core::configuration::{self, Configuration, Origin};
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, SenderId, SourceName};
use switchboard_core::secret::{Reference, Secret, SecretReader};
use switchboard_core::time::Timestamp;
use switchboard_testkit::clock::HandClock;
use switchboard_web::status::{Setup, Status, router};
use tower::ServiceExt;

use crate::described::described;
use crate::fake::{Fake, Shown};
use crate::range::TestRange;
use crate::shown::shown;

pub(crate) const TOKEN: &str = "admin-token-7f3a";
pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_764_446_400);
/// A kind as no honest sender writes it.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script>\u{202e}\u{2028}<!--\"\\\n";
/// An id that no floating point number can hold.
pub(crate) const LONG_NUMBER: &str = "9007199254740993";

/// A signature of the sender's.
pub(crate) const PROOF: &str = "PROOF-OF-THE-SENDER";
/// A body that is no text.
pub(crate) const BODY: &[u8] = b"{\"id\":9007199254740993,\"x\":\"\xff\x00\"}";

/// Everything that must never be shown, under the name it is referred to by.
pub(crate) const SECRETS: [(&str, &str); 5] = [
    ("SHOP", "shop-secret-A1"),
    ("SHOP_OLD", "shop-secret-B2"),
    ("FORMS", "Zm9ybXMtc2VjcmV0LUMzLTAxMjM0NTY3"),
    ("CRM_KEY", "Y3JtLXNpZ25pbmctRDQtMDEyMzQ1Njc4"),
    ("CRM_HEADER", "Bearer crm-header-E5"),
];
/// The parts of addresses that are not shown.
pub(crate) const HIDDEN_PARTS: [&str; 5] = [
    "T0KEN-PATH",
    "QUERY-KEY",
    "ENDPOINT-PATH",
    "ALERT-PATH",
    "ALERT-KEY",
];

pub(crate) const CONFIGURATION: &str = r#"
hosts = ["switchboard.example"]
alert_url = "https://alerts.example/ALERT-PATH?key=ALERT-KEY"

[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:SHOP", "env:SHOP_OLD"]

[[source]]
name = "forms"
scheme = "standard-webhooks"
secrets = ["env:FORMS"]

[[destination]]
name = "accounting"
url = "https://accounting.example/hook/T0KEN-PATH?key=QUERY-KEY"

[[destination]]
name = "crm"
url = "https://crm.example/"
sign = "env:CRM_KEY"
headers = { authorization = "env:CRM_HEADER" }
pauses = ["1s", "1m"]
jitter = 0.5
first_pause = "10s"

[[route]]
source = "shop"
kind = "orders/create"
deliver = [{ to = "accounting", action = "make-invoice" }, { to = "crm" }]
"#;

struct Known;

impl SecretReader for Known {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        let name = reference.to_string();
        let known: BTreeMap<&str, &str> = SECRETS.into();
        known
            .get(name.trim_start_matches("env:"))
            .map(|text| (*text).to_owned())
            .ok_or_else(|| "not set".to_owned())
    }
}

pub(crate) fn configuration(before: &str) -> Arc<Configuration> {
    let text = format!("{before}\n{CONFIGURATION}");
    let read = configuration::read(&text, Origin::File, &Known).expect("a configuration");
    Arc::new(read.configuration)
}

pub(crate) fn destination(name: &str) -> DestinationName {
    DestinationName::parse(name).expect("name")
}

pub(crate) fn source(name: &str) -> SourceName {
    SourceName::parse(name).expect("name")
}

pub(crate) fn event_id() -> EventId {
    EventId::of(&source("shop"), &SenderId::new(LONG_NUMBER).expect("id"))
}

pub(crate) fn delivery_id(n: u32) -> DeliveryId {
    let action = ActionName::deliver();
    DeliveryId::of(&event_id(), &destination("accounting"), &action, Run(n))
}

/// The router, and what is behind it.
pub(crate) struct Desk {
    pub(crate) fake: Arc<Fake>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) status: Arc<Status<Fake>>,
    pub(crate) tests: Arc<TestRange>,
    router: Router,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with("", TOKEN)
    }

    pub(crate) fn with(before: &str, token: &str) -> Self {
        Self::made(before, token, shown())
    }

    /// One that shows something else.
    pub(crate) fn showing(change: impl FnOnce(&mut Shown)) -> Self {
        let mut shown = shown();
        change(&mut shown);
        Self::made("", TOKEN, shown)
    }

    /// Another process over the same store.
    pub(crate) fn another(&self) -> Self {
        Self::over("", TOKEN, Arc::clone(&self.fake))
    }

    fn made(before: &str, token: &str, shown: Shown) -> Self {
        Self::over(before, token, Arc::new(Fake::new(shown)))
    }

    fn over(before: &str, token: &str, fake: Arc<Fake>) -> Self {
        let clock = Arc::new(HandClock::at(NOW));
        let configuration = configuration(before);
        let tests = TestRange::open();
        let tester = tests.tester(&configuration, &clock);
        let status = Arc::new(Status::new(Setup {
            configuration,
            backend: Arc::clone(&fake),
            clock: Arc::<HandClock>::clone(&clock),
            rng: Box::new(ChaCha20Rng::seed_from_u64(7)),
            admin_token: Secret::new(token).expect("token"),
            address: "http://127.0.0.1:3000".parse().expect("address"),
            tester,
        }));
        Self {
            router: router(Arc::clone(&status)),
            fake,
            clock,
            status,
            tests,
        }
    }

    /// Sends a request as it stands.
    pub(crate) async fn send(&self, request: Request<Body>) -> Seen {
        send(&self.router, request).await
    }

    /// GET with the token.
    pub(crate) async fn get(&self, path: &str) -> Seen {
        self.send(ask(Method::GET, path, &[bearer(TOKEN)], ""))
            .await
    }

    /// A JSON body with the token.
    pub(crate) async fn admin(&self, method: Method, path: &str, body: &str) -> Seen {
        let headers = [bearer(TOKEN), ("content-type", "application/json".into())];
        self.send(ask(method, path, &headers, body)).await
    }

    /// Signs in by a one-time link; the cookie as a browser sends it back.
    pub(crate) async fn cookie(&self) -> Header {
        let link = self.status.one_time_link();
        let seen = self.send(ask(Method::GET, &link, &[], "")).await;
        ("cookie", seen.cookie())
    }
}

/// Sends a request to a router.
pub(crate) async fn send(router: &Router, request: Request<Body>) -> Seen {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = router.clone().oneshot(request).await.expect("answer");
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.expect("body");
    let seen = Seen {
        status: parts.status,
        headers: parts.headers,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        bytes,
    };
    described(&method, &path, &seen);
    seen
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) bytes: Bytes,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("text"))
    }

    /// Why it is not what was asked for: the problem's detail, which says the same status as the answer.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{self:?}"
        );
        let told = self.json();
        assert_eq!(told["status"], self.status.as_u16());
        assert_eq!(told["type"], "about:blank");
        told["detail"].as_str().expect("a detail").to_owned()
    }

    /// Name and value of the cookie that was set.
    pub(crate) fn cookie(&self) -> String {
        let set = self.header("set-cookie");
        set.split(';').next().expect("a part").to_owned()
    }
}

pub(crate) type Header = (&'static str, String);

pub(crate) fn bearer(token: &str) -> Header {
    ("authorization", format!("Bearer {token}"))
}

/// A request to this machine's own name, unless a Host is among the headers.
pub(crate) fn ask(method: Method, path: &str, headers: &[Header], body: &str) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "localhost:3000");
    }
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    request.body(Body::from(body.to_owned())).expect("request")
}
