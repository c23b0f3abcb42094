//! Cursors as clients get them: with a check behind them, so that one which is broken, or of another list, is answered as
//! wrong instead of as the end of the list. The check proves nothing about who made it.

use data_encoding::BASE32_NOPAD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use switchboard_core::views::{Cursor, Page};

use super::answer::Failure;

/// Bytes of a check.
const CHECK: usize = 5;

/// What a cursor is a place in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Events,
    DeadLetters,
    Refusals,
    Declined,
}

impl List {
    const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::DeadLetters => "dead letters",
            Self::Refusals => "refusals",
            Self::Declined => "declined",
        }
    }

    /// The cursor that a client gives back.
    pub(super) fn taken_back(self, text: &str) -> Result<Cursor, Failure> {
        checked(text, self.name())
            .and_then(Cursor::new)
            .ok_or_else(|| Failure::Unreadable("after is not where a page ended".to_owned()))
    }

    /// A page as clients get it.
    pub(super) fn given<T: Serialize>(self, page: Page<T>) -> PageAnswer<T> {
        let next = page
            .next
            .map(|cursor| with_check(cursor.as_str(), self.name()));
        PageAnswer {
            items: page.items,
            next,
        }
    }
}

/// A part of a list, as clients get it.
#[derive(Serialize)]
pub(super) struct PageAnswer<T> {
    pub(super) items: Vec<T>,
    /// Where the next part begins, when there is one.
    pub(super) next: Option<String>,
}

/// A text, and the check that it belongs to `of`.
pub(super) fn with_check(text: &str, of: &str) -> String {
    format!("{text}.{}", check(text, of))
}

/// The text before a check that belongs to it and to `of`.
pub(super) fn checked<'a>(text: &'a str, of: &str) -> Option<&'a str> {
    let (text, told) = text.rsplit_once('.')?;
    (told == check(text, of)).then_some(text)
}

fn check(text: &str, of: &str) -> String {
    let digest = Sha256::new()
        .chain_update(of)
        .chain_update([0])
        .chain_update(text)
        .finalize();
    let short = digest.first_chunk::<CHECK>().copied().unwrap_or_default();
    BASE32_NOPAD.encode(&short).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_whole_and_into_its_own_list() {
        let given = with_check("1764446400250.evt_a", List::Events.name());
        let back = List::Events.taken_back(&given).expect("a cursor");
        assert_eq!(back.as_str(), "1764446400250.evt_a");
        assert!(List::Refusals.taken_back(&given).is_err(), "another list");
        let shorter = given.get(1..).expect("a part");
        for broken in [
            "",
            ".",
            "1764446400250.evt_a",
            shorter,
            &format!("{given}a"),
        ] {
            assert!(List::Events.taken_back(broken).is_err(), "{broken}");
        }
        let long = with_check(&"a".repeat(101), List::Events.name());
        assert!(List::Events.taken_back(&long).is_err(), "no page gave it");
    }
}
