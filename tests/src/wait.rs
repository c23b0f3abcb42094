//! Waiting on a condition with a deadline.

use std::future::Future;
use std::time::Duration;

use tokio::time::timeout;

/// How long a condition may take to hold before the test fails; far longer than it should ever take.
pub const DEADLINE: Duration = Duration::from_secs(20);
/// How often a condition is looked at that cannot ring a bell.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks until `look` gives something; fails with `what` when the deadline passes.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, look: impl FnMut() -> F) -> T {
    within(DEADLINE, what, look).await
}

/// [`until`], with a deadline of the caller's.
pub async fn within<T, F: Future<Output = Option<T>>>(
    deadline: Duration,
    what: &str,
    mut look: impl FnMut() -> F,
) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            let _ = timeout(LOOK_EVERY, std::future::pending::<()>()).await;
        }
    };
    match timeout(deadline, looking).await {
        Ok(found) => found,
        Err(_) => panic!("within {deadline:?} it never held that {what}"),
    }
}
