//! A deployed Switchboard: its processes share a configuration, a token and a gateway's name, and nothing else.

use std::sync::Arc;

use axum::Router;
use http::{Method, Request, StatusCode};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde_json::json;
use switchboard_core::deployed::{Deployed, Every};
use switchboard_core::secret::Secret;
use switchboard_core::views::Recent;
use switchboard_testkit::clock::HandClock;
use switchboard_testkit::configuration::{GivenSecrets, KeptConfiguration};
use switchboard_web::deployed::operators;
use switchboard_web::status::{self, Setup, Status, TrustedHost};

use crate::desk::{Header, NOW, Seen, TOKEN, ask, bearer, send};
use crate::fake::{Fake, Shown};
use crate::range::TestRange;

pub(crate) const GATEWAY: &str = "abc123.execute-api.eu-central-1.amazonaws.com";

/// One source, all of whose events go to one destination of a name.
pub(crate) fn text(destination: &str) -> String {
    format!(
        "[[source]]\nname = \"shop\"\nscheme = \"shopify\"\nsecrets = [\"secret:shop\"]\n\
         [[route]]\nsource = \"shop\"\nkind = \"*\"\ndeliver = [{{ to = {destination:?} }}]\n\
         [[destination]]\nname = {destination:?}\nurl = \"https://a.example\"\n"
    )
}

/// What all processes share.
pub(crate) struct Deployment {
    pub(crate) store: Arc<KeptConfiguration>,
    pub(crate) secrets: Arc<GivenSecrets>,
    pub(crate) clock: Arc<HandClock>,
    /// One of its processes.
    pub(crate) process: Router,
}

impl Deployment {
    pub(crate) fn new() -> Self {
        let store = Arc::<KeptConfiguration>::default();
        let secrets = Arc::new(GivenSecrets::of(&[(
            "shop",
            "shop-secret-of-the-deployment",
        )]));
        let clock = Arc::new(HandClock::at(NOW));
        Self {
            process: process(&store, &secrets, &clock, TOKEN),
            store,
            secrets,
            clock,
        }
    }

    /// Another process, which has read nothing yet.
    fn another(&self, token: &str) -> Router {
        process(&self.store, &self.secrets, &self.clock, token)
    }

    /// A request with the token and a JSON body.
    pub(crate) async fn admin(&self, method: Method, path: &str, body: &str) -> Seen {
        let headers = [bearer(TOKEN), ("content-type", "application/json".into())];
        send(&self.process, ask(method, path, &headers, body)).await
    }

    /// Applies a text over the version that was seen.
    pub(crate) async fn apply(&self, text: &str, seen: Option<u64>) -> Seen {
        let body = json!({ "configuration": text, "version": seen }).to_string();
        self.admin(Method::PUT, "/admin/configuration", &body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Seen {
        self.admin(Method::GET, path, "").await
    }
}

fn process(
    store: &Arc<KeptConfiguration>,
    secrets: &Arc<GivenSecrets>,
    clock: &Arc<HandClock>,
    token: &str,
) -> Router {
    let clock = Arc::<HandClock>::clone(clock);
    let token = Secret::new(token).expect("token");
    let deployed = Arc::new(Deployed::new(
        Arc::clone(store),
        Arc::clone(secrets),
        Arc::<HandClock>::clone(&clock),
        Every::default(),
    ));
    let fake = Arc::new(Fake::new(Shown {
        recent: Recent::quiet(NOW),
        ..Shown::default()
    }));
    operators(Arc::clone(&deployed), move |current| {
        let status = Status::new(Setup {
            configuration: Arc::clone(&current.configuration),
            backend: Arc::clone(&fake),
            clock: Arc::<HandClock>::clone(&clock),
            rng: Box::new(ChaCha20Rng::seed_from_u64(7)),
            admin_token: token.clone(),
            address: format!("https://{GATEWAY}").parse().expect("address"),
            tester: TestRange::open().tester(&current.configuration, &clock),
        });
        status::router(Arc::new(status.with_deployed(Arc::clone(&deployed))))
    })
}

/// A request that comes through the gateway.
fn through(
    method: Method,
    path: &str,
    host: &str,
    headers: &[Header],
    body: &str,
) -> Request<axum::body::Body> {
    let headers = [headers, &[("host", host.to_owned())]].concat();
    let mut request = ask(method, path, &headers, body);
    request.extensions_mut().insert(TrustedHost::new(GATEWAY));
    request
}

#[tokio::test]
async fn the_name_that_the_gateway_matched_is_allowed_and_no_other() {
    let deployment = Deployment::new();
    let of = async |request| send(&deployment.process, request).await.status;
    let token = [bearer(TOKEN)];
    for host in [GATEWAY, &format!("{}:443", GATEWAY.to_ascii_uppercase())] {
        for (method, path) in [
            (Method::GET, "/"),
            (Method::GET, "/api/routes"),
            (Method::GET, "/admin/configuration"),
        ] {
            let status = of(through(method.clone(), path, host, &token, "")).await;
            assert_eq!(status, StatusCode::OK, "{path} at {host}");
            let without = ask(method, path, &[bearer(TOKEN), ("host", host.into())], "");
            assert_eq!(of(without).await, StatusCode::FORBIDDEN, "{path} at {host}");
        }
    }
    for host in [
        "evil.example",
        &format!("a.{GATEWAY}"),
        &format!("{GATEWAY}@evil.example"),
        "",
    ] {
        let status = of(through(Method::GET, "/", host, &token, "")).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{host:?}");
    }
    let mut two = through(Method::GET, "/", GATEWAY, &token, "");
    two.headers_mut()
        .append("host", "evil.example".parse().expect("a value"));
    assert_eq!(of(two).await, StatusCode::FORBIDDEN, "one of two names");
}

#[tokio::test]
async fn a_hold_says_within_which_time_it_counts_everywhere() {
    let deployment = Deployment::new();
    let applied = json!({ "configuration": text("crm"), "version": null }).to_string();
    let crm = r#"{"destination":"crm"}"#;
    for (method, path, body) in [
        (Method::PUT, "/admin/configuration", applied.as_str()),
        (Method::POST, "/admin/hold", crm),
    ] {
        let headers = [
            bearer(TOKEN),
            ("content-type", "application/json".to_owned()),
        ];
        let request = through(method, path, GATEWAY, &headers, body);
        let seen = send(&deployment.process, request).await;
        assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
        if path == "/admin/hold" {
            assert_eq!(seen.json(), json!({ "held": "crm", "counts_within_s": 5 }));
        }
    }
}

#[tokio::test]
async fn a_sign_in_holds_in_every_process_that_has_the_token() {
    let deployment = Deployment::new();
    let form = [(
        "content-type",
        "application/x-www-form-urlencoded".to_owned(),
    )];
    let signed_in = through(
        Method::POST,
        "/sign-in",
        GATEWAY,
        &form,
        &format!("token={TOKEN}"),
    );
    let seen = send(&deployment.process, signed_in).await;
    assert_eq!(seen.status, StatusCode::SEE_OTHER);
    let set = seen.header("set-cookie");
    assert!(set.ends_with("; Secure"), "the gateway speaks https: {set}");
    let cookie = [("cookie", seen.cookie())];
    let read = async |process: Router| {
        let request = through(Method::GET, "/api/overview", GATEWAY, &cookie, "");
        send(&process, request).await.status
    };
    assert_eq!(read(deployment.another(TOKEN)).await, StatusCode::OK);
    assert_eq!(
        read(deployment.another("the-next-admin-token")).await,
        StatusCode::UNAUTHORIZED,
        "a new token ends it"
    );
    deployment
        .clock
        .advance(std::time::Duration::from_hours(12));
    assert_eq!(read(deployment.process).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_sign_in_outlives_a_new_configuration() {
    let deployment = Deployment::new();
    let form = [(
        "content-type",
        "application/x-www-form-urlencoded".to_owned(),
    )];
    let signed_in = ask(Method::POST, "/sign-in", &form, &format!("token={TOKEN}"));
    let cookie = send(&deployment.process, signed_in).await.cookie();
    assert_eq!(
        deployment.apply(&text("a"), None).await.status,
        StatusCode::OK
    );
    let request = ask(Method::GET, "/api/overview", &[("cookie", cookie)], "");
    assert_eq!(
        send(&deployment.process, request).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn while_nothing_could_be_read_everything_is_to_be_tried_again() {
    let deployment = Deployment::new();
    deployment.store.fails(Some("the table is away"));
    for path in ["/", "/healthz", "/in/shop", "/admin/configuration"] {
        let seen = deployment.get(path).await;
        assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(seen.header("retry-after"), "5");
        assert_eq!(seen.problem(), "try again", "no cause is told");
        assert_eq!(seen.header("cache-control"), "no-store");
        assert_ne!(seen.header("content-security-policy"), "");
    }
    deployment.store.fails(None);
    deployment.clock.advance(std::time::Duration::from_secs(5));
    assert_eq!(deployment.get("/healthz").await.status, StatusCode::OK);
}
