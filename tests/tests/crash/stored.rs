//! A data folder with something in it before the first start, put there through the store's own steps.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use switchboard_core::address::{Address, Networks};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, DeliveryKey, Next, Outcome};
use switchboard_core::endpoint::{Change, KEY_BYTES, fresh_secret};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Keep, Ledger, Queued, SettingsStore, Spread};
use switchboard_core::time::Timestamp;
use switchboard_embedded::Store;
use switchboard_tests::sender::now;
use tempfile::TempDir;
use tokio::task::JoinSet;

const KEEP: Keep = Keep { days: 30 };

/// What a stored delivery came to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    Waiting,
    /// Waiting, of a destination that is held since.
    ToBeHeld,
    Held,
    /// Held of a destination that is held no more: as a release leaves it that is cut in the middle.
    Released,
    Dead,
}

/// A folder whose store holds `n` events with a delivery each to `destination`.
pub(crate) async fn deliveries(n: u32, destination: &str, state: State) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(&data(folder.path())).expect("a store"));
    let destination = DestinationName::parse(destination).expect("a name");
    let mut adding = JoinSet::new();
    for number in 0..n {
        let (store, destination) = (Arc::clone(&store), destination.clone());
        adding.spawn(async move { add(&store, number, Some(&destination), now(), state).await });
    }
    adding.join_all().await;
    let change = |change| store.change(change);
    if let State::ToBeHeld | State::Held | State::Released = state {
        let held = change(Change::Hold(destination.clone())).await;
        held.expect("held");
    }
    if let State::Held | State::Released = state {
        let moved = store.shelve(&destination, now(), KEEP, n).await;
        assert_eq!(moved.expect("shelved").done, n);
    }
    if let State::Released = state {
        let spread = Spread {
            start: now(),
            per_second: 50,
        };
        let released = change(Change::Release(destination, spread)).await;
        released.expect("released");
    }
    folder
}

/// Sets your endpoint in the store of a folder.
pub(crate) async fn set_endpoint(folder: &TempDir, address: &str) {
    let store = Store::open(&data(folder.path())).expect("a store");
    let change = Change::SetEndpoint {
        address: Address::parse(address, Networks::PrivateToo).expect("an address"),
        fresh: fresh_secret(&[7; KEY_BYTES]).expect("a secret"),
    };
    store.change(change).await.expect("set");
}

/// The tables of the first version, which never change.
const FIRST_VERSION: &str = include_str!("../../../shared/embedded/src/schema/1.sql");

/// A folder as the first version left it: an event of the shop with one delivery that waits for accounting.
pub(crate) fn of_first_version() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(data(folder.path())).expect("a folder");
    let file = data(folder.path()).join("switchboard.sqlite");
    let connection = rusqlite::Connection::open(file).expect("a file");
    let event = event(0, now());
    let accounting = DestinationName::parse("accounting").expect("a name");
    let (id, at) = (event.id.as_str(), now().millis());
    let delivery = queued(&event, &accounting, now()).key.id;
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL; {FIRST_VERSION}
             PRAGMA application_id = {}; PRAGMA user_version = 1;
             INSERT INTO event VALUES (1, '{id}', 'shop', 'stored-0', NULL, 'other', {at}, {at} + 86400000, {at} + 86400000, x'', x'7b7d', x'', 0, 0);
             INSERT INTO delivery (id, event, run, destination, action, state, due, changed_at)
             VALUES ('{delivery}', 1, 0, 'accounting', 'deliver', 0, {at}, {at});
             INSERT INTO total VALUES ('stored', 'shop', '', 1), ('waiting', 'accounting', '', 1);",
            i32::from_be_bytes(*b"swbd")
        ))
        .expect("filled");
    folder
}

/// A folder whose store holds `n` events past their life.
pub(crate) async fn past_events(n: u32) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(Store::open(&data(folder.path())).expect("a store"));
    let long_ago = Timestamp::from_seconds(now().seconds() - 200 * 24 * 3600);
    let mut adding = JoinSet::new();
    for number in 0..n {
        let store = Arc::clone(&store);
        adding.spawn(async move { add(&store, number, None, long_ago, State::Waiting).await });
    }
    adding.join_all().await;
    folder
}

/// Where a Switchboard in `folder` has its data.
pub(crate) fn data(folder: &Path) -> std::path::PathBuf {
    folder.join("data")
}

async fn add(
    store: &Store,
    number: u32,
    to: Option<&DestinationName>,
    at: Timestamp,
    state: State,
) {
    let event = Arc::new(event(number, at));
    let plan: Vec<Queued> = to.into_iter().map(|to| queued(&event, to, at)).collect();
    store.accept(&event, &plan, KEEP).await.expect("stored");
    match state {
        State::Waiting | State::ToBeHeld | State::Held | State::Released => {}
        State::Dead => {
            let key = plan[0].key.clone();
            let attempt = Attempt {
                key,
                event,
                number: 1,
                in_round: 1,
            };
            let outcome = Outcome::Answered {
                status: 500,
                piece: Piece::clean(b""),
            };
            let record = AttemptRecord::new(1, at, Duration::from_millis(1), &outcome);
            let next = Next::Dead(DeathReason::AttemptsUsedUp);
            store
                .record(&attempt, &record, next, KEEP)
                .await
                .expect("recorded");
        }
    }
}

fn queued(event: &Event, to: &DestinationName, due: Timestamp) -> Queued {
    let (action, run) = (ActionName::deliver(), Run(0));
    Queued {
        key: DeliveryKey {
            event: event.id.clone(),
            id: DeliveryId::of(&event.id, to, &action, run),
            destination: to.clone(),
            action,
            run,
        },
        due,
    }
}

/// An event of the shop.
fn event(number: u32, received_at: Timestamp) -> Event {
    let source = SourceName::parse("shop").expect("a name");
    let sender_id = SenderId::new(&format!("stored-{number}")).expect("an id");
    Event {
        id: EventId::of(&source, &sender_id),
        source,
        sender_id,
        kind: Kind::new("other").expect("a kind"),
        received_at,
        headers: KeptHeaders::from_lines(b"content-type: application/json\n"),
        body: Bytes::from_static(b"{}"),
    }
}
