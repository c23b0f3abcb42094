//! Random steps on single events and deliveries: accepting, attempting, recording late, replaying, noting, expiring.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::event::Event;
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::ports::{Accepted, Begun, Note, Queued, Recorded, SameBody};
use switchboard_core::refusal::Cause;
use switchboard_core::retry::RetryRule;
use switchboard_core::time::Timestamp;
use switchboard_core::views::DeclinedCount;

use super::super::fixture::Fixture;
use super::super::sample::{self, KEEP, MANY, again_at, hint, queued, refusal, source, with_body};
use super::super::stage::Stage;
use super::compare::add;
use super::{Kept, Life, Model, Standing};

const SOURCES: [&str; 3] = ["shop", "code", "forms"];
/// Where the walk's deliveries go.
pub(super) const DESTINATIONS: [&str; 4] = ["accounting", "chat", "crm", "warehouse"];

impl Model {
    /// Makes one step; what it was.
    pub(super) async fn step<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let pause = Duration::from_millis(self.rng.random_range(0..3000));
        self.now = self.now.plus(pause);
        if self
            .events
            .values()
            .any(|kept| kept.life(self.now) == Life::Past)
        {
            return self.expire(stage).await;
        }
        match self.rng.random_range(0..100) {
            0..18 => self.accept_new(stage).await,
            18..28 => self.accept_again(stage).await,
            28..58 => self.attempt(stage).await,
            58..66 => self.late(stage).await,
            66..71 => self.hold(stage).await,
            71..76 => self.release(stage).await,
            76..79 => self.recover(stage).await,
            79..82 => self.bury(stage).await,
            82..89 => self.redrive(stage).await,
            89..93 => self.replay(stage).await,
            93..97 => self.note(stage).await,
            97..99 => self.expire(stage).await,
            _ => {
                let days = self.rng.random_range(3..20);
                self.now = self.now.plus(Duration::from_hours(24 * days));
                format!("{days} days go by")
            }
        }
    }

    /// One of `count`, drawn at random.
    pub(super) fn draw(&mut self, count: usize) -> Option<usize> {
        (count > 0).then(|| self.rng.random_range(0..count))
    }

    fn draw_plan(&mut self, event: &Event, run: Run) -> Vec<Queued> {
        let mut plan = Vec::new();
        for to in DESTINATIONS {
            if self.rng.random_bool(0.4) {
                let pause = Duration::from_millis(self.rng.random_range(0..5000));
                plan.push(queued(event, to, "deliver", run, self.now.plus(pause)));
            }
        }
        plan
    }

    async fn accept_new<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let before = self.draw(self.gone.len() * 2);
        let event = if let Some(n) = before.filter(|n| *n < self.gone.len()) {
            again_at(&self.gone.swap_remove(n), self.now)
        } else {
            self.made += 1;
            let n = self.draw(SOURCES.len()).expect("there are sources");
            let from = SOURCES.get(n).expect("drawn from them");
            sample::event(from, &self.made.to_string(), self.now)
        };
        let plan = self.draw_plan(&event, Run(0));
        let accepted = stage.accept(&event, &plan).await;
        let step = format!("{} is accepted with {} deliveries", event.id, plan.len());
        assert_eq!(accepted, Accepted::New, "{step}");
        let part = self
            .counted
            .sources
            .entry(event.source.clone())
            .or_default();
        part.stored += 1;
        part.unrouted += u64::from(plan.is_empty());
        let id = event.id.clone();
        let kept = Kept {
            event,
            repeats: 0,
            other_bodies: 0,
            runs: 1,
            deliveries: std::collections::BTreeMap::new(),
            was_dead_or_held: false,
            spared: None,
        };
        self.events.insert(id.clone(), kept);
        self.plan(&id, plan);
        step
    }

    /// The planned deliveries wait.
    fn plan(&mut self, id: &EventId, plan: Vec<Queued>) {
        self.touched.insert(id.clone());
        let kept = self.events.get_mut(id).expect("the model has it");
        for Queued { key, due } in plan {
            self.planned += 1;
            let standing = Standing {
                key: key.clone(),
                state: State::Waiting,
                due,
                attempts: 0,
                in_round: 0,
                reason: None,
                log: Vec::new(),
                recorded: Vec::new(),
            };
            kept.deliveries.insert(key.id, standing);
        }
    }

    /// Events about whose repeats something is promised, drawn from those that are there.
    fn draw_lasting(&mut self) -> Option<EventId> {
        let now = self.now;
        let certain = |kept: &Kept| {
            let waits = kept.deliveries.values().any(|d| d.state == State::Waiting);
            let young = now < KEEP.until(kept.event.received_at);
            young || (!waits && kept.life(now) == Life::Lasts)
        };
        let lasting: Vec<_> = self
            .events
            .iter()
            .filter(|(_, kept)| certain(kept))
            .collect();
        let lasting: Vec<_> = lasting.into_iter().map(|(id, _)| id.clone()).collect();
        self.draw(lasting.len())
            .and_then(|n| lasting.get(n).cloned())
    }

    async fn accept_again<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let Some(id) = self.draw_lasting() else {
            return "no repeat".to_owned();
        };
        let event = self.events.get(&id).map(|kept| kept.event.clone());
        let event = again_at(&event.expect("the model has it"), self.now);
        let (event, same) = if self.rng.random_bool(0.3) {
            (with_body(&event, "another body"), SameBody::No)
        } else {
            (event, SameBody::Yes)
        };
        let plan = self.draw_plan(&event, Run(0));
        let step = format!("{id} is repeated, {same:?}");
        let accepted = stage.accept(&event, &plan).await;
        assert_eq!(accepted, Accepted::Repeat(same), "{step}");
        let other = u64::from(same == SameBody::No);
        let part = self.counted.sources.entry(event.source).or_default();
        part.repeats += 1;
        part.repeats_with_other_body += other;
        let kept = self.events.get_mut(&id).expect("the model has it");
        kept.repeats += 1;
        kept.other_bodies += other;
        self.touched.insert(id);
        step
    }

    async fn attempt<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let wanted = if self.rng.random_bool(0.95) {
            self.find(|d| d.state == State::Waiting)
        } else {
            self.find(|d| d.state != State::Waiting)
        };
        let Some(at) = self.draw(wanted.len()).and_then(|n| wanted.get(n).cloned()) else {
            return "nothing to attempt".to_owned();
        };
        let standing = self.standing(&at).clone();
        if standing.state == State::Waiting && self.rng.random_bool(0.7) {
            self.now = self.now.max(standing.due);
        }
        let off = Duration::from_millis(u64::from(self.rng.random_bool(0.1)));
        let hint = hint(&standing.key, standing.due.plus(off));
        let step = format!("{} is begun, {:?}, off by {off:?}", at.1, standing.state);
        let begun = stage.begin(&hint, self.now).await;
        if standing.state != State::Waiting || !off.is_zero() {
            assert_eq!(begun, Begun::Drop, "{step}");
            return step;
        }
        if self.now < standing.due {
            assert_eq!(begun, Begun::Later(standing.due), "{step}");
            return step;
        }
        let attempt = Attempt {
            event: Arc::new(
                self.events
                    .get(&at.0)
                    .expect("the model has it")
                    .event
                    .clone(),
            ),
            key: standing.key,
            number: standing.attempts + 1,
            in_round: standing.in_round + 1,
        };
        assert_eq!(begun, Begun::Go(Box::new(attempt.clone())), "{step}");
        self.first(stage, &at, attempt).await
    }

    /// Records an attempt for the first time.
    async fn first<F: Fixture>(
        &mut self,
        stage: &Stage<F>,
        at: &(EventId, DeliveryId),
        attempt: Attempt,
    ) -> String {
        let failed = RetryRule::default().pause_after(attempt.in_round, &mut self.rng);
        let (record, next) = match failed {
            _ if self.rng.random_bool(0.3) => {
                (sample::delivered(&attempt, self.now), Next::Delivered)
            }
            Some(pause) => (
                sample::unanswered(&attempt, self.now),
                Next::Waiting(self.now.plus(pause)),
            ),
            None => (
                sample::rejected(&attempt, self.now),
                Next::Dead(DeathReason::AttemptsUsedUp),
            ),
        };
        let step = format!("{}: attempt {}, {next:?}", at.1, attempt.number);
        let recorded = stage.record(&attempt, &record, next).await;
        assert_eq!(recorded, Recorded::First, "{step}");
        let standing = self.standing(at);
        standing.attempts = attempt.number;
        standing.in_round = attempt.in_round;
        standing.log.push(record.clone());
        standing.recorded.push((attempt, record, next));
        match next {
            Next::Delivered => standing.state = State::Delivered,
            Next::Waiting(due) => standing.due = due,
            Next::Dead(reason) => self.dies(at, reason),
        }
        step
    }

    pub(super) fn dies(&mut self, at: &(EventId, DeliveryId), reason: DeathReason) {
        let standing = self.standing(at);
        standing.state = State::Dead;
        standing.reason = Some(reason);
        if let Some(kept) = self.events.get_mut(&at.0) {
            kept.was_dead_or_held = true;
        }
    }

    /// Records an attempt that was recorded before: the same again, or a success behind a failure.
    async fn late<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let wanted = self.find(|d| !d.recorded.is_empty());
        let Some(at) = self.draw(wanted.len()).and_then(|n| wanted.get(n).cloned()) else {
            return "nothing to record late".to_owned();
        };
        let standing = self.standing(&at).clone();
        let n = self
            .draw(standing.recorded.len())
            .expect("some were recorded");
        let (attempt, record, next) = standing.recorded.get(n).expect("drawn").clone();
        let step = format!("{}: attempt {} comes again", at.1, attempt.number);
        if self.rng.random_bool(0.6) || standing.state == State::Delivered {
            let recorded = stage.record(&attempt, &record, next).await;
            assert_eq!(recorded, Recorded::Stale, "{step}, {next:?}");
            return step;
        }
        let success = sample::delivered(&attempt, self.now);
        let recorded = stage.record(&attempt, &success, Next::Delivered).await;
        assert_eq!(recorded, Recorded::First, "{step}, a success");
        let standing = self.standing(&at);
        standing.state = State::Delivered;
        standing.reason = None;
        standing.log.push(success.clone());
        standing.recorded.push((attempt, success, Next::Delivered));
        step + ", a success"
    }

    async fn replay<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let Some(id) = self.draw_lasting() else {
            return "no replay".to_owned();
        };
        let kept = self.events.get(&id).expect("the model has it");
        let (event, runs) = (kept.event.clone(), kept.runs);
        let again = self.rng.random_bool(0.3);
        let run = Run(if again { runs - 1 } else { runs });
        let mut plan = self.draw_plan(&event, run);
        if plan.is_empty() || (again && runs == 1) {
            plan = vec![queued(&event, "chat", "deliver", Run(runs), self.now)];
        }
        let run = plan.first().expect("not empty").key.run;
        let step = format!("{id}: run {} is replayed", run.0);
        assert!(stage.replay(&id, run, &plan).await, "{step}");
        self.touched.insert(id.clone());
        if run.0 == runs {
            self.events.get_mut(&id).expect("the model has it").runs += 1;
            self.plan(&id, plan);
        }
        step
    }

    async fn note<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let n = self.draw(SOURCES.len()).expect("there are sources");
        let from = source(SOURCES.get(n).expect("drawn from them"));
        let listed = self.rng.random_bool(0.5);
        if self.rng.random_bool(0.5) {
            let listed = listed.then(|| refusal("random"));
            self.counted
                .sources
                .entry(from.clone())
                .or_default()
                .refused += 1;
            let note = Note::Refused {
                source: from,
                listed,
            };
            stage.note(self.now, note).await;
            return "a request is refused".to_owned();
        }
        let cause = Cause::TooLarge;
        let (source, text) = (Some(from), cause.to_string());
        let mut counts = self.counted.declined.iter_mut();
        match counts.find(|part| part.source == source && part.cause == text) {
            Some(part) => part.count += 1,
            None => self.counted.declined.push(DeclinedCount {
                source: source.clone(),
                status: cause.status(),
                cause: text,
                count: 1,
            }),
        }
        let listed = listed.then(|| "random".to_owned());
        let note = Note::Declined {
            source,
            cause,
            listed,
        };
        stage.note(self.now, note).await;
        "a request is declined".to_owned()
    }

    pub(super) async fn expire<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let now: Timestamp = self.now;
        let removed = stage.expire(now, MANY).await;
        let step = format!("expiry at {now} removes {removed}");
        let (mut past, mut either) = (0, 0);
        let all: Vec<_> = self
            .events
            .iter()
            .map(|(id, kept)| (id.clone(), kept.life(now)))
            .collect();
        for (id, life) in all {
            let there = stage.event(&id).await.is_some();
            match life {
                Life::Lasts => assert!(there, "{step}: {id} is needed"),
                Life::Past => assert!(!there, "{step}: {id} is past its life"),
                Life::Either => {}
            }
            past += u32::from(life == Life::Past);
            either += u32::from(life == Life::Either && !there);
            if !there {
                self.remove(&id);
            } else if let Some(kept) = self.events.get_mut(&id) {
                let open = [State::Waiting, State::Held];
                let needed = kept.deliveries.values().any(|d| open.contains(&d.state));
                if needed && now >= KEEP.until(kept.event.received_at) {
                    kept.spared = Some(now);
                }
            }
        }
        assert_eq!(removed, past + either, "{step}");
        step
    }

    /// The event goes; what was counted of its deliveries stays.
    fn remove(&mut self, id: &EventId) {
        let kept = self.events.remove(id).expect("the model has it");
        for standing in kept.deliveries.values() {
            let part = self.part(&standing.key.destination);
            add(part, standing.state);
            part.expired += u64::from(standing.state == State::Dead);
        }
        self.gone.push(kept.event);
    }
}
