//! What holds at the end of every story.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_core::delivery::State;
use switchboard_core::ports::Views;
use switchboard_core::views::{DeliveryView, EventView, Totals};
use switchboard_tests::board::Board;

use crate::scene::{Told, event};

/// How a delivery is to end: where, and with how many attempts recorded.
pub(crate) type End = (State, u32);

/// How deliveries end that nothing stands in the way of: `flaky` takes the second attempt, `bad` none of its three.
pub(crate) fn end_of(destination: &str) -> End {
    match destination {
        "flaky" => (State::Delivered, 2),
        "bad" => (State::Dead, 3),
        _ => (State::Delivered, 1),
    }
}

/// The deliveries of an event that are still to be attempted.
pub(crate) fn unfinished(event: Option<&EventView>) -> usize {
    let deliveries = event.map(|event| event.deliveries.as_slice());
    let waits = |delivery: &&DeliveryView| delivery.state == State::Waiting;
    deliveries.unwrap_or_default().iter().filter(waits).count()
}

/// Every delivery of the event has ended as it should, its attempts are numbered without a gap or a double, and its
/// destination got exactly these attempts, each at least once, under one key.
pub(crate) fn assert_ended(board: &Board, event: &EventView, end: impl Fn(&str) -> End) {
    let others = assert_ended_beside_others(board, event, end);
    assert!(others.is_empty(), "nothing else was sent: {others:?}");
}

/// The same where there are other events; what was sent that is not of this one, attempts by key.
pub(crate) fn assert_ended_beside_others(
    board: &Board,
    event: &EventView,
    end: impl Fn(&str) -> End,
) -> BTreeMap<String, BTreeSet<u32>> {
    let mut at_destinations: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for received in board.sink.received() {
        let number = received.header("switchboard-attempt").parse();
        let key = received.key().to_owned();
        let numbers = at_destinations.entry(key).or_default();
        numbers.insert(number.expect("a number"));
    }
    for delivery in &event.deliveries {
        let destination = delivery.destination.as_str();
        let (state, attempts) = end(destination);
        assert_eq!(delivery.state, state, "{delivery:?}");
        assert_eq!(delivery.attempts, attempts, "{delivery:?}");
        let logged: Vec<u32> = delivery.log.iter().map(|attempt| attempt.number).collect();
        let all: Vec<u32> = (1..=attempts).collect();
        assert_eq!(logged, all, "the attempts of {delivery:?}");
        let key = delivery.delivery.as_str();
        let got = at_destinations.remove(key).unwrap_or_default();
        let all: BTreeSet<u32> = all.into_iter().collect();
        assert_eq!(got, all, "what {destination} got");
    }
    at_destinations
}

/// The totals are what is stored, to the last one; only repeats may be fewer than were posted.
pub(crate) async fn assert_totals(board: &Board, ids: Vec<&'static str>, told: Told) {
    let mut expected = Totals::default();
    for id in ids {
        let Some(event) = event(board, id).await else {
            continue;
        };
        expected.stored += 1;
        for delivery in &event.deliveries {
            let count = match delivery.state {
                State::Waiting => &mut expected.waiting,
                State::Held => &mut expected.held,
                State::Delivered => &mut expected.delivered,
                State::Dead => &mut expected.dead,
            };
            *count += 1;
        }
    }
    let totals = board.aws.overview().await.expect("totals").totals;
    // What was stored and not answered may come again.
    let most = told.posts.saturating_sub(expected.stored);
    assert!(totals.repeats <= most, "{totals:?} after {told:?}");
    expected.repeats = totals.repeats;
    expected.received = expected.stored + expected.repeats;
    expected.declined = totals.declined;
    assert_eq!(totals, expected);
}
