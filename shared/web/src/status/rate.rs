//! How many starts each second an operator asks for.

use serde::Deserialize;

/// From 1 to [`Rate::MOST`] a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub(super) struct Rate(u32);

impl Rate {
    /// More would be no spread at all.
    const MOST: u32 = 1000;

    /// Starts per second.
    pub(super) const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for Rate {
    type Error = &'static str;

    fn try_from(per_second: u32) -> Result<Self, &'static str> {
        if (1..=Self::MOST).contains(&per_second) {
            Ok(Self(per_second))
        } else {
            Err("per_second must be 1 to 1000")
        }
    }
}
