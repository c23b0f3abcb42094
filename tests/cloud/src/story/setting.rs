//! The scene of the story: four sources with secrets of the stack's own, the sample receivers, and two destinations that do
//! as they are told.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use http::StatusCode;
use switchboard_tests::receivers::Receivers;
use switchboard_tests::run::Run;
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::SOURCES;
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::wait;

use crate::deployed::Deployed;
use crate::operator::Operator;

/// The sample receivers that are delivered to.
const SAMPLES: [&str; 4] = ["accounting", "warehouse", "chat", "crm"];

/// A source, a kind, and what is delivered: destination and action.
type Route = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const ROUTES: [Route; 7] = [
    (
        "shop",
        "orders/create",
        &[
            ("accounting", "make-invoice"),
            ("warehouse", "reserve-items"),
            ("chat", "post-line"),
        ],
    ),
    (
        "payments",
        "payment_intent.succeeded",
        &[("accounting", "mark-paid"), ("chat", "post-line")],
    ),
    ("code", "push", &[("chat", "post-line")]),
    (
        "forms",
        "form.submitted",
        &[("crm", "add-contact"), ("chat", "post-line")],
    ),
    ("shop", "usual", &[("usual", "deliver")]),
    ("shop", "brisk", &[("brisk", "deliver")]),
    ("shop", "held", &[("held", "deliver")]),
];

/// Who plays a part.
pub(super) struct Scene<'a> {
    pub(super) deployed: &'a Deployed,
    pub(super) operator: Operator,
    pub(super) receivers: Receivers,
    /// Where the destinations `usual`, `brisk` and `held` are, and your endpoint.
    pub(super) sink: Sink,
    /// Whether the destinations `usual` and `brisk` answer 200.
    pub(super) well: [Arc<AtomicBool>; 2],
    due: Mutex<Due>,
}

/// What the destination `usual` is proven to with.
pub(super) const AUTHORIZATION: &str = "Bearer of-the-story";

/// What the totals have to come to, by what was done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    pub(super) stored: u64,
    pub(super) delivered: u64,
}

impl<'a> Scene<'a> {
    /// Stores the secrets, starts the receivers and applies the configuration with the real command.
    pub(super) async fn set(deployed: &'a Deployed) -> Self {
        for (name, _, _, secret) in SOURCES {
            deployed.keep_secret(name, secret).await;
        }
        deployed.keep_secret("usual", AUTHORIZATION).await;
        let receivers = Receivers::start().await;
        let sink = Sink::start().await;
        let well = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let answers = well.clone();
        sink.answer(move |received, _| {
            let is_well = match received.path.as_str() {
                "/usual" => answers[0].load(Ordering::Relaxed),
                "/brisk" => answers[1].load(Ordering::Relaxed),
                _ => true,
            };
            if is_well {
                StatusCode::OK
            } else {
                StatusCode::SERVICE_UNAVAILABLE
            }
        });
        let operator = Operator::of(deployed.url().clone(), deployed.token().await);
        let scene = Self {
            deployed,
            operator,
            receivers,
            sink,
            well,
            due: Mutex::default(),
        };
        scene.apply().await;
        scene
    }

    async fn apply(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("switchboard.toml");
        std::fs::write(&file, self.configuration()).expect("a configuration");
        let url = self.deployed.url().as_str();
        let file = file.to_str().expect("a path");
        let applied = Run::of(folder.path(), &["apply", "--config", file, "--url", url])
            .set("SWITCHBOARD_ADMIN_TOKEN", self.operator.token())
            .ended()
            .await;
        assert_eq!(applied.code, 0, "{}{}", applied.out, applied.err);
        wait::until("the routes are in use", async || {
            let routes = self.operator.get("/api/routes").await;
            routes.to_string().contains("make-invoice").then_some(())
        })
        .await;
    }

    fn configuration(&self) -> String {
        let mut text = "allow_private_networks = true\n".to_owned();
        for (name, scheme, ..) in SOURCES {
            let _ = write!(
                text,
                "[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"secret:{name}\"]\n"
            );
        }
        let mut destination = |name: &str, url: &str, more: &str| {
            let _ = write!(
                text,
                "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\n{more}\n"
            );
        };
        for name in SAMPLES {
            destination(
                name,
                self.receivers.url.join(name).expect("an address").as_str(),
                "",
            );
        }
        let short = "pauses = [\"1s\", \"1s\", \"1s\", \"1s\", \"1s\"]";
        let proven = "headers = { authorization = \"secret:usual\" }";
        for (name, more) in [("usual", proven), ("brisk", short), ("held", "")] {
            destination(name, &self.sink.url(&format!("/{name}")), more);
        }
        for (source, kind, deliver) in ROUTES {
            let deliver: Vec<String> = deliver
                .iter()
                .map(|(to, action)| format!("{{ to = \"{to}\", action = \"{action}\" }}"))
                .collect();
            let _ = write!(
                text,
                "[[route]]\nsource = \"{source}\"\nkind = \"{kind}\"\ndeliver = [{}]\n",
                deliver.join(", ")
            );
        }
        text
    }

    /// The sender of one of the sources.
    pub(super) fn sender(&self, source: &str) -> Sender {
        let found = SOURCES.iter().find(|(name, ..)| *name == source);
        let (name, scheme, _, secret) = found.expect("a source");
        Sender::new(self.operator.at(&format!("/in/{name}")), scheme, secret)
    }

    /// Counts events that were stored, and how many deliveries of each come to be delivered in the end.
    pub(super) fn count(&self, events: u64, deliveries_each: u64) {
        let mut due = self.due.lock().expect("a lock");
        due.stored += events;
        due.delivered += events * deliveries_each;
    }

    /// Counts further deliveries, of events that are counted already.
    pub(super) fn count_deliveries(&self, deliveries: u64) {
        self.due.lock().expect("a lock").delivered += deliveries;
    }

    /// What the totals have to come to.
    pub(super) fn due(&self) -> Due {
        *self.due.lock().expect("a lock")
    }

    /// What came to a path of the sink so far.
    pub(super) fn came_to(&self, path: &str) -> Vec<Received> {
        let received = self.sink.received().into_iter();
        received.filter(|received| received.path == path).collect()
    }
}
