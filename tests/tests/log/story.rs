//! The story that is logged: events accepted, repeated, refused and declined; attempts delivered, rejected, refused,
//! unanswered and broken off by TLS; copies to your endpoint; sign-ins good and bad.

use std::fmt::Write as _;

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_tests::setting::{SOURCES, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard, TOKEN};
use switchboard_tests::wire;

/// What stands in every body.
const BODY: &str = "a-marker-of-the-body";
/// What stands in addresses behind the host.
const ADDRESS: [&str; 3] = ["P4TH-T0KEN", "S3CRET-QU3RY", "us3r-p4rt"];
/// What a destination is sent, and what its deliveries are signed with.
const HEADER: &str = "Bearer secret-of-a-destination";
const SIGN: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// What a sender and a stranger sent that is not ours.
const THEIRS: [&str; 3] = [
    "their-own-cookie",
    "not-the-admin-token",
    "a-code-that-was-never-one",
];

/// What came of the story.
pub(crate) struct Told {
    /// The Switchboard, still running.
    pub(crate) switchboard: Switchboard,
    /// The requests that were answered 200.
    pub(crate) accepted: usize,
    /// Everything that must not stand in the log.
    pub(crate) hidden: Vec<String>,
}

/// Destinations that fail in every way, and one that does not; all but the last address have secrets in them.
fn configuration(sink: &Sink, refusing: &str, silent: &str) -> String {
    let [path, query, user] = ADDRESS;
    let tls = sink.url("").replace("http:", "https:");
    let behind = format!("/{path}?token={query}");
    let destinations = [
        ("rejecting", sink.url(&format!("/rejecting{behind}"))),
        ("refusing", format!("http://{refusing}{behind}")),
        ("silent", format!("http://{silent}{behind}")),
        ("no-tls", format!("{tls}{behind}")),
        ("not-there", format!("http://switchboard.invalid{behind}")),
        ("good", sink.url("/good")),
    ];
    // A user part is refused in an address, so it comes to an endpoint only.
    assert!(!behind.contains(user));
    let mut text = "allow_private_networks = true\nmax_body = 10000\n".to_owned();
    for (name, scheme, variable, _) in SOURCES {
        let _ = write!(
            text,
            "[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"env:{variable}\"]\n"
        );
    }
    let mut deliver = Vec::new();
    for (name, url) in destinations {
        let limit = if name == "silent" { "300ms" } else { "3s" };
        let _ = write!(
            text,
            "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\npauses = [\"10ms\"]\ntime_limit = \"{limit}\"\n\
             sign = \"env:SIGN\"\nheaders = {{ authorization = \"env:HEADER\" }}\n"
        );
        deliver.push(format!("{{ to = \"{name}\" }}"));
    }
    let _ = write!(
        text,
        "[[route]]\nsource = \"*\"\nkind = \"*\"\ndeliver = [{}]\n",
        deliver.join(", ")
    );
    // Allowed but unwise: a destination that no route names.
    text.push_str("[[destination]]\nname = \"idle\"\nurl = \"http://127.0.0.1:9/\"\n");
    text
}

/// Tells it, with these flags, at the most detailed level.
pub(crate) async fn tell(flags: &[&str]) -> Told {
    let sink = Sink::start().await;
    sink.answer(|received, _| {
        if received.path == "/good" {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        }
    });
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let refusing = closed.local_addr().expect("an address").to_string();
    drop(closed);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent_at = silent.local_addr().expect("an address").to_string();
    let start = start(&configuration(&sink, &refusing, &silent_at))
        .set("RUST_LOG", "trace")
        .set("HEADER", HEADER)
        .set("SIGN", SIGN);
    let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let switchboard = Switchboard::start(Start { flags, ..start }).await;

    let mut hidden: Vec<String> = [BODY, HEADER, SIGN, TOKEN]
        .into_iter()
        .chain(ADDRESS)
        .chain(THEIRS)
        .chain(SOURCES.map(|(.., secret)| secret))
        .map(str::to_owned)
        .collect();
    endpoint(&switchboard, &sink, &mut hidden).await;
    let accepted = post(&switchboard, &mut hidden).await;
    sign_in(&switchboard, &mut hidden).await;
    // Six deliveries of each of the four events, five of which are given up after two attempts.
    switchboard.wait_total("dead", 20).await;
    switchboard.wait_total("delivered", 4).await;
    for received in sink.received() {
        let signatures = received.header("webhook-signature").split(' ');
        hidden.extend(signatures.map(|signature| signature.trim_start_matches("v1,").to_owned()));
    }
    hidden.retain(|text| !text.is_empty());
    drop(silent);
    Told {
        switchboard,
        accepted,
        hidden,
    }
}

/// Your endpoint: addresses that are refused, one that fails, and its secrets.
async fn endpoint(switchboard: &Switchboard, sink: &Sink, hidden: &mut Vec<String>) {
    let [path, query, user] = ADDRESS;
    let with_user = format!("http://{user}:{query}@example.com/{path}");
    let good = sink.url(&format!("/{path}?token={query}"));
    for (url, status) in [
        (&with_user, StatusCode::BAD_REQUEST),
        (&good, StatusCode::OK),
    ] {
        let body = json!({ "url": url });
        let (found, answer) = switchboard
            .ask(Method::PUT, "/admin/endpoint", Some(body))
            .await;
        assert_eq!(found, status, "{answer}");
        hidden.extend(answer["secret"].as_str().map(str::to_owned));
    }
    let (_, answer) = switchboard
        .ask(Method::POST, "/admin/endpoint/rotate", None)
        .await;
    hidden.push(answer["secret"].as_str().expect("a secret").to_owned());
}

/// An event of each source, one of them twice; a forged one, one too long and one that cannot be read.
async fn post(switchboard: &Switchboard, hidden: &mut Vec<String>) -> usize {
    let body = format!("{{\"id\": \"id-1\", \"type\": \"some.kind\", \"text\": \"{BODY}\"}}");
    let mut accepted = 0;
    for (source, ..) in SOURCES {
        let sender = sender(switchboard, source);
        let mut headers = sender.headers("id-1", "some.kind", body.as_bytes());
        headers.insert("cookie", THEIRS[0].parse().expect("a value"));
        for name in [
            "x-shopify-hmac-sha256",
            "stripe-signature",
            "x-hub-signature-256",
            "webhook-signature",
        ] {
            let Some(value) = headers.get(name) else {
                continue;
            };
            let value = value.to_str().expect("text");
            let signature = value
                .rsplit_once([',', '='])
                .map_or(value, |(_, signature)| signature);
            // Base64 may end in signs of equality: what stands before them is enough to know it by.
            let signature = if signature.is_empty() {
                value.trim_end_matches('=')
            } else {
                signature
            };
            let signature = signature.rsplit("v1,").next().unwrap_or(signature);
            hidden.push(signature.trim_start_matches("v1=").to_owned());
        }
        let forged = sender.post(headers.clone(), format!("{body} ")).await;
        assert_eq!(forged.status, StatusCode::UNAUTHORIZED, "{source}");
        let answer = sender.post(headers, body.clone()).await;
        assert_eq!(answer.status, StatusCode::OK, "{source}");
        accepted += 1;
    }
    let forms = sender(switchboard, "forms");
    assert_eq!(
        forms.send("id-1", "some.kind", body.clone()).await.body["status"],
        "repeat"
    );
    let other = forms.send("id-1", "some.kind", format!("{body} ")).await;
    assert_eq!(other.body["status"], "repeat");
    let long = format!("{BODY}{}", "x".repeat(10_000));
    assert_eq!(
        forms.send("id-2", "some.kind", long).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let payments = sender(switchboard, "payments");
    assert_eq!(
        payments.send("", "", BODY).await.status,
        StatusCode::BAD_REQUEST
    );
    accepted + 2
}

/// A sign-in by the link, and some that fail.
async fn sign_in(switchboard: &Switchboard, hidden: &mut Vec<String>) {
    let base = &switchboard.url;
    let host = ("host", "localhost");
    let path = format!(
        "{}?{}",
        switchboard.sign_in.path(),
        switchboard.sign_in.query().expect("a code")
    );
    let entered = wire::ask(base, "GET", &path, &[host], "").await;
    let cookie = entered.header("set-cookie").expect("a cookie");
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    assert_eq!(
        wire::ask(
            base,
            "GET",
            "/api/overview",
            &[host, ("cookie", &cookie)],
            ""
        )
        .await
        .status,
        200
    );
    let (_, code) = path.split_once("code=").expect("a code");
    hidden.push(code.to_owned());
    hidden.push(cookie.split_once('=').expect("a value").1.to_owned());
    let [_, token, code] = THEIRS;
    let wrong = format!("/sign-in?code={code}");
    assert_eq!(
        wire::ask(base, "GET", &wrong, &[host], "").await.status,
        401
    );
    let form = [host, ("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(
        wire::ask(base, "POST", "/sign-in", &form, &format!("token={token}"))
            .await
            .status,
        401
    );
    let bearer = format!("Bearer {token}");
    assert_eq!(
        wire::ask(
            base,
            "GET",
            "/api/overview",
            &[host, ("authorization", &bearer)],
            ""
        )
        .await
        .status,
        401
    );
}
