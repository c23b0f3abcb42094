//! What is planned for which events.

use switchboard_core::identity::EventId;

use super::*;

#[test]
fn each_event_gets_what_todays_routes_say_as_a_run_of_its_own() {
    let setting = setting();
    let order = setting.kept.event("shop", "1", "orders/create", at(-5));
    let other = setting.kept.event("shop", "2", "orders/paid", at(-4));
    setting.kept.event("code", "3", "push", at(-3));
    let replayed = setting.begin(&all()).expect("replayed");
    assert_eq!((replayed.events, replayed.deliveries), (2, 3));
    assert_eq!(replayed.looked.at, 3, "the one without a route, too");
    assert_eq!(replayed.next, None);
    let run = Run(1_800_000_000);
    assert_eq!(replayed.run, run, "the second in which it began");
    let runs = setting.kept.runs();
    let keys = |event: &EventId| {
        let queued = runs.get(&(event.clone(), run)).expect("a run");
        queued.iter().map(|q| q.key.clone()).collect::<Vec<_>>()
    };
    let line = ActionName::parse("post-line").expect("a name");
    let chat = |event| DeliveryKey::of(event, destination("chat"), line.clone(), run);
    let crm = DeliveryKey::of(&order, destination("crm"), ActionName::deliver(), run);
    assert_eq!(keys(&order), [chat(&order), crm]);
    assert_eq!(keys(&other), [chat(&other)]);
    assert_eq!(runs.len(), 2, "nothing for what no route names");
}

#[test]
fn it_can_be_for_one_destination_alone() {
    let setting = setting();
    setting.several(3);
    let to_crm = Replay {
        to: Some(destination("crm")),
        ..all()
    };
    let replayed = setting.begin(&to_crm).expect("replayed");
    assert_eq!((replayed.events, replayed.deliveries), (3, 3));
    let planned = setting.kept.planned();
    assert!(
        planned
            .iter()
            .all(|q| q.key.destination == destination("crm"))
    );
    let nowhere = Replay {
        to: Some(destination("forms")),
        ..all()
    };
    let error = setting.begin(&nowhere).expect_err("unknown");
    assert!(matches!(error, OperateError::UnknownDestination(_)));
    assert_eq!(setting.kept.planned(), planned);
}

#[test]
fn your_endpoint_gets_copies_while_it_is_set() {
    let setting = setting();
    setting.kept.event("code", "1", "push", at(-1));
    let to_yours = Replay {
        to: Some(DestinationName::your_endpoint()),
        ..all()
    };
    let error = setting.begin(&to_yours).expect_err("it is not set");
    assert!(matches!(error, OperateError::EndpointNotSet));
    assert_eq!(setting.begin(&all()).expect("replayed").deliveries, 0);
    setting.kept.set_endpoint();
    let replayed = setting.begin(&to_yours).expect("replayed");
    assert_eq!((replayed.events, replayed.deliveries), (1, 1));
    let planned = setting.kept.planned();
    assert!(planned.iter().all(|q| q.key.action == ActionName::copy()));
}

#[test]
fn a_dry_run_counts_the_same_and_changes_nothing() {
    let setting = setting();
    setting.several(EVENTS + 7);
    let dry = Replay {
        is_dry: true,
        ..all()
    };
    let counted = setting.begin(&dry).expect("counted");
    let rest = counted.next.clone().expect("there is more");
    let counted_rest = setting.call(&dry, rest).expect("counted");
    assert!(setting.kept.runs().is_empty(), "nothing is planned");
    let first = setting.begin(&all()).expect("replayed");
    assert_eq!(first, counted);
    let rest = first.next.clone().expect("there is more");
    assert_eq!(setting.call(&all(), rest).expect("replayed"), counted_rest);
    assert_eq!((counted.events, counted.deliveries), (EVENTS, 2 * EVENTS));
    assert_eq!((counted_rest.events, counted_rest.deliveries), (7, 14));
}

#[test]
fn only_what_was_received_when_it_began_is_meant() {
    let setting = setting();
    let with_it = setting.kept.event("shop", "1", "orders/paid", at(0));
    setting.kept.event("shop", "2", "orders/paid", at(1));
    let replayed = setting.begin(&all()).expect("replayed");
    assert_eq!(replayed.events, 1, "what came in the same second, too");
    assert!(
        setting
            .kept
            .runs()
            .keys()
            .all(|(event, _)| *event == with_it)
    );
    // A span that ends sooner stays as it is.
    let sooner = Replay {
        search: EventSearch {
            until: Some(at(0)),
            ..EventSearch::default()
        },
        ..all()
    };
    assert_eq!(setting.begin(&sooner).expect("replayed").events, 0);
}

#[test]
fn an_event_that_is_gone_by_then_does_not_count() {
    let setting = setting();
    setting.several(2);
    let gone = setting.kept.event("shop", "gone", "orders/create", at(-9));
    setting.kept.ends(&gone);
    let replayed = setting.begin(&all()).expect("replayed");
    assert_eq!((replayed.events, replayed.deliveries), (2, 4));
}

#[test]
fn each_that_begins_has_a_run_of_its_own() {
    let setting = setting();
    setting.several(2);
    let of_shop = Replay {
        search: EventSearch {
            source: Some(SourceName::parse("shop").expect("a name")),
            ..EventSearch::default()
        },
        ..all()
    };
    let run = |replay: &Replay| setting.begin(replay).expect("replayed").run.0 - 1_800_000_000;
    assert_eq!([run(&all()), run(&all())], [0, 1]);
    assert_eq!(setting.kept.runs().len(), 4, "both are planned");
    assert_eq!(run(&of_shop), 2, "all three in one second");
    let dry = Replay {
        is_dry: true,
        ..of_shop.clone()
    };
    run(&dry);
    assert_eq!(run(&all()), 3, "a count takes no run");
    setting.clock.0.fetch_add(1000, Ordering::SeqCst);
    assert_eq!(run(&all()), 4, "a second later it is another");
    setting.clock.0.fetch_add(60_000, Ordering::SeqCst);
    assert_eq!(run(&all()), 61, "and back to the seconds");
}
