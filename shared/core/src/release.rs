//! How fast what was held of a destination is put back: together no faster than its operator asked for, over however
//! many steps, whoever makes them, and however often it is held and released again.

use std::time::Duration;

use crate::ports::Spread;
use crate::time::Timestamp;

/// The releases of one destination, as far as they decide when more of it may become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Starts a second, at least 1.
    pub per_second: u32,
    /// No delivery that is put back from now on is due before this moment.
    pub next: Timestamp,
    /// Starts a second that earlier releases, which asked for other numbers, may have given away up to `until`.
    pub earlier: u32,
    /// When those end.
    pub until: Timestamp,
}

impl Release {
    /// A first release.
    pub fn new(Spread { start, per_second }: Spread) -> Self {
        Self {
            per_second: per_second.max(1),
            next: start,
            earlier: 0,
            until: start,
        }
    }

    /// What stands after one release more; of the same number, what stood before. What was put back keeps its due times.
    /// So a lower number begins behind it, and a higher one has at first only what is left of it.
    #[must_use]
    pub fn again(self, spread: Spread) -> Self {
        let asked = Self::new(spread);
        if asked.per_second == self.per_second {
            return self;
        }
        let until = self.next.max(self.until);
        let earlier = if asked.next < self.until {
            self.per_second.max(self.earlier)
        } else {
            self.per_second
        };
        Self {
            next: if asked.per_second > earlier {
                asked.next
            } else {
                until
            },
            earlier,
            until,
            ..asked
        }
    }

    /// When `count` deliveries more are due, the soonest first, of which none is before `now`.
    pub fn put_back(&mut self, now: Timestamp, count: u32) -> Vec<Timestamp> {
        let mut dues = Vec::new();
        let mut spread = self.spread_at(now.max(self.next));
        let mut nth = 0;
        for _ in 0..count {
            if spread.start < self.until && spread.due(nth) >= self.until {
                (spread, nth) = (self.spread_at(self.until), 0);
            }
            dues.push(spread.due(nth));
            nth = nth.saturating_add(1);
        }
        if count > 0 {
            // Rounded up, so that many small steps are no faster than one large one.
            let millis = (u64::from(nth) * 1000).div_ceil(u64::from(spread.per_second.max(1)));
            self.next = spread.start.plus(Duration::from_millis(millis));
        }
        dues
    }

    fn spread_at(&self, start: Timestamp) -> Spread {
        let taken = if start < self.until { self.earlier } else { 0 };
        Spread {
            start,
            per_second: self.per_second.saturating_sub(taken),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_seconds(1_800_000_000);

    fn after(seconds: u64) -> Timestamp {
        START.plus(Duration::from_secs(seconds))
    }

    fn at(seconds: u64, per_second: u32) -> Spread {
        Spread {
            start: after(seconds),
            per_second,
        }
    }

    /// How many of `dues` lie in each second from the start.
    fn by_second(dues: &[Timestamp]) -> Vec<usize> {
        let last = dues.iter().max().expect("some");
        (0..=last.since(START).as_secs())
            .map(|n| {
                let second = after(n)..after(n + 1);
                dues.iter().filter(|due| second.contains(due)).count()
            })
            .collect()
    }

    #[test]
    fn small_steps_by_anyone_are_no_faster_than_one_large_one() {
        for per_second in [1, 7, 50, 300, 3000] {
            let mut release = Release::new(at(0, per_second));
            let mut dues = Vec::new();
            for _ in 0..40 {
                dues.extend(release.put_back(START, 100));
            }
            let most = by_second(&dues).into_iter().max().expect("some");
            assert!(most <= per_second as usize, "{most} at {per_second}");
            assert!(dues.is_sorted());
        }
    }

    #[test]
    fn a_step_that_comes_late_does_not_catch_up() {
        let mut release = Release::new(at(0, 2));
        assert_eq!(release.put_back(after(9), 2).first(), Some(&after(9)));
        assert_eq!(release.put_back(after(9), 1), [after(10)]);
        assert_eq!(release.put_back(after(30), 1), [after(30)]);
    }

    #[test]
    fn nothing_to_put_back_changes_nothing() {
        let mut release = Release::new(at(0, 2));
        assert_eq!(release.put_back(after(9), 0), []);
        assert_eq!(release, Release::new(at(0, 2)));
    }

    #[test]
    fn the_same_number_asked_for_again_goes_on_behind_what_was_put_back() {
        let mut release = Release::new(at(0, 2));
        release.put_back(START, 10);
        let mut again = release.again(at(1, 2));
        assert_eq!(again, release);
        assert_eq!(again.put_back(after(1), 1), [after(5)]);
    }

    #[test]
    fn a_lower_number_begins_behind_what_was_put_back() {
        let mut release = Release::new(at(0, 10));
        release.put_back(START, 30);
        let mut lower = release.again(at(1, 1));
        assert_eq!(lower.put_back(after(1), 2), [after(3), after(4)]);
    }

    #[test]
    fn a_higher_number_begins_at_once_beside_what_was_put_back() {
        let mut release = Release::new(at(0, 1));
        let mut dues = release.put_back(START, 20);
        let mut higher = release.again(at(10, 5));
        dues.extend(higher.put_back(after(10), 100));
        let expected = [vec![1; 10], vec![5; 10], vec![5; 12]].concat();
        assert_eq!(by_second(&dues), expected, "five a second, all together");
    }

    #[test]
    fn of_several_changes_none_lets_more_go_than_was_asked_for() {
        let mut release = Release::new(at(0, 1));
        let mut dues = release.put_back(START, 30);
        for (second, per_second) in [(2, 3), (4, 2), (5, 6)] {
            release = release.again(at(second, per_second));
            dues.extend(release.put_back(after(second), 20));
        }
        let seconds = by_second(&dues);
        assert_eq!(dues.len(), 90);
        assert!(seconds.iter().take(5).all(|n| *n <= 3), "{seconds:?}");
        assert!(seconds.iter().all(|n| *n <= 6), "{seconds:?}");
    }

    #[test]
    fn no_number_counts_as_one() {
        let mut release = Release::new(at(0, 0));
        assert_eq!(release.put_back(START, 2), [after(0), after(1)]);
        assert_eq!(release.again(at(0, 1)), release);
    }
}
