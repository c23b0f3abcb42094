//! The idempotency key: what copies of one delivery are known by.

use std::fmt;

/// Longest key that is accepted, in bytes.
pub const LONGEST_KEY: usize = 255;

/// Why a text is not an idempotency key. The text itself is a stranger's and is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key is 1 to {LONGEST_KEY} visible ASCII characters")]
pub struct KeyError;

/// The value of an `Idempotency-Key` header: the same on every attempt and redrive of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads a key: 1 to [`LONGEST_KEY`] visible ASCII characters, taken as they are.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let fits =
            (1..=LONGEST_KEY).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Self(text.to_owned())).ok_or(KeyError)
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_and_visible() {
        for good in ["dlv_abc", "a", &"k".repeat(255), "a/b\"c;d"] {
            assert_eq!(IdempotencyKey::parse(good).expect("key").as_str(), good);
        }
        for bad in ["", " ", "a b", "a\nb", "ä", "\u{7f}", &"k".repeat(256)] {
            assert_eq!(IdempotencyKey::parse(bad), Err(KeyError), "{bad:?}");
        }
    }
}
