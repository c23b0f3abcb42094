//! Telling many stories at once: most of their time they wait.

use std::fmt::Display;
use std::future::Future;

use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet, spawn_local};

/// How many stories of all tests are told at once.
static PLACES: Semaphore = Semaphore::const_new(10);

/// Tells every story; those that failed are named, and fail the test.
pub(crate) async fn tell_all<P, F>(plans: Vec<P>, story: impl Fn(P) -> F)
where
    P: Display + 'static,
    F: Future<Output = ()> + 'static,
{
    assert!(!plans.is_empty(), "there is something to tell");
    let all = LocalSet::new();
    let mut telling = JoinSet::new();
    for plan in plans {
        let name = plan.to_string();
        let story = story(plan);
        let told = async move {
            let _place = PLACES.acquire().await.expect("a place");
            let told = spawn_local(story).await;
            told.err().map(|error| format!("{name}: {}", why(error)))
        };
        telling.spawn_local_on(told, &all);
    }
    let broken = all.run_until(telling.join_all()).await;
    let broken: Vec<String> = broken.into_iter().flatten().collect();
    assert!(
        broken.is_empty(),
        "a promise was broken:\n{}",
        broken.join("\n")
    );
}

fn why(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else {
        return "it was given up".to_owned();
    };
    let text = panic.downcast_ref::<String>().cloned();
    let literal = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or(literal).unwrap_or_default()
}
