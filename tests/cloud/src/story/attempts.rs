//! Attempts, their pauses, dead letters and their redrive.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use switchboard_tests::sink::Received;
use switchboard_tests::wait;

use super::setting::{AUTHORIZATION, Scene};

/// The usual pauses, in milliseconds; each may be a fifth shorter or longer.
const PAUSES_MS: [i64; 5] = [2_000, 4_000, 8_000, 16_000, 32_000];
/// How much later than its time a message may come: the emulator is late by up to 1.2 seconds, and the machine is shared.
const LATE_MS: i64 = 1_200 + 3_000;
/// Longer than all the usual pauses together ever are.
const USED_UP: Duration = Duration::from_mins(2);

/// Sends an event to the destination with the usual pauses, which fails; the event's id.
pub(super) async fn begin(scene: &Scene<'_>) -> String {
    let sent = scene.sender("shop").send("usual-1", "usual", "{}").await;
    assert_eq!(sent.body["status"], "accepted", "{}", sent.body);
    scene.count(1, 1);
    sent.event()
}

/// The dead letter of an event, once it is in the list.
async fn letter(scene: &Scene<'_>, event: &str, attempts: u64) -> Value {
    let what = format!("{event} is a dead letter after {attempts} attempts");
    wait::within(USED_UP, &what, async || {
        let letters = scene.operator.get("/api/dead-letters").await;
        let items = letters["items"].as_array()?.clone();
        items
            .into_iter()
            .find(|item| item["event"] == event && item["attempts"] == attempts)
    })
    .await
}

/// Waits for the ticket of a death.
async fn ticket(scene: &Scene<'_>, letter: &Value) {
    let due = json!([letter["event"], letter["delivery"], letter["attempts"]]);
    wait::until("the ticket is on the queue of dead letters", async || {
        let tickets = scene.deployed.peek("DeadLetters").await;
        let is_due = |ticket: &Value| json!([ticket["e"], ticket["d"], ticket["n"]]) == due;
        tickets.iter().any(is_due).then_some(())
    })
    .await;
}

async fn redrive(scene: &Scene<'_>, letter: &Value) {
    let body = json!({ "deliveries": [letter["delivery"]] });
    let answer = scene
        .operator
        .does(Method::POST, "/admin/redrive", Some(body))
        .await;
    assert_eq!(answer, json!({ "redriven": 1, "left": 0 }));
}

/// All attempts came under one key, numbered from 1 on.
fn numbered(attempts: &[Received], count: usize) {
    let numbers: Vec<String> = attempts
        .iter()
        .map(|one| one.header("switchboard-attempt").to_owned())
        .collect();
    let due: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    assert_eq!(numbers, due, "the attempts as they came");
    let keys: BTreeSet<&str> = attempts.iter().map(Received::key).collect();
    assert_eq!(keys.len(), 1, "one key for all attempts: {keys:?}");
}

/// Six attempts, a dead letter, exactly six more, and delivered once the destination is well.
pub(super) async fn redriven(scene: &Scene<'_>) {
    let sent = scene.sender("shop").send("brisk-1", "brisk", "{}").await;
    let event = sent.event();
    scene.count(1, 1);
    for attempts in [6, 12] {
        let letter = letter(scene, &event, attempts).await;
        assert_eq!(letter["destination"], "brisk", "{letter}");
        let why = "attempts used up: last answer 503";
        assert_eq!(letter["reason"], why, "{letter}");
        ticket(scene, &letter).await;
        let groups = scene.operator.get("/api/dead-letters/groups").await;
        let group = json!(["brisk", why, 1]);
        let is_it =
            |found: &Value| json!([found["destination"], found["reason"], found["count"]]) == group;
        let groups = groups["items"].as_array().expect("groups");
        assert!(groups.iter().any(is_it), "{groups:?}");
        if attempts == 12 {
            scene.well[1].store(true, Ordering::Relaxed);
        }
        redrive(scene, &letter).await;
    }
    wait::until("the thirteenth attempt came", async || {
        (scene.came_to("/brisk").len() == 13).then_some(())
    })
    .await;
    numbered(&scene.came_to("/brisk"), 13);
}

/// The first round of the delivery that began to fail at the start of the story.
pub(super) async fn used_up(scene: &Scene<'_>, event: &str) {
    let letter = letter(scene, event, 6).await;
    ticket(scene, &letter).await;
    let attempts = scene.came_to("/usual");
    for attempt in &attempts {
        assert_eq!(attempt.header("authorization"), AUTHORIZATION);
    }
    numbered(&attempts, 6);
    for (pair, pause) in attempts.windows(2).zip(PAUSES_MS) {
        let found = pair[1].at - pair[0].at;
        let (least, most) = (pause * 4 / 5, pause * 6 / 5 + LATE_MS);
        assert!(
            (least..=most).contains(&found),
            "a pause of {found} ms, where {least} to {most} ms were due"
        );
    }
    scene.well[0].store(true, Ordering::Relaxed);
    redrive(scene, &letter).await;
    wait::until("it is delivered at its seventh attempt", async || {
        (scene.came_to("/usual").len() == 7).then_some(())
    })
    .await;
    numbered(&scene.came_to("/usual"), 7);
}

/// The keeper removes the tickets of what is delivered meanwhile: nothing is dead any more.
pub(super) async fn tickets_go(scene: &Scene<'_>) {
    scene.deployed.call("Keeper", &json!({})).await;
    wait::until("no ticket is left", async || {
        (scene.deployed.depth("DeadLetters").await == 0).then_some(())
    })
    .await;
}
