//! Whole numbers as JSON may write them. 438, 438.0 and 4.38e2 are the same one, and some clients know only the second.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// A whole number from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole(u64);

impl Whole {
    /// Beyond it not every whole number can be written with a point.
    const LAST_EXACT: f64 = 9_007_199_254_740_992.0;

    /// The number.
    pub(super) const fn get(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Number)
    }
}

struct Number;

impl Visitor<'_> for Number {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 on")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
        let is_whole = number.fract() == 0.0 && (0.0..=Whole::LAST_EXACT).contains(&number);
        if !is_whole {
            return Err(E::invalid_value(Unexpected::Float(number), &self));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole, from 0 on, and exact"
        )]
        Ok(Whole(number as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<u64> {
        serde_json::from_str::<Whole>(text).ok().map(Whole::get)
    }

    #[test]
    fn a_whole_number_is_the_same_however_it_is_written() {
        for text in ["438", "438.0", "4.38e2", "43800e-2", "438.00"] {
            assert_eq!(read(text), Some(438), "{text}");
        }
        assert_eq!(read("-0.0"), Some(0));
        assert_eq!(read("18446744073709551615"), Some(u64::MAX));
        assert_eq!(read("9007199254740992.0"), Some(1 << 53));
    }

    #[test]
    fn what_is_no_whole_number_or_not_exact_is_none() {
        for text in [
            "438.5",
            "-1",
            "-1.0",
            "1e300",
            "9007199254740994.0",
            "18446744073709551616",
            "\"438\"",
            "null",
            "true",
            "[]",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
