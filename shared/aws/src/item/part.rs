//! A part of a body that is too big for its event's item.

use bytes::Bytes;
use switchboard_core::identity::EventId;
use switchboard_core::time::Timestamp;

use super::{Attributes, Reading, Unreadable, Writing, names, owned};
use crate::token::Token;
use crate::{keys, life};

const ITEM: &str = "part of a body";

/// Most bytes of a part, and most that an event's own item takes of body, headers and plan: the service takes 400 KB,
/// and the names, the keys and the ids need room.
pub(crate) const BYTES: usize = 350_000;

/// The parts of a body in order.
pub(crate) fn split(body: &Bytes) -> Vec<Bytes> {
    (0..body.len())
        .step_by(BYTES)
        .map(|start| body.slice(start..start.saturating_add(BYTES).min(body.len())))
        .collect()
}

/// The item of the `nth` part of what the call with `token` brought, of an event whose life ends at `until`.
pub(crate) fn write(
    event: &EventId,
    token: &Token,
    nth: u32,
    bytes: &Bytes,
    until: Timestamp,
) -> Attributes {
    Writing::at(keys::event(event), keys::part(token, nth))
        .bytes(names::BODY, bytes.to_vec())
        .number(names::TTL, life::of_belongings(until))
        .done()
}

/// Reads the bytes of a part.
pub(crate) fn read(attributes: &Attributes) -> Result<Bytes, Unreadable> {
    let reading = Reading::of(ITEM, attributes)?;
    reading.bytes(names::BODY).map(owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_split_without_a_byte_lost_or_doubled() {
        for length in [0, 1, BYTES - 1, BYTES, BYTES + 1, 4 << 20] {
            let body: Vec<u8> = (0..=250).cycle().take(length).collect();
            let body = Bytes::from(body);
            let parts = split(&body);
            assert!(parts.iter().all(|part| (1..=BYTES).contains(&part.len())));
            assert_eq!(parts.concat(), body, "{length}");
        }
    }
}
