//! Steps that wait for the writer. What settles deliveries goes first and its callers wait for a place; what comes from
//! outside is turned away while more waits than can be on disk within a few seconds. So a flood at the door neither
//! holds up what was accepted before it, nor is it kept waiting for an answer that comes too late; and a backlog of
//! deliveries leaves the door a part of every transaction.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{AcquireError, Semaphore};

/// Most steps in one transaction.
pub(crate) const MOST_STEPS: usize = 256;
/// How many steps of a transaction are left for those from outside, while any wait.
const LEAST_OUTSIDE: usize = MOST_STEPS / 8;
/// One in so many of the places for steps from outside may be taken by counts. What cannot be counted now is added up
/// in memory, which an event cannot be: a flood of forged requests leaves most places to events.
const COUNTS: usize = 4;
/// Most steps of each kind that wait.
pub(crate) const MOST_WAITING: usize = 4096;
/// How long a step from outside may have to wait for its transaction, about.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Whose step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A sender's request: an event, or what is to be listed of one that was not accepted.
    Outside,
    /// The mere count of a request that was not accepted.
    Count,
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
    /// Whether the writer waits for the bell. Ringing it is a system call.
    writer_waits: bool,
    /// How many of ours were taken for the transaction under way.
    taken_inside: usize,
    is_closed: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue<S> {
    waiting: Mutex<Waiting<S>>,
    bell: Condvar,
    places: Semaphore,
    ended: Semaphore,
}

impl<S> Default for Queue<S> {
    fn default() -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                outside: VecDeque::new(),
                inside: VecDeque::new(),
                most_outside: MOST_WAITING,
                writer_waits: false,
                taken_inside: 0,
                is_closed: false,
            }),
            bell: Condvar::new(),
            places: Semaphore::new(MOST_WAITING),
            ended: Semaphore::new(0),
        }
    }
}

impl<S> Queue<S> {
    /// Puts a step into the queue; one of ours waits for a place.
    pub(crate) async fn put(&self, whose: Whose, step: S) -> Result<(), NotTaken> {
        match whose {
            Whose::Outside => self.put_outside(step, |most| most)?,
            Whose::Count => self.put_outside(step, |most| most / COUNTS)?,
            Whose::Inside => {
                let closed = |_: AcquireError| NotTaken::Closed;
                self.places.acquire().await.map_err(closed)?.forget();
                let mut waiting = self.open()?;
                waiting.inside.push_back(step);
                self.ring(waiting);
            }
        }
        Ok(())
    }

    /// Rings for the writer, if it waits.
    fn ring(&self, mut waiting: MutexGuard<'_, Waiting<S>>) {
        let writer_waits = std::mem::take(&mut waiting.writer_waits);
        drop(waiting);
        if writer_waits {
            self.bell.notify_one();
        }
    }

    fn put_outside(&self, step: S, most: fn(usize) -> usize) -> Result<(), NotTaken> {
        let mut waiting = self.open()?;
        if waiting.outside.len() >= most(waiting.most_outside) {
            return Err(NotTaken::Full);
        }
        waiting.outside.push_back(step);
        self.ring(waiting);
        Ok(())
    }

    /// Adds what waits to `batch`, as much as one transaction takes; waits while nothing does and `batch` is empty.
    /// Nothing is added once the queue is closed and empty. How many of them are from outside.
    pub(crate) fn take(&self, batch: &mut Vec<S>) -> usize {
        let mut waiting = self.lock();
        while batch.is_empty()
            && waiting.inside.is_empty()
            && waiting.outside.is_empty()
            && !waiting.is_closed
        {
            waiting.writer_waits = true;
            waiting = self
                .bell
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let room = MOST_STEPS.saturating_sub(batch.len());
        let left = waiting.outside.len().min(LEAST_OUTSIDE).min(room);
        let inside = waiting.inside.len().min(room.saturating_sub(left));
        batch.extend(waiting.inside.drain(..inside));
        waiting.taken_inside = waiting.taken_inside.saturating_add(inside);
        let outside = waiting.outside.len().min(room.saturating_sub(inside));
        batch.extend(waiting.outside.drain(..outside));
        drop(waiting);
        self.places.add_permits(inside);
        outside
    }

    /// The transaction under way took this long: so many steps from outside may wait that the last of them waits about
    /// two seconds, when the next transactions have as much room for them as this one had.
    pub(crate) fn took(&self, transaction: Duration) {
        let transactions = LONGEST_WAIT.as_micros() / transaction.as_micros().max(1);
        let transactions = usize::try_from(transactions).unwrap_or(usize::MAX);
        let mut waiting = self.lock();
        let inside = std::mem::take(&mut waiting.taken_inside);
        let room = MOST_STEPS.saturating_sub(inside).max(LEAST_OUTSIDE);
        let most = transactions.saturating_mul(room);
        waiting.most_outside = most.clamp(MOST_STEPS, MOST_WAITING);
    }

    /// Takes no more steps; what waits is still taken out.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.places.close();
        self.bell.notify_one();
    }

    /// Says that nobody takes steps out any more.
    pub(crate) fn end(&self) {
        self.ended.close();
    }

    /// Waits until somebody said so.
    pub(crate) async fn ended(&self) {
        // There is never a permit: what is waited for is the end of waiting.
        drop(self.ended.acquire().await);
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
    use futures_util::FutureExt;

    use super::*;

    async fn filled(outside: usize, inside: usize) -> Queue<usize> {
        let queue = Queue::default();
        for n in 0..outside {
            queue.put(Whose::Outside, n).await.expect("a place");
        }
        for n in 0..inside {
            queue.put(Whose::Inside, 10_000 + n).await.expect("a place");
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
            queue.put(Whose::Outside, n).await.expect("a place");
        }
        assert_eq!(queue.put(Whose::Outside, 1).await, Err(NotTaken::Full));
        queue.put(Whose::Inside, 1).await.expect("ours has a place");
        // However slow, one transaction's steps may wait.
        queue.took(Duration::from_mins(1));
        for _ in 0..4 {
            queue.take(&mut Vec::new());
        }
        for n in 0..MOST_STEPS - 1 {
            queue.put(Whose::Outside, n).await.expect("a place");
        }
        assert_eq!(queue.put(Whose::Outside, 1).await, Err(NotTaken::Full));
    }

    #[tokio::test]
    async fn a_backlog_of_ours_leaves_the_door_a_part_of_every_transaction() {
        let queue = filled(100, 2 * MOST_STEPS).await;
        let mut batch = Vec::new();
        queue.take(&mut batch);
        assert_eq!(batch.len(), MOST_STEPS);
        let outside = batch.iter().filter(|n| **n < 10_000).count();
        assert_eq!(outside, LEAST_OUTSIDE);
        // Where less waits outside, the rest is ours.
        let queue = filled(1, 2 * MOST_STEPS).await;
        batch.clear();
        queue.take(&mut batch);
        assert_eq!(
            batch.iter().filter(|n| **n >= 10_000).count(),
            MOST_STEPS - 1
        );
    }

    #[tokio::test]
    async fn what_ours_takes_of_a_transaction_shortens_the_wait_outside() {
        let queue = filled(0, MOST_STEPS / 2).await;
        queue.take(&mut Vec::new());
        // Four transactions in two seconds, each with room for half of its steps.
        queue.took(Duration::from_millis(500));
        for n in 0..2 * MOST_STEPS {
            queue.put(Whose::Outside, n).await.expect("a place");
        }
        assert_eq!(queue.put(Whose::Outside, 1).await, Err(NotTaken::Full));
        // The next one has all of its room.
        queue.took(Duration::from_millis(500));
        queue.put(Whose::Outside, 1).await.expect("a place");
    }

    #[tokio::test]
    async fn counts_leave_most_places_to_events() {
        let queue = filled(0, 0).await;
        for n in 0..MOST_WAITING / COUNTS {
            queue.put(Whose::Count, n).await.expect("a place");
        }
        assert_eq!(queue.put(Whose::Count, 1).await, Err(NotTaken::Full));
        for n in 0..MOST_WAITING - MOST_WAITING / COUNTS {
            queue.put(Whose::Outside, n).await.expect("a place");
        }
        assert_eq!(queue.put(Whose::Outside, 1).await, Err(NotTaken::Full));
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_while_it_waits_takes_no_place_along() {
        let queue = filled(0, MOST_WAITING).await;
        for n in 0..100 {
            let put = queue.put(Whose::Inside, n).now_or_never();
            assert!(put.is_none(), "there is no place");
            // A task that never waits is made to, after some turns, even where there is a place.
            tokio::task::yield_now().await;
        }
        let mut batch = Vec::new();
        for _ in 0..MOST_WAITING / MOST_STEPS {
            batch.clear();
            queue.take(&mut batch);
        }
        for n in 0..MOST_WAITING {
            let put = queue.put(Whose::Inside, n).now_or_never();
            assert_eq!(put, Some(Ok(())), "place {n}");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_closed_queue_is_emptied_and_takes_nothing_more() {
        let queue = filled(1, 1).await;
        queue.close();
        assert_eq!(queue.put(Whose::Outside, 1).await, Err(NotTaken::Closed));
        assert_eq!(queue.put(Whose::Inside, 1).await, Err(NotTaken::Closed));
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
