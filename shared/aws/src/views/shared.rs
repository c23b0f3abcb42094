//! What is made for one viewer and shared with those who ask soon after.

use std::time::Duration;

use switchboard_core::ports::Answer;
use switchboard_core::time::Clock;
use tokio::sync::Mutex;

/// A value and when it was made.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    shared_for: Duration,
    last: Mutex<Option<(Duration, T)>>,
}

impl<T: Clone + Send> Shared<T> {
    /// What is made is shared for so long.
    pub(crate) fn new(shared_for: Duration) -> Self {
        Self {
            shared_for,
            last: Mutex::default(),
        }
    }

    /// The last one made, or a new one. Whoever comes while it is being made waits for it.
    pub(crate) async fn get(
        &self,
        clock: &dyn Clock,
        make: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        self.get_if(clock, |_| true, make).await
    }

    /// The same, where the last one has to be what is asked for.
    pub(crate) async fn get_if(
        &self,
        clock: &dyn Clock,
        is_it: impl Fn(&T) -> bool + Send,
        make: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        let mut last = self.last.lock().await;
        let now = clock.ticks();
        if let Some((at, value)) = last.as_ref()
            && now.saturating_sub(*at) < self.shared_for
            && is_it(value)
        {
            return Ok(value.clone());
        }
        let value = make.await?;
        *last = Some((now, value.clone()));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use switchboard_core::ports::BackendError;
    use switchboard_core::time::Timestamp;
    use switchboard_testkit::clock::HandClock;

    use super::*;

    #[tokio::test]
    async fn it_is_made_once_for_all_who_ask_within_its_time_and_a_failure_is_not_shared() {
        let clock = HandClock::at(Timestamp::from_seconds(1_800_000_000));
        let shared = Shared::new(Duration::from_secs(1));
        let count = AtomicU32::new(0);
        let get = |fails: bool| {
            let (shared, clock, count) = (&shared, &clock, &count);
            async move {
                let make = async {
                    tokio::task::yield_now().await;
                    let nth = count.fetch_add(1, Ordering::Relaxed);
                    if fails {
                        return Err(BackendError::new("making one", "it fails"));
                    }
                    Ok(nth)
                };
                shared.get(clock, make).await.ok()
            }
        };
        assert_eq!(get(true).await, None);
        let (one, other) = tokio::join!(get(false), get(false));
        assert_eq!((one, other), (Some(1), Some(1)));
        clock.advance(Duration::from_millis(999));
        assert_eq!(get(true).await, Some(1));
        clock.advance(Duration::from_millis(1));
        assert_eq!(get(false).await, Some(2));
    }
}
