//! The story that is logged: events accepted, repeated, refused, nearly right and declined; attempts delivered, also
//! over HTTP/2, rejected, refused, unanswered and broken off by TLS; copies to your endpoint; sign-ins good and bad; what
//! operators do, and the commands that read what they are not to tell.

use std::fmt::Write as _;
use std::net::SocketAddr;

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_core::scheme::{Encoding, Scheme};
use switchboard_tests::setting::{SOURCES, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard, TOKEN};
use switchboard_tests::wire;

use crate::over_tls;

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
    /// The requests that were answered 401.
    pub(crate) refused: usize,
    /// Everything that commands printed which show nothing on purpose.
    pub(crate) printed: String,
    /// Everything that must not stand in the log.
    pub(crate) hidden: Vec<String>,
}

/// Destinations that fail in every way, and one that does not; all but the last address have secrets in them.
fn configuration(sink: &Sink, refusing: &str, silent: &str, over_tls: SocketAddr) -> String {
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
        (
            "over-tls",
            format!("https://localhost:{}{behind}", over_tls.port()),
        ),
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
        if name == "over-tls" {
            text.push_str("ca_file = \"ca.pem\"\n");
        }
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
    let (over_tls, certificate) = over_tls::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ca.pem"), certificate).expect("a file");
    let start = start(&configuration(&sink, &refusing, &silent_at, over_tls))
        .set("RUST_LOG", "trace")
        .set("HEADER", HEADER)
        .set("SIGN", SIGN);
    let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let switchboard = Switchboard::start_in(folder, Start { flags, ..start }).await;

    let mut hidden: Vec<String> = [BODY, HEADER, SIGN, TOKEN]
        .into_iter()
        .chain(ADDRESS)
        .chain(THEIRS)
        .chain(SOURCES.map(|(.., secret)| secret))
        .map(str::to_owned)
        .collect();
    endpoint(&switchboard, &sink, &mut hidden).await;
    let accepted = post(&switchboard, &mut hidden).await;
    let refused = SOURCES.len() + nearly(&switchboard, &mut hidden).await;
    sign_in(&switchboard, &mut hidden).await;
    // Seven deliveries of each of the four events, five of which are given up after two attempts.
    switchboard.wait_total("dead", 20).await;
    switchboard.wait_total("delivered", 8).await;
    let printed = operate(&switchboard, &mut hidden).await;
    for received in sink.received() {
        let signatures = received.header("webhook-signature").split(' ');
        hidden.extend(signatures.map(|signature| signature.trim_start_matches("v1,").to_owned()));
    }
    hidden.retain(|text| !text.is_empty());
    drop(silent);
    Told {
        switchboard,
        accepted,
        refused,
        printed,
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

/// A request to each source whose signature is right and written in the other encoding.
async fn nearly(switchboard: &Switchboard, hidden: &mut Vec<String>) -> usize {
    let body = format!("{{\"nearly\": \"{BODY}\"}}");
    for (source, scheme, ..) in SOURCES {
        let sender = sender(switchboard, source);
        let encoding = Scheme::named(scheme).expect("a scheme").encoding;
        let other = match encoding {
            Encoding::Hex => Encoding::Base64,
            Encoding::Base64 => Encoding::Hex,
        };
        let mut headers = sender.headers("id-3", "some.kind", body.as_bytes());
        for value in headers.values_mut() {
            let text = value.to_str().expect("text").to_owned();
            let parts = text.rsplit_once("v1,").or_else(|| text.rsplit_once("v1="));
            let signature = parts
                .or_else(|| text.split_once("sha256="))
                .map_or(text.as_str(), |(_, signature)| signature);
            if let Some(bytes) = encoding.decode(signature).filter(|bytes| bytes.len() == 32) {
                let rewritten = other.encode(&bytes);
                *value = text
                    .replace(signature, &rewritten)
                    .parse()
                    .expect("a value");
                hidden.extend([signature.trim_end_matches('=').to_owned()]);
                hidden.extend([rewritten.trim_end_matches('=').to_owned()]);
            }
        }
        let answer = sender.post(headers, body.clone()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{source}");
    }
    SOURCES.len()
}

/// What operators do, over HTTP and by commands; what the commands printed.
async fn operate(switchboard: &Switchboard, hidden: &mut Vec<String>) -> String {
    let idle = json!({ "destination": "idle" });
    for path in ["/admin/hold", "/admin/release", "/admin/redrive"] {
        let (status, answer) = switchboard
            .ask(Method::POST, path, Some(idle.clone()))
            .await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    }
    let body = format!("{{\"verified\": \"{BODY}\"}}");
    std::fs::write(switchboard.folder().join("body"), &body).expect("a body");
    let shop = sender(switchboard, "shop");
    let mut lines = Vec::new();
    for (name, value) in &shop.headers("id-4", "some.kind", body.as_bytes()) {
        let value = value.to_str().expect("text");
        if name == "x-shopify-hmac-sha256" {
            hidden.push(value.trim_end_matches('=').to_owned());
        }
        lines.push(format!("{name}: {value}"));
    }
    let verify = |source, lines: &[String]| {
        let mut arguments = [
            "verify",
            "--config",
            "switchboard.toml",
            "--body",
            "body",
            "--source",
            source,
        ]
        .map(str::to_owned)
        .to_vec();
        for line in lines {
            arguments.extend(["--header".to_owned(), line.clone()]);
        }
        arguments
    };
    let signature = lines
        .iter()
        .filter(|line| line.starts_with("x-shopify-hmac"));
    let no_colon: Vec<String> = signature.map(|line| line.replace(": ", " ")).collect();
    let mut printed = String::new();
    for (arguments, code) in [
        (verify("shop", &lines), 0),
        (verify("code", &lines), 1),
        (verify("shop", &no_colon), 64),
        (
            ["check", "--config", "switchboard.toml"]
                .map(str::to_owned)
                .to_vec(),
            0,
        ),
        (
            ["backup", "copy.sqlite", "--data", "data"]
                .map(str::to_owned)
                .to_vec(),
            0,
        ),
        (["hold", "idle"].map(str::to_owned).to_vec(), 0),
        (["release", "idle"].map(str::to_owned).to_vec(), 0),
        (["endpoint", "clear"].map(str::to_owned).to_vec(), 0),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (found, told) = switchboard.run(&arguments).await;
        assert_eq!(found, code, "{arguments:?}: {told}");
        printed.push_str(&told);
    }
    printed
}

/// A sign-in by the link, one by the token, and some that fail.
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
    let form = [host, ("content-type", "application/x-www-form-urlencoded")];
    let right = format!("token={TOKEN}");
    let entered = wire::ask(base, "POST", "/sign-in", &form, &right).await;
    let cookie = entered.header("set-cookie").expect("a cookie");
    let (_, value) = cookie.split_once('=').expect("a value");
    hidden.push(value.split(';').next().unwrap_or_default().to_owned());
    let [_, token, code] = THEIRS;
    let wrong = format!("/sign-in?code={code}");
    assert_eq!(
        wire::ask(base, "GET", &wrong, &[host], "").await.status,
        401
    );
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
