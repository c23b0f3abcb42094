//! Every vector that all right checks agree on, posted over a socket through the real router and store, with a clock
//! that stands at the vector's moment: 401 exactly when it is to be refused.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::address::Networks;
use switchboard_core::configuration::{Configuration, KEEP_DAYS, Limits, MAX_BODY, Source};
use switchboard_core::identity::EventId;
use switchboard_core::ingress::Ingress;
use switchboard_core::names::{SenderId, SourceName};
use switchboard_core::ports::Views;
use switchboard_core::time::Clock;
use switchboard_embedded::Store;
use switchboard_testkit::clock::HandClock;
use switchboard_testkit::vectors::{self, Expect, Grade, Vector};
use switchboard_web::ingress::{self, IngressLimits};
use switchboard_web::server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use switchboard_tests::wait::DEADLINE;

fn configured(source: Source) -> Configuration {
    Configuration {
        keep_days: KEEP_DAYS,
        max_body: MAX_BODY,
        public_url: None,
        hosts: Vec::new(),
        networks: Networks::Public,
        sources: vec![source],
        destinations: Vec::new(),
        routes: Vec::new(),
        alert_url: None,
        alert_after: Duration::from_mins(10),
        endpoint_limits: Limits::default(),
    }
}

/// Posts the vector as its sender did, byte for byte, and gives the status and the body of the answer.
async fn post(
    vector: &Vector,
    name: &SourceName,
    source: Source,
    store: &Arc<Store>,
) -> (u16, String) {
    let clock: Arc<dyn Clock> = Arc::new(HandClock::at(vector.now()));
    let rng = Box::new(ChaCha8Rng::seed_from_u64(1));
    let ingress = Ingress::new(Arc::new(configured(source)), Arc::clone(store), clock, rng);
    let router = ingress::router(Arc::new(ingress), MAX_BODY, IngressLimits::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = tokio::spawn(server::serve(listener, router, std::future::pending()));
    let body = Bytes::from(vector.body());
    let mut request =
        format!("POST /in/{name} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n").into_bytes();
    for (name, value) in &vector.headers().expect("headers that can be sent") {
        request.extend_from_slice(name.as_str().as_bytes());
        request.extend_from_slice(b": ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(&body);
    let mut answer = Vec::new();
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(&request).await?;
        stream.read_to_end(&mut answer).await
    };
    timeout(DEADLINE, exchange)
        .await
        .expect("in time")
        .expect("an answer");
    serving.abort();
    let answer = String::from_utf8(answer).expect("text");
    let status = answer
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("{answer:?}"));
    (status, answer)
}

#[tokio::test]
async fn every_vector_is_answered_401_exactly_when_it_is_to_be_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(folder.path()).expect("a store"));
    let (mut accepted, mut refused) = (0, 0);
    for (vector, scheme) in vectors::supported(Grade::Must).expect("vectors") {
        // A gateway's own form of a request is another door's matter; a secret that makes no key never gets this far.
        if vector.gateway_body().is_some() {
            continue;
        }
        let name = SourceName::parse(&vector.id).expect("a name");
        let Ok(source) = vector.source(name.clone(), scheme) else {
            continue;
        };
        let (status, answer) = post(&vector, &name, source, &store).await;
        match vector.expect {
            Expect::Refuse => {
                refused += 1;
                assert_eq!(
                    status, 401,
                    "{}: {} ({})\n{answer}",
                    vector.id, vector.name, vector.reason
                );
            }
            Expect::Accept => {
                accepted += 1;
                assert_ne!(
                    status, 401,
                    "{}: {} ({})\n{answer}",
                    vector.id, vector.name, vector.reason
                );
                let Some(id) = &vector.event_id else { continue };
                assert_eq!(status, 200, "{}: {}\n{answer}", vector.id, vector.name);
                let hook = vector.headers().and_then(|headers| {
                    Some(headers.get("x-github-hook-id")?.to_str().ok()?.to_owned())
                });
                let sender_id = SenderId::new(id).expect("an id");
                let sender_id = match hook.filter(|_| scheme.name == "github") {
                    Some(hook) => sender_id.within(&hook),
                    None => sender_id,
                };
                let event = store
                    .event(&EventId::of(&name, &sender_id))
                    .await
                    .expect("read")
                    .expect("it is stored");
                assert_eq!(event.row.sender_id, *id, "{}", vector.id);
                assert_eq!(
                    event.row.kind.as_str(),
                    vector.event_type.as_deref().unwrap_or_default(),
                    "{}",
                    vector.id
                );
            }
        }
    }
    let totals = store.overview().await.expect("totals").totals;
    assert_eq!((accepted, refused), (41, 80), "a vector was passed over");
    assert_eq!((totals.stored, totals.refused), (accepted, refused));
}
