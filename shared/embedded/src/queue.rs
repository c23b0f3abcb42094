//! Steps that wait for the writer. What settles deliveries goes first and its callers wait for a place; what comes from
//! outside is turned away while more waits than can be on disk within a few seconds. So a flood at the door neither
//! holds up what was accepted before it, nor is it kept waiting for an answer that comes too late.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{AcquireError, Semaphore};

/// Most steps in one transaction.
pub(crate) const MOST_STEPS: usize = 256;
/// Most steps of each kind that wait.
const MOST_WAITING: usize = 4096;
/// How long a step from outside may have to wait for its transaction, about.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Whose step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// A sender's request: an event, or the count of what was not accepted.
    Outside,
    /// Ours: it settles, moves or sets something.
    Inside,
}

/// Why a step was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// Too much waits already.
    Full,
    /// The writer has ended.
    Closed,
}

#[derive(Debug)]
struct Waiting<S> {
    outside: VecDeque<S>,
    inside: VecDeque<S>,
    /// How many from outside may wait now.
    most_outside: usize,
    is_closed: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue<S> {
    waiting: Mutex<Waiting<S>>,
    bell: Condvar,
    places: Semaphore,
}

impl<S> Default for Queue<S> {
    fn default() -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                outside: VecDeque::new(),
                inside: VecDeque::new(),
                most_outside: MOST_WAITING,
                is_closed: false,
            }),
            bell: Condvar::new(),
            places: Semaphore::new(MOST_WAITING),
        }
    }
}

impl<S> Queue<S> {
    /// Puts a step into the queue; one of ours waits for a place.
    pub(crate) async fn put(&self, from: From, step: S) -> Result<(), NotTaken> {
        match from {
            From::Outside => {
                let mut waiting = self.open()?;
                if waiting.outside.len() >= waiting.most_outside {
                    return Err(NotTaken::Full);
                }
                waiting.outside.push_back(step);
            }
            From::Inside => {
                let closed = |_: AcquireError| NotTaken::Closed;
                self.places.acquire().await.map_err(closed)?.forget();
                self.open()?.inside.push_back(step);
            }
        }
        self.bell.notify_one();
        Ok(())
    }

    /// Adds what waits to `batch`, as much as one transaction takes; waits while nothing does and `batch` is empty.
    /// Nothing is added once the queue is closed and empty.
    pub(crate) fn take(&self, batch: &mut Vec<S>) {
        let mut waiting = self.lock();
        while batch.is_empty()
            && waiting.inside.is_empty()
            && waiting.outside.is_empty()
            && !waiting.is_closed
        {
            waiting = self
                .bell
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let inside = waiting
            .inside
            .len()
            .min(MOST_STEPS.saturating_sub(batch.len()));
        batch.extend(waiting.inside.drain(..inside));
        let outside = waiting
            .outside
            .len()
            .min(MOST_STEPS.saturating_sub(batch.len()));
        batch.extend(waiting.outside.drain(..outside));
        drop(waiting);
        self.places.add_permits(inside);
    }

    /// A transaction took this long: so many steps from outside may wait that the last of them waits about two seconds.
    pub(crate) fn took(&self, transaction: Duration) {
        let transactions = LONGEST_WAIT.as_micros() / transaction.as_micros().max(1);
        let transactions = usize::try_from(transactions).unwrap_or(usize::MAX);
        let most = transactions.saturating_mul(MOST_STEPS);
        self.lock().most_outside = most.clamp(MOST_STEPS, MOST_WAITING);
    }

    /// Takes no more steps; what waits is still taken out.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.places.close();
        self.bell.notify_one();
    }

    fn open(&self) -> Result<MutexGuard<'_, Waiting<S>>, NotTaken> {
        let waiting = self.lock();
        if waiting.is_closed {
            return Err(NotTaken::Closed);
        }
        Ok(waiting)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<S>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn filled(outside: usize, inside: usize) -> Queue<usize> {
        let queue = Queue::default();
        for n in 0..outside {
            queue.put(From::Outside, n).await.expect("a place");
        }
        for n in 0..inside {
            queue.put(From::Inside, 10_000 + n).await.expect("a place");
        }
        queue
    }

    #[tokio::test]
    async fn what_settles_goes_before_what_comes_from_outside() {
        let queue = filled(300, 200).await;
        let mut batch = Vec::new();
        queue.take(&mut batch);
        assert_eq!(batch.len(), MOST_STEPS);
        assert!(batch.iter().take(200).all(|n| *n >= 10_000));
        assert!(batch.iter().skip(200).all(|n| *n < 56), "in their order");
        batch.clear();
        queue.take(&mut batch);
        assert_eq!((batch.first(), batch.len()), (Some(&56), 244));
    }

    #[tokio::test]
    async fn outside_steps_are_turned_away_once_they_would_wait_too_long() {
        let queue = filled(MOST_STEPS, 0).await;
        // Each transaction takes half a second: four of them are two seconds.
        queue.took(Duration::from_millis(500));
        for n in 0..3 * MOST_STEPS {
            queue.put(From::Outside, n).await.expect("a place");
        }
        assert_eq!(queue.put(From::Outside, 1).await, Err(NotTaken::Full));
        queue.put(From::Inside, 1).await.expect("ours has a place");
        // However slow, one transaction's steps may wait.
        queue.took(Duration::from_mins(1));
        for _ in 0..4 {
            queue.take(&mut Vec::new());
        }
        for n in 0..MOST_STEPS - 1 {
            queue.put(From::Outside, n).await.expect("a place");
        }
        assert_eq!(queue.put(From::Outside, 1).await, Err(NotTaken::Full));
    }

    #[tokio::test]
    async fn a_closed_queue_is_emptied_and_takes_nothing_more() {
        let queue = filled(1, 1).await;
        queue.close();
        assert_eq!(queue.put(From::Outside, 1).await, Err(NotTaken::Closed));
        assert_eq!(queue.put(From::Inside, 1).await, Err(NotTaken::Closed));
        let mut batch = Vec::new();
        queue.take(&mut batch);
        assert_eq!(batch, [10_000, 0]);
        queue.take(&mut batch);
        assert_eq!(batch.len(), 2, "and does not wait");
        batch.clear();
        queue.take(&mut batch);
        assert!(batch.is_empty());
    }
}
