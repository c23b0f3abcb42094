//! `ConfigurationStore`: what was applied stands whole under its version, and nobody overwrites what they have not seen.
//!
//! Taken to mean: a replacement by the very text that stands is one like any other, with a version of its own.

use std::future::Future;
use std::sync::Arc;

use switchboard_core::ports::{ConfigurationStore, Replaced, Stored, Version};

use super::sample::after;
use super::stage::sure;

/// A place for one store of configurations. Every check gets a fixture of its own.
pub trait Fixture: Send + Sync + 'static {
    /// The store under test.
    type Store: ConfigurationStore;

    /// Opens the store on a place that holds nothing yet. Called once.
    fn fresh(&self) -> impl Future<Output = Self::Store> + Send;

    /// Closes the store, as the end of its process would, and opens it again on the same place.
    fn reopened(&self, store: Self::Store) -> impl Future<Output = Self::Store> + Send;
}

fn version(number: u64) -> Version {
    Version::new(number).expect("a version")
}

fn stored(number: u64, text: &str, seconds: u64) -> Stored {
    Stored {
        format: Stored::FORMAT,
        version: version(number),
        text: text.to_owned(),
        at: after(seconds),
    }
}

/// Replaces what stands, or was seen to.
async fn replace(
    store: &impl ConfigurationStore,
    seen: Option<u64>,
    text: &str,
    seconds: u64,
) -> Replaced {
    let seen = seen.map(version);
    sure(store.replace(seen, text, after(seconds)).await)
}

async fn stands(store: &impl ConfigurationStore) -> Option<Stored> {
    sure(store.stored().await)
}

fn done(number: u64) -> Replaced {
    Replaced::Done(version(number))
}

fn other(number: u64) -> Replaced {
    Replaced::Other(Some(version(number)))
}

pub async fn nothing_stands_before_the_first<F: Fixture>(fixture: F) {
    let store = fixture.fresh().await;
    assert_eq!(stands(&store).await, None);
    let store = fixture.reopened(store).await;
    assert_eq!(stands(&store).await, None);
}

pub async fn the_first_is_1_and_each_replacement_is_one_more<F: Fixture>(fixture: F) {
    let store = fixture.fresh().await;
    assert_eq!(replace(&store, None, "a", 0).await, done(1));
    assert_eq!(stands(&store).await, Some(stored(1, "a", 0)));
    for n in 2..12 {
        let text = format!("text {n}");
        assert_eq!(replace(&store, Some(n - 1), &text, n).await, done(n));
        assert_eq!(stands(&store).await, Some(stored(n, &text, n)));
    }
    assert_eq!(
        replace(&store, Some(11), "text 11", 20).await,
        done(12),
        "the same text once more has a version of its own"
    );
    assert_eq!(stands(&store).await, Some(stored(12, "text 11", 20)));
}

pub async fn what_stands_comes_back_byte_for_byte<F: Fixture>(fixture: F) {
    let store = fixture.fresh().await;
    let long = "# ü \u{202e}\n".repeat(262_144 / 9);
    let odd = [
        "",
        " \r\n\t",
        "\u{0}\u{1}\u{7f}\"\\'",
        "e\u{301}\u{1f600}",
        &long,
    ];
    let mut seen = None;
    for text in odd {
        replace(&store, seen, text, 1).await;
        let stored = stands(&store).await.expect("what was put there");
        assert_eq!(stored.text.len(), text.len(), "as long as it was");
        assert!(stored.text == text, "as it was");
        seen = Some(stored.version.number());
    }
}

pub async fn what_stands_survives_reopening<F: Fixture>(fixture: F) {
    let store = fixture.fresh().await;
    replace(&store, None, "a", 1).await;
    let store = fixture.reopened(store).await;
    assert_eq!(stands(&store).await, Some(stored(1, "a", 1)));
    assert_eq!(replace(&store, Some(1), "b", 2).await, done(2));
    let store = fixture.reopened(store).await;
    assert_eq!(stands(&store).await, Some(stored(2, "b", 2)));
    assert_eq!(
        replace(&store, Some(1), "b", 3).await,
        done(2),
        "it was once"
    );
    assert_eq!(stands(&store).await, Some(stored(2, "b", 2)));
}

pub async fn another_version_than_the_one_seen_replaces_nothing<F: Fixture>(fixture: F) {
    let store = fixture.fresh().await;
    assert_eq!(
        replace(&store, Some(1), "a", 0).await,
        Replaced::Other(None)
    );
    assert_eq!(stands(&store).await, None);
    replace(&store, None, "a", 0).await;
    replace(&store, Some(1), "b", 1).await;
    for seen in [None, Some(1), Some(3), Some(u64::MAX)] {
        assert_eq!(
            replace(&store, seen, "c", 2).await,
            other(2),
            "{seen:?} seen"
        );
        assert_eq!(stands(&store).await, Some(stored(2, "b", 1)));
    }
}

pub async fn the_same_call_twice_is_once<F: Fixture>(fixture: F) {
    let store = fixture.fresh().await;
    for (seen, text) in [(None, "a"), (Some(1), "b"), (Some(2), "b")] {
        let number = seen.unwrap_or(0) + 1;
        for again in 0..3 {
            let seconds = 10 * number + again;
            assert_eq!(replace(&store, seen, text, seconds).await, done(number));
            let first = stored(number, text, 10 * number);
            assert_eq!(
                stands(&store).await,
                Some(first),
                "as the first put it there"
            );
        }
    }
}

pub async fn a_call_made_again_after_another_replaced_it_changes_nothing<F: Fixture>(fixture: F) {
    let store = fixture.fresh().await;
    replace(&store, None, "a", 0).await;
    replace(&store, Some(1), "b", 1).await;
    assert_eq!(replace(&store, None, "a", 2).await, other(2));
    assert_eq!(stands(&store).await, Some(stored(2, "b", 1)));
}

/// Ten replacements of what is 1 at once, the nth by `text(n)`: what each was answered, and what stands then.
async fn ten_at_once<F: Fixture>(
    fixture: F,
    text: fn(u64) -> String,
) -> (Vec<(String, Replaced)>, Stored) {
    let store = Arc::new(fixture.fresh().await);
    replace(&*store, None, "first", 0).await;
    let tasks: Vec<_> = (0..10)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let text = text(n);
                let replaced = replace(&*store, Some(1), &text, 1).await;
                (text, replaced)
            })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("a call that does not panic"));
    }
    let stands = stands(&*store).await.expect("what was put there");
    (answers, stands)
}

pub async fn of_several_at_once_one_replaces_and_the_others_are_told<F: Fixture>(fixture: F) {
    let (answers, stands) = ten_at_once(fixture, |n| format!("text {n}")).await;
    assert_eq!(stands.version, version(2));
    for (text, replaced) in &answers {
        let due = if *text == stands.text {
            done(2)
        } else {
            other(2)
        };
        assert_eq!(*replaced, due, "{text:?} while {:?} stands", stands.text);
    }
    assert!(answers.iter().any(|(text, _)| *text == stands.text));
}

pub async fn the_same_call_several_times_at_once_is_once<F: Fixture>(fixture: F) {
    let (answers, stands) = ten_at_once(fixture, |_| "second".to_owned()).await;
    assert_eq!((stands.version, &*stands.text), (version(2), "second"));
    for (_, replaced) in answers {
        assert_eq!(replaced, done(2));
    }
}
