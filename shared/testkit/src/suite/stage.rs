//! A backend under check, with the steps and views that the checks use, each failing the check when it fails.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, DeliveryKey, Next, State};
use switchboard_core::endpoint::{Change, Settings};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::ports::{
    Accepted, Answer, Begun, Hint, Journal, Ledger, Moved, Note, Queued, Recorded, Selection,
    SettingsStore, Spread, Views,
};
use switchboard_core::retry::RetryRule;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    DeadLetter, DeadLetterSearch, DeliveryView, EventRow, EventSearch, EventView, Overview, Page,
    PageAsk, Recent, Totals,
};

use super::fixture::Fixture;
use super::sample::{self, KEEP, MANY, START, hint, plan};

/// One delivery that a check follows.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    /// Its event.
    pub(crate) event: Event,
    /// Which it is.
    pub(crate) key: DeliveryKey,
    /// When its first attempt is due.
    pub(crate) due: Timestamp,
}

/// A backend and its fixture.
pub(crate) struct Stage<F: Fixture> {
    fixture: F,
    backend: Arc<F::Backend>,
}

/// What an answer holds; the check fails with the error's line when it is one.
pub(crate) fn sure<T>(answer: Answer<T>) -> T {
    answer.unwrap_or_else(|error| panic!("the backend failed: {}", error.line()))
}

/// Runs `step` until it has waited `waits` times, and gives it up then: what its caller's end would do.
pub(crate) async fn stopped<T>(step: impl Future<Output = T> + Send, waits: u32) -> Option<T> {
    let mut step = pin!(step);
    let mut left = waits;
    std::future::poll_fn(move |context| match step.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left <= 1 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// All items of a list, page by page; no page may hold more than `limit`.
pub(crate) async fn walk<T, A>(limit: u32, mut page: impl FnMut(PageAsk) -> A + Send) -> Vec<T>
where
    T: Send,
    A: Future<Output = Answer<Page<T>>> + Send,
{
    let mut items = Vec::new();
    let mut after = None;
    for _ in 0..MANY {
        let part = sure(page(PageAsk { after, limit }).await);
        assert!(
            part.items.len() <= limit as usize,
            "a page holds no more items than were asked for"
        );
        items.extend(part.items);
        after = part.next;
        if after.is_none() {
            return items;
        }
    }
    panic!("the list never comes to its last page");
}

impl<F: Fixture> Stage<F> {
    /// A stage with a backend that holds nothing.
    pub(crate) async fn open(fixture: F) -> Self {
        let backend = Arc::new(fixture.fresh().await);
        Self { fixture, backend }
    }

    /// The same after the backend was closed and opened again.
    pub(crate) async fn reopened(self) -> Self {
        let Some(backend) = Arc::into_inner(self.backend) else {
            panic!("a check still uses the backend that it closes");
        };
        let backend = Arc::new(self.fixture.reopened(backend).await);
        Self { backend, ..self }
    }

    pub(crate) fn backend(&self) -> &F::Backend {
        &self.backend
    }

    /// The backend for whoever keeps it; gone before the stage is reopened.
    pub(crate) fn shared(&self) -> Arc<F::Backend> {
        Arc::clone(&self.backend)
    }

    /// Makes `step` `count` times at once, each on a task of its own.
    pub(crate) async fn at_once<T, A>(
        &self,
        count: u32,
        step: impl Fn(Arc<F::Backend>, u32) -> A + Send,
    ) -> Vec<T>
    where
        T: Send + 'static,
        A: Future<Output = T> + Send + 'static,
    {
        let tasks: Vec<_> = (0..count)
            .map(|n| tokio::spawn(step(Arc::clone(&self.backend), n)))
            .collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.expect("a step that does not panic"));
        }
        answers
    }

    pub(crate) async fn accept(&self, event: &Event, plan: &[Queued]) -> Accepted {
        sure(self.backend.accept(event, plan, KEEP).await)
    }

    /// Accepts an event with one delivery, due at `due`.
    pub(crate) async fn one(&self, from: &str, id: &str, to: &str, due: Timestamp) -> Followed {
        let event = sample::event(from, id, START);
        let plan = plan(&event, Run(0), &[to], due);
        assert_eq!(self.accept(&event, &plan).await, Accepted::New);
        let key = plan.into_iter().next().expect("a plan of one").key;
        Followed { event, key, due }
    }

    /// Accepts `count` events with one delivery each, due at `due`.
    pub(crate) async fn several(&self, to: &str, count: u32, due: Timestamp) -> Vec<Followed> {
        let mut all = Vec::new();
        for n in 0..count {
            all.push(self.one("shop", &format!("{to}-{n}"), to, due).await);
        }
        all
    }

    /// The same, each dead at `due` after one attempt.
    pub(crate) async fn several_dead(&self, to: &str, count: u32, due: Timestamp) -> Vec<Followed> {
        let all = self.several(to, count, due).await;
        for followed in &all {
            self.die(followed, due).await;
        }
        all
    }

    pub(crate) async fn begin(&self, hint: &Hint, now: Timestamp) -> Begun {
        sure(self.backend.begin(hint, now).await)
    }

    /// Begins the attempt of a delivery that is due at `due`.
    pub(crate) async fn go(&self, key: &DeliveryKey, due: Timestamp) -> Attempt {
        match self.begin(&hint(key, due), due).await {
            Begun::Go(attempt) => *attempt,
            other @ (Begun::Later(_) | Begun::Drop) => {
                panic!("a waiting delivery that is due may be attempted, but it was {other:?}")
            }
        }
    }

    pub(crate) async fn record(
        &self,
        attempt: &Attempt,
        record: &AttemptRecord,
        next: Next,
    ) -> Recorded {
        sure(self.backend.record(attempt, record, next, KEEP).await)
    }

    /// Attempts a delivery that is due at `due` and records that it was rejected there.
    pub(crate) async fn fail(&self, key: &DeliveryKey, due: Timestamp, next: Next) -> Attempt {
        let attempt = self.go(key, due).await;
        let record = sample::rejected(&attempt, due);
        assert_eq!(
            self.record(&attempt, &record, next).await,
            Recorded::First,
            "the first record of attempt {} moves the delivery",
            attempt.number
        );
        attempt
    }

    /// Attempts a delivery that is due at `due` and records that it was delivered.
    pub(crate) async fn deliver(&self, followed: &Followed, due: Timestamp) -> Attempt {
        let attempt = self.go(&followed.key, due).await;
        let record = sample::delivered(&attempt, due);
        let recorded = self.record(&attempt, &record, Next::Delivered).await;
        assert_eq!(recorded, Recorded::First, "a first success is kept");
        attempt
    }

    /// Makes a dead letter of a delivery that is due at `due`, with one attempt.
    pub(crate) async fn die(&self, followed: &Followed, due: Timestamp) -> Attempt {
        let next = Next::Dead(DeathReason::AttemptsUsedUp);
        self.fail(&followed.key, due, next).await
    }

    /// Fails every attempt that the usual retry rule gives, the first due at `due`; when the last was made.
    pub(crate) async fn use_up(&self, followed: &Followed, due: Timestamp) -> Timestamp {
        let rule = RetryRule::default();
        let mut due = due;
        for pause in rule.pauses() {
            let next = due.plus(*pause);
            self.fail(&followed.key, due, Next::Waiting(next)).await;
            due = next;
        }
        let last = self.die(followed, due).await;
        assert_eq!(
            last.in_round,
            rule.attempts(),
            "a round has as many attempts as the rule gives"
        );
        due
    }

    /// Holds a destination and moves what is due of it to held.
    pub(crate) async fn hold(&self, to: &str, now: Timestamp) -> Moved {
        let to = sample::destination(to);
        self.change(Change::Hold(to.clone())).await;
        self.shelve(to.as_str(), now, MANY).await
    }

    pub(crate) async fn shelve(&self, to: &str, now: Timestamp, limit: u32) -> Moved {
        let to = sample::destination(to);
        sure(self.backend.shelve(&to, now, KEEP, limit).await)
    }

    pub(crate) async fn bury(
        &self,
        to: &str,
        reason: DeathReason,
        now: Timestamp,
        limit: u32,
    ) -> Moved {
        let to = sample::destination(to);
        sure(self.backend.bury(&to, reason, now, KEEP, limit).await)
    }

    pub(crate) async fn requeue(
        &self,
        selection: &Selection,
        start: Timestamp,
        limit: u32,
    ) -> Moved {
        let spread = Spread {
            start,
            per_second: 10,
        };
        sure(self.backend.requeue(selection, spread, limit).await)
    }

    pub(crate) async fn replay(&self, event: &EventId, run: Run, plan: &[Queued]) -> bool {
        sure(self.backend.replay(event, run, plan).await)
    }

    /// Takes a hold back; what is held of it stays so until a step puts it back.
    pub(crate) async fn let_go(&self, to: &str) {
        self.change(sample::release(&sample::destination(to))).await;
    }

    pub(crate) async fn release(&self, to: &str, now: Timestamp, limit: u32) -> Moved {
        let to = sample::destination(to);
        sure(self.backend.release(&to, now, limit).await)
    }

    pub(crate) async fn recover(&self, now: Timestamp, limit: u32) -> Moved {
        sure(self.backend.recover(now, limit).await)
    }

    pub(crate) async fn expire(&self, now: Timestamp, limit: u32) -> u32 {
        sure(self.backend.expire(now, limit).await).done
    }

    pub(crate) async fn note(&self, at: Timestamp, note: Note) {
        sure(self.backend.note(at, note).await);
    }

    pub(crate) async fn change(&self, change: Change) -> Arc<Settings> {
        sure(self.backend.change(change).await)
    }

    pub(crate) async fn settings(&self) -> Arc<Settings> {
        sure(self.backend.settings().await)
    }

    /// Waits until the views show all that was done.
    pub(crate) async fn settled(&self) {
        self.fixture.settled(&self.backend).await;
    }

    pub(crate) async fn overview(&self) -> Overview {
        self.settled().await;
        sure(self.backend.overview().await)
    }

    pub(crate) async fn totals(&self) -> Totals {
        self.overview().await.totals
    }

    pub(crate) async fn event(&self, id: &EventId) -> Option<EventView> {
        self.settled().await;
        sure(self.backend.event(id).await)
    }

    /// The view of an event that is stored.
    pub(crate) async fn stored(&self, id: &EventId) -> EventView {
        let Some(view) = self.event(id).await else {
            panic!("the event {id} is stored, so its view is there");
        };
        view
    }

    /// Where a delivery stands.
    pub(crate) async fn stands(&self, event: &EventId, key: &DeliveryKey) -> DeliveryView {
        let view = self.stored(event).await;
        let found = view.deliveries.into_iter().find(|d| d.delivery == key.id);
        let Some(found) = found else {
            panic!("the event's view lists its delivery {}", key.id);
        };
        found
    }

    pub(crate) async fn view(&self, followed: &Followed) -> DeliveryView {
        self.stands(&followed.event.id, &followed.key).await
    }

    pub(crate) async fn state(&self, followed: &Followed) -> State {
        self.view(followed).await.state
    }

    /// How many of `all` are in `state`.
    pub(crate) async fn in_state(&self, all: &[Followed], state: State) -> usize {
        let mut count = 0;
        for followed in all {
            count += usize::from(self.state(followed).await == state);
        }
        count
    }

    /// The last hour.
    pub(crate) async fn recent(&self, now: Timestamp) -> Recent {
        self.settled().await;
        sure(self.backend.recent(now).await)
    }

    /// A delivery's outcome, kept while it is due at `due`.
    pub(crate) async fn keep(
        &self,
        followed: &Followed,
        due: Timestamp,
        record: impl FnOnce(&Attempt) -> AttemptRecord + Send,
        next: Next,
    ) -> Attempt {
        let attempt = self.go(&followed.key, due).await;
        let record = record(&attempt);
        let recorded = self.record(&attempt, &record, next).await;
        assert_eq!(
            recorded,
            Recorded::First,
            "it is recorded for the first time"
        );
        attempt
    }

    /// All events that a search finds.
    pub(crate) async fn search(&self, search: &EventSearch) -> Vec<EventRow> {
        self.settled().await;
        let backend = &self.backend;
        let page = |ask| async move { Ok(backend.events(search, &ask).await?.page) };
        walk(100, page).await
    }

    /// All dead letters.
    pub(crate) async fn dead_letters(&self) -> Vec<DeadLetter> {
        self.settled().await;
        let backend = &self.backend;
        let all = &DeadLetterSearch::default();
        let page = |ask| async move { backend.dead_letters(all, &ask).await };
        walk(100, page).await
    }
}
