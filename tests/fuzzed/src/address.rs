//! The address guard: whatever it allows is no inside address, however that was written.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use switchboard_core::address::{Address, Networks, judge};
use url::Host;

use crate::request;

/// Of any text, an address that is allowed leads to no inside one, shows nothing but where it leads, and reads the
/// same again in its normal form.
pub fn spelled(bytes: &[u8]) {
    let text = request::text(bytes);
    for networks in [Networks::Public, Networks::PrivateToo] {
        let Ok(address) = Address::parse(&text, networks) else {
            continue;
        };
        let url = address.url();
        assert!(["http", "https"].contains(&url.scheme()), "{text:?}");
        assert!(
            url.username().is_empty() && url.password().is_none(),
            "{text:?} brings credentials"
        );
        match url.host().expect("an allowed address has a host") {
            Host::Ipv4(ip) => outside(IpAddr::V4(ip), networks, &text),
            Host::Ipv6(ip) => outside(IpAddr::V6(ip), networks, &text),
            Host::Domain(name) => assert!(
                networks == Networks::PrivateToo || !is_this_machine(name),
                "{text:?} is this machine"
            ),
        }
        let again = Address::parse(url.as_str(), networks);
        assert_eq!(again.as_ref(), Ok(&address), "{text:?} in its normal form");
        let shown = address.shown();
        let behind = shown.splitn(4, '/').nth(3);
        assert!(
            behind == Some("") || behind == Some("…"),
            "{text:?} is shown as {shown:?}"
        );
    }
}

/// Of any bytes as numbers, an address that is allowed is no inside one.
pub fn numbered(bytes: &[u8]) {
    let ip = match bytes {
        [a, b, c, d, ..] if bytes.len() < 16 => IpAddr::V4(Ipv4Addr::new(*a, *b, *c, *d)),
        _ => {
            let Some(octets) = bytes.first_chunk::<16>() else {
                return;
            };
            IpAddr::V6(Ipv6Addr::from(*octets))
        }
    };
    for networks in [Networks::Public, Networks::PrivateToo] {
        let address = SocketAddr::new(ip, 80);
        if judge(address, networks, &[]).is_ok() {
            outside(ip, networks, &ip.to_string());
        }
        assert!(
            judge(address, networks, &[address]).is_err(),
            "{ip} is the platform's own"
        );
    }
}

/// A name that means this machine (RFC 6761), or that a resolver may read as an IPv4 address (`inet_aton`).
fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    let hexadecimal = last
        .strip_prefix("0x")
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    last == "localhost" || hexadecimal || decimal
}

#[track_caller]
fn outside(ip: IpAddr, networks: Networks, text: &str) {
    let ip = match ip {
        IpAddr::V4(ip) => ip,
        IpAddr::V6(ip) => match carried(ip) {
            Some(ip) => ip,
            None => return outside_v6(ip, networks, text),
        },
    };
    let never = ip.is_unspecified()
        || ip.is_broadcast()
        || ip.is_multicast()
        || ip.is_link_local()
        || ip.is_documentation()
        || METADATA.contains(&ip)
        || ip.octets()[0] == 0
        || ip.octets()[0] >= 240;
    assert!(!never, "{text:?} is allowed and leads to {ip}");
    let shared = ip.octets()[0] == 100 && (64..128).contains(&ip.octets()[1]);
    let inside = ip.is_loopback() || ip.is_private() || shared;
    assert!(
        !inside || networks == Networks::PrivateToo,
        "{text:?} is allowed and leads to {ip}"
    );
}

/// Where clouds keep their metadata outside the link-local block: Alibaba, Azure, Oracle.
const METADATA: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// Where clouds keep their metadata in IPv6: Amazon, Google.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// The IPv4 address that an IPv6 address is another way to write of: mapped, compatible, translated (RFC 2765, RFC
/// 6052) or 6to4.
fn carried(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let last = u128::from(ip) & 0xffff_ffff;
    let v4 = |bits: u128| u32::try_from(bits & 0xffff_ffff).ok().map(Ipv4Addr::from);
    match u128::from(ip) >> 32 {
        0 if last > 1 => v4(last),
        0xffff | 0xffff_0000 | 0x0064_ff9b_0000_0000_0000_0000 => v4(last),
        _ if ip.segments()[0] == 0x2002 => v4(u128::from(ip) >> 80),
        _ => None,
    }
}

#[track_caller]
fn outside_v6(ip: Ipv6Addr, networks: Networks, text: &str) {
    let internet = ip.segments()[0] & 0xe000 == 0x2000 && ip.segments()[..2] != [0x2001, 0xdb8];
    let inside = ip.is_loopback() || ip.is_unique_local();
    assert!(
        !METADATA_V6.contains(&ip) && (internet || (inside && networks == Networks::PrivateToo)),
        "{text:?} is allowed and leads to {ip}"
    );
}
