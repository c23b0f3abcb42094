//! The Host rule: page, API and admin interface answer to this machine's names and those configured, sources to any.

use serde_json::Value;
use switchboard_tests::setting::{configuration, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Switchboard, TOKEN};
use switchboard_tests::wire;

const GUARDED: [(&str, &str); 8] = [
    ("GET", "/"),
    ("GET", "/sign-in?code=x"),
    ("GET", "/page.js"),
    ("GET", "/api/overview"),
    ("GET", "/api/events"),
    ("GET", "/metrics"),
    ("POST", "/admin/redrive"),
    ("DELETE", "/admin/endpoint"),
];

async fn running() -> Switchboard {
    let sink = Sink::start().await;
    let text = format!(
        "hosts = [\"Switchboard.example\"]\n{}",
        configuration(&sink)
    );
    Switchboard::start(start(&text)).await
}

/// The status of a request that carries the admin token.
async fn status(switchboard: &Switchboard, method: &str, path: &str, hosts: &[&str]) -> u16 {
    let bearer = format!("Bearer {TOKEN}");
    let mut headers = vec![
        ("authorization", &*bearer),
        ("content-type", "application/json"),
    ];
    headers.extend(hosts.iter().map(|host| ("host", *host)));
    let body = if method == "POST" {
        "{\"all\":true}"
    } else {
        ""
    };
    wire::ask(&switchboard.url, method, path, &headers, body)
        .await
        .status
}

#[tokio::test]
async fn another_host_is_refused_even_with_the_token() {
    let switchboard = running().await;
    for (method, path) in GUARDED {
        for hosts in [
            &["evil.example"][..],
            &["localhost.evil.example:80"],
            &["localhost", "evil.example"],
        ] {
            let status = status(&switchboard, method, path, hosts).await;
            assert!(
                status == 403 || (hosts.len() == 2 && status == 400),
                "{method} {path} for {hosts:?}: {status}"
            );
        }
        for host in [
            "localhost",
            "127.0.0.1:3000",
            "[::1]:3000",
            "switchboard.EXAMPLE",
        ] {
            let status = status(&switchboard, method, path, &[host]).await;
            assert_ne!(status, 403, "{method} {path} for {host}");
        }
    }
}

#[tokio::test]
async fn the_answer_to_another_host_says_which_setting_allows_it() {
    let switchboard = running().await;
    let reply = wire::ask(
        &switchboard.url,
        "GET",
        "/",
        &[("host", "evil.example")],
        "",
    )
    .await;
    assert_eq!(reply.status, 403);
    assert!(reply.body.contains("`hosts`"), "{}", reply.body);
}

#[tokio::test]
async fn what_cannot_be_served_is_answered_in_json_and_to_head_with_the_same_head_alone() {
    let switchboard = running().await;
    let own = ("host", "localhost");
    for (host, method, path, status, key) in [
        (own, "GET", "/nowhere", 404, "detail"),
        (own, "POST", "/nowhere", 404, "detail"),
        (own, "GET", "/in", 404, "detail"),
        (own, "POST", "/api/overview", 405, "detail"),
        (own, "GET", "/admin/redrive", 405, "detail"),
        (("host", "evil.example"), "GET", "/", 403, "detail"),
        (own, "POST", "/in/nobody", 404, "status"),
        (own, "GET", "/in/shop", 405, "status"),
    ] {
        let reply = wire::ask(&switchboard.url, method, path, &[host], "").await;
        assert_eq!(reply.status, status, "{method} {path}");
        let kind = match key {
            "detail" => "application/problem+json",
            _ => "application/json",
        };
        assert_eq!(reply.header("content-type"), Some(kind), "{method} {path}");
        let body: Value = serde_json::from_str(&reply.body).expect("JSON");
        let said = body[key].as_str().expect("a reason");
        assert!(!said.is_empty(), "{method} {path}");
        if method == "GET" {
            let head = wire::ask(&switchboard.url, "HEAD", path, &[host], "").await;
            assert_eq!((head.status, &*head.body), (status, ""), "HEAD {path}");
        }
    }
}

#[tokio::test]
async fn sources_and_health_answer_to_any_host() {
    let switchboard = running().await;
    let headers = sender(&switchboard, "shop").headers("1", "kind", b"{}");
    let mut lines: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().expect("text")))
        .collect();
    lines.push(("host", "evil.example"));
    let reply = wire::ask(&switchboard.url, "POST", "/in/shop", &lines, "{}").await;
    assert_eq!(reply.status, 200, "{}", reply.head);
    let reply = wire::ask(
        &switchboard.url,
        "GET",
        "/healthz",
        &[("host", "evil.example")],
        "",
    )
    .await;
    assert_eq!(reply.status, 200, "{}", reply.head);
}

#[tokio::test]
async fn a_page_of_another_site_moves_nothing_even_with_the_token() {
    let switchboard = running().await;
    let bearer = format!("Bearer {TOKEN}");
    for from in [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("origin", "null"),
    ] {
        let headers = [
            ("host", "localhost"),
            ("authorization", &bearer),
            ("content-type", "application/json"),
            from,
        ];
        let body = "{\"destination\":\"accounting\"}";
        let reply = wire::ask(&switchboard.url, "POST", "/admin/hold", &headers, body).await;
        assert_eq!(reply.status, 403, "{from:?}");
    }
    // What a form of another site could send: no token, and a type that needs no leave.
    let headers = [("host", "localhost"), ("content-type", "text/plain")];
    let reply = wire::ask(
        &switchboard.url,
        "POST",
        "/admin/hold",
        &headers,
        "{\"destination\":\"accounting\"}",
    )
    .await;
    assert_eq!(reply.status, 401);
    for path in ["/admin/redrive", "/admin/hold", "/admin/release"] {
        assert_eq!(
            status(&switchboard, "GET", path, &["localhost"]).await,
            405,
            "GET {path}"
        );
    }
    let held = &switchboard.get("/api/overview").await["held"];
    assert_eq!(held.as_array().map(Vec::len), Some(0));
}
