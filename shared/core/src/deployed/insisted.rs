//! A look that somebody insists on: what was read a few seconds ago may lack what was applied since, and whoever is to give
//! something up for good because it is lacking looks once more.

use std::time::Duration;

use super::{Current, Deployed};

/// How long at least from one look to the next that somebody insists on: however many do, a process makes one a second.
const BETWEEN: Duration = Duration::from_secs(1);

/// Why a look has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unseen {
    /// The last look is too old for the question, and too young for another one; that may be made in so long.
    #[error("the configuration may be looked at again in {} ms", .0.as_millis())]
    Wait(Duration),
    /// It could not be read, or what was read cannot be used.
    #[error("the newest configuration cannot be used: {0}")]
    Unusable(String),
}

impl Deployed {
    /// What stands, as a look found it that began at `since`, in ticks of the clock, or later. What an earlier look found
    /// is no answer, and nor is what was good last where the newest cannot be used.
    ///
    /// All who ask share one look: a look that failed is the answer of all whose `since` was before it. One who is cut off
    /// leaves what there was, and his look counts for nobody.
    pub async fn seen_since(&self, since: Duration) -> Result<Current, Unseen> {
        let mut turn = self.turn.lock().await;
        if turn.looked.is_none_or(|looked| looked < since) {
            let now = self.clock.ticks();
            let next = turn.began.map(|began| began.saturating_add(BETWEEN));
            if let Some(next) = next.filter(|next| *next > now) {
                return Err(Unseen::Wait(next.saturating_sub(now)));
            }
            turn.look = turn.look.min(now);
            self.refresh(&mut turn, now).await;
        }
        self.found(&turn)
    }
}
