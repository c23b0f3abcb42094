//! Releasing: what is held goes back to waiting, at most as fast as the releases of its destination asked for. Where the last
//! step ended stands in the settings, so it holds whoever makes the steps.

use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, Moved};
use switchboard_core::time::Timestamp;

use crate::Aws;
use crate::find::Due;
use crate::moves::Round;

impl Aws {
    /// Puts held deliveries of a destination back to waiting, in this order: their due times are reserved by a write of the
    /// settings that also shows that it is not held; they are moved; their hints are sent.
    ///
    /// Cut behind the reservation, due times are lost and none is given twice; cut behind the moves, the keeper finds the
    /// deliveries by `look`. What was held again in between stays held only if it was not moved yet, and is shelved again.
    pub(crate) async fn release_held(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        limit: u32,
    ) -> Answer<Moved> {
        let to = std::slice::from_ref(destination);
        let found = self.find(State::Held, to, Due::Ever, limit).await?;
        let count = u32::try_from(found.rows.len()).unwrap_or(u32::MAX);
        let nothing = Moved {
            done: 0,
            left: found.left.saturating_add(count),
        };
        if count == 0 {
            return Ok(nothing);
        }
        let Some(slots) = self.settings.reserve(destination, now, count).await? else {
            return Ok(nothing);
        };
        let rows = self.of_present_lives(found.rows).await?;
        // It goes on with its own round, never before its own due time.
        let dues: Vec<Timestamp> = rows
            .iter()
            .zip(slots)
            .map(|(row, slot)| slot.max(row.stood.due))
            .collect();
        let done = self
            .put_back("releasing deliveries", rows, &dues, now, Round::Same)
            .await?;
        Ok(Moved {
            done,
            left: found.left,
        })
    }

    /// Releases what is held of destinations that are not: what a cut between the two halves of a release leaves, and what
    /// was held by a process that did not know of the release yet.
    pub(crate) async fn release_all(&self, now: Timestamp, limit: u32) -> Answer<Moved> {
        let kept = self.settings.now().await?;
        let mut all = Moved::default();
        for destination in kept.destinations.difference(&kept.settings.held) {
            let limit = limit.saturating_sub(all.done);
            let moved = self.release_held(destination, now, limit).await?;
            all = Moved {
                done: all.done.saturating_add(moved.done),
                left: all.left.saturating_add(moved.left),
            };
        }
        Ok(all)
    }
}
