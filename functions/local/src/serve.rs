//! `serve`: everything in one process. What can be wrong is found before anything is bound; what is under way when
//! the end is asked for is finished.

use std::net::SocketAddr;
use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::{Configuration, Origin};
use switchboard_core::ingress::Ingress;
use switchboard_core::secret::Secret;
use switchboard_core::time::Clock;
use switchboard_embedded::{Lanes, Store};
use switchboard_web::ingress::IngressLimits;
use switchboard_web::status::{Setup, Status};
use switchboard_web::transport::HttpTransport;
use switchboard_web::{ingress, server, status};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::announce::{Running, announce, quoted};
use crate::clock::SystemClock;
use crate::command::{ReceiversAddress, Serve};
use crate::configure::{self, Environment};
use crate::end::{Failed, say};
use crate::receivers::Books;
use crate::{endpoint, expiry, receivers, signals, token};

/// Where the sample receivers listen beside the built-in sample.
const RECEIVERS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 3001);

/// All that runs, once nothing can be wrong any more.
struct Parts {
    configuration: Arc<Configuration>,
    store: Arc<Store>,
    transport: HttpTransport,
    token: Secret,
    door: TcpListener,
    receivers: Option<(TcpListener, Books)>,
}

/// Serves until a signal asks for the end.
pub(crate) async fn serve(
    serve: Serve,
    environment: &Environment,
    program: &str,
    rng: &mut ChaCha20Rng,
) -> Result<(), Failed> {
    let mut end = signals::End::new().map_err(Failed::new)?;
    let parts = prepare(&serve, environment, rng).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let listen = parts.door.local_addr().map_err(Failed::new)?;
    let receivers_at = match &parts.receivers {
        Some((listener, _)) => Some(listener.local_addr().map_err(Failed::new)?),
        None => None,
    };
    if let (Origin::BuiltIn, Some(receivers)) =
        (configure::origin(&serve.configuration), receivers_at)
    {
        endpoint::stand_in(&*parts.store, receivers, rng).await?;
    }
    let address = format!("http://{listen}").parse().map_err(Failed::new)?;
    let status = Arc::new(Status::new(Setup {
        configuration: Arc::clone(&parts.configuration),
        backend: Arc::clone(&parts.store),
        clock: Arc::clone(&clock),
        rng: Box::new(ChaCha20Rng::from_rng(rng)),
        admin_token: parts.token.clone(),
        address,
    }));
    announce(&Running {
        program,
        configuration: &parts.configuration,
        flags: &flags(&serve),
        listen,
        receivers: receivers_at,
        sign_in: &status.one_time_link(),
        folder: &serve.data.folder,
    });
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(run(
        parts,
        status,
        clock,
        ChaCha20Rng::from_rng(rng),
        stopped,
    ));
    end.asked().await;
    say("stopping: what is under way is finished first (ask again to stop at once)");
    stop.send_replace(true);
    tokio::select! {
        ended = running => ended.map_err(Failed::new)?,
        () = end.asked() => return Err(Failed::new("stopped at once; what was under way is due again at the next start")),
    }
    say("stopped");
    Ok(())
}

/// Finds everything that can be wrong, the configuration before anything is bound.
async fn prepare(
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
        (Some(ReceiversAddress::Off), _) | (None, Origin::File) => None,
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
    let given = token::given(serve.admin_token.as_deref())?;
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
        (Origin::BuiltIn | Origin::File, _) => checked,
    };
    let transport =
        HttpTransport::new(&configuration, Vec::new()).map_err(Failed::configuration)?;
    Ok(Parts {
        configuration: Arc::new(configuration),
        store: Arc::new(store),
        transport,
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

/// The flags by which a client finds the same configuration.
fn flags(serve: &Serve) -> String {
    serve
        .configuration
        .file
        .as_ref()
        .map_or_else(String::new, |file| {
            format!(" --config {}", quoted(&file.display().to_string()))
        })
}

/// Runs everything until `stopped`; the receivers end last, since deliveries under way may be to them.
async fn run(
    parts: Parts,
    status: Arc<Status<Store>>,
    clock: Arc<dyn Clock>,
    mut rng: ChaCha20Rng,
    stopped: watch::Receiver<bool>,
) {
    let Parts {
        configuration,
        store,
        transport,
        door,
        receivers,
        ..
    } = parts;
    let ingress = Ingress::new(
        Arc::clone(&configuration),
        Arc::clone(&store),
        Arc::clone(&clock),
        Box::new(ChaCha20Rng::from_rng(&mut rng)),
    );
    let router = ingress::router(
        Arc::new(ingress),
        configuration.max_body,
        IngressLimits::default(),
    )
    .merge(status::router(status));
    let performer = Performer::new(
        Arc::clone(&configuration),
        transport,
        Arc::clone(&clock),
        Box::new(rng),
    );
    let lanes = Lanes::new(
        Arc::clone(&store),
        performer,
        configuration,
        Arc::clone(&clock),
    );
    let (last, receivers_stopped) = watch::channel(false);
    let receiving = receivers.map(|(listener, books)| {
        let secrets = endpoint::Signing::of(Arc::clone(&store), Arc::clone(&clock));
        tokio::spawn(receivers::serve(
            listener,
            books,
            secrets,
            Arc::clone(&clock),
            until(receivers_stopped),
        ))
    });
    let mut running = JoinSet::new();
    running.spawn(server::serve(door, router, until(stopped.clone())));
    running.spawn(lanes.run(stopped.clone()));
    running.spawn(expiry::run(store, clock, stopped));
    while running.join_next().await.is_some() {}
    last.send_replace(true);
    if let Some(receiving) = receiving {
        drop(receiving.await);
    }
}

async fn until(mut stopped: watch::Receiver<bool>) {
    while !*stopped.borrow() {
        if stopped.changed().await.is_err() {
            return;
        }
    }
}
