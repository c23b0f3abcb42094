//! What is printed at the start: where everything is, how to sign in, and how to send a first event.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use switchboard_core::configuration::Configuration;

use crate::end::say;

/// Where everything is.
pub(crate) struct Running<'a> {
    pub(crate) program: &'a str,
    pub(crate) configuration: &'a Configuration,
    /// The flags that a client needs to find the same configuration, such as `--config FILE`.
    pub(crate) flags: &'a str,
    pub(crate) listen: SocketAddr,
    pub(crate) receivers: Option<SocketAddr>,
    pub(crate) sign_in: &'a str,
    pub(crate) folder: &'a Path,
}

/// Prints where everything is.
pub(crate) fn announce(running: &Running<'_>) {
    let base = reached(running.listen);
    say("Switchboard is running.");
    say(&format!("  page       {base}/"));
    say(&format!(
        "  sign in    {base}{}   (works once)",
        running.sign_in
    ));
    if !is_own_name(running.listen) && running.configuration.hosts.is_empty() {
        say(
            "             (the page answers to names of this machine; others are listed in `hosts`)",
        );
    }
    let public = running
        .configuration
        .public_url
        .as_ref()
        .map_or(base.as_str(), |url| url.as_str().trim_end_matches('/'));
    for source in &running.configuration.sources {
        say(&format!(
            "  source     {public}/in/{}   ({})",
            source.name, source.scheme.name
        ));
    }
    if let Some(receivers) = running.receivers {
        say(&format!("  receivers  http://{receivers}/"));
    }
    say(&format!("  data       {}", running.folder.display()));
    if let Some(source) = running.configuration.sources.first() {
        let kind = crate::samples::usual_kind(source.scheme);
        let url = if running.listen == SocketAddr::from(([127, 0, 0, 1], 3000)) {
            String::new()
        } else {
            format!(" --url {base}")
        };
        say("Send a first event, in another terminal:");
        say(&format!(
            "  {} send {} {kind}{}{url}",
            quoted(running.program),
            source.name,
            running.flags
        ));
    }
}

/// The address by which this machine reaches what listens at `listen`: one that stands for all is reached by loopback.
pub(crate) fn reached(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

fn is_own_name(listen: SocketAddr) -> bool {
    listen.ip().is_loopback() || listen.ip().is_unspecified()
}

/// A word of a command line, ready to be pasted into a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_listens_everywhere_is_reached_by_loopback() {
        for (listen, base) in [
            ("0.0.0.0:3000", "http://127.0.0.1:3000"),
            ("[::]:3000", "http://[::1]:3000"),
            ("192.0.2.7:80", "http://192.0.2.7:80"),
        ] {
            assert_eq!(reached(listen.parse().expect("an address")), base);
        }
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_would_cut_it() {
        assert_eq!(
            quoted("/opt/switch-board/x.toml"),
            "/opt/switch-board/x.toml"
        );
        assert_eq!(quoted("my folder/x"), "'my folder/x'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
