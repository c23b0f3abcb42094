//! A deployed Switchboard as one function reaches it: where its state lies, its secrets, and the configuration that counts.

use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_aws::client::{Clients, clients};
use switchboard_aws::configuration::Configurations;
use switchboard_aws::environment::Environment as Caller;
use switchboard_aws::secrets::StoredSecrets;
use switchboard_aws::{Aws, Pace, Place};
use switchboard_core::configuration::Needs;
use switchboard_core::deployed::{Deployed, Every};
use switchboard_core::time::Clock;

use crate::environment::Environment;

/// How often a process looks and writes. Holds are known after five seconds.
///
/// What is not accepted and not listed is written five times a second at most, as often as a flood is listed, so that
/// whoever posts rubbish makes neither a busy partition nor a bill: all processes that the gateway's limit of 2,000 requests
/// a second leaves room for stay far below the 1,000 writes a second that a partition takes. Behind its answer a process
/// stands still, so what waits is written with the next request. One that never comes again has lost what it answered
/// within a fifth of a second behind its last write, some tens of a flood's requests. Of few nothing is lost: they are all
/// listed, and written before their answers.
const PACE: Pace = Pace {
    settings_for: Duration::from_secs(5),
    repeats_per_second: Some(5),
    shared_for: Duration::from_secs(1),
    oldest_for: Duration::from_secs(10),
    counts_every: Duration::from_millis(200),
};

/// What every function is told by its environment.
#[derive(Clone, Debug)]
pub struct Settings {
    place: Place,
    secrets: String,
    caller: Caller,
    stream: Option<String>,
}

impl Settings {
    /// Reads them; what is missing or wrong is among the environment's faults then.
    pub fn read(environment: &Environment) -> Option<Self> {
        let table = environment.parsed("SWITCHBOARD_TABLE", "the name of a table", |value| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
            let is_name = (3..=255).contains(&value.len()) && value.bytes().all(fits);
            is_name.then(|| value.to_owned())
        });
        let deliveries = environment.queue("SWITCHBOARD_DELIVERIES");
        let returned = environment.queue("SWITCHBOARD_RETURNED");
        let dead_letters = environment.queue("SWITCHBOARD_DEAD_LETTERS");
        let secrets = environment.parsed("SWITCHBOARD_SECRETS", "a prefix of names", |value| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+=.@-".contains(&byte);
            let is_prefix = !value.ends_with('/') && value.bytes().all(fits);
            is_prefix.then(|| value.to_owned())
        });
        let caller = Caller::of(|name| environment.given(name).map(str::to_owned));
        let caller = caller.map_err(|unusable| {
            // It tells all of its faults in one line.
            for line in unusable.to_string().split("; ") {
                environment.fault(line.to_owned());
            }
        });
        Some(Self {
            place: Place {
                table: table?,
                deliveries: deliveries?,
                returned: returned?,
                dead_letters: dead_letters?,
            },
            secrets: secrets?,
            caller: caller.ok()?,
            stream: None,
        })
    }

    /// The same for a function that folds.
    pub fn read_with_stream(environment: &Environment) -> Option<Self> {
        let settings = Self::read(environment);
        let stream = environment.parsed("SWITCHBOARD_STREAM", "the ARN of a stream", |value| {
            (value.starts_with("arn:") && value.contains("/stream/")).then(|| value.to_owned())
        });
        Some(Self {
            stream: Some(stream?),
            ..settings?
        })
    }
}

/// What a function works with.
pub struct Board {
    /// The table and its queues.
    pub aws: Aws,
    /// The configuration that counts.
    pub deployed: Arc<Deployed>,
    /// The deployment's secrets.
    pub secrets: Arc<StoredSecrets>,
}

impl Board {
    /// Everything that `settings` tell of, with the secrets that the function needs. Nothing is connected or asked for yet.
    pub fn new(
        settings: Settings,
        needs: Needs,
        clock: &Arc<dyn Clock>,
        rng: &mut ChaCha20Rng,
    ) -> Self {
        let clients: Clients = clients(&settings.caller);
        let table = settings.place.table.clone();
        let configurations = Configurations::new(clients.dynamodb.clone(), table);
        let secrets = Arc::new(StoredSecrets::new(
            clients.secrets.clone(),
            settings.secrets,
        ));
        let deployed = Deployed::new(
            Arc::new(configurations),
            Arc::clone(&secrets),
            Arc::clone(clock),
            Every::default(),
        )
        .needing(needs);
        let rng = Box::new(ChaCha20Rng::from_rng(rng));
        let aws = Aws::new(&clients, settings.place, PACE, Arc::clone(clock), rng);
        Self {
            aws: match settings.stream {
                Some(stream) => aws.with_stream(&clients, stream),
                None => aws,
            },
            deployed: Arc::new(deployed),
            secrets,
        }
    }
}
