//! `SettingsStore`: what operators have set stands as the core says, survives, and is set once however often.
//!
//! Taken to mean: a change moves no delivery; shelving, burying and requeueing are steps of the ledger.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchboard_core::address::{Address, Networks};
use switchboard_core::delivery::State;
use switchboard_core::endpoint::{Change, KEY_BYTES, Settings, fresh_secret};
use switchboard_core::names::YOUR_ENDPOINT;
use switchboard_core::ports::SettingsStore;
use switchboard_core::secret::Secret;
use switchboard_core::sign_in::{Ended, SignIn, SignInId};

use super::fixture::Fixture;
use super::sample::{START, after, destination, release};
use super::stage::{Stage, sure};

fn secret(n: u8) -> Secret {
    fresh_secret(&[n; KEY_BYTES]).expect("a secret")
}

fn set(address: &str, n: u8) -> Change {
    Change::SetEndpoint {
        address: Address::parse(address, Networks::PrivateToo).expect("an address"),
        fresh: secret(n),
    }
}

fn rotate(n: u8, seconds: u64) -> Change {
    Change::RotateEndpoint {
        fresh: secret(n),
        overlap_until: after(seconds),
    }
}

/// A sign-in that would have gone on until so many seconds after the start, ended at the start.
fn sign_out(end: u64, id: &str) -> Change {
    let id = SignInId::parse(id).expect("an id");
    let end = after(end);
    Change::SignOut(SignIn { end, id }, START)
}

const PLAIN: &str = "https://example.com/hook";
const ODD: &str = "http://127.0.0.1:3001/a%20b/c?key=s%26cret&x=%C3%A9";

/// A walk through every kind of change, each from more than one state.
fn changes() -> Vec<Change> {
    vec![
        rotate(9, 5),
        Change::ClearEndpoint,
        set(PLAIN, 1),
        set(ODD, 2),
        Change::Hold(destination("chat")),
        rotate(3, 60),
        rotate(4, 90),
        set(PLAIN, 5),
        Change::Hold(destination(YOUR_ENDPOINT)),
        release(&destination("warehouse")),
        Change::ClearEndpoint,
        release(&destination("chat")),
        sign_out(60, "Ab-_9"),
        set(ODD, 6),
        sign_out(30, "another"),
        Change::Hold(destination("crm")),
    ]
}

pub async fn nothing_is_set_at_first<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    assert_eq!(*stage.settings().await, Settings::default());
    let stage = stage.reopened().await;
    assert_eq!(*stage.settings().await, Settings::default());
}

pub async fn every_change_stands_as_the_core_says<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mut expected = Settings::default();
    for change in changes() {
        expected = expected.after(change.clone());
        let answered = stage.change(change.clone()).await;
        assert_eq!(*answered, expected, "the answer after {change:?}");
        assert_eq!(*stage.settings().await, expected, "after {change:?}");
    }
}

pub async fn every_change_survives_reopening<F: Fixture>(fixture: F) {
    let mut stage = Stage::open(fixture).await;
    let mut expected = Settings::default();
    for change in changes() {
        expected = expected.after(change.clone());
        stage.change(change.clone()).await;
        stage = stage.reopened().await;
        assert_eq!(*stage.settings().await, expected, "after {change:?}");
    }
}

pub async fn the_same_change_twice_is_the_change_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for change in changes() {
        let once = stage.change(change.clone()).await;
        let twice = stage.change(change.clone()).await;
        assert_eq!(once, twice, "{change:?}");
    }
}

pub async fn more_sign_outs_than_are_kept_all_stand<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let all: Vec<Change> = (0..=Ended::MOST)
        .map(|n| sign_out(60 + n as u64, &format!("sign-in-{n}")))
        .collect();
    for change in all.clone() {
        stage.change(change).await;
    }
    let stage = stage.reopened().await;
    let settings = stage.settings().await;
    assert_eq!(settings.ended.until, Some(after(60)), "the first went");
    for change in all {
        let Change::SignOut(sign_in, _) = change else {
            continue;
        };
        assert!(settings.ended.has(&sign_in), "{sign_in:?}");
    }
}

pub async fn changes_made_at_once_all_stand<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let name = |n: u32| destination(&format!("chat-{n}"));
    stage.change(set(PLAIN, 1)).await;
    for n in 0..10 {
        stage.change(Change::Hold(name(n))).await;
    }
    stage
        .at_once(20, move |backend, n| async move {
            let change = if n < 10 {
                release(&name(n))
            } else {
                Change::Hold(name(n))
            };
            sure(backend.change(change).await);
        })
        .await;
    let settings = stage.settings().await;
    let expected: BTreeSet<_> = (10..20).map(name).collect();
    assert_eq!(settings.held, expected);
    let endpoint = settings.endpoint.as_ref().expect("it is set");
    assert_eq!(endpoint.secret, secret(1));
}

pub async fn of_two_fresh_secrets_at_once_one_stands<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let answers: Vec<Arc<Settings>> = stage
        .at_once(10, |backend, n| async move {
            let n = u8::try_from(n).expect("a small number");
            sure(backend.change(set(PLAIN, n)).await)
        })
        .await;
    let stands = stage.settings().await;
    for answer in answers {
        assert_eq!(
            answer, stands,
            "the one that is told is the one that stands"
        );
    }
}

pub async fn a_change_moves_no_delivery<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let waiting = stage.one("shop", "1", "chat", START).await;
    let copy = stage.one("shop", "2", YOUR_ENDPOINT, START).await;
    let held = stage.one("shop", "3", "crm", START).await;
    stage.hold("crm", START).await;
    stage.change(Change::Hold(destination("chat"))).await;
    stage.change(Change::ClearEndpoint).await;
    stage.let_go("crm").await;
    assert_eq!(stage.state(&waiting).await, State::Waiting);
    assert_eq!(stage.state(&copy).await, State::Waiting);
    assert_eq!(stage.state(&held).await, State::Held);
}
