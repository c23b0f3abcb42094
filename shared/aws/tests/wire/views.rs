//! The views on the wire: what a look costs, and what viewers share.

use std::time::Duration;

use switchboard_aws::Aws;
use switchboard_core::delivery::{DeathReason, Next};
use switchboard_core::event::Event;
use switchboard_core::ports::{AlertStore, Ledger, Views};
use switchboard_core::views::{DeadLetterSearch, EventSearch, PageAsk};
use switchboard_testkit::emulator::Emulator;

use crate::down::switched;
use crate::ground::Ground;
use crate::lost::times;
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, event, go, plan, to, unanswered};
use crate::support::START;

const ASK: PageAsk = PageAsk {
    after: None,
    limit: 5,
};

/// Stores events, each with one dead letter.
async fn stored(backend: &Aws, ids: std::ops::Range<u64>) {
    for n in ids {
        let received_at = START.plus(Duration::from_secs(n));
        let event = Event {
            received_at,
            ..event(&n.to_string(), 10)
        };
        let plan = plan(&event, 1, received_at);
        let accepted = backend.accept(&event, &plan, KEEP).await;
        accepted.expect("stored");
        let attempt = go(backend, plan.first().expect("planned")).await;
        let dead = Next::Dead(DeathReason::AttemptsUsedUp);
        let record = unanswered(&attempt);
        let recorded = backend.record(&attempt, &record, dead, KEEP).await;
        recorded.expect("recorded");
    }
    folded(backend).await;
}

/// Folds until nothing is left.
pub(crate) async fn folded(backend: &Aws) {
    while backend.fold(1000).await.expect("folded").behind == switchboard_aws::Behind::Yes {}
}

/// How many requests all that operators look at takes. None of them reads an index without a limit.
async fn looks(ground: &Ground) -> usize {
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let events = backend.events(&EventSearch::default(), &ASK).await;
    assert_eq!(events.expect("a list").page.items.len(), 5);
    let search = EventSearch {
        sender_id: Some("7".to_owned()),
        ..EventSearch::default()
    };
    let found = backend.events(&search, &ASK).await.expect("a list");
    assert_eq!(found.page.items.len(), 1);
    for destination in [None, Some(to("to-0"))] {
        let search = DeadLetterSearch { destination };
        let letters = backend.dead_letters(&search, &ASK).await;
        assert_eq!(letters.expect("a list").items.len(), 5);
    }
    backend.overview().await.expect("totals");
    backend.standings().await.expect("standings");
    let requests = proxy.requests();
    for request in &requests {
        let is_limited = request.body.contains("\"Limit\":");
        assert!(
            is_limited || !request.body.contains("\"IndexName\":"),
            "{request:?}"
        );
    }
    requests.len()
}

#[tokio::test]
async fn a_look_costs_the_same_however_much_there_is() {
    let ground = Ground::new().await;
    let backend = ground.open();
    stored(&backend, 0..40).await;
    let few = looks(&ground).await;
    stored(&backend, 40..200).await;
    let many = looks(&ground).await;
    // How rows lie in the parts of an index makes for a piece more or less.
    let parts = 4;
    assert!(few.abs_diff(many) <= parts, "{few} and {many}");
}

#[tokio::test]
async fn viewers_share_the_totals_for_a_while() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let second = Duration::from_secs(1);
    let backend = ground.open_paced(&clients, ground.place.clone(), second);
    stored(&ground.open(), 0..1).await;
    let look = async || {
        let (one, other) = tokio::join!(backend.overview(), backend.overview());
        let (ready, standings) = tokio::join!(backend.ready(), backend.standings());
        ready.expect("ready");
        standings.expect("standings");
        assert_eq!(one.ok(), other.ok());
        (times(&proxy, "DescribeStream"), times(&proxy, "UpdateItem"))
    };
    assert_eq!(Box::pin(look()).await, (1, 1));
    ground.clock.advance(Duration::from_millis(999));
    assert_eq!(Box::pin(look()).await, (1, 1), "shared");
    ground.clock.advance(Duration::from_millis(1));
    assert_eq!(Box::pin(look()).await, (2, 2), "made anew");
}

#[tokio::test]
async fn totals_that_cannot_be_folded_on_are_shown_as_far_as_they_are() {
    let ground = Ground::new().await;
    let (proxy, switch) = switched("DescribeStream");
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let stored_events = async || backend.overview().await.expect("totals").totals.stored;
    let accept = async |id| {
        let accepted = backend.accept(&event(id, 10), &[], KEEP).await;
        accepted.expect("stored");
    };
    accept("1").await;
    assert_eq!(stored_events().await, 1);
    switch.down();
    accept("2").await;
    assert_eq!(stored_events().await, 1);
    backend.fold(10).await.expect_err("whoever folds is told");
    switch.up();
    assert_eq!(stored_events().await, 2);
}

#[tokio::test]
async fn a_fold_whose_answers_were_lost_counts_once() {
    let ground = Ground::new().await;
    let direct = ground.open();
    let writes = "TransactWriteItems";
    for attempts in 1..=4_u64 {
        let mut left = attempts;
        let proxy = Proxy::start(Emulator::shared().address(), move |request| {
            if request.operation == writes && left > 0 {
                left -= 1;
                return Fate::AnswerLost;
            }
            Fate::Passed
        });
        let clients = clients_at(&proxy.url(), ground.account());
        let backend = ground.open_with(&clients, ground.place.clone());
        let event = event(&attempts.to_string(), 10);
        let accepted = direct.accept(&event, &plan(&event, 1, START), KEEP).await;
        accepted.expect("stored");
        // A call has three attempts; where none is answered, the fold fails, and what it wrote stands.
        let folded = backend.fold(100).await;
        assert_eq!(folded.is_ok(), attempts < 3, "{attempts}");
        assert!(times(&proxy, writes) > 1, "it was made again");
        for viewer in [&backend, &direct] {
            let totals = viewer.overview().await.expect("totals").totals;
            assert_eq!((totals.stored, totals.waiting), (attempts, attempts));
        }
    }
}

#[tokio::test]
async fn a_list_reads_no_bodies() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let big = event("big", 300_000);
    let accepted = backend.accept(&big, &[], KEEP).await;
    accepted.expect("stored");
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    for sender_id in [None, Some("big".to_owned())] {
        let search = EventSearch {
            sender_id,
            ..EventSearch::default()
        };
        let listed = backend.events(&search, &ASK).await.expect("a list");
        assert_eq!(listed.page.items[0].body_length, 300_000);
    }
    backend
        .event(&big.id)
        .await
        .expect("a view")
        .expect("there");
    let requests = proxy.requests().into_iter();
    let mut whole = requests.filter(|request| {
        request.operation == "GetItem"
            && request.body.contains("E#evt_")
            && !request.body.contains("\"ProjectionExpression\":")
    });
    assert!(whole.next().is_none(), "an event was read whole");
}
