//! The address guard's judgement: which addresses a delivery may be sent to, and how a destination's
//! address is read and shown. The transport resolves names and asks here about every answer.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use url::{Host, Url};

/// Longest destination address, in bytes.
pub const LONGEST_ADDRESS: usize = 2048;

/// Which networks destinations may be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Networks {
    /// The internet only, unless a configuration says otherwise.
    Public,
    /// Loopback and private networks too: `allow_private_networks = true`, or the built-in sample.
    PrivateToo,
}

/// Why an address may not be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Forbidden {
    /// This machine.
    #[error("it is this machine; allow_private_networks would allow it")]
    Loopback,
    /// A private network.
    #[error("it is on a private network; allow_private_networks would allow it")]
    Private,
    /// Link-local, where clouds keep their metadata; never allowed.
    #[error("it is link-local or a cloud's metadata service")]
    LinkLocal,
    /// Multicast, broadcast, unspecified, documentation or reserved; never allowed.
    #[error("it is not an address of one host on the internet")]
    Reserved,
    /// An address of the platform that runs us; never allowed.
    #[error("it is an address of the platform itself")]
    Platform,
}

/// Judges one resolved address. `platform` lists addresses that are never allowed, such as the Lambda runtime's own.
pub fn judge(
    address: SocketAddr,
    networks: Networks,
    platform: &[SocketAddr],
) -> Result<(), Forbidden> {
    let ip = plain(address.ip());
    if platform
        .iter()
        .any(|own| own.port() == address.port() && plain(own.ip()) == ip)
    {
        return Err(Forbidden::Platform);
    }
    match (judge_ip(ip), networks) {
        (Err(Forbidden::Loopback | Forbidden::Private), Networks::PrivateToo) => Ok(()),
        (judged, _) => judged,
    }
}

/// An IPv4 address that is written as IPv6 (mapped, compatible, translated, 6to4) is judged as what it reaches. Only
/// exactly these forms: what merely ends like one of them is judged as the IPv6 address it is.
fn plain(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match v6.segments() {
        // ::ffff:a.b.c.d, ::ffff:0:a.b.c.d (RFC 2765), 64:ff9b::a.b.c.d (RFC 6052) and 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => v4(high, low),
        _ => ip,
    }
}

fn judge_ip(ip: IpAddr) -> Result<(), Forbidden> {
    match ip {
        IpAddr::V4(v4) => judge_v4(v4),
        IpAddr::V6(v6) => judge_v6(v6),
    }
}

/// The special-purpose blocks of the IANA IPv4 registry.
fn judge_v4(ip: Ipv4Addr) -> Result<(), Forbidden> {
    match ip.octets() {
        [127, ..] => Err(Forbidden::Loopback),
        // Two clouds keep their metadata outside the link-local block: one in the shared block of carriers, one among
        // the addresses of the internet, where only its own machines can reach it.
        [169, 254, ..] | [100, 100, 100, 200] | [168, 63, 129, 16] => Err(Forbidden::LinkLocal),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => {
            Err(Forbidden::Private)
        }
        [0 | 224..=255, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Err(Forbidden::Reserved),
        _ => Ok(()),
    }
}

/// Only `2000::/3` is the internet; of the rest, unique-local counts as private.
fn judge_v6(ip: Ipv6Addr) -> Result<(), Forbidden> {
    if ip.is_loopback() {
        return Err(Forbidden::Loopback);
    }
    match ip.segments() {
        // fd00:ec2::254 and fd20:ce::254 with their neighbours are clouds' metadata and time services.
        [0xfe80..=0xfebf, ..] | [0xfd00, 0x0ec2, ..] | [0xfd20, 0x00ce, ..] => {
            Err(Forbidden::LinkLocal)
        }
        [0xfc00..=0xfdff, ..] => Err(Forbidden::Private),
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Err(Forbidden::Reserved),
        [0x2000..=0x3fff, ..] => Ok(()),
        _ => Err(Forbidden::Reserved),
    }
}

/// Why a text is not an address that can be delivered to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// Not a URL.
    #[error("is not a readable address ({0})")]
    Unreadable(url::ParseError),
    /// Another scheme, or none.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// User and password stand in it.
    #[error("must not hold a user or password; use headers = {{ authorization = \"env:NAME\" }}")]
    User,
    /// It has a fragment.
    #[error("must not have a part behind #")]
    Fragment,
    /// Port 0.
    #[error("must not have port 0")]
    Port,
    /// White space or control characters.
    #[error("must not hold spaces or control characters")]
    Spaces,
    /// Over [`LONGEST_ADDRESS`].
    #[error("is longer than {LONGEST_ADDRESS} bytes")]
    TooLong,
    /// It names an address that is not allowed.
    #[error("is not allowed: {0}")]
    Forbidden(Forbidden),
}

/// An address that can be delivered to, in its normal form. Never shown whole: its path and query may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Arc<Url>);

impl Address {
    /// Reads an address and judges it as far as that is possible without resolving its name.
    pub fn parse(text: &str, networks: Networks) -> Result<Self, AddressFault> {
        if text.len() > LONGEST_ADDRESS {
            return Err(AddressFault::TooLong);
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(AddressFault::Spaces);
        }
        let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
        if !lower.starts_with("http://") && !lower.starts_with("https://") {
            return Err(AddressFault::Scheme);
        }
        let url = Url::parse(text).map_err(AddressFault::Unreadable)?;
        // Its normal form is what is stored and read again.
        if url.as_str().len() > LONGEST_ADDRESS {
            return Err(AddressFault::TooLong);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressFault::User);
        }
        if url.fragment().is_some() {
            return Err(AddressFault::Fragment);
        }
        let port = url.port_or_known_default().unwrap_or(0);
        if port == 0 {
            return Err(AddressFault::Port);
        }
        let literal = match url.host() {
            Some(Host::Ipv4(v4)) => Some(IpAddr::V4(v4)),
            Some(Host::Ipv6(v6)) => Some(IpAddr::V6(v6)),
            Some(Host::Domain(name)) if is_localhost(name) => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            Some(Host::Domain(_)) => None,
            None => return Err(AddressFault::Unreadable(url::ParseError::EmptyHost)),
        };
        if let Some(ip) = literal {
            judge(SocketAddr::new(ip, port), networks, &[]).map_err(AddressFault::Forbidden)?;
        }
        Ok(Self(Arc::new(url)))
    }

    /// The whole address, for the transport.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The address as operators see it: scheme, host and port; the rest only hinted at.
    pub fn shown(&self) -> String {
        let rest = if self.0.path() == "/" && self.0.query().is_none() {
            "/"
        } else {
            "/…"
        };
        let host = self.0.host_str().unwrap_or_default();
        match self.0.port() {
            Some(port) => format!("{}://{host}:{port}{rest}", self.0.scheme()),
            None => format!("{}://{host}{rest}", self.0.scheme()),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown())
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> Result<Address, AddressFault> {
        Address::parse(text, Networks::Public)
    }

    #[test]
    fn every_spelling_of_an_inside_address_is_seen_through() {
        for inside in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://１２７.0.0.1/",
            "http://①②⑦.0.0.1/",
            "http://localhost/",
            "http://localhost./",
            "http://LOCALHOST/",
            "http://sub.localhost/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[::ffff:0:127.0.0.1]/",
            "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
        ] {
            assert_eq!(
                public(inside),
                Err(AddressFault::Forbidden(Forbidden::Loopback)),
                "{inside}"
            );
            assert!(
                Address::parse(inside, Networks::PrivateToo).is_ok(),
                "{inside}"
            );
        }
        for private in [
            "http://10.0.0.1/",
            "http://192.168.1.1/",
            "http://172.31.0.1/",
            "http://100.64.0.1/",
            "http://[fd12::1]/",
        ] {
            assert_eq!(
                public(private),
                Err(AddressFault::Forbidden(Forbidden::Private)),
                "{private}"
            );
        }
    }

    #[test]
    fn metadata_and_reserved_addresses_are_refused_even_with_private_networks() {
        for (text, why) in [
            (
                "http://169.254.169.254/latest/meta-data",
                Forbidden::LinkLocal,
            ),
            ("http://[fe80::1]/", Forbidden::LinkLocal),
            ("http://[fd00:ec2::254]/", Forbidden::LinkLocal),
            ("http://[fd20:ce::254]/", Forbidden::LinkLocal),
            ("http://168.63.129.16/", Forbidden::LinkLocal),
            // Forms that a local translator may take for 10.0.0.1, and one that ends like an address of the internet.
            ("http://[64:ff9b:1::a00:1]/", Forbidden::Reserved),
            ("http://[64:ff9b:1:a00:0:100:808:808]/", Forbidden::Reserved),
            ("http://[0:0:1:2:3:4:808:808]/", Forbidden::Reserved),
            ("http://[::ffff:169.254.169.254]/", Forbidden::LinkLocal),
            ("http://0/", Forbidden::Reserved),
            ("http://255.255.255.255/", Forbidden::Reserved),
            ("http://[::]/", Forbidden::Reserved),
            ("http://[ff02::1]/", Forbidden::Reserved),
        ] {
            assert_eq!(
                Address::parse(text, Networks::PrivateToo),
                Err(AddressFault::Forbidden(why)),
                "{text}"
            );
        }
    }

    #[test]
    fn the_platforms_own_address_is_refused_by_address_and_port() {
        let own: SocketAddr = "127.0.0.1:9001".parse().expect("address");
        assert_eq!(
            judge(own, Networks::PrivateToo, &[own]),
            Err(Forbidden::Platform)
        );
        let mapped: SocketAddr = "[::ffff:127.0.0.1]:9001".parse().expect("address");
        assert_eq!(
            judge(mapped, Networks::PrivateToo, &[own]),
            Err(Forbidden::Platform)
        );
        let other: SocketAddr = "127.0.0.1:9002".parse().expect("address");
        assert_eq!(judge(other, Networks::PrivateToo, &[own]), Ok(()));
    }

    #[test]
    fn an_address_that_cannot_be_called_is_refused_with_its_reason() {
        let long = format!("http://h/{}", "x".repeat(5000));
        let long_in_normal_form = format!("http://h/{}", "ü".repeat(500));
        let user = "http://10.0.0.1@example.com/";
        for (text, fault) in [
            ("http://h:0/", AddressFault::Port),
            ("ftp://h/", AddressFault::Scheme),
            ("file:///etc/passwd", AddressFault::Scheme),
            ("https:example.com", AddressFault::Scheme),
            ("javascript:alert(1)", AddressFault::Scheme),
            ("http://exa mple/", AddressFault::Spaces),
            ("http://exa\tmple/", AddressFault::Spaces),
            ("http://example.com/x#frag", AddressFault::Fragment),
            ("https://a:b@10.0.0.1/", AddressFault::User),
            (user, AddressFault::User),
            (&long, AddressFault::TooLong),
            (&long_in_normal_form, AddressFault::TooLong),
        ] {
            assert_eq!(public(text), Err(fault), "{text}");
        }
        for unreadable in [
            "http://h:65536/",
            "http://",
            "https://127.0.0.1%2f@example.com/",
        ] {
            assert!(public(unreadable).is_err(), "{unreadable}");
        }
    }

    #[test]
    fn an_address_is_shown_in_normal_form_without_path_or_query() {
        let shown = |text| public(text).expect("address").shown();
        assert_eq!(
            shown("https://h.example/hook/T0KEN?key=SECRET"),
            "https://h.example/…"
        );
        assert_eq!(
            shown("HTTP://Bücher.example:8080"),
            "http://xn--bcher-kva.example:8080/"
        );
        assert!(!format!("{:?}", public("https://h.example/T0KEN")).contains("T0KEN"));
    }
}
