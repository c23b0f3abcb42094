//! Up to when the totals were whole: what tells how old they may be.

use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;

use super::Keeper;

const CURSOR: &str = "cursor#folded";

impl Keeper<'_> {
    /// When a fold last began that left nothing.
    pub(super) async fn folded(&self) -> Answer<Option<Timestamp>> {
        self.aws.cursor(CURSOR).await
    }

    /// A fold that began then left nothing.
    pub(super) async fn set_folded(&self, at: Timestamp) -> Answer<()> {
        self.aws.move_cursor(CURSOR, at).await
    }
}
