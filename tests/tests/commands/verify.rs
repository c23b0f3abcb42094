//! `verify`: a captured request, judged with the same words that the page shows.

use http::HeaderMap;
use serde_json::Value;
use switchboard_tests::run::{Ended, Run};
use switchboard_tests::sender::now;
use switchboard_tests::setting::{self, SOURCES, running};
use switchboard_tests::switchboard::Switchboard;

/// What `verify` says of a request with these headers and this body.
async fn verify(
    switchboard: &Switchboard,
    source: &str,
    headers: &HeaderMap,
    body: &[u8],
    more: &[&str],
) -> Ended {
    std::fs::write(switchboard.folder().join("body"), body).expect("a file");
    let lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().expect("text")))
        .collect();
    let mut arguments = vec![
        "verify",
        "--config",
        "switchboard.toml",
        "--source",
        source,
        "--body",
        "body",
    ];
    for line in &lines {
        arguments.extend(["--header", line]);
    }
    arguments.extend(more);
    let run = Run::of(switchboard.folder(), &arguments);
    let run = SOURCES.iter().fold(run, |run, (_, _, variable, secret)| {
        run.set(variable, secret)
    });
    run.ended().await
}

/// The newest refusal that the running Switchboard shows.
async fn refusal(switchboard: &Switchboard) -> Value {
    switchboard.get("/api/refusals").await["items"][0].clone()
}

#[tokio::test]
async fn what_holds_is_accepted_with_the_event_that_it_would_be() {
    let (_sink, switchboard) = running().await;
    for (source, ..) in SOURCES {
        let sender = setting::sender(&switchboard, source);
        let body = br#"{"id": "id-1", "type": "some.kind"}"#;
        let headers = sender.headers("id-1", "some.kind", body);
        let ended = verify(&switchboard, source, &headers, body, &[]).await;
        assert_eq!((ended.code, &*ended.err), (0, ""), "{source}");
        let answer = sender.post(headers, &body[..]).await;
        let line = format!(
            "accepted: sender's id \"id-1\", kind \"some.kind\"; posted, it would be the event {}\n",
            answer.event()
        );
        assert_eq!(ended.out, line, "{source}");
    }
}

#[tokio::test]
async fn what_does_not_hold_is_refused_in_the_words_of_the_list_of_refusals() {
    let (_sink, switchboard) = running().await;
    let shop = setting::sender(&switchboard, "shop");
    let payments = setting::sender(&switchboard, "payments");
    let signed = shop.headers("id-1", "orders/create", b"{}");
    let mut without = signed.clone();
    without.remove("x-shopify-hmac-sha256");
    let mut malformed = signed.clone();
    malformed.insert(
        "x-shopify-hmac-sha256",
        "no-signature".parse().expect("a value"),
    );
    let cases: [(&str, &HeaderMap, &[u8], Option<&str>); 5] = [
        ("another body", &signed, b"{ }", None),
        ("a line end too many", &signed, b"{}\n", Some("line end")),
        ("no signature", &without, b"{}", None),
        ("no signature's form", &malformed, b"{}", None),
        (
            "another address",
            &payments.headers("", "", b"{}"),
            b"{}",
            None,
        ),
    ];
    for (case, headers, body, near) in cases {
        assert_eq!(
            shop.post(headers.clone(), body.to_vec()).await.status,
            401,
            "{case}"
        );
        let shown = refusal(&switchboard).await;
        let ended = verify(&switchboard, "shop", headers, body, &[]).await;
        assert_eq!((ended.code, &*ended.out), (1, ""), "{case}");
        assert_eq!(ended.lines().len(), 1, "{case}: {}", ended.err);
        let reason = shown["reason"].as_str().expect("a reason");
        assert!(
            ended
                .err
                .starts_with(&format!("switchboard: refused: {reason}")),
            "{case}: {}",
            ended.err
        );
        match (shown["near_miss"].as_str(), near) {
            (Some(shown), Some(near)) => assert!(
                shown.contains(near) && ended.err.contains(shown),
                "{case}: {shown}; {}",
                ended.err
            ),
            (None, None) => assert!(!ended.err.contains("near miss"), "{case}: {}", ended.err),
            (shown, near) => panic!("{case}: the near miss is {near:?}, and {shown:?} is shown"),
        }
        let length = format!("body: {} bytes", body.len());
        assert!(ended.err.contains(&length), "{case}: {}", ended.err);
    }
}

#[tokio::test]
async fn a_secret_of_another_source_is_a_near_miss_that_names_it() {
    let (_sink, switchboard) = running().await;
    let shop = setting::sender(&switchboard, "shop");
    let (.., code) = SOURCES[2];
    let wrong = switchboard.sender("shop", "shopify", code);
    let headers = wrong.headers("id-1", "orders/create", b"{}");
    assert_eq!(shop.post(headers.clone(), "{}").await.status, 401);
    let shown = refusal(&switchboard).await;
    let ended = verify(&switchboard, "shop", &headers, b"{}", &[]).await;
    assert_eq!(ended.code, 1);
    let near = shown["near_miss"].as_str().expect("a near miss");
    assert!(near.contains("a secret of the source code"), "{near}");
    assert!(ended.err.contains(near), "{}", ended.err);
    for secret in SOURCES.map(|(.., secret)| secret) {
        assert!(!ended.err.contains(secret), "{}", ended.err);
    }
}

#[tokio::test]
async fn the_signed_time_is_judged_as_of_the_moment_that_is_asked_for() {
    let (_sink, switchboard) = running().await;
    for source in ["payments", "forms"] {
        let body = br#"{"id": "id-1", "type": "some.kind"}"#;
        let headers = setting::sender(&switchboard, source).headers("id-1", "some.kind", body);
        let signed = now().seconds();
        for (distance, accepted) in [
            (295, true),
            (-295, true),
            (310, false),
            (-310, false),
            (315_360_000, false),
        ] {
            let at = (signed + distance).to_string();
            let ended = verify(
                &switchboard,
                source,
                &headers,
                body,
                &[&format!("--at={at}")],
            )
            .await;
            assert_eq!(
                ended.code == 0,
                accepted,
                "{source} at {distance}: {ended:?}"
            );
            if !accepted {
                assert!(
                    ended.err.contains("its time is more than 300 s from ours"),
                    "{}",
                    ended.err
                );
                assert!(
                    ended.err.contains(" s apart"),
                    "the distance is told: {}",
                    ended.err
                );
            }
        }
    }
}

#[tokio::test]
async fn what_holds_but_cannot_be_stored_ends_with_1_and_why() {
    let (_sink, switchboard) = running().await;
    let body = br#"{"type": "charge.refunded"}"#;
    let headers = setting::sender(&switchboard, "payments").headers("", "", body);
    let ended = verify(&switchboard, "payments", &headers, body, &[]).await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    assert!(
        ended.err.contains("400") && ended.err.contains("the body has no id"),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn what_it_cannot_judge_by_ends_with_64() {
    let (_sink, switchboard) = running().await;
    let none = HeaderMap::new();
    let ended = verify(&switchboard, "shopp", &none, b"{}", &[]).await;
    assert_eq!(ended.code, 64);
    assert!(
        ended.err.contains("there is no source named \"shopp\""),
        "{}",
        ended.err
    );
    let ended = verify(
        &switchboard,
        "shop",
        &none,
        b"{}",
        &["--header", "no header"],
    )
    .await;
    assert_eq!(ended.code, 64);
    assert!(
        ended.err.contains("number 1 of the --header") && !ended.err.contains("no header"),
        "{}",
        ended.err
    );
    let arguments = [
        "verify",
        "--config",
        "switchboard.toml",
        "--source",
        "shop",
        "--body",
        "body",
    ];
    let ended = Run::of(switchboard.folder(), &arguments).ended().await;
    assert_eq!(ended.code, 64, "its secrets are not there");
    assert!(ended.err.contains("env:SHOP"), "{}", ended.err);
    let arguments = [
        "verify",
        "--config",
        "not-there.toml",
        "--source",
        "shop",
        "--body",
        "body",
    ];
    let ended = Run::of(switchboard.folder(), &arguments).ended().await;
    assert_eq!(ended.code, 64);
    assert!(ended.err.contains("not-there.toml"), "{}", ended.err);
}
