//! A deployed Switchboard on a port of its own, and the command that applies to it.

use std::sync::Arc;

use axum::Router;
use http::{HeaderMap, Method, StatusCode};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use switchboard_core::attempt::Performer;
use switchboard_core::deployed::{Deployed, Every};
use switchboard_core::ingress::Ingress;
use switchboard_core::secret::Secret;
use switchboard_embedded::Store;
use switchboard_testkit::clock::HandClock;
use switchboard_testkit::configuration::{GivenSecrets, KeptConfiguration};
use switchboard_tests::run::{Ended, Run};
use switchboard_tests::sender::{self, Sender};
use switchboard_tests::switchboard::TOKEN;
use switchboard_tests::wait::DEADLINE;
use switchboard_web::client;
use switchboard_web::deployed;
use switchboard_web::ingress::{self, IngressLimits};
use switchboard_web::server;
use switchboard_web::status::{self, Setup, Status};
use switchboard_web::transport::HttpTransport;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

pub(crate) const FIRST: &str = "the-first-secret-of-the-shop";
pub(crate) const SECOND: &str = "the-second-secret-of-the-shop";

/// One source, all of whose events go to one destination of a name.
pub(crate) fn text(destination: &str) -> String {
    format!(
        "[[source]]\nname = \"shop\"\nscheme = \"shopify\"\nsecrets = [\"secret:sources/shop\"]\n\n\
         [[destination]]\nname = {destination:?}\nurl = \"https://a.example/\"\n\n\
         [[route]]\nsource = \"shop\"\nkind = \"*\"\ndeliver = [{{ to = {destination:?} }}]\n"
    )
}

/// A deployed Switchboard, and a folder to apply from.
pub(crate) struct Deployment {
    pub(crate) kept: Arc<KeptConfiguration>,
    pub(crate) secrets: Arc<GivenSecrets>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) url: Url,
    pub(crate) folder: TempDir,
    _data: TempDir,
    serving: JoinHandle<()>,
}

impl Deployment {
    /// Nothing was applied yet; the shop's secret is there.
    pub(crate) async fn start() -> Self {
        let kept = Arc::<KeptConfiguration>::default();
        let secrets = Arc::new(GivenSecrets::of(&[("sources/shop", FIRST)]));
        let clock = Arc::new(HandClock::at(sender::now()));
        let data = tempfile::tempdir().expect("a folder");
        let store = Arc::new(Store::open(data.path()).expect("a store"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let url: Url = format!("http://{address}/").parse().expect("an address");
        let router = router(&kept, &secrets, &clock, store, &url);
        Self {
            kept,
            secrets,
            clock,
            folder: tempfile::tempdir().expect("a folder"),
            serving: tokio::spawn(server::serve(listener, router, std::future::pending())),
            _data: data,
            url,
        }
    }

    /// Runs `apply` with a text in a file.
    pub(crate) async fn apply(&self, text: &str, flags: &[&str]) -> Ended {
        let file = self.folder.path().join("mine.toml");
        std::fs::write(file, text).expect("a file");
        let arguments = ["apply", "--config", "mine.toml", "--url", self.url.as_str()];
        let run = Run::of(self.folder.path(), &[&arguments, flags].concat());
        run.ended().await
    }

    /// Posts an event, signed with that secret, and gives what it is answered.
    pub(crate) async fn post(&self, id: &str, secret: &str) -> sender::Answer {
        let address = self.url.join("in/shop").expect("an address");
        let sender = Sender::new(address, "shopify", secret);
        sender.send(id, "orders/create", "{}").await
    }

    /// What an address gives to whoever has the token.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let url = self.url.join(path).expect("an address");
        let mut headers = HeaderMap::new();
        let token = format!("Bearer {TOKEN}").parse().expect("a header");
        headers.insert(http::header::AUTHORIZATION, token);
        let answer = client::request(Method::GET, &url, headers, bytes::Bytes::new(), DEADLINE);
        let (status, body) = answer.await.expect("an answer");
        assert_eq!(status, StatusCode::OK, "{path}");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// The version that stands and its text, as they are stored.
    pub(crate) async fn stands(&self) -> (Option<u64>, Option<String>) {
        let answer = self.get("admin/configuration").await;
        let text = answer["configuration"].as_str().map(str::to_owned);
        (answer["version"].as_u64(), text)
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What the functions of a deployment answer, all in one.
fn router(
    kept: &Arc<KeptConfiguration>,
    secrets: &Arc<GivenSecrets>,
    clock: &Arc<HandClock>,
    store: Arc<Store>,
    address: &Url,
) -> Router {
    let (clock, address) = (Arc::<HandClock>::clone(clock), address.clone());
    let configured = Arc::new(Deployed::new(
        Arc::clone(kept),
        Arc::clone(secrets),
        Arc::<HandClock>::clone(&clock),
        Every::default(),
    ));
    deployed::router(Arc::clone(&configured), move |current| {
        let transport = HttpTransport::new(&current.configuration, Vec::new());
        let tester = Performer::new(
            Arc::clone(&current.configuration),
            transport.expect("a transport"),
            Arc::<HandClock>::clone(&clock),
            Box::new(ChaCha20Rng::seed_from_u64(3)),
        );
        let status = Status::new(Setup {
            configuration: Arc::clone(&current.configuration),
            backend: Arc::clone(&store),
            clock: Arc::<HandClock>::clone(&clock),
            rng: Box::new(ChaCha20Rng::seed_from_u64(1)),
            admin_token: Secret::new(TOKEN).expect("a token"),
            address: address.clone(),
            tester: Box::new(tester),
        });
        let ingress = Ingress::new(
            Arc::clone(&current.configuration),
            Arc::clone(&store),
            Arc::<HandClock>::clone(&clock),
            Box::new(ChaCha20Rng::seed_from_u64(2)),
        );
        let max_body = current.configuration.max_body;
        status::router(Arc::new(status.with_deployed(Arc::clone(&configured)))).merge(
            ingress::router(Arc::new(ingress), max_body, IngressLimits::default()),
        )
    })
}
