//! How many starts each second an operator asks for.

use serde::Deserialize;

use super::whole::Whole;

/// From 1 to [`Rate::MOST`] a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Whole")]
pub(super) struct Rate(u32);

impl Rate {
    /// More would be no spread at all.
    const MOST: u32 = 1000;

    /// Starts per second.
    pub(super) const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<Whole> for Rate {
    type Error = &'static str;

    fn try_from(per_second: Whole) -> Result<Self, &'static str> {
        let per_second = u32::try_from(per_second.get()).ok();
        let fits = per_second.filter(|per_second| (1..=Self::MOST).contains(per_second));
        fits.map(Self).ok_or("per_second must be 1 to 1000")
    }
}
