//! Delivers over HTTP: one POST, to a judged address, within a time limit. Redirects are answers like any other, and
//! no proxy or environment variable is ever asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::Full;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use switchboard_core::configuration::{Configuration, MAX_IN_FLIGHT};
use switchboard_core::delivery::{Outcome, Unanswered};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Outgoing, Transport};

use self::connect::{Connector, Guard};
pub use self::resolve::{Resolver, SystemResolver};
pub use self::tls::CertificateFault;

mod connect;
mod piece;
mod resolve;
pub(crate) mod tls;
mod unanswered;

/// What Switchboard calls itself when the sender's own user agent did not come along.
const OWN_USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("Switchboard/", env!("CARGO_PKG_VERSION")));

/// The least that the parser can be given for a head, in bytes.
const SHORTEST_HEAD: usize = 8192;

type HttpClient = Client<HttpsConnector<Connector>, Full<Bytes>>;

/// What is read, kept and waited for, whatever destinations do.
#[derive(Clone, Copy, Debug)]
pub struct TransportLimits {
    /// How much of an answer's body is read, in bytes.
    pub piece_bytes: usize,
    /// How long that is waited for, after status line and headers.
    pub piece_time: Duration,
    /// Longest status line and headers, in bytes, give or take what one read brings; from 8 KiB. No more than 100
    /// header lines either.
    pub head_bytes: usize,
    /// How long the next address of a name waits for the one before it.
    pub next_address: Duration,
    /// How long a connection may take to stand, also one that no attempt waits for any more.
    pub connect_time: Duration,
    /// How long an HTTP/2 connection may be silent while an attempt waits before it is asked for a sign of life.
    pub silence: Duration,
    /// How long that sign may take; after it the connection is given up.
    pub sign_of_life: Duration,
    /// Idle connections kept to one host.
    pub idle_per_host: usize,
    /// How long an idle connection is kept.
    pub idle_time: Duration,
}

impl Default for TransportLimits {
    fn default() -> Self {
        Self {
            piece_bytes: 2048,
            piece_time: Duration::from_millis(500),
            head_bytes: 64 * 1024,
            next_address: Duration::from_millis(250),
            connect_time: Duration::from_mins(1),
            silence: Duration::from_secs(1),
            sign_of_life: Duration::from_secs(2),
            idle_per_host: MAX_IN_FLIGHT,
            idle_time: Duration::from_secs(30),
        }
    }
}

/// Why there can be no transport for a configuration.
#[derive(Debug, thiserror::Error)]
pub enum TransportFault {
    /// A destination's `ca_file` is of no use.
    #[error("destination {:?}: ca_file: {fault}", destination.as_str())]
    Certificates {
        /// Whose.
        destination: DestinationName,
        /// What is wrong with it.
        fault: CertificateFault,
    },
    /// TLS cannot be set up at all.
    #[error("TLS cannot be set up")]
    Tls(#[source] CertificateFault),
}

/// The transport over HTTP/1.1 and HTTP/2. Made once; its connections are shared by all attempts.
pub struct HttpTransport {
    usual: HttpClient,
    /// Those of destinations with certificates of their own.
    own: HashMap<DestinationName, HttpClient>,
    limits: TransportLimits,
}

impl HttpTransport {
    /// A transport for the destinations of a configuration. `platform` lists addresses that are never connected to.
    pub fn new(
        configuration: &Configuration,
        platform: Vec<SocketAddr>,
    ) -> Result<Self, TransportFault> {
        let resolver = Arc::new(SystemResolver::default());
        Self::with(
            configuration,
            platform,
            resolver,
            TransportLimits::default(),
        )
    }

    /// [`Self::new`], with a resolver and limits of the caller's.
    pub fn with(
        configuration: &Configuration,
        platform: Vec<SocketAddr>,
        resolver: Arc<dyn Resolver>,
        limits: TransportLimits,
    ) -> Result<Self, TransportFault> {
        let connector = Connector::new(Guard {
            resolver,
            networks: configuration.networks,
            platform,
            next_address: limits.next_address,
            connect_time: limits.connect_time,
        });
        let usual = tls::config(None).map_err(TransportFault::Tls)?;
        let mut own = HashMap::new();
        for destination in &configuration.destinations {
            let Some(pem) = &destination.ca_pem else {
                continue;
            };
            let config = tls::config(Some(pem)).map_err(|fault| TransportFault::Certificates {
                destination: destination.name.clone(),
                fault,
            })?;
            let client = client(connector.clone(), config, &limits);
            own.insert(destination.name.clone(), client);
        }
        Ok(Self {
            usual: client(connector, usual, &limits),
            own,
            limits,
        })
    }
}

fn client(
    connector: Connector,
    config: rustls::ClientConfig,
    limits: &TransportLimits,
) -> HttpClient {
    let https = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(connector);
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_max_idle_per_host(limits.idle_per_host)
        .pool_idle_timeout(limits.idle_time)
        // Only where not one byte went out, on a connection that was closed while it idled: the same key anyway.
        .retry_canceled_requests(true)
        .http1_max_buf_size(limits.head_bytes.max(SHORTEST_HEAD))
        .http2_max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        // Small windows: what a destination sends beyond the piece that is read stays with it.
        .http2_initial_stream_window_size(64 * 1024)
        .http2_initial_connection_window_size(256 * 1024)
        // A connection that went dead without a word must not take the next attempt down too.
        .http2_keep_alive_interval(limits.silence)
        .http2_keep_alive_timeout(limits.sign_of_life)
        .build(https)
}

impl Transport for HttpTransport {
    async fn post(&self, request: Outgoing) -> Outcome {
        let client = self.own.get(&request.destination).unwrap_or(&self.usual);
        let time_limit = request.time_limit;
        let Some(request) = built(request) else {
            return Outcome::Unanswered(Unanswered::Unbuildable);
        };
        match tokio::time::timeout(time_limit, client.request(request)).await {
            Ok(Ok(answer)) => Outcome::Answered {
                status: answer.status().as_u16(),
                piece: piece::of(answer, &self.limits).await,
            },
            Ok(Err(error)) => Outcome::Unanswered(unanswered::why(&error)),
            Err(_) => Outcome::Unanswered(Unanswered::TimeLimit),
        }
    }
}

/// The request as it is sent; `Host` is the client's to set.
fn built(outgoing: Outgoing) -> Option<Request<Full<Bytes>>> {
    let uri: Uri = outgoing.address.url().as_str().parse().ok()?;
    let mut headers = outgoing.headers;
    headers.entry(USER_AGENT).or_insert(OWN_USER_AGENT);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(outgoing.body.len()));
    let mut request = Request::new(Full::new(outgoing.body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    Some(request)
}
