//! The places at a destination: one is free when its answer is there, not when that is recorded, and there are never
//! more requests under way than places.

use std::path::Path;

use rusqlite::Connection;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::Views;
use switchboard_core::time::Clock;

use crate::setting::{CONFIGURATION, Does, Running, Told, configured, run};

/// Keeps everybody else from writing to the store while it is open, so that nothing can be recorded. What waits for it
/// waits five seconds and then tries again.
fn occupied(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("switchboard.sqlite")).expect("the store");
    connection
        .busy_timeout(std::time::Duration::from_secs(20))
        .expect("an option");
    connection
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody writes");
    connection
}

/// Lanes with so many events for a destination that has `places` and answers one request for each permit of the gate.
async fn waiting(folder: &Path, places: usize, events: usize) -> Running {
    let text = CONFIGURATION.replace("max_in_flight = 2", &format!("max_in_flight = {places}"));
    let told = Told::new(&[("bad", Does::Wait)]);
    let running = run(folder, &configured(&text), &told);
    for n in 0..events {
        running.accept(&n.to_string(), &["bad"]).await;
    }
    running.told.until_requests("bad", places).await;
    running
}

#[tokio::test]
async fn a_place_is_free_when_the_answer_is_there_and_not_when_it_is_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = waiting(folder.path(), 1, 3).await;
    let store = occupied(folder.path());
    for answered in 1..3 {
        running.told.0.gate.add_permits(1);
        running.told.until_requests("bad", answered + 1).await;
    }
    let totals = running.until("it can be read", |_| true).await;
    assert_eq!(totals.delivered, 0, "nothing could be recorded meanwhile");
    drop(store);
    running.told.0.gate.add_permits(1);
    running
        .until("all are delivered", |totals| totals.delivered == 3)
        .await;
    assert_eq!(running.told.requests_to("bad").len(), 3, "each once");
    running.end().await;
}

#[tokio::test]
async fn requests_under_way_are_told_by_destination() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = waiting(folder.path(), 3, 5).await;
    let under_way = async |name: &str| {
        let recent = running.store.recent(running.clock.now()).await;
        let recent = recent.expect("the last hour");
        let name = DestinationName::parse(name).expect("a name");
        let health = recent.destinations.get(&name).expect("it is known");
        health.in_flight
    };
    assert_eq!(under_way("bad").await, Some(3), "as many as places");
    assert_eq!(under_way("good").await, Some(0));
    running.told.0.gate.add_permits(5);
    running
        .until("all are delivered", |totals| totals.delivered == 5)
        .await;
    assert_eq!(under_way("bad").await, Some(0));
    running.end().await;
}

#[tokio::test]
async fn there_are_never_more_requests_under_way_than_places_whether_or_not_they_are_recorded() {
    const EVENTS: usize = 40;
    let folder = tempfile::tempdir().expect("a folder");
    let running = waiting(folder.path(), 3, EVENTS).await;
    let store = occupied(folder.path());
    for answered in 1..=EVENTS / 2 {
        running.told.0.gate.add_permits(1);
        running.told.until_requests("bad", answered + 3).await;
    }
    drop(store);
    running.told.0.gate.add_permits(EVENTS);
    running
        .until("all are delivered", |totals| totals.delivered == 40)
        .await;
    assert_eq!(running.told.most_under_way(), 3);
    running.end().await;
}
