//! The stack of the template, deployed on an emulator of its own and reachable at one address. Everything ends when it is
//! dropped: the emulator with all its functions, and what they left.

mod package;
mod places;
mod routes;
mod stack;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use http::HeaderValue;
use serde_json::{Value, json};
use switchboard_testkit::emulator::{Emulator, Rights};
use switchboard_tests::front::Front;
use url::Url;

use crate::aws::{Aws, Service};
use crate::rights::{self, Right};
use crate::template;
use crate::told::Told;

pub use places::Places;

/// The functions: their names in the template, and the binaries that they are.
pub const FUNCTIONS: [(&str, &str); 4] = [
    ("Ingress", "ingress"),
    ("Worker", "worker"),
    ("Status", "status"),
    ("Keeper", "keeper"),
];

/// Whether it is heard what the functions ask of AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ears {
    /// They ask the emulator directly.
    Closed,
    /// Each right that a function takes is noted.
    Open,
}

/// What is deployed, and how.
#[derive(Debug)]
pub struct Setting {
    /// Whether the functions may do what their roles allow only.
    pub rights: Rights,
    /// Whether it is heard what they ask for.
    pub ears: Ears,
    /// Where the front door opens; port 0 is any.
    pub listen: SocketAddr,
    /// The template, where a test wants something in it to be different.
    pub template: Value,
    /// Where the programs are.
    pub places: Places,
}

impl Setting {
    /// The template as it stands, behind any free port.
    pub fn with(rights: Rights) -> Self {
        Self {
            rights,
            ears: Ears::Closed,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            template: template::template(),
            places: Places::own(),
        }
    }
}

/// A function's way to the emulator, on which it is heard.
#[derive(Debug)]
struct Heard {
    way: Front,
    taken: Arc<Mutex<BTreeSet<Right>>>,
}

impl Heard {
    async fn on_the_way_to(emulator: SocketAddr) -> Self {
        let taken = Arc::<Mutex<BTreeSet<Right>>>::default();
        let noted = Arc::clone(&taken);
        let way = Front::heard(emulator, move |behind, request| {
            let rights = rights::taken(request.headers(), request.body());
            noted.lock().expect("a lock").extend(rights);
            async move { behind.answer(request).await }
        });
        Self {
            way: way.await,
            taken,
        }
    }
}

/// A front door for an API: an address that anybody can ask. The emulator knows an API by its host name only, which browsers
/// and senders would have to be told.
async fn front(listen: SocketAddr, emulator: SocketAddr, api: &str) -> Front {
    let host = format!("{api}.execute-api.localhost:{}", emulator.port());
    let host = HeaderValue::from_str(&host).expect("a host");
    Front::open(listen, emulator, host).await
}

/// A deployed stack.
#[derive(Debug)]
pub struct Deployed {
    front: Front,
    /// The APIs of AWS.
    pub aws: Aws,
    /// The stack's name.
    pub name: String,
    /// The names that were given to the resources, by their names in the template.
    resources: BTreeMap<String, String>,
    heard: BTreeMap<&'static str, Heard>,
    /// Last, so that it ends last.
    emulator: Emulator,
}

impl Drop for Deployed {
    #[expect(clippy::print_stderr, reason = "whoever runs it is told where to look")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.emulator.log().display();
            eprintln!("     the emulator and the functions wrote {log}");
        }
    }
}

impl Deployed {
    /// Deploys it; each step is told. It fails by panicking, with what was expected.
    pub async fn start(setting: Setting, told: &mut Told) -> Self {
        let Setting {
            rights,
            ears,
            listen,
            mut template,
            places,
        } = setting;
        let emulator = told
            .step("the emulator starts", async {
                Emulator::start(places.build_folder(), rights).unwrap_or_else(|why| panic!("{why}"))
            })
            .await;
        let aws = Aws::at(&emulator.url());
        let name = "switchboard".to_owned();
        let mut heard = BTreeMap::new();
        if ears == Ears::Open {
            for (function, _) in FUNCTIONS {
                heard.insert(function, Heard::on_the_way_to(emulator.address()).await);
            }
        }
        let way = |function: &str| heard.get(function).map(|heard| heard.way.url.clone());
        told.step("the functions are packed and uploaded", async {
            package::upload(&aws, &places, &mut template, way).await;
        })
        .await;
        let resources = told
            .step("the stack is created", async {
                stack::in_the_emulators_terms(&mut template);
                stack::create(&aws, &name, &template).await;
                stack::resources(&aws, &name).await
            })
            .await;
        let deployed_table = &resources["Table"];
        told.step(
            "what the emulator left out is added: expiry, routes",
            async {
                let expiry =
                    template["Resources"]["Table"]["Properties"]["TimeToLiveSpecification"].clone();
                let input =
                    json!({ "TableName": deployed_table, "TimeToLiveSpecification": expiry });
                aws.json(Service::DynamoDb, "UpdateTimeToLive", &input)
                    .await;
                routes::add(&aws, &name, &resources).await;
            },
        )
        .await;
        let front = front(listen, emulator.address(), &resources["Api"]).await;
        Self {
            front,
            aws,
            name,
            resources,
            heard,
            emulator,
        }
    }

    /// Where senders and operators reach it.
    pub const fn url(&self) -> &Url {
        &self.front.url
    }

    /// The name that was given to a resource of the template.
    pub fn resource(&self, name: &str) -> &str {
        let found = self.resources.get(name);
        found.unwrap_or_else(|| panic!("the stack has no {name}"))
    }

    /// What a function has done so far that takes a right.
    pub fn taken(&self, function: &str) -> BTreeSet<Right> {
        let heard = self.heard.get(function).expect("a function that is heard");
        heard.taken.lock().expect("a lock").clone()
    }

    /// Where the emulator and the functions write what they have to say.
    pub fn log_file(&self) -> &std::path::Path {
        self.emulator.log()
    }

    /// Where the services are, as an endpoint URL.
    pub fn emulator(&self) -> String {
        self.emulator.url()
    }

    /// Stores a secret of the stack's.
    pub async fn keep_secret(&self, name: &str, value: &str) {
        let input = json!({ "Name": format!("{}/{name}", self.name), "SecretString": value });
        self.aws
            .json(Service::SecretsManager, "CreateSecret", &input)
            .await;
    }

    /// The admin token that the template made.
    pub async fn token(&self) -> String {
        let input = json!({ "SecretId": format!("{}/admin-token", self.name) });
        let found = self
            .aws
            .json(Service::SecretsManager, "GetSecretValue", &input)
            .await;
        found["SecretString"].as_str().expect("a token").to_owned()
    }
}
