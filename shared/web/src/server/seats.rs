//! Which connections rest and in what order they came to rest, so that one can be closed to make room.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The seats of all connections.
#[derive(Default)]
pub(super) struct Seats(Mutex<Order>);

#[derive(Default)]
struct Order {
    last: u64,
    resting: BTreeMap<u64, Arc<Notify>>,
}

impl Seats {
    /// Asks the connection that has rested longest to leave; `false` when none rests.
    pub(super) fn free_one(&self) -> bool {
        let first = self.order().resting.pop_first();
        if let Some((_, leave)) = &first {
            leave.notify_one();
        }
        first.is_some()
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's seat. It rests while no request of it is under way.
pub(super) struct Seat {
    seats: Arc<Seats>,
    leave: Arc<Notify>,
    /// Its number among those that rest; 0 while it works.
    number: AtomicU64,
    requests: AtomicU64,
}

impl Seat {
    /// The seat of a fresh connection, which rests until its first request is there.
    pub(super) fn new(seats: Arc<Seats>) -> Self {
        let seat = Self {
            seats,
            leave: Arc::default(),
            number: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        };
        seat.rest();
        seat
    }

    /// A request is under way until what this gives is dropped.
    pub(super) fn work(self: &Arc<Self>) -> Work {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let number = self.number.swap(0, Ordering::Relaxed);
        self.seats.order().resting.remove(&number);
        Work(Arc::clone(self))
    }

    fn rest(&self) {
        let mut order = self.seats.order();
        order.last = order.last.saturating_add(1);
        let number = order.last;
        order.resting.insert(number, Arc::clone(&self.leave));
        self.number.store(number, Ordering::Relaxed);
    }

    /// Whether no request is under way.
    pub(super) fn rests(&self) -> bool {
        self.number.load(Ordering::Relaxed) != 0
    }

    /// How many requests there were.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Waits until the seat is wanted for another connection.
    pub(super) async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let number = self.number.load(Ordering::Relaxed);
        self.seats.order().resting.remove(&number);
    }
}

/// A request under way.
pub(super) struct Work(Arc<Seat>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(n: usize) -> (Arc<Seats>, Vec<Arc<Seat>>) {
        let seats = Arc::new(Seats::default());
        let taken = (0..n)
            .map(|_| Arc::new(Seat::new(Arc::clone(&seats))))
            .collect();
        (seats, taken)
    }

    #[tokio::test]
    async fn the_seat_that_has_rested_longest_is_freed_first() {
        let (seats, taken) = seats(3);
        drop(taken[0].work());
        assert!(seats.free_one());
        taken[1].asked_to_leave().await;
        assert!(seats.free_one());
        taken[2].asked_to_leave().await;
        assert!(seats.free_one());
        taken[0].asked_to_leave().await;
        assert!(!seats.free_one(), "all were asked already");
    }

    #[test]
    fn a_seat_at_work_or_given_back_is_not_freed() {
        let (seats, mut taken) = seats(2);
        let work = taken[0].work();
        taken.pop();
        assert!(!seats.free_one());
        drop(work);
        assert!(seats.free_one());
    }
}
