//! The ids of events and deliveries: short, safe in keys and URLs, and the same however often they are made.

use std::fmt;
use std::sync::Arc;

use data_encoding::BASE32_NOPAD;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::names::{ActionName, DestinationName, SenderId, SourceName};
use crate::time::Timestamp;

/// Characters after the prefix: 128 bits in base32.
const LENGTH: usize = 26;

/// 128 bits of SHA-256 over the parts, each with its length before it, so that no two lists of parts meet.
fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    let full = hash.finalize();
    let half = full.get(..16).unwrap_or_default();
    let mut text = BASE32_NOPAD.encode(half);
    text.make_ascii_lowercase();
    text
}

macro_rules! id {
    ($(#[$doc:meta])* $type:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Arc<str>);

        impl $type {
            /// Reads an id; `None` when the text is not of its form.
            pub fn parse(text: &str) -> Option<Self> {
                let rest = text.strip_prefix($prefix)?;
                let fits = rest.len() == LENGTH && rest.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
                fits.then(|| Self(text.into()))
            }

            /// The id as text, prefix included.
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

id! {
    /// An event's id: `evt_` and 26 characters, made of the source and the sender's id.
    EventId, "evt_"
}
id! {
    /// A delivery's id and idempotency key: `dlv_` and 26 characters.
    DeliveryId, "dlv_"
}
id! {
    /// An alert's id and idempotency key: `alr_` and 26 characters.
    AlertId, "alr_"
}

impl EventId {
    /// The id of what `source` sent under `sender_id`.
    pub fn of(source: &SourceName, sender_id: &SenderId) -> Self {
        let mut parts = vec![source.as_str().as_bytes(), sender_id.as_str().as_bytes()];
        parts.extend(sender_id.scope().map(str::as_bytes));
        Self(format!("evt_{}", digest(&parts)).into())
    }
}

/// Which plan of an event a delivery belongs to: 0 as accepted, 1 and on for replays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Run(pub u32);

impl DeliveryId {
    /// The id of the delivery of `event` to `destination` for `action` in `run`.
    pub fn of(
        event: &EventId,
        destination: &DestinationName,
        action: &ActionName,
        run: Run,
    ) -> Self {
        let run = run.0.to_be_bytes();
        let parts = [
            event.as_str().as_bytes(),
            destination.as_str().as_bytes(),
            action.as_str().as_bytes(),
            &run,
        ];
        Self(format!("dlv_{}", digest(&parts)).into())
    }
}

impl AlertId {
    /// The id of the alert of that kind about `destination` that was raised at `at`.
    pub fn of(destination: &DestinationName, kind: &str, at: Timestamp) -> Self {
        let at = at.millis().to_be_bytes();
        let parts = [destination.as_str().as_bytes(), kind.as_bytes(), &at];
        Self(format!("alr_{}", digest(&parts)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(source: &str, id: &str, scope: Option<&str>) -> EventId {
        let id = SenderId::new(id).expect("id");
        let id = scope.map_or(id.clone(), |scope| id.within(scope));
        EventId::of(&SourceName::parse(source).expect("name"), &id)
    }

    #[test]
    fn an_event_id_is_the_same_however_often_it_is_made_and_never_moves() {
        // Stored keys depend on this text: a change here loses every repeat check across an upgrade.
        assert_eq!(
            event("shop", "1001", None).as_str(),
            "evt_tcntmqr4z7nzrkjyodveo3gope"
        );
    }

    #[test]
    fn ids_that_differ_only_in_where_they_are_cut_never_meet() {
        let ids = [
            event("a", "bc", None),
            event("ab", "c", None),
            event("a", "b", Some("c")),
            event("a", "b\0c", None),
            event("a", "b/c", None),
        ];
        let different: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(different.len(), ids.len());
    }

    #[test]
    fn every_destination_action_and_run_has_its_own_key() {
        let event = event("shop", "1001", None);
        let to = |d: &str, a: &str, r| {
            DeliveryId::of(
                &event,
                &DestinationName::parse(d).expect("name"),
                &ActionName::parse(a).expect("name"),
                Run(r),
            )
        };
        let keys = [
            to("chat", "post", 0),
            to("chat", "post", 1),
            to("chat", "pin", 0),
            to("crm", "post", 0),
        ];
        let different: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
        assert!(
            keys.iter()
                .all(|key| DeliveryId::parse(key.as_str()).is_some())
        );
    }

    #[test]
    fn only_a_text_of_the_right_form_is_read_as_an_id() {
        let good = event("shop", "1001", None);
        assert_eq!(EventId::parse(good.as_str()), Some(good.clone()));
        for bad in [
            "",
            "evt_",
            "evt_ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            &format!("{good}a"),
            &good.as_str().replace("evt_", "dlv_"),
        ] {
            assert_eq!(EventId::parse(bad), None, "{bad}");
        }
    }
}
