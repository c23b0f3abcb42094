//! The use case of a replay over `Views` and `Ledger` together: what a search finds gets a further run, each event once.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchboard_core::configuration::{self, Origin};
use switchboard_core::delivery::State;
use switchboard_core::identity::Run;
use switchboard_core::operate::{EVENTS, Operator, Progress, Replay, Replayed};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::views::EventSearch;

use super::fixture::Fixture;
use super::sample::{START, after, destination, event, plan, source};
use super::stage::Stage;
use crate::clock::HandClock;

const CONFIGURATION: &str = r#"
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:S"]
[[source]]
name = "code"
scheme = "github"
secrets = ["env:S"]
[[destination]]
name = "chat"
url = "https://chat.example/"
[[destination]]
name = "crm"
url = "https://crm.example/"
[[route]]
source = "shop"
kind = "*"
deliver = [{ to = "chat" }, { to = "crm" }]
"#;

struct OneSecret;

impl SecretReader for OneSecret {
    fn read(&self, _: &Reference) -> Result<String, String> {
        Ok("a secret of sixteen bytes or more".to_owned())
    }
}

fn operator<F: Fixture>(stage: &Stage<F>, seconds: u64) -> Operator<F::Backend> {
    let read = configuration::read(CONFIGURATION, Origin::File, &OneSecret);
    let configuration = read.expect("no faults").configuration;
    let clock = Arc::new(HandClock::at(after(seconds)));
    Operator::new(Arc::new(configuration), stage.shared(), clock)
}

fn to_chat(search: EventSearch) -> Replay {
    Replay {
        search,
        to: Some(destination("chat")),
        per_second: 100,
        is_dry: false,
    }
}

/// Replays to the end; each call's answer.
async fn whole<F: Fixture>(
    operator: &Operator<F::Backend>,
    stage: &Stage<F>,
    replay: &Replay,
) -> Vec<Replayed> {
    let mut progress = Some(operator.begin_replay(replay).await.expect("begun"));
    let mut calls = Vec::new();
    while let Some(here) = progress.take() {
        assert!(calls.len() < 100, "the replay never ends");
        stage.settled().await;
        let call = operator.replay(replay, here).await.expect("replayed");
        progress.clone_from(&call.next);
        calls.push(call);
    }
    calls
}

pub async fn each_event_that_is_found_gets_one_further_run<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mut events = Vec::new();
    for n in 0..4_u64 {
        let from = if n == 3 { "code" } else { "shop" };
        let event = event(from, &n.to_string(), after(n));
        let plan = plan(&event, Run(0), &["crm"], after(n));
        stage.accept(&event, &plan).await;
        events.push(event);
    }
    let search = EventSearch {
        from: Some(after(1)),
        ..EventSearch::default()
    };
    let operator = operator(&stage, 1000);
    let dry = Replay {
        is_dry: true,
        ..to_chat(search.clone())
    };
    let counted = whole(&operator, &stage, &dry).await;
    let calls = whole(&operator, &stage, &to_chat(search)).await;
    for calls in [counted, calls] {
        let sum: u32 = calls.iter().map(|call| call.deliveries).sum();
        assert_eq!(sum, 2, "of code nothing is routed");
    }
    for (event, further) in events.iter().zip([0, 1, 1, 0]) {
        let view = stage.stored(&event.id).await;
        assert_eq!(view.deliveries.len(), 1 + further, "{}", event.id);
        for delivery in view.deliveries.iter().filter(|d| d.run != Run(0)) {
            assert_eq!(delivery.destination, destination("chat"));
            assert_eq!(delivery.state, State::Waiting);
        }
    }
}

pub async fn a_replay_of_many_takes_calls_and_leaves_out_what_comes_meanwhile<F: Fixture>(
    fixture: F,
) {
    let stage = Stage::open(fixture).await;
    let count = u64::from(EVENTS) + 30;
    for n in 0..count {
        let event = event("shop", &n.to_string(), after(n / 3));
        stage.accept(&event, &[]).await;
    }
    let operator = operator(&stage, 1000);
    let replay = to_chat(EventSearch {
        source: Some(source("shop")),
        ..EventSearch::default()
    });
    stage.settled().await;
    let begun = operator.begin_replay(&replay).await.expect("begun");
    let first = operator.replay(&replay, begun).await;
    let first = first.expect("replayed");
    assert_eq!(first.events, EVENTS);
    let later = event("shop", "later", after(1001));
    stage.accept(&later, &[]).await;
    let text = first.next.expect("there is more").to_string();
    // The same call twice is once.
    for _ in 0..2 {
        stage.settled().await;
        let progress = Progress::parse(&text).expect("as it was told");
        let second = operator.replay(&replay, progress).await.expect("replayed");
        assert_eq!((second.events, second.next), (30, None));
        assert_eq!(second.run, first.run);
    }
    let totals = stage.totals().await;
    assert_eq!(
        totals.waiting, count,
        "each once, and none of what came later"
    );
    let rows = stage.search(&EventSearch::default()).await;
    let ids: BTreeSet<_> = rows.iter().map(|row| row.event.clone()).collect();
    assert_eq!(ids.len() as u64, count + 1);
    let due = stage.stored(&event("shop", "0", START).id).await;
    let due = due.deliveries.first().and_then(|delivery| delivery.due);
    assert!(due.is_some_and(|due| due >= after(1002)), "spread: {due:?}");
}
