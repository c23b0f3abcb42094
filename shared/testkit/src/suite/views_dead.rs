//! `Views::dead_letters` of one destination, and `dead_letter_groups`.
//!
//! Taken to mean: groups are of destination and the text of the reason; a destination without dead letters has none.

use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{DeathReason, Next};
use switchboard_core::ports::{Selection, Views};
use switchboard_core::views::{DeadLetterGroup, DeadLetterGroups, DeadLetterSearch, PageAsk};

use super::fixture::Fixture;
use super::sample::{MANY, START, after, destination, unanswered};
use super::stage::{Stage, sure, walk};

/// The deliveries that the list of one destination holds.
async fn listed<F: Fixture>(stage: &Stage<F>, to: &str) -> Vec<String> {
    stage.settled().await;
    let search = &DeadLetterSearch {
        destination: Some(destination(to)),
    };
    let backend = stage.backend();
    let page = |ask: PageAsk| async move { backend.dead_letters(search, &ask).await };
    let letters = walk(3, page).await;
    let of = |letter: &switchboard_core::views::DeadLetter| letter.destination.as_str() == to;
    assert!(letters.iter().all(of), "only those of {to}");
    assert!(letters.is_sorted_by(|a, b| a.at >= b.at), "newest first");
    let id = |letter: switchboard_core::views::DeadLetter| letter.delivery.to_string();
    letters.into_iter().map(id).collect()
}

async fn groups<F: Fixture>(stage: &Stage<F>) -> DeadLetterGroups {
    stage.settled().await;
    sure(stage.backend().dead_letter_groups().await)
}

pub async fn dead_letters_are_listed_by_destination<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let crm = stage.several_dead("crm", 3, START).await;
    let mut chat = Vec::new();
    for n in 0..8_u64 {
        let followed = stage.one("shop", &n.to_string(), "chat", after(n)).await;
        stage.die(&followed, after(n)).await;
        chat.insert(0, followed);
    }
    let ids: Vec<_> = chat.iter().map(|f| f.key.id.to_string()).collect();
    assert_eq!(listed(&stage, "chat").await, ids);
    assert_eq!(listed(&stage, "crm").await.len(), crm.len());
    assert_eq!(listed(&stage, "forms").await, Vec::<String>::new());
    stage
        .requeue(&Selection::DeadOf(destination("chat")), after(99), 5)
        .await;
    assert_eq!(listed(&stage, "chat").await.len(), 3, "the others wait");
}

pub async fn dead_letters_are_grouped_by_destination_and_reason<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    assert_eq!(groups(&stage).await.items, [], "nothing is dead");
    let chat = stage.several("chat", 5, START).await;
    for (n, followed) in (0..).zip(&chat) {
        let dead = Next::Dead(DeathReason::AttemptsUsedUp);
        if n < 3 {
            stage.fail(&followed.key, START, dead).await;
        } else {
            let silent = |attempt: &Attempt| unanswered(attempt, after(n));
            stage.keep(followed, START, silent, dead).await;
        }
    }
    stage.several("crm", 4, START).await;
    stage
        .bury("crm", DeathReason::NoDestination, after(1), MANY)
        .await;
    let found = groups(&stage).await;
    assert_eq!(found.looked.at, 9, "all were looked at");
    assert_eq!(found.looked.back_to, None);
    let told = |group: &DeadLetterGroup| {
        let DeadLetterGroup {
            destination,
            reason,
            count,
            ..
        } = group;
        (destination.to_string(), reason.clone(), *count)
    };
    let found: Vec<_> = found.items.iter().map(told).collect();
    let expected = [
        ("crm", "no such destination", 4),
        ("chat", "attempts used up: last answer 500", 3),
        ("chat", "attempts used up: no answer in time", 2),
    ];
    let expected = expected.map(|(to, why, count)| (to.to_owned(), why.to_owned(), count));
    assert_eq!(found, expected, "the largest first");
    let silent = groups(&stage).await.items.pop().expect("the last group");
    let ended = |n| after(n).plus(std::time::Duration::from_secs(3));
    assert_eq!((silent.oldest, silent.newest), (ended(3), ended(4)));

    stage
        .requeue(&Selection::DeadOf(destination("crm")), after(99), MANY)
        .await;
    let left = groups(&stage).await;
    assert!(left.items.iter().all(|g| g.destination.as_str() == "chat"));
    assert_eq!(left.looked.at, 5);
}
