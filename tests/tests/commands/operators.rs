//! `hold`, `release` and `redrive` against a running Switchboard.

use http::StatusCode;
use serde_json::{Value, json};
use switchboard_tests::run::Run;
use switchboard_tests::sender::now;
use switchboard_tests::setting::{running, sender};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

/// An id that no delivery has.
const UNKNOWN: &str = "dlv_aaaaaaaaaaaaaaaaaaaaaaaaaa";

async fn orders(switchboard: &Switchboard, ids: &[&str]) {
    for id in ids {
        let answer = sender(switchboard, "shop")
            .send(id, "orders/create", "{}")
            .await;
        assert_eq!(answer.status, StatusCode::OK);
    }
}

async fn dead_letters(switchboard: &Switchboard) -> Vec<Value> {
    let letters = switchboard.get("/api/dead-letters").await["items"].take();
    letters.as_array().expect("a list").clone()
}

#[tokio::test]
async fn a_held_destination_waits_until_it_is_released() {
    let (sink, switchboard) = running().await;
    let (code, printed) = switchboard.run(&["hold", "accounting"]).await;
    assert_eq!(code, 0, "{printed}");
    assert!(
        printed.contains("accounting is held")
            && printed.contains("switchboard release accounting"),
        "{printed}"
    );
    orders(&switchboard, &["1", "2", "3"]).await;
    switchboard.wait_total("held", 3).await;
    switchboard.wait_total("delivered", 3).await;
    assert!(
        sink.received()
            .iter()
            .all(|received| received.path == "/warehouse")
    );
    assert_eq!(
        switchboard.get("/api/overview").await["held"],
        json!(["accounting"])
    );
    let (code, printed) = switchboard.run(&["hold", "accounting"]).await;
    assert_eq!(code, 0, "the same again is once: {printed}");
    let (code, printed) = switchboard
        .run(&["release", "accounting", "--per-second", "100"])
        .await;
    assert_eq!(
        (code, &*printed),
        (0, "accounting is released: 3 deliveries let go, 0 left\n")
    );
    switchboard.wait_total("delivered", 6).await;
    assert_eq!(switchboard.get("/api/overview").await["held"], json!([]));
}

#[tokio::test]
async fn the_command_that_is_told_next_reaches_the_same_switchboard() {
    let (sink, switchboard) = running().await;
    let url = switchboard.url.as_str().trim_end_matches('/');
    let (code, printed) = switchboard
        .run(&["hold", "accounting", "--data", "my data"])
        .await;
    assert_eq!(
        (code, printed),
        (
            0,
            format!(
                "accounting is held; `switchboard release accounting --url {url} --data 'my data'` lets its deliveries go\n"
            )
        )
    );
    let mine = sink.url("/mine");
    switchboard.run(&["endpoint", "set", &mine]).await;
    let (_, again) = switchboard.run(&["endpoint", "set", &mine]).await;
    let hint = format!("`switchboard endpoint rotate --url {url}`");
    assert!(again.contains(&hint), "{again}");
    orders(&switchboard, &["1"]).await;
    switchboard.wait_total("held", 1).await;
    let (_, printed) = switchboard.run(&["release", "accounting"]).await;
    assert_eq!(
        printed,
        "accounting is released: 1 delivery let go, 0 left\n"
    );
}

#[tokio::test]
async fn released_deliveries_are_spread_as_asked() {
    let (sink, switchboard) = running().await;
    switchboard.run(&["hold", "warehouse"]).await;
    orders(&switchboard, &["1", "2", "3", "4", "5", "6"]).await;
    switchboard.wait_total("held", 6).await;
    let asked = now().millis();
    let (code, printed) = switchboard
        .run(&["release", "warehouse", "--per-second", "4"])
        .await;
    assert_eq!(code, 0, "{printed}");
    switchboard.wait_total("delivered", 12).await;
    let received = sink.received();
    let last = received
        .iter()
        .filter(|received| received.path == "/warehouse")
        .map(|received| received.at)
        .max();
    // The first is due at once, so the sixth a second and a quarter after it; all at once would take a few ms.
    let after = last.expect("some") - asked;
    assert!(after >= 1250, "six deliveries came within {after} ms");
}

#[tokio::test]
async fn dead_letters_are_sent_again_one_by_one_by_destination_or_all() {
    let (sink, switchboard) = running().await;
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    orders(&switchboard, &["1", "2"]).await;
    switchboard.wait_total("dead", 4).await;
    sink.answer(|_, _| StatusCode::OK);
    let letters = dead_letters(&switchboard).await;
    let one = letters
        .iter()
        .find(|letter| letter["destination"] == "warehouse")
        .expect("one");
    let one = one["delivery"].as_str().expect("an id");
    let (code, printed) = switchboard.run(&["redrive", one]).await;
    assert_eq!((code, &*printed), (0, "1 sent again, 0 left\n"));
    switchboard.wait_total("delivered", 1).await;
    assert!(
        dead_letters(&switchboard)
            .await
            .iter()
            .all(|letter| letter["delivery"] != one)
    );
    let (code, printed) = switchboard.run(&["redrive", one]).await;
    assert_eq!(
        (code, printed),
        (1, format!("switchboard: no such dead letter: {one}\n")),
        "it is no dead letter any more"
    );
    let (code, printed) = switchboard
        .run(&["redrive", "--destination", "accounting"])
        .await;
    assert_eq!((code, &*printed), (0, "2 sent again, 0 left\n"));
    switchboard.wait_total("delivered", 3).await;
    assert_eq!(switchboard.total("dead").await, 1);
    let (code, printed) = switchboard.run(&["redrive", "--all"]).await;
    assert_eq!((code, &*printed), (0, "1 sent again, 0 left\n"));
    switchboard.wait_total("delivered", 4).await;
    assert_eq!(switchboard.total("dead").await, 0);
    // Three failed attempts and one that was delivered, all under one key.
    let attempts = sink
        .received()
        .iter()
        .filter(|received| received.key() == one)
        .count();
    assert_eq!(attempts, 4);
}

#[tokio::test]
async fn of_several_deliveries_the_dead_letters_are_sent_again_and_the_others_told() {
    let (sink, switchboard) = running().await;
    sink.answer(|_, _| StatusCode::FORBIDDEN);
    orders(&switchboard, &["1"]).await;
    switchboard.wait_total("dead", 2).await;
    sink.answer(|_, _| StatusCode::OK);
    let letters = dead_letters(&switchboard).await;
    let ids: Vec<&str> = letters
        .iter()
        .filter_map(|letter| letter["delivery"].as_str())
        .collect();
    // One is named twice, and is one all the same.
    let (code, printed) = switchboard
        .run(&["redrive", ids[0], ids[0], UNKNOWN, ids[1]])
        .await;
    assert_eq!(
        (code, &*printed),
        (
            1,
            "2 sent again, 0 left\nswitchboard: 1 of the 3 is no dead letter\n"
        )
    );
    switchboard.wait_total("delivered", 2).await;
    let (code, printed) = switchboard.run(&["redrive", ids[0], UNKNOWN]).await;
    assert_eq!(
        (code, &*printed),
        (1, "switchboard: none of the 2 is a dead letter\n")
    );
}

#[tokio::test]
async fn an_id_that_can_be_no_deliverys_is_told_before_anything_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    // Nobody listens there, and there is no token: neither is looked for.
    let arguments = ["redrive", "dlv_x", "--url", "http://127.0.0.1:9"];
    let ended = Run::of(folder.path(), &arguments)
        .unset("SWITCHBOARD_ADMIN_TOKEN")
        .ended()
        .await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended.err.contains("dlv_x") && ended.err.contains("26 characters"),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn what_is_not_there_ends_with_1_and_one_line_that_names_it() {
    let (_sink, switchboard) = running().await;
    for (arguments, named) in [
        (&["hold", "nobody"][..], "\"nobody\""),
        (&["release", "nobody"], "\"nobody\""),
        (&["redrive", "--destination=nobody"], "\"nobody\""),
        (&["hold", "No Name"], "destination"),
        (&["redrive", UNKNOWN], UNKNOWN),
    ] {
        let (code, printed) = switchboard.run(arguments).await;
        assert_eq!(
            (code, printed.lines().count()),
            (1, 1),
            "{arguments:?}: {printed}"
        );
        assert!(
            printed.starts_with("switchboard: ") && printed.contains(named),
            "{arguments:?}: {printed}"
        );
    }
}

#[tokio::test]
async fn redrive_moves_nothing_unless_it_is_told_what() {
    let (sink, switchboard) = running().await;
    sink.answer(|_, _| StatusCode::FORBIDDEN);
    orders(&switchboard, &["1"]).await;
    switchboard.wait_total("dead", 2).await;
    for arguments in [
        &["redrive"][..],
        &["redrive", "--all", "--destination", "warehouse"],
    ] {
        let (code, printed) = switchboard.run(arguments).await;
        assert_eq!(code, 2, "{printed}");
    }
    assert_eq!(switchboard.total("dead").await, 2);
}

#[tokio::test]
async fn an_answer_without_a_reason_says_what_to_do_about_it() {
    let sink = Sink::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let url = sink.url("/");
    for (status, due) in [
        (
            StatusCode::BAD_GATEWAY,
            "run it again in a moment, which is safe",
        ),
        (
            StatusCode::GATEWAY_TIMEOUT,
            "run it again in a moment, which is safe",
        ),
        (
            StatusCode::TOO_MANY_REQUESTS,
            "too much is asked at once: run it again in a moment",
        ),
        (StatusCode::NOT_FOUND, "is a Switchboard at --url?"),
    ] {
        sink.answer(move |_, _| status);
        let arguments = [
            "redrive",
            "--all",
            "--url",
            &url,
            "--token",
            "a-token-for-tests",
        ];
        let ended = Run::of(folder.path(), &arguments).ended().await;
        assert_eq!((ended.code, &*ended.out), (1, ""));
        let line = ended.lines().concat();
        assert!(
            line.contains(due) && line.contains(status.as_str()),
            "{line}"
        );
    }
    // What held said itself is passed on.
    sink.answer(|_, _| {
        let said = serde_json::json!({ "held": "chat", "counts_within_s": 5 });
        axum::Json(said)
    });
    let arguments = [
        "hold",
        "chat",
        "--url",
        &url,
        "--token",
        "a-token-for-tests",
    ];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    let due = "chat is held (it counts everywhere within 5 seconds); `switchboard release chat";
    assert!(ended.out.starts_with(due), "{}", ended.out);
}
