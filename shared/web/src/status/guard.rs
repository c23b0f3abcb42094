//! What keeps other sites out: the Host rule, the check of where a form came from, and the headers of every answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};
use switchboard_core::ports::Backend;

use super::Status;
use super::answer::Failure;

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/// What the page uses none of. It writes texts to the clipboard when somebody asks it to.
const PERMISSIONS: &str = "accelerometer=(), camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), \
    fullscreen=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), \
    publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()";
/// Why a request of another site's page is not served.
pub(super) const OTHER_SITE: &str = "sent by a page of another site: not allowed";
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The name under which a gateway took a request, which it is trusted with: it answers to no names but its own. Whoever
/// hands a request from the gateway on to the router puts it among the request's extensions. It is allowed like one in
/// `hosts`; without it nothing changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedHost(String);

impl TrustedHost {
    /// A host name as the gateway gives it, without a port.
    pub fn new(name: &str) -> Self {
        Self(name.to_ascii_lowercase())
    }
}

/// Lets a request pass whose Host is this machine's, configured or the gateway's. A page of another site that gets its own name to
/// lead here (DNS rebinding) sends its own Host.
pub(super) async fn own_host<B: Backend>(
    State(status): State<Arc<Status<B>>>,
    request: Request,
    next: Next,
) -> Response {
    let mut hosts = status.configuration.hosts.clone();
    let trusted = request.extensions().get::<TrustedHost>();
    hosts.extend(trusted.map(|TrustedHost(name)| name.clone()));
    if allowed(request.uri(), request.headers(), &hosts) {
        next.run(request).await
    } else {
        Failure::OtherHost.into_response()
    }
}

/// Whether the request names a Host, and every Host it names is allowed.
fn allowed(uri: &Uri, headers: &HeaderMap, hosts: &[String]) -> bool {
    let mut named = uri
        .authority()
        .map(Authority::as_str)
        .into_iter()
        .chain(headers.get_all(HOST).iter().map(text))
        .peekable();
    named.peek().is_some() && named.all(|host| is_own(host, hosts))
}

/// A header's text; one that is none is a text that nothing equals.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

fn is_own(host: &str, hosts: &[String]) -> bool {
    let Ok(authority) = Authority::try_from(host) else {
        return false;
    };
    let name = authority.host().to_ascii_lowercase();
    let bare = host.len() == authority.host().len() || authority.port_u16().is_some();
    !host.contains('@') && bare && (LOOPBACK.contains(&name.as_str()) || hosts.contains(&name))
}

/// Whether a request came from a page of ours, or from no page at all. A browser's own word counts first.
pub(super) fn own_site(headers: &HeaderMap) -> bool {
    if let Some(from) = headers.get("sec-fetch-site") {
        return matches!(text(from), "same-origin" | "none");
    }
    let Some(origin) = headers.get(ORIGIN) else {
        return true;
    };
    let origin = text(origin);
    let host = headers.get(HOST).map(text).unwrap_or_default();
    ["http://", "https://"]
        .iter()
        .filter_map(|scheme| origin.strip_prefix(scheme))
        .any(|from| from.eq_ignore_ascii_case(host))
}

/// Adds to every answer what tells a browser to run, keep, frame and pass on nothing of it.
pub(super) async fn closed(response: Response) -> Response {
    close(response)
}

/// The same, where nothing is to be waited for.
pub(super) fn close(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, CSP),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // The page's files alone say otherwise: they are everybody's.
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(host: &str) -> bool {
        is_own(host, &["switchboard.example".to_owned()])
    }

    #[test]
    fn a_host_is_a_loopback_name_or_configured_whatever_its_port() {
        for good in [
            "localhost",
            "LOCALHOST:3000",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:3000",
            "Switchboard.example:443",
        ] {
            assert!(own(good), "{good}");
        }
        for other in [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "evil.example@localhost:3000",
            "localhost:evil",
            "localhost:99999",
            "localhost:",
            "127.0.0.2",
            "[::2]",
            "localhost/",
            "a.switchboard.example",
        ] {
            assert!(!own(other), "{other}");
        }
    }

    #[test]
    fn every_host_that_a_request_names_must_be_allowed_and_none_is_not() {
        let uri = |text: &str| text.parse::<Uri>().expect("uri");
        let mut headers = HeaderMap::new();
        assert!(!allowed(&uri("/"), &headers, &[]), "no Host");
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert!(allowed(&uri("/"), &headers, &[]));
        assert!(!allowed(&uri("http://evil.example/"), &headers, &[]));
        headers.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!allowed(&uri("/"), &headers, &[]), "two of them");
    }

    #[test]
    fn a_form_of_another_site_is_told_by_what_the_browser_adds() {
        let sent = |pairs: &[(&'static str, &'static str)]| {
            let headers = pairs.iter().map(|(name, value)| {
                let name = http::HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            });
            own_site(&headers.collect())
        };
        let host = ("host", "localhost:3000");
        assert!(sent(&[host]), "no browser");
        assert!(sent(&[host, ("origin", "http://localhost:3000")]));
        assert!(sent(&[
            host,
            ("sec-fetch-site", "same-origin"),
            ("origin", "null")
        ]));
        for other in ["https://evil.example", "http://localhost:4000", "null", ""] {
            assert!(!sent(&[host, ("origin", other)]), "{other}");
        }
        for other in ["cross-site", "same-site"] {
            assert!(!sent(&[host, ("sec-fetch-site", other)]), "{other}");
        }
    }
}
