//! TLS of what Switchboard connects to: the web's usual certificates, and those a destination brings.

use std::error::Error;
use std::io;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Why certificates are of no use.
#[derive(Debug, thiserror::Error)]
pub enum CertificateFault {
    /// Not PEM.
    #[error("it is not readable as PEM certificates")]
    NotPem,
    /// PEM without a certificate in it.
    #[error("there is no certificate in it")]
    NoCertificate,
    /// A certificate that nothing can be signed by.
    #[error("the certificate {number} in it is not one that others can be signed by: {why}")]
    Unusable {
        /// Which, from 1.
        number: usize,
        /// What the library says of it.
        why: rustls::Error,
    },
    /// The library offers no version of TLS.
    #[error("no version of TLS is there: {0}")]
    NoVersion(rustls::Error),
}

/// A client's TLS: it trusts the web's usual certificates, and those in `pem` as well.
pub(crate) fn config(pem: Option<&str>) -> Result<ClientConfig, CertificateFault> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    if let Some(pem) = pem {
        let mut count: usize = 0;
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|_| CertificateFault::NotPem)?;
            count = count.saturating_add(1);
            roots
                .add(certificate)
                .map_err(|why| CertificateFault::Unusable { number: count, why })?;
        }
        if count == 0 {
            return Err(CertificateFault::NoCertificate);
        }
    }
    // Named here, so that it does not hang on what else in the process sets a default.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(CertificateFault::NoVersion)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

/// Whether an error is one of TLS, also wrapped in the connection's own.
pub(crate) fn is_fault(error: &(dyn Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    wrapped.is_some_and(|inner| is_fault(inner))
}
