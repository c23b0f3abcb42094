//! Ids as senders write them, made of random bytes that are given.

use data_encoding::{BASE32_NOPAD, HEXLOWER};

/// Price of a packet of tea, in cents.
pub(super) const PACKET_CENTS: u64 = 850;
/// Price of a pot, in cents.
pub(super) const POT_CENTS: u64 = 3700;

/// Random bytes: one event's.
pub(super) struct Unique([u8; 16]);

impl Unique {
    pub(super) fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// A UUID of version 4. Each `part` of an event has one of its own.
    pub(super) fn uuid(&self, part: u8) -> String {
        let mut bytes = self.0;
        let [_, _, _, _, _, _, version, _, variant, _, own, ..] = &mut bytes;
        *version = *version & 0x0f | 0x40;
        *variant = *variant & 0x3f | 0x80;
        *own ^= part;
        let digits = HEXLOWER.encode(&bytes);
        let group = |range| digits.get(range).unwrap_or_default();
        [0..8, 8..12, 12..16, 16..20, 20..32].map(group).join("-")
    }

    /// 26 letters and digits, after a prefix that says of what.
    pub(super) fn text(&self, prefix: &str) -> String {
        let letters = BASE32_NOPAD.encode(&self.0).to_lowercase();
        format!("{prefix}{letters}")
    }

    /// 40 hexadecimal digits, as a commit has.
    pub(super) fn commit(&self, part: u8) -> String {
        let [first, ..] = self.0;
        format!(
            "{}{}",
            HEXLOWER.encode(&self.0),
            HEXLOWER.encode(&[first, part, first ^ part, part])
        )
    }

    /// A whole number of 13 digits, as large ids are.
    pub(super) fn number(&self) -> u64 {
        let [first @ .., _, _, _, _, _, _, _, _] = self.0;
        let number = u64::from_be_bytes(first) >> 24;
        number.wrapping_add(5_000_000_000_000)
    }

    /// An order's number, from 1001 on.
    pub(super) fn order(&self) -> u64 {
        self.number() % 8999 + 1001
    }

    /// How many packets of tea are ordered, from 1 to 9.
    pub(super) fn packets(&self) -> u64 {
        let [.., last] = self.0;
        u64::from(last) % 9 + 1
    }

    /// What the order comes to, in the currency's smallest unit.
    pub(super) fn cents(&self) -> u64 {
        self.packets() * PACKET_CENTS + POT_CENTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_senders_form_and_differ_with_the_bytes() {
        let (one, other) = (Unique::new([0xff; 16]), Unique::new([0; 16]));
        assert_eq!(one.uuid(0), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(other.uuid(1), "00000000-0000-4000-8000-010000000000");
        assert_eq!(one.commit(1).len(), 40);
        assert_eq!(other.text("evt_"), "evt_aaaaaaaaaaaaaaaaaaaaaaaaaa");
        assert_ne!(one.text("evt_"), other.text("evt_"));
        assert!((1001..10_000).contains(&one.order()));
    }
}
