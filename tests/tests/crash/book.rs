//! The destinations' own book: what they applied, once per idempotency key, and what they answered 200.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use http::StatusCode;
use switchboard_tests::sink::{Received, Sink};

/// What the destinations know of one idempotency key.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The event it said it was of.
    pub(crate) event: String,
    /// The path it came to.
    pub(crate) path: String,
    /// Whether it was ever answered 200.
    pub(crate) answered: bool,
}

/// How the destinations behave.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// They apply and say so.
    Well,
    /// Of 100 attempts 15 fail before they are applied, and 15 are applied and answered 500; which, hangs on key and
    /// number.
    Badly,
    /// They apply nothing.
    Not,
}

/// The book, by idempotency key.
#[derive(Clone, Default)]
pub(crate) struct Book(Arc<Mutex<BTreeMap<String, Entry>>>);

impl Book {
    /// Has `sink` behave like this from now on, and keep this book.
    pub(crate) fn keep(&self, sink: &Sink, manner: Manner) {
        let book = self.clone();
        sink.answer(move |received, _| book.take(received, manner));
    }

    fn take(&self, received: &Received, manner: Manner) -> StatusCode {
        let (applies, answers) = match manner {
            Manner::Well => (true, true),
            Manner::Not => (false, false),
            Manner::Badly => {
                let drawn = drawn(received.key(), received.header("switchboard-attempt"));
                (drawn >= 15, drawn >= 30)
            }
        };
        if applies {
            let mut entries = self.entries();
            let entry = entries
                .entry(received.key().to_owned())
                .or_insert_with(|| Entry {
                    event: received.header("switchboard-event").to_owned(),
                    path: received.path.clone(),
                    answered: false,
                });
            entry.answered |= answers;
        }
        if answers {
            StatusCode::OK
        } else {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }

    /// Everything in it.
    pub(crate) fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().expect("a lock")
    }
}

/// A number below 100 that hangs on key and attempt only (FNV-1a).
fn drawn(key: &str, attempt: &str) -> u64 {
    let hash = key
        .bytes()
        .chain(attempt.bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    (hash >> 32) % 100
}
