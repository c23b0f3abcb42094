//! How long items live: when the service may remove an event and what belongs to it.

use std::time::Duration;

use switchboard_core::time::Timestamp;

/// How much longer than its life an event stays: whoever is at it then finds it.
const SLACK: Duration = Duration::from_hours(1);
/// How much longer than their event its deliveries, runs and repeats stay. The service removes items in any order, and
/// within days: a delivery without a record looks like one that waits.
const LONGER: Duration = Duration::from_hours(3 * 24);

/// How long an event stays behind the due time of a delivery that needs it: for the attempts that follow.
pub(crate) const RESPITE: Duration = Duration::from_hours(7 * 24);

/// A delivery that is due later than this before its event's end keeps the event for itself.
pub(crate) const MARGIN: Duration = Duration::from_hours(24);

/// When an event whose life ends at `until` may be removed, in seconds since 1970.
pub(crate) fn of_event(until: Timestamp) -> i64 {
    until.plus(SLACK).seconds()
}

/// When what belongs to such an event may be removed, in seconds since 1970.
pub(crate) fn of_belongings(until: Timestamp) -> i64 {
    until.plus(SLACK).plus(LONGER).seconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_before_the_end_of_its_life_and_deliveries_go_last() {
        let until = Timestamp::from_millis(1_764_446_400_250);
        assert!(of_event(until) > until.seconds());
        assert_eq!(of_belongings(until) - of_event(until), 3 * 24 * 3600);
    }
}
