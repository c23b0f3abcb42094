//! How long items live: when the service may remove an event and what belongs to it.

use std::time::Duration;

use switchboard_core::ports::Keep;
use switchboard_core::time::Timestamp;

use crate::item::event::Head;

/// How much longer than its life an event stays: whoever is at it then finds it.
const SLACK: Duration = Duration::from_hours(1);
/// How much longer than their event its deliveries, runs and repeats stay. The service removes items in any order, and
/// within a few days, for which it gives no bound: a delivery without a record looks like one that waits.
const LONGER: Duration = Duration::from_hours(10 * 24);

/// How long an event stays behind the due time of a delivery that needs it: for the attempts that follow.
const RESPITE: Duration = Duration::from_hours(7 * 24);

/// A delivery that is due later than this before its event's end keeps the event for itself.
const MARGIN: Duration = Duration::from_hours(24);

/// Whether a delivery that is due at `due` keeps its event beyond the end of that's life, at `until`.
pub(crate) fn is_outlasted(until: Timestamp, due: Timestamp) -> bool {
    due.plus(MARGIN) > until
}

/// Until when an event stays for a delivery of it that is due then.
pub(crate) fn respite(due: Timestamp) -> Timestamp {
    due.plus(RESPITE)
}

/// The end of an event's life with a dead letter, where it ends at `until` without one.
pub(crate) fn longest(until: Timestamp) -> Timestamp {
    Keep { days: 0 }.until_when_dead(until)
}

/// The end of an event's life with a dead letter, where others may have made it live longer already.
pub(crate) fn with_dead_letter(head: &Head, keep: Keep) -> Timestamp {
    head.until.max(keep.until_when_dead(head.received_at))
}

/// The end that counts for an event and what belongs to it while a delivery of it is due at `due`.
pub(crate) fn with_delivery(until: Timestamp, due: Timestamp) -> Timestamp {
    if is_outlasted(until, due) {
        until.max(respite(due))
    } else {
        until
    }
}

/// When an event whose life ends at `until` may be removed, in seconds since 1970.
pub(crate) fn of_event(until: Timestamp) -> i64 {
    until.plus(SLACK).seconds()
}

/// When what belongs to such an event may be removed, in seconds since 1970.
pub(crate) fn of_belongings(until: Timestamp) -> i64 {
    behind_event(of_event(until))
}

/// When what belongs to an event may be removed that may be removed itself at `ttl`; both in seconds since 1970.
pub(crate) fn behind_event(ttl: i64) -> i64 {
    Timestamp::from_seconds(ttl).plus(LONGER).seconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_that_is_due_late_keeps_what_it_needs_for_a_week_behind_its_due_time() {
        let until = Timestamp::from_seconds(1_800_000_000);
        let days = |days: u64| Duration::from_hours(24 * days);
        let early = Timestamp::from_seconds(1_800_000_000 - 24 * 3600);
        assert_eq!(with_delivery(until, early), until);
        let late = until.plus(days(4));
        assert_eq!(with_delivery(until, late), late.plus(days(7)));
    }

    #[test]
    fn the_longest_life_is_that_with_a_dead_letter() {
        let (keep, received) = (Keep { days: 30 }, Timestamp::from_seconds(1_800_000_000));
        assert_eq!(
            longest(keep.until(received)),
            keep.until_when_dead(received)
        );
    }

    #[test]
    fn nothing_goes_before_the_end_of_its_life_and_deliveries_go_last() {
        let until = Timestamp::from_millis(1_764_446_400_250);
        assert!(of_event(until) > until.seconds());
        assert_eq!(of_belongings(until) - of_event(until), 10 * 24 * 3600);
    }
}
