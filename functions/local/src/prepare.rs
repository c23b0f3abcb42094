//! What `serve` is made of: everything that can be wrong is found here, the configuration before anything is bound.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rand::rngs::ChaCha20Rng;
use switchboard_core::configuration::{Configuration, Origin};
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::secret::Secret;
use switchboard_embedded::Store;
use switchboard_web::transport::HttpTransport;
use tokio::net::TcpListener;

use crate::command::{ReceiversAddress, Serve};
use crate::configure::{self, Environment};
use crate::end::Failed;
use crate::receivers::{self, Books};
use crate::token;

/// Where the sample receivers listen beside the built-in sample.
const RECEIVERS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3001);

/// All that runs, once nothing can be wrong any more.
pub(crate) struct Parts {
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) store: Arc<Store>,
    pub(crate) transport: HttpTransport,
    /// Connections of its own, when alerts are wanted: deliveries never wait for them.
    pub(crate) alert_transport: Option<HttpTransport>,
    pub(crate) token: Secret,
    pub(crate) door: TcpListener,
    pub(crate) receivers: Option<(TcpListener, Books)>,
}

/// Finds everything that can be wrong, the configuration before anything is bound.
pub(crate) async fn prepare(
    serve: &Serve,
    environment: &Environment,
    rng: &mut ChaCha20Rng,
) -> Result<Parts, Failed> {
    let origin = configure::origin(&serve.configuration);
    if origin == Origin::BuiltIn && !serve.listen.ip().is_loopback() {
        return Err(Failed::configuration(format_args!(
            "the built-in sample's secrets are public, so it listens on loopback only, not on {}; \
             write a configuration of your own with `switchboard init` and give it with --config",
            serve.listen
        )));
    }
    let wanted = match (serve.receivers, origin) {
        (Some(ReceiversAddress::At(address)), _) => Some(address),
        (None, Origin::BuiltIn) => Some(RECEIVERS),
        (Some(ReceiversAddress::Off), _) | (None, Origin::File | Origin::Deployed) => None,
    };
    // Port 0 is any free one, known once it is bound; until then the sample is checked with its usual address.
    let checked = configure::read(
        &serve.configuration,
        environment,
        wanted.filter(|address| address.port() != 0),
    )?;
    for warning in &checked.warnings {
        tracing::warn!("the configuration: {warning}");
    }
    let checked = checked.configuration;
    HttpTransport::new(&checked, Vec::new()).map_err(Failed::configuration)?;
    let given = token::given(environment.text("SWITCHBOARD_ADMIN_TOKEN"))?;
    let store = Store::open(&serve.data.folder).map_err(Failed::new)?;
    let token = given.map_or_else(|| token::of_folder(store.folder(), rng), Ok)?;
    let door = bind(serve.listen, "--listen").await?;
    let receivers = match wanted {
        Some(address) => {
            let books = receivers::open(store.folder())?;
            Some((bind(address, "--receivers").await?, books))
        }
        None => None,
    };
    // The sample's destinations are wherever the receivers really are.
    let configuration = match (origin, &receivers) {
        (Origin::BuiltIn, Some((listener, _))) => configure::load(
            &serve.configuration,
            environment,
            Some(listener.local_addr().map_err(Failed::new)?),
        )?,
        (Origin::BuiltIn | Origin::File | Origin::Deployed, _) => checked,
    };
    fail::reach(FailPoint::BeforeServing);
    let transport =
        HttpTransport::new(&configuration, Vec::new()).map_err(Failed::configuration)?;
    let alert_transport = match &configuration.alert_url {
        Some(_) => {
            Some(HttpTransport::new(&configuration, Vec::new()).map_err(Failed::configuration)?)
        }
        None => None,
    };
    Ok(Parts {
        configuration: Arc::new(configuration),
        store: Arc::new(store),
        transport,
        alert_transport,
        token,
        door,
        receivers,
    })
}

async fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener, Failed> {
    TcpListener::bind(address).await.map_err(|error| {
        Failed::new(format_args!(
            "cannot listen on {address}: {error}; give another address with {flag}"
        ))
    })
}
