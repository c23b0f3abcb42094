//! `serve`: everything in one process. What is under way when the end is asked for is finished.

use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::alert::Teller;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::{Configuration, Origin};
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::ingress::Ingress;
use switchboard_core::ports::Views;
use switchboard_core::time::Clock;
use switchboard_embedded::{Lanes, Store};
use switchboard_web::ingress::IngressLimits;
use switchboard_web::status::{Setup, Status, Tester};
use switchboard_web::transport::HttpTransport;
use switchboard_web::{ingress, server, status};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::announce::{Running, announce, reached};
use crate::clock::SystemClock;
use crate::command::Serve;
use crate::configure::{self, Environment};
use crate::end::Failed;
use crate::prepare::{Parts, prepare};
use crate::{alerts, endpoint, expiry, receivers, signals};

/// Serves until a signal asks for the end, or a part of it ends by itself.
pub(crate) async fn serve(
    serve: Serve,
    environment: &Environment,
    program: &str,
    rng: &mut ChaCha20Rng,
) -> Result<(), Failed> {
    let mut end = signals::End::new().map_err(Failed::new)?;
    let parts = prepare(&serve, environment, rng)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let listen = parts.door.local_addr().map_err(Failed::new)?;
    let receivers_at = match &parts.receivers {
        Some((listener, _)) => Some(listener.local_addr().map_err(Failed::new)?),
        None => None,
    };
    match (configure::origin(&serve.configuration), receivers_at) {
        (Origin::BuiltIn, Some(receivers)) => {
            endpoint::stand_in(&*parts.store, receivers, rng).await?;
        }
        (Origin::BuiltIn, None) | (Origin::File | Origin::Deployed, _) => {
            endpoint::no_stand_in(&*parts.store).await?;
        }
    }
    let status = Arc::new(Status::new(Setup {
        configuration: Arc::clone(&parts.configuration),
        backend: Arc::clone(&parts.store),
        clock: Arc::clone(&clock),
        rng: Box::new(ChaCha20Rng::from_rng(rng)),
        admin_token: parts.token.clone(),
        address: reached(listen).parse().map_err(Failed::new)?,
        tester: tester(&parts.configuration, &clock, rng)?,
    }));
    announce(&Running {
        program,
        configuration: &parts.configuration,
        flags: &configure::flag(&serve.configuration),
        listen,
        receivers: receivers_at,
        sign_in: &status.one_time_link(),
        folder: &serve.data.folder,
    });
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        %listen,
        data = %serve.data.folder.display(),
        sources = parts.configuration.sources.len(),
        destinations = parts.configuration.destinations.len(),
        routes = parts.configuration.routes.len(),
        "started"
    );
    let stop = watch::Sender::new(false);
    let own_rng = ChaCha20Rng::from_rng(rng);
    let mut running = tokio::spawn(run(parts, status, clock, own_rng, stop.clone()));
    tokio::select! {
        // Half of a Switchboard that goes on would take events and deliver none; whoever runs it starts it again.
        ended = &mut running => return ended.map_err(Failed::new)?,
        () = end.asked() => {}
    }
    tracing::info!("stopping: what is under way is finished first (ask again to stop at once)");
    stop.send_replace(true);
    tokio::select! {
        ended = running => ended.map_err(Failed::new)??,
        () = end.asked() => return Err(Failed::new("stopped at once; what was under way is due again at the next start")),
    }
    tracing::info!("stopped");
    Ok(())
}

/// What makes test deliveries, over connections of its own: it never waits for other deliveries.
fn tester(
    configuration: &Arc<Configuration>,
    clock: &Arc<dyn Clock>,
    rng: &mut ChaCha20Rng,
) -> Result<Box<dyn Tester>, Failed> {
    let transport = HttpTransport::new(configuration, Vec::new()).map_err(Failed::configuration)?;
    Ok(Box::new(Performer::new(
        Arc::clone(configuration),
        transport,
        Arc::clone(clock),
        Box::new(ChaCha20Rng::from_rng(rng)),
    )))
}

/// Runs everything until `stop` says so; the receivers end last, since deliveries under way may be to them.
async fn run(
    parts: Parts,
    status: Arc<Status<Store>>,
    clock: Arc<dyn Clock>,
    mut rng: ChaCha20Rng,
    stop: watch::Sender<bool>,
) -> Result<(), Failed> {
    let stopped = stop.subscribe();
    let Parts {
        configuration,
        store,
        transport,
        alert_transport,
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
    let teller = alert_transport.zip(configuration.alert_url.clone());
    let teller = teller.map(|(transport, address)| {
        Teller::new(
            Arc::clone(&store),
            transport,
            Arc::clone(&clock),
            address,
            configuration.alert_after,
        )
    });
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
    if let Some(teller) = teller {
        running.spawn(alerts::run(teller, stopped.clone()));
    }
    running.spawn(writing(Arc::clone(&store), stopped.clone()));
    running.spawn(expiry::run(Arc::clone(&store), clock, stopped));
    let ended = together(running, &stop).await;
    fail::reach(FailPoint::BeforeLastWrite);
    // Requests that were turned away until the very end may be counted in memory only: a last write takes them along.
    if let Err(error) = store.ready().await {
        tracing::error!(error = %error.line(), "the last counts cannot be written");
    }
    drop(store);
    last.send_replace(true);
    if let Some(receiving) = receiving {
        drop(receiving.await);
    }
    ended
}

/// The store's writer, as one of the parts: it ends with the others, or by itself when our own code breaks off in it.
async fn writing(store: Arc<Store>, stopped: watch::Receiver<bool>) {
    tokio::select! {
        () = store.ended() => tracing::error!("the store's writer broke off"),
        () = until(stopped) => {}
    }
}

/// Waits for all parts to end. One that ends before `stop` says so, or breaks off, stops the others and is a failure.
async fn together(mut parts: JoinSet<()>, stop: &watch::Sender<bool>) -> Result<(), Failed> {
    let mut ended = Ok(());
    while let Some(part) = parts.join_next().await {
        if !*stop.borrow() || part.is_err() {
            tracing::error!(
                broke_off = part.is_err(),
                "a part of it ended by itself; stopping the others"
            );
            ended = Err(Failed::new(
                "a part of it ended by itself; the log says more",
            ));
            stop.send_replace(true);
        }
    }
    ended
}

async fn until(mut stopped: watch::Receiver<bool>) {
    while !*stopped.borrow() {
        if stopped.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of which one waits for the stop, and `other`.
    fn parts(
        stop: &watch::Sender<bool>,
        other: impl Future<Output = ()> + Send + 'static,
    ) -> JoinSet<()> {
        let mut parts = JoinSet::new();
        parts.spawn(until(stop.subscribe()));
        parts.spawn(other);
        parts
    }

    async fn soon<T>(what: impl Future<Output = T> + Send) -> T {
        let waited = tokio::time::timeout(std::time::Duration::from_secs(10), what).await;
        waited.expect("it ends")
    }

    #[tokio::test]
    async fn a_part_that_breaks_off_or_ends_early_ends_the_others_and_is_a_failure() {
        let stop = watch::Sender::new(false);
        let broken = parts(&stop, async { panic!("as the test wants") });
        assert!(soon(together(broken, &stop)).await.is_err());
        assert!(*stop.borrow(), "the others were told");
        let stop = watch::Sender::new(false);
        let early = parts(&stop, std::future::ready(()));
        assert!(soon(together(early, &stop)).await.is_err());
    }

    #[tokio::test]
    async fn parts_that_end_when_they_are_told_are_no_failure() {
        let stop = watch::Sender::new(false);
        let good = parts(&stop, until(stop.subscribe()));
        stop.send_replace(true);
        assert!(soon(together(good, &stop)).await.is_ok());
    }
}
