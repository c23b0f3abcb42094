//! TLS: whom a destination is believed to be.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use switchboard_core::address::{Address, Networks};
use switchboard_core::configuration::{Destination as Configured, Limits};
use switchboard_core::delivery::Unanswered;
use switchboard_core::ports::{Outgoing, Transport};
use switchboard_web::transport::HttpTransport;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::destination::{Connection, Destination};
use crate::{Setting, answered, configuration, name, post, soon, to, unanswered};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// The authority that signs the tests' certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A destination that shows a certificate for `host` and speaks one of `protocols`.
    pub(crate) async fn destination<F, T>(
        &self,
        host: &str,
        protocols: &[&str],
        talk: F,
    ) -> Destination
    where
        F: Fn(Connection) -> T + Send + 'static,
        T: Future<Output = Option<()>> + Send + 'static,
    {
        let mut config = self.config(host, Arc::new(NoClientAuth));
        config.alpn_protocols = protocols.iter().map(|p| p.as_bytes().to_vec()).collect();
        Self::speaking(config, talk).await
    }

    /// TLS with a certificate for `host`, that asks of clients what `clients` says.
    fn config(&self, host: &str, clients: Arc<dyn ClientCertVerifier>) -> ServerConfig {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([host.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(clients)
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .expect("a configuration")
    }

    async fn speaking<F, T>(config: ServerConfig, talk: F) -> Destination
    where
        F: Fn(Connection) -> T + Send + 'static,
        T: Future<Output = Option<()>> + Send + 'static,
    {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let wrap = move |stream| {
            let acceptor = acceptor.clone();
            async move { Some(Box::new(acceptor.accept(stream).await.ok()?) as _) }
        };
        Destination::on(listener, wrap, talk)
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A setting whose destination `accounting` brings certificates of its own.
pub(crate) fn trusting(pem: impl Into<String>) -> Setting {
    let mut configuration = configuration(Networks::PrivateToo);
    configuration.destinations.push(Configured {
        name: name("accounting"),
        address: Address::parse("https://hooks.test/", Networks::Public).expect("an address"),
        headers: http::HeaderMap::new(),
        sign: None,
        limits: Limits::default(),
        ca_pem: Some(pem.into()),
    });
    Setting {
        configuration,
        ..Setting::default()
    }
}

async fn talk(mut connection: Connection) -> Option<()> {
    loop {
        connection.request().await?;
        connection.say(OK).await?;
    }
}

#[tokio::test]
async fn a_certificate_of_the_destinations_own_authority_is_believed() {
    let authority = Authority::new();
    let destination = authority
        .destination("hooks.test", &["http/1.1"], talk)
        .await;
    let transport = trusting(authority.pem()).transport();
    for _ in 0..2 {
        let outcome = post(&transport, &destination.url("https", "hooks.test")).await;
        assert_eq!(answered(&outcome), (200, "ok"));
    }
    assert_eq!(destination.connections(), 1);
}

#[tokio::test]
async fn any_other_certificate_fails_in_tls() {
    let authority = Authority::new();
    let destination = authority.destination("hooks.test", &[], talk).await;
    let url = destination.url("https", "hooks.test");
    let failed = unanswered(Unanswered::Tls);

    let other = trusting(Authority::new().pem()).transport();
    assert_eq!(post(&other, &url).await, failed, "another authority");

    let usual = Setting::default().transport();
    assert_eq!(post(&usual, &url).await, failed, "no authority of its own");

    let trusting = trusting(authority.pem()).transport();
    let misnamed = destination.url("https", "other.test");
    assert_eq!(post(&trusting, &misnamed).await, failed, "another name");

    let elsewhere = Outgoing {
        destination: name("warehouse"),
        ..to(&url)
    };
    let outcome = soon(trusting.post(elsewhere)).await;
    assert_eq!(
        outcome, failed,
        "an authority counts for its destination only"
    );
}

#[tokio::test]
async fn a_destination_that_wants_a_certificate_of_ours_fails_in_tls() {
    let authority = Authority::new();
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).expect("an authority");
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .expect("a verifier");
    let config = authority.config("hooks.test", clients);
    let destination = Authority::speaking(config, talk).await;
    let transport = trusting(authority.pem()).transport();
    let outcome = post(&transport, &destination.url("https", "hooks.test")).await;
    assert_eq!(outcome, unanswered(Unanswered::Tls));
}

#[tokio::test]
async fn what_does_not_speak_tls_fails_in_tls() {
    let authority = Authority::new();
    let plain = Destination::start(|mut connection| async move {
        connection.say("HTTP/1.1 400 Bad Request\r\n\r\n").await?;
        connection.closed().await;
        Some(())
    })
    .await;
    let mute = Destination::start(|_| async { Some(()) }).await;
    for destination in [plain, mute] {
        let transport = trusting(authority.pem()).transport();
        let outcome = post(&transport, &destination.url("https", "hooks.test")).await;
        assert_eq!(outcome, unanswered(Unanswered::Tls));
    }
}

#[tokio::test]
async fn a_handshake_that_hangs_uses_up_the_time_limit() {
    let silent = Destination::start(|mut connection| async move {
        connection.closed().await;
        Some(())
    })
    .await;
    let request = Outgoing {
        time_limit: crate::SHORT,
        ..to(&silent.url("https", "hooks.test"))
    };
    let outcome = soon(Setting::default().transport().post(request)).await;
    assert_eq!(outcome, unanswered(Unanswered::TimeLimit));
}

#[test]
fn certificates_of_no_use_are_named_before_anything_is_sent() {
    let authority = Authority::new();
    let key = KeyPair::generate().expect("a key").serialize_pem();
    let cut: String = authority.pem().chars().take(200).collect();
    let hollow = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (pem, fault) in [
        ("", "there is no certificate in it"),
        ("hello", "there is no certificate in it"),
        (&key, "there is no certificate in it"),
        (&cut, "it is not readable as PEM certificates"),
        (
            hollow,
            "the certificate 1 in it is not one that others can be signed by: ",
        ),
    ] {
        let setting = trusting(pem);
        let built = HttpTransport::new(&setting.configuration, Vec::new());
        let error = built.err().expect("a fault").to_string();
        let expected = format!("destination \"accounting\": ca_file: {fault}");
        assert!(error.starts_with(&expected), "{error}");
    }
}
