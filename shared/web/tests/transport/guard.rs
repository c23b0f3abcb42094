//! The address guard, where connections are made: what is connected to is what was judged, at every attempt.

use switchboard_core::address::{Forbidden, Networks};
use switchboard_core::delivery::{Outcome, Unanswered};

use crate::destination::{Connection, Destination};
use crate::tls::{Authority, trusting};
use crate::{Answers, Setting, answered, configuration, post, unanswered};

/// The guard stands before TLS: neither may be a way past it.
const SCHEMES: [&str; 2] = ["http", "https"];
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

fn forbidden(why: Forbidden) -> Outcome {
    unanswered(Unanswered::Forbidden(why))
}

fn deployed(answers: &[&[&str]]) -> Setting {
    Setting {
        configuration: configuration(Networks::Public),
        resolver: Answers::new(answers),
        ..Setting::default()
    }
}

#[tokio::test]
async fn one_inside_address_among_the_answers_refuses_the_attempt_before_any_connection() {
    let destination = Destination::answering(OK).await;
    for answers in [
        ["93.184.215.14", "127.0.0.1"],
        ["127.0.0.1", "93.184.215.14"],
        ["93.184.215.14", "::1"],
        ["93.184.215.14", "::ffff:127.0.0.1"],
    ] {
        for scheme in SCHEMES {
            let transport = deployed(&[&answers]).transport();
            let outcome = post(&transport, &destination.url(scheme, "hooks.test")).await;
            let due = forbidden(Forbidden::Loopback);
            assert_eq!(outcome, due, "{scheme}, {answers:?}");
        }
    }
    assert_eq!(destination.connections(), 0);
}

#[tokio::test]
async fn a_name_that_resolves_to_something_else_the_second_time_is_judged_again() {
    // Closes after each answer, so that every attempt must connect anew.
    let destination = Destination::answering_once(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let transport = Setting {
        resolver: Answers::new(&[&["127.0.0.1"], &["169.254.169.254"], &["127.0.0.1"]]),
        ..Setting::default()
    }
    .transport();
    let url = destination.url("http", "hooks.test");
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
    let outcome = post(&transport, &url).await;
    assert_eq!(outcome, forbidden(Forbidden::LinkLocal));
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
}

#[tokio::test]
async fn a_kept_connection_leads_to_the_address_that_was_judged_whatever_the_name_says_now() {
    let destination = Destination::answering(OK).await;
    let transport = Setting {
        resolver: Answers::new(&[&["127.0.0.1"], &["169.254.169.254"]]),
        ..Setting::default()
    }
    .transport();
    let url = destination.url("http", "hooks.test");
    for _ in 0..3 {
        assert_eq!(answered(&post(&transport, &url).await), (200, ""));
    }
    assert_eq!(destination.connections(), 1);
}

#[tokio::test]
async fn an_address_itself_and_the_names_of_this_machine_are_judged_without_resolving() {
    let destination = Destination::answering(OK).await;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "sub.localhost",
        "①②⑦.0.0.1",
        "0x7f.0.1",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ] {
        for scheme in SCHEMES {
            let url = destination.url(scheme, host);
            let outcome = post(&deployed(&[]).transport(), &url).await;
            assert_eq!(outcome, forbidden(Forbidden::Loopback), "{url}");
        }
    }
    assert_eq!(destination.connections(), 0);
}

#[tokio::test]
async fn private_networks_allowed_lets_every_spelling_of_this_machine_through() {
    let destination = Destination::answering(OK).await;
    for host in [
        "127.0.0.1",
        "127.1",
        "localhost",
        "localhost.",
        "sub.localhost",
    ] {
        let transport = Setting {
            resolver: Answers::new(&[]),
            ..Setting::default()
        }
        .transport();
        let outcome = post(&transport, &destination.url("http", host)).await;
        assert_eq!(answered(&outcome), (200, ""), "{host}");
    }
}

#[tokio::test]
async fn link_local_and_metadata_are_refused_even_with_private_networks_allowed() {
    for (address, why) in [
        ("169.254.169.254", Forbidden::LinkLocal),
        ("fd00:ec2::254", Forbidden::LinkLocal),
        ("100.100.100.200", Forbidden::LinkLocal),
        ("168.63.129.16", Forbidden::LinkLocal),
        ("fd20:ce::254", Forbidden::LinkLocal),
        ("0.0.0.0", Forbidden::Reserved),
        ("224.0.0.1", Forbidden::Reserved),
    ] {
        for scheme in SCHEMES {
            let transport = Setting {
                resolver: Answers::new(&[&[address, "127.0.0.1"]]),
                ..Setting::default()
            }
            .transport();
            let url = format!("{scheme}://metadata.google.internal/");
            assert_eq!(post(&transport, &url).await, forbidden(why), "{address}");
        }
    }
}

#[tokio::test]
async fn the_platforms_own_address_is_never_connected_to() {
    let destination = Destination::answering(OK).await;
    for host in ["127.0.0.1", "localhost", "hooks.test", "[::ffff:127.0.0.1]"] {
        for scheme in SCHEMES {
            let transport = Setting {
                platform: vec![destination.at],
                ..Setting::default()
            }
            .transport();
            let url = destination.url(scheme, host);
            let outcome = post(&transport, &url).await;
            assert_eq!(outcome, forbidden(Forbidden::Platform), "{url}");
        }
    }
    assert_eq!(destination.connections(), 0);
}

#[tokio::test]
async fn a_name_with_only_an_ipv6_address_that_does_not_answer_is_a_readable_failure() {
    // Bound on IPv4 only, so that nothing listens on this port over IPv6.
    let destination = Destination::answering(OK).await;
    let transport = Setting {
        resolver: Answers::new(&[&["::1"]]),
        ..Setting::default()
    }
    .transport();
    let outcome = post(&transport, &destination.url("http", "hooks.test")).await;
    assert_eq!(outcome, unanswered(Unanswered::NoConnection));
}

/// Answers one request with a redirect or a plain success, and closes, so that every attempt must connect anew.
async fn once(mut connection: Connection, answer: String) -> Option<()> {
    connection.request().await?;
    connection.say(answer).await
}

#[tokio::test]
async fn over_tls_an_inside_address_in_any_place_or_family_refuses_before_any_connection() {
    let authority = Authority::new();
    let destination = authority
        .destination("hooks.test", &["http/1.1"], |connection| {
            once(connection, OK.to_owned())
        })
        .await;
    let url = destination.url("https", "hooks.test");
    for (answers, why) in [
        (&["127.0.0.1"][..], Forbidden::Loopback),
        (&["::1"], Forbidden::Loopback),
        (&["::ffff:127.0.0.1"], Forbidden::Loopback),
        (&["64:ff9b::7f00:1"], Forbidden::Loopback),
        (&["93.184.215.14", "::1"], Forbidden::Loopback),
        (&["2606:2800:21f::1", "127.0.0.1"], Forbidden::Loopback),
        (&["93.184.215.14", "10.1.2.3"], Forbidden::Private),
        (&["fd12::1"], Forbidden::Private),
        (&["93.184.215.14", "169.254.169.254"], Forbidden::LinkLocal),
        (&["fe80::1"], Forbidden::LinkLocal),
        (&["::"], Forbidden::Reserved),
    ] {
        let mut setting = trusting(authority.pem());
        setting.configuration.networks = Networks::Public;
        setting.resolver = Answers::new(&[answers]);
        let outcome = post(&setting.transport(), &url).await;
        assert_eq!(outcome, forbidden(why), "{answers:?}");
    }
    for host in ["127.0.0.1", "localhost.", "[::1]"] {
        let outcome = post(&deployed(&[]).transport(), &destination.url("https", host)).await;
        assert_eq!(outcome, forbidden(Forbidden::Loopback), "{host}");
    }
    assert_eq!(destination.connections(), 0);
}

#[tokio::test]
async fn over_tls_the_address_that_was_judged_is_connected_to_and_judged_anew_each_time() {
    let authority = Authority::new();
    let destination = authority
        .destination("hooks.test", &["http/1.1"], |connection| {
            once(
                connection,
                OK.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"),
            )
        })
        .await;
    let mut setting = trusting(authority.pem());
    setting.resolver = Answers::new(&[&["127.0.0.1"], &["169.254.169.254"], &["127.0.0.1"]]);
    let transport = setting.transport();
    let url = destination.url("https", "hooks.test");
    // Asked a second time between judging and connecting, the name would lead to the second address.
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
    assert_eq!(
        post(&transport, &url).await,
        forbidden(Forbidden::LinkLocal)
    );
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
    assert_eq!(destination.connections(), 2);
}

#[tokio::test]
async fn over_tls_a_redirect_is_followed_nowhere() {
    let inside = Destination::answering(OK).await;
    let location = inside.url("http", "127.0.0.1");
    let authority = Authority::new();
    let destination = authority
        .destination("hooks.test", &["http/1.1"], move |connection| {
            let answer =
                format!("HTTP/1.1 307 X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            once(connection, answer)
        })
        .await;
    let transport = trusting(authority.pem()).transport();
    let outcome = post(&transport, &destination.url("https", "hooks.test")).await;
    assert_eq!(answered(&outcome), (307, ""));
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_name_with_a_full_stop_behind_it_is_judged_like_the_name_without() {
    for host in ["metadata.google.internal", "metadata.google.internal."] {
        let outcome = post(
            &deployed(&[&["169.254.169.254"]]).transport(),
            &format!("http://{host}/"),
        )
        .await;
        assert_eq!(outcome, forbidden(Forbidden::LinkLocal), "{host}");
    }
}
