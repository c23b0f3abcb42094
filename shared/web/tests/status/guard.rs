//! The Host rule, the headers of every answer, and what the page's files may not do.

use http::{Method, StatusCode};

use crate::desk::{Desk, TOKEN, ask, bearer};

#[tokio::test]
async fn what_is_nowhere_and_what_is_asked_otherwise_is_told_as_every_error_is() {
    let desk = Desk::new();
    for path in ["/nowhere", "/api", "/api/nothing", "/admin/", "//"] {
        let seen = desk.send(ask(Method::GET, path, &[], "")).await;
        assert_eq!(seen.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(seen.problem(), "there is no such address", "{path}");
    }
    for (method, path, allowed) in [
        (Method::POST, "/api/overview", "GET,HEAD"),
        (Method::DELETE, "/healthz", "GET,HEAD"),
        (Method::GET, "/admin/hold", "POST"),
        (Method::GET, "/admin/endpoint", "PUT,DELETE"),
    ] {
        let seen = desk.send(ask(method, path, &[], "")).await;
        assert_eq!(seen.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(seen.problem(), "this address does not take that method");
        assert_eq!(seen.header("allow"), allowed, "{path}");
    }
}

#[tokio::test]
async fn page_api_and_admin_answer_to_this_machine_and_to_configured_hosts_only() {
    let desk = Desk::new();
    let routes = [
        (Method::GET, "/"),
        (Method::GET, "/page.js"),
        (Method::GET, "/sign-in"),
        (Method::POST, "/sign-in"),
        (Method::GET, "/api/overview"),
        (Method::GET, "/metrics"),
        (Method::POST, "/admin/redrive"),
        (Method::DELETE, "/admin/endpoint"),
    ];
    let of = async |method: &Method, path: &str, host: &str| {
        let headers = [("host", host.to_owned()), bearer(TOKEN)];
        desk.send(ask(method.clone(), path, &headers, "")).await
    };
    for (method, path) in &routes {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "192.168.1.1:3000",
            "",
        ] {
            let seen = of(method, path, host).await;
            assert_eq!(seen.status, StatusCode::FORBIDDEN, "{path} at {host:?}");
            assert!(seen.problem().contains("`hosts`"), "names the key");
        }
    }
    assert_eq!(desk.fake.calls(), [], "nothing reached the backend");
    for (method, path) in &routes {
        for host in [
            "localhost",
            "127.0.0.1:3000",
            "[::1]:3000",
            "switchboard.example",
        ] {
            let seen = of(method, path, host).await;
            assert_ne!(seen.status, StatusCode::FORBIDDEN, "{path} at {host}");
        }
    }
}

#[tokio::test]
async fn every_answer_tells_the_browser_to_run_and_keep_nothing_of_it() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    for path in [
        "/",
        "/sign-in",
        "/page.js",
        "/api/overview",
        "/metrics",
        "/healthz",
        "/admin/hold",
    ] {
        for headers in [
            vec![],
            vec![cookie.clone()],
            vec![("host", "evil.example".into())],
        ] {
            let seen = desk.send(ask(Method::GET, path, &headers, "")).await;
            assert_eq!(
                seen.header("content-security-policy"),
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                 form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
                "{path}"
            );
            assert_eq!(seen.header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(seen.header("referrer-policy"), "no-referrer", "{path}");
            for (name, value) in [
                ("cross-origin-opener-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"),
            ] {
                assert_eq!(seen.header(name), value, "{path} {name}");
            }
            let allowed: Vec<&str> = seen
                .header("permissions-policy")
                .split(", ")
                .filter(|what| !what.ends_with("=()"))
                .collect();
            assert_eq!(allowed, ["clipboard-write=(self)"], "{path}");
            let is_everybodys = path == "/page.js" && seen.status == StatusCode::OK;
            let kept = if is_everybodys {
                "no-cache"
            } else {
                "no-store"
            };
            assert_eq!(seen.header("cache-control"), kept, "{path}");
        }
    }
}

#[tokio::test]
async fn a_file_of_the_page_is_sent_again_only_when_it_changed() {
    let desk = Desk::new();
    for path in ["/page.css", "/icon.svg", "/page.js", "/sign-in.js"] {
        let first = desk.send(ask(Method::GET, path, &[], "")).await;
        let tag = ("if-none-match", first.header("etag").to_owned());
        let again = desk.send(ask(Method::GET, path, &[tag], "")).await;
        assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{path}");
        assert_eq!(again.text, "");
        let other = ("if-none-match", "\"older\"".to_owned());
        let whole = desk.send(ask(Method::GET, path, &[other], "")).await;
        assert_eq!(whole.text, first.text, "{path}");
    }
}

#[tokio::test]
async fn the_page_has_no_script_or_style_inline_and_never_makes_markup_of_a_text() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    let of = async |path: &str, headers: &[_]| {
        let seen = desk.send(ask(Method::GET, path, headers, "")).await;
        assert_eq!(seen.status, StatusCode::OK, "{path}");
        seen
    };
    let index = of("/", &[cookie]).await;
    assert!(
        index
            .text
            .contains("<script type=\"module\" src=\"/page.js\"></script>")
    );
    for page in [&index, &of("/", &[]).await] {
        assert!(page.header("content-type").starts_with("text/html"));
        for inline in [
            "<style",
            "style=",
            "onclick",
            "onload",
            "<script>",
            "javascript:",
        ] {
            assert!(!page.text.contains(inline), "{inline}");
        }
    }
    for script in ["/page.js", "/sign-in.js"] {
        let script = of(script, &[]).await;
        assert!(script.header("content-type").starts_with("text/javascript"));
        for markup in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "setInterval",
        ] {
            assert!(!script.text.contains(markup), "{markup}");
        }
    }
}
