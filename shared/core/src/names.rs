//! The names people give things, and the names senders give their events.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The destination that stands for the user's own address; no configuration may declare it.
pub const YOUR_ENDPOINT: &str = "your-endpoint";
/// The action of every copy that goes to your endpoint.
const COPY: &str = "copy";
/// The action of a route that names none.
const DELIVER: &str = "deliver";
const TEST: &str = "test";

/// Longest kind that is accepted, in bytes.
pub const LONGEST_KIND: usize = 255;
/// Longest sender's id that is accepted, in bytes.
pub const LONGEST_SENDER_ID: usize = 1024;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a name: 1 to 40 of a-z, 0-9 and -")]
pub struct NameError(pub String);

fn checked(text: &str) -> Result<Arc<str>, NameError> {
    let fits = (1..=40).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if fits {
        Ok(Arc::from(text))
    } else {
        Err(NameError(text.chars().take(60).collect()))
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Arc<str>);

        impl $type {
            /// Reads a name: 1 to 40 of `a-z`, `0-9` and `-`.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                checked(text).map(Self)
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}

name! {
    /// A configured sender's name; the last part of its address.
    SourceName
}
name! {
    /// A configured receiver's name.
    DestinationName
}
name! {
    /// What a destination is asked to do with an event.
    ActionName
}

impl DestinationName {
    /// The reserved destination of signed copies.
    pub fn your_endpoint() -> Self {
        Self(Arc::from(YOUR_ENDPOINT))
    }

    /// Whether this is the reserved destination of signed copies.
    pub fn is_your_endpoint(&self) -> bool {
        &*self.0 == YOUR_ENDPOINT
    }
}

impl SourceName {
    /// What stands for the sender where Switchboard itself made an event: in test deliveries.
    pub fn switchboard() -> Self {
        Self(Arc::from("switchboard"))
    }
}

impl ActionName {
    /// The action of a test delivery.
    pub fn test() -> Self {
        Self(Arc::from(TEST))
    }

    /// The action of a copy to your endpoint.
    pub fn copy() -> Self {
        Self(Arc::from(COPY))
    }

    /// The action of a route that names none.
    pub fn deliver() -> Self {
        Self(Arc::from(DELIVER))
    }
}

/// The sender's name for what happened, byte for byte; empty when it named none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Kind(Arc<str>);

impl Kind {
    /// The kind of a test delivery's event.
    pub fn test() -> Self {
        Self(Arc::from(TEST))
    }

    /// Takes a kind as the sender wrote it; `None` when it is longer than [`LONGEST_KIND`].
    pub fn new(text: &str) -> Option<Self> {
        (text.len() <= LONGEST_KIND).then(|| Self(Arc::from(text)))
    }

    /// The kind as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The id a sender gave its event, and what else the sender's rule makes part of the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SenderId {
    id: Arc<str>,
    scope: Option<Arc<str>>,
}

impl SenderId {
    /// Takes an id as the sender wrote it; `None` when it is empty or longer than [`LONGEST_SENDER_ID`].
    pub fn new(id: &str) -> Option<Self> {
        (1..=LONGEST_SENDER_ID).contains(&id.len()).then(|| Self {
            id: Arc::from(id),
            scope: None,
        })
    }

    /// The same id, unique only within `scope` (GitHub numbers deliveries per hook).
    #[must_use]
    pub fn within(self, scope: &str) -> Self {
        Self {
            scope: Some(Arc::from(scope)),
            ..self
        }
    }

    /// The id itself: what operators see and search.
    pub fn as_str(&self) -> &str {
        &self.id
    }

    /// What the id is unique within, besides the source.
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_lower_case_and_plain() {
        for good in ["a", "shop-2", &"x".repeat(40)] {
            assert!(SourceName::parse(good).is_ok(), "{good} is a name");
        }
        for bad in ["", "Shop", "a b", "a/b", "ä", &"x".repeat(41)] {
            assert!(SourceName::parse(bad).is_err(), "{bad} is not a name");
        }
    }

    #[test]
    fn ids_and_kinds_have_a_longest_length_in_bytes() {
        assert!(SenderId::new(&"i".repeat(1024)).is_some());
        assert!(SenderId::new(&"i".repeat(1025)).is_none());
        assert!(SenderId::new("").is_none());
        assert!(Kind::new(&"ü".repeat(127)).is_some());
        assert!(Kind::new(&"ü".repeat(128)).is_none());
    }
}
