//! Where every item lies: the keys of the table and of its indexes, made and read in one place.

use switchboard_core::delivery::State;
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::time::Timestamp;

use crate::token::Token;

/// Parts that each index is spread over, so that no one of them takes all writes.
pub(crate) const SHARDS: u8 = 4;
/// Longest part of a sender's id that is a key, in bytes; the service takes 2,048.
const LONGEST_INDEXED_ID: usize = 1000;

/// Sort key of an event: before all else that belongs to it.
pub(crate) const EVENT: &str = "A";
/// Where the sort keys of what belongs to an event begin, behind its body.
pub(crate) const BEHIND_BODY: &str = "D";
/// Where the sort keys of a body's parts begin.
pub(crate) const PARTS: &str = "B#";
/// Where the sort keys of deliveries begin.
pub(crate) const DELIVERIES: &str = "D#";
/// Where the sort keys of further runs begin.
pub(crate) const RUNS: &str = "P#";
/// Where the sort keys of repeats begin, behind deliveries and runs.
pub(crate) const REPEATS: &str = "R#";
/// Behind all sort keys of what belongs to an event.
pub(crate) const LAST: &str = "~";
/// What the partitions of minutes begin with.
const MINUTES: &str = "M#";
/// Partition of settings, alerts, the configuration and cursors.
pub(crate) const SETTINGS_PARTITION: &str = "S";
/// Sort key of the settings.
pub(crate) const SETTINGS: &str = "settings";
/// Sort key of the configuration.
pub(crate) const CONFIGURATION: &str = "configuration";

/// Sort key of when a fold last left nothing.
pub(crate) const WHOLE: &str = "cursor#folded";
/// Sort key of where the keeper's walk close behind the present is.
pub(crate) const NEAR_WALK: &str = "cursor#near";
/// Sort key of where its walk far behind the present is: events before that have a record of every delivery.
pub(crate) const FAR_WALK: &str = "cursor#far";

/// Partition of an event and of all that belongs to it.
pub(crate) fn event(id: &EventId) -> String {
    format!("E#{id}")
}

/// The event that a partition belongs to.
pub(crate) fn event_of(partition: &str) -> Option<EventId> {
    EventId::parse(partition.strip_prefix("E#")?)
}

/// Sort key of the `nth` part of the body that the call with `token` brought.
pub(crate) fn part(token: &Token, nth: u32) -> String {
    format!("{PARTS}{token}#{nth:04}")
}

/// Sort key of a delivery.
pub(crate) fn delivery(id: &DeliveryId) -> String {
    format!("{DELIVERIES}{id}")
}

/// The delivery that a sort key belongs to.
pub(crate) fn delivery_of(sort: &str) -> Option<DeliveryId> {
    DeliveryId::parse(sort.strip_prefix(DELIVERIES)?)
}

/// Sort key of a further run.
pub(crate) fn run(run: Run) -> String {
    format!("{RUNS}{:06}", run.0)
}

/// The run that a sort key belongs to.
pub(crate) fn run_of(sort: &str) -> Option<Run> {
    sort.strip_prefix(RUNS)?.parse().ok().map(Run)
}

/// Sort key of the repeat that the call with `token` counted.
pub(crate) fn repeat(token: &Token) -> String {
    format!("{REPEATS}{token}")
}

/// A moment as it stands in sort keys: 13 digits of milliseconds since 1970, so that text sorts like time.
pub(crate) fn moment(at: Timestamp) -> String {
    const LAST: i64 = 9_999_999_999_999;
    format!("{:013}", at.millis().clamp(0, LAST))
}

/// Behind all sort keys that begin with this moment, or an earlier one.
pub(crate) fn behind(at: Timestamp) -> String {
    format!("{}~", moment(at))
}

/// Which of the [`SHARDS`] an id belongs to. Its characters are those of a digest, so all of them get as much.
fn shard(id: &str) -> u8 {
    let digest = id.as_bytes().get(4).copied().unwrap_or_default();
    // Base32: a to z, then 2 to 7.
    let value = match digest {
        b'a'..=b'z' => digest.wrapping_sub(b'a'),
        other => other.wrapping_sub(b'2').wrapping_add(26),
    };
    value % SHARDS
}

/// The moment that a sort key begins with; `None` where it begins with none.
pub(crate) fn moment_of(sort: &str) -> Option<Timestamp> {
    let millis = sort.get(..13)?.parse().ok()?;
    Some(Timestamp::from_millis(millis))
}

/// Before a sort key, and behind all others of its length that come before it: where both ends of a stretch belong to it.
pub(crate) fn just_before(sort: &str) -> String {
    let mut before = sort.to_owned();
    let last = before.pop().and_then(|last| {
        let code = u32::from(last).checked_sub(1)?;
        char::from_u32(code)
    });
    before.extend(last);
    before.push('~');
    before
}

/// Partition of what happened in the minutes of an hour since 1970, by source and destination.
pub(crate) fn minutes(hour: i64) -> String {
    format!("{MINUTES}{hour}")
}

/// The hour that such a partition is of.
pub(crate) fn hour_of(partition: &str) -> Option<i64> {
    partition.strip_prefix(MINUTES)?.parse().ok()
}

/// Partition of the index of recent events.
pub(crate) fn recent(source: &SourceName, shard: u8) -> String {
    format!("{source}#{shard}")
}

/// Keys of an event in the index of recent events.
pub(crate) fn recent_of(source: &SourceName, at: Timestamp, id: &EventId) -> (String, String) {
    (
        recent(source, shard(id.as_str())),
        format!("{}#{id}", moment(at)),
    )
}

/// Partition of events with a scope, by the sender's id.
pub(crate) fn scoped(sender_id: &str) -> String {
    let mut end = LONGEST_INDEXED_ID.min(sender_id.len());
    while !sender_id.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    sender_id.get(..end).unwrap_or_default().to_owned()
}

/// Partition of the index of waiting deliveries.
pub(crate) fn waiting(shard: u8) -> String {
    shard.to_string()
}

/// Partition of the same index where dead letters are that owe a ticket.
pub(crate) fn owing(shard: u8) -> String {
    format!("t{shard}")
}

/// Keys there of one whose ticket the keeper is to put then.
pub(crate) fn owing_of(look: Timestamp, id: &DeliveryId) -> (String, String) {
    let (_, sort) = waiting_of(look, id);
    (owing(shard(id.as_str())), sort)
}

/// Keys of a waiting delivery in the index of what is to be looked at.
pub(crate) fn waiting_of(look: Timestamp, id: &DeliveryId) -> (String, String) {
    (
        waiting(shard(id.as_str())),
        format!("{}#{id}", moment(look)),
    )
}

/// Partition of the index of open and dead deliveries; `None` for delivered ones, which are in none.
pub(crate) fn open(state: State, to: &DestinationName, shard: u8) -> Option<String> {
    let letter = match state {
        State::Waiting => 'w',
        State::Held => 'h',
        State::Dead => 'd',
        State::Delivered => return None,
    };
    Some(format!("{letter}#{to}#{shard}"))
}

/// Keys of a delivery in the index of open and dead deliveries.
pub(crate) fn open_of(
    state: State,
    to: &DestinationName,
    at: Timestamp,
    id: &DeliveryId,
) -> Option<(String, String)> {
    let partition = open(state, to, shard(id.as_str()))?;
    Some((partition, format!("{}#{id}", moment(at))))
}

#[cfg(test)]
mod tests {
    use switchboard_core::names::SenderId;

    use super::*;

    fn id(n: u32) -> EventId {
        let source = SourceName::parse("shop").expect("a name");
        EventId::of(&source, &SenderId::new(&n.to_string()).expect("an id"))
    }

    #[test]
    fn every_shard_gets_as_much() {
        let mut counts = [0_u32; SHARDS as usize];
        for n in 0..4000 {
            counts[usize::from(shard(id(n).as_str()))] += 1;
        }
        for count in counts {
            assert!((850..1150).contains(&count), "{counts:?}");
        }
    }

    #[test]
    fn an_event_sorts_before_all_that_belongs_to_it_and_its_body_before_the_rest() {
        let token = Token::stored("t");
        let delivery_id = DeliveryId::parse("dlv_aaaaaaaaaaaaaaaaaaaaaaaaaa").expect("an id");
        let mut keys = [
            run(Run(1)),
            repeat(&token),
            delivery(&delivery_id),
            part(&token, 0),
            EVENT.to_owned(),
        ];
        keys.sort();
        assert_eq!(keys.first().map(String::as_str), Some(EVENT));
        let behind = keys.iter().filter(|key| key.as_str() >= BEHIND_BODY);
        assert_eq!(behind.count(), 3, "deliveries, runs and repeats");
        let before = keys.iter().filter(|key| key.as_str() < REPEATS);
        assert_eq!(before.count(), 4, "repeats are last");
        assert!(keys.iter().all(|key| key.as_str() < LAST));
    }

    #[test]
    fn keys_are_read_as_what_they_were_made_of() {
        let event_id = id(1);
        assert_eq!(event_of(&event(&event_id)), Some(event_id));
        let delivery_id = DeliveryId::parse("dlv_aaaaaaaaaaaaaaaaaaaaaaaaaa").expect("an id");
        assert_eq!(delivery_of(&delivery(&delivery_id)), Some(delivery_id));
        assert_eq!(run_of(&run(Run(17))), Some(Run(17)));
        assert_eq!(event_of("T"), None);
        assert_eq!(hour_of(&minutes(-3)), Some(-3));
        assert_eq!(hour_of("T"), None);
        let at = Timestamp::from_millis(1_764_446_400_250);
        assert_eq!(moment_of(&moment(at)), Some(at));
        assert_eq!((moment_of(""), moment_of("T")), (None, None));
    }

    #[test]
    fn moments_sort_as_time_does() {
        let moments = [-5, 0, 1, 999, 1000, 1_764_446_400_250, i64::MAX];
        let texts = moments.map(|millis| moment(Timestamp::from_millis(millis)));
        assert!(texts.is_sorted(), "{texts:?}");
        assert!(texts.iter().all(|text| text.len() == 13));
    }

    #[test]
    fn what_comes_before_a_sort_key_ends_just_before_it() {
        let at = |millis| Timestamp::from_millis(1_764_446_400_250 + millis);
        let source = SourceName::parse("shop").expect("a name");
        let mut sorts: Vec<String> = (0..500)
            .map(|n: u32| recent_of(&source, at(i64::from(n % 7)), &id(n)).1)
            .collect();
        sorts.sort();
        for pair in sorts.windows(2) {
            let before = just_before(&pair[1]);
            assert!(before < pair[1] && before > pair[0], "{pair:?}");
        }
        for millis in [-1, 0, 50, 750] {
            let moment = moment(at(millis));
            let before = just_before(&moment);
            let last = recent_of(&source, at(millis - 1), &id(1)).1;
            assert!(before < moment && before > last, "{before} and {last}");
        }
    }

    #[test]
    fn a_long_senders_id_is_cut_between_two_characters() {
        let cut = scoped(&"é".repeat(512));
        assert_eq!(cut, "é".repeat(500));
        assert_eq!(scoped("a\0b"), "a\0b");
    }
}
