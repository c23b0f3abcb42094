//! What keeps web pages of others away from the books and the switches. Deliveries are not their concern: those come
//! from programs, and change nothing but a book.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue};

/// To which names the page, the books and the switches answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Names of this machine: a page that gets its own name to lead here (DNS rebinding) sends that name.
    Loopback,
    /// Any: whoever binds another address wants to be reached under other names.
    Any,
}

impl Hosts {
    /// The rule for what listens at this address.
    pub(super) fn of(listen: IpAddr) -> Self {
        if listen.is_loopback() {
            Self::Loopback
        } else {
            Self::Any
        }
    }

    /// Whether a request with these headers is answered.
    pub(super) fn allow(self, headers: &HeaderMap) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => headers.get(HOST).map(text).is_some_and(is_loopback),
        }
    }
}

fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

fn is_loopback(host: &str) -> bool {
    let Ok(authority) = Authority::try_from(host) else {
        return false;
    };
    let name = authority.host().trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether a request comes from a page of the receivers' own, or from no page at all.
pub(super) fn own_site(headers: &HeaderMap) -> bool {
    if let Some(from) = headers.get("sec-fetch-site") {
        return matches!(text(from), "same-origin" | "none");
    }
    let Some(origin) = headers.get(ORIGIN) else {
        return true;
    };
    let host = headers.get(HOST).map(text).unwrap_or_default();
    text(origin)
        .split_once("://")
        .is_some_and(|(_, from)| from == host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (name.parse().expect("name"), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn only_names_of_this_machine_are_answered_on_loopback() {
        for good in [
            "localhost:3001",
            "LOCALHOST",
            "127.0.0.1:3001",
            "[::1]:3001",
            "127.1.2.3",
        ] {
            assert!(Hosts::Loopback.allow(&headers(&[("host", good)])), "{good}");
        }
        for bad in [
            "evil.example:3001",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "a b",
        ] {
            assert!(!Hosts::Loopback.allow(&headers(&[("host", bad)])), "{bad}");
            assert!(Hosts::Any.allow(&headers(&[("host", bad)])), "{bad}");
        }
        assert!(!Hosts::Loopback.allow(&HeaderMap::new()));
    }

    #[test]
    fn a_page_of_another_site_is_told_by_what_its_browser_says() {
        let host = ("host", "localhost:3001");
        for own in [
            &[host][..],
            &[host, ("origin", "http://localhost:3001")],
            &[host, ("sec-fetch-site", "same-origin")],
            &[host, ("sec-fetch-site", "none")],
        ] {
            assert!(own_site(&headers(own)), "{own:?}");
        }
        for other in [
            &[host, ("origin", "http://localhost:3000")][..],
            &[host, ("origin", "null")],
            &[
                host,
                ("sec-fetch-site", "cross-site"),
                ("origin", "http://localhost:3001"),
            ],
            &[host, ("sec-fetch-site", "same-site")],
        ] {
            assert!(!own_site(&headers(other)), "{other:?}");
        }
    }
}
