//! Waiting on a condition with a deadline.

use std::time::Duration;

use tokio::time::timeout;

/// How long a condition may take to hold before the test fails; far longer than it should ever take.
pub const DEADLINE: Duration = Duration::from_secs(20);
/// How often a condition is looked at that cannot ring a bell.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Lets some time pass between two looks, two asks of somebody who asks again, or two drops of somebody who is slow. It is
/// part of what is done, and nothing is waited for so: that is what [`until`] is for.
pub async fn between(time: Duration) {
    let _ = timeout(time, std::future::pending::<()>()).await;
}

/// Looks until `look` gives something; fails with `what` when the deadline passes.
pub async fn until<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    within(DEADLINE, what, look).await
}

/// [`until`], with a deadline of the caller's.
pub async fn within<T>(
    deadline: Duration,
    what: &str,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            between(LOOK_EVERY).await;
        }
    };
    let Ok(found) = timeout(deadline, looking).await else {
        panic!("within {deadline:?} it never held that {what}")
    };
    found
}
