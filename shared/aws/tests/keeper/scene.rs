//! A backend with its keeper, and what happens before the keeper comes.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_sqs::types::QueueAttributeName;
use bytes::Bytes;
use switchboard_aws::Aws;
use switchboard_aws::client::{Clients, clients_within};
use switchboard_aws::keeper::{Budget, Keeper, KeeperIntervals, Kept};
use switchboard_aws::message::Message;
use switchboard_aws::testing::environment;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{
    AttemptRecord, DeathReason, DeliveryKey, Next, Outcome, Unanswered,
};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::ports::{Begun, Hint, Keep, Ledger, Queued};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_testkit::emulator::{Account, fresh_account};

use crate::fuse::Fuse;
use crate::proxy::Proxy;
use crate::support::Ground;

pub(crate) const KEEP: Keep = Keep { days: 30 };
/// More than any test needs.
pub(crate) const PLENTY: Budget = Budget::each(1_000);

/// More than a busy machine needs.
const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// It.
pub(crate) struct Scene {
    account: Account,
    pub(crate) ground: Ground,
    pub(crate) backend: Arc<Aws>,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let account = fresh_account();
        let ground = Ground::of(&account).await;
        let backend = Arc::new(ground.open());
        Self {
            account,
            ground,
            backend,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.ground.clock.now()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.ground.clock.advance(by);
    }

    /// Clients that go through something before the services.
    pub(crate) fn clients_through(&self, proxy: &Proxy) -> Clients {
        let environment = environment(&proxy.url(), self.account.as_str());
        clients_within(&environment.expect("an environment"), DEADLINE)
    }

    /// A backend as another process has it.
    pub(crate) fn process(&self, clients: &Clients) -> Aws {
        self.ground.open_with(clients, self.ground.place.clone())
    }

    /// A keeper over these clients.
    pub(crate) fn keeper(&self, clients: &Clients) -> Keeper {
        self.keeper_with(clients, KeeperIntervals::default())
    }

    pub(crate) fn keeper_with(&self, clients: &Clients, intervals: KeeperIntervals) -> Keeper {
        Keeper::new(Arc::new(self.process(clients)), intervals, KEEP)
    }

    /// One run of a keeper that has just started, as it is in a fresh process.
    pub(crate) async fn run(&self) -> Kept {
        self.run_within(PLENTY).await
    }

    pub(crate) async fn run_within(&self, budget: Budget) -> Kept {
        let keeper = self.keeper(&self.ground.clients);
        let kept = keeper.run(self.now(), budget).await;
        assert_eq!(kept.failed, [], "no step fails");
        kept
    }

    /// An event of `shop` that is received now.
    pub(crate) fn event(&self, id: &str) -> Event {
        self.event_of("shop", id)
    }

    pub(crate) fn event_of(&self, source: &str, id: &str) -> Event {
        let source = SourceName::parse(source).expect("a name");
        let sender_id = SenderId::new(id).expect("an id");
        Event {
            id: EventId::of(&source, &sender_id),
            source,
            sender_id,
            kind: Kind::new("orders/create").expect("a kind"),
            received_at: self.now(),
            headers: KeptHeaders::from_lines(b""),
            body: Bytes::from_static(b"{}"),
        }
    }

    /// Accepts an event with a delivery to each of these that is due at once.
    pub(crate) async fn accept(&self, event: &Event, to: &[&str]) -> Vec<Queued> {
        let plan = plan(event, to, event.received_at);
        let accepted = self.backend.accept(event, &plan, KEEP).await;
        accepted.expect("stored");
        plan
    }

    /// The process dies between storing the event and queueing its deliveries.
    pub(crate) async fn accept_cut(&self, event: &Event, to: &[&str]) -> Vec<Queued> {
        let plan = plan(event, to, event.received_at);
        let dying = self.process(&Fuse::behind(0).over_queues(&self.ground.clients));
        let accepted = dying.accept(event, &plan, KEEP).await;
        accepted.expect_err("nothing is queued");
        plan
    }

    /// Begins the attempt of a hint that is due.
    pub(crate) async fn go(&self, key: &DeliveryKey, due: Timestamp) -> Attempt {
        let begun = self
            .backend
            .begin(&hint(key, due), self.now().max(due))
            .await;
        match begun.expect("an answer") {
            Begun::Go(attempt) => *attempt,
            other @ (Begun::Later(_) | Begun::Drop) => panic!("it may be attempted, not {other:?}"),
        }
    }

    pub(crate) async fn record(&self, attempt: &Attempt, next: Next) {
        let failed = failure(attempt);
        let recorded = self.backend.record(attempt, &failed, next, KEEP);
        recorded.await.expect("recorded");
    }

    /// Records a failed attempt; the process dies before it can queue the next one.
    pub(crate) async fn record_cut(&self, attempt: &Attempt, due: Timestamp) {
        let dying = self.process(&Fuse::behind(0).over_queues(&self.ground.clients));
        let failed = failure(attempt);
        let recorded = dying.record(attempt, &failed, Next::Waiting(due), KEEP);
        recorded.await.expect_err("nothing is queued");
    }

    /// An event with one delivery, which is dead after one attempt.
    pub(crate) async fn die(&self, id: &str) -> DeliveryKey {
        let planned = self.accept(&self.event(id), &["chat"]).await;
        let key = planned[0].key.clone();
        let attempt = self.go(&key, planned[0].due).await;
        let next = Next::Dead(DeathReason::AttemptsUsedUp);
        self.record(&attempt, next).await;
        self.drain_hints().await;
        key
    }

    /// What a queue gives out now, each message once; it stays in the queue, hidden.
    pub(crate) async fn drain(&self, queue: &str) -> Vec<String> {
        let mut bodies = Vec::new();
        loop {
            let sqs = &self.ground.clients.sqs;
            let page = sqs.receive_message().queue_url(queue);
            let page = page.max_number_of_messages(10).visibility_timeout(600);
            let messages = page.send().await.expect("an answer").messages;
            let messages = messages.unwrap_or_default();
            if messages.is_empty() {
                return bodies;
            }
            bodies.extend(messages.into_iter().filter_map(|message| message.body));
        }
    }

    /// The hints that the workers would get now.
    pub(crate) async fn drain_hints(&self) -> Vec<Message> {
        let texts = self.drain(&self.ground.place.deliveries).await;
        let read = |text: &String| Message::read(text).expect("a hint");
        texts.iter().map(read).collect()
    }

    /// The dues of the hints that the workers would get now, of one delivery.
    pub(crate) async fn dues(&self, key: &DeliveryKey) -> Vec<Timestamp> {
        let hints = self.drain_hints().await;
        let of_it = hints.iter().filter(|hint| hint.key == *key);
        of_it.map(|hint| hint.due).collect()
    }

    pub(crate) async fn put(&self, queue: &str, text: &str) {
        let sqs = &self.ground.clients.sqs;
        let sent = sqs.send_message().queue_url(queue).message_body(text);
        sent.send().await.expect("sent");
    }

    /// How many messages a queue shows, and how many it hides.
    pub(crate) async fn count(&self, queue: &str) -> (u32, u32) {
        let shown = QueueAttributeName::ApproximateNumberOfMessages;
        let hidden = QueueAttributeName::ApproximateNumberOfMessagesNotVisible;
        let asked = self
            .ground
            .clients
            .sqs
            .get_queue_attributes()
            .queue_url(queue)
            .attribute_names(shown.clone())
            .attribute_names(hidden.clone());
        let told = asked.send().await.expect("an answer").attributes;
        let told = told.expect("attributes");
        let number = |name: &QueueAttributeName| told[name].parse().expect("a number");
        (number(&shown), number(&hidden))
    }

    /// Waits until what a dead process has taken from a queue is shown again.
    pub(crate) async fn wait_until_shown(&self, queue: &str) {
        let shown = async {
            while self.count(queue).await.1 > 0 {
                tokio::task::yield_now().await;
            }
        };
        let shown = tokio::time::timeout(DEADLINE, shown);
        shown.await.expect("what was taken is shown again");
    }

    /// A number or a text of a delivery's record.
    pub(crate) async fn attribute(&self, key: &DeliveryKey, name: &str) -> Option<String> {
        let text = |text: String| AttributeValue::S(text);
        let read = self.ground.clients.dynamodb.get_item();
        let read = read
            .table_name(&self.ground.place.table)
            .key("pk", text(format!("E#{}", key.event)))
            .key("sk", text(format!("D#{}", key.id)))
            .send();
        let value = read.await.expect("an answer").item?.remove(name)?;
        value.as_n().or(value.as_s()).ok().cloned()
    }

    /// A moment of a delivery's record.
    pub(crate) async fn moment(&self, key: &DeliveryKey, name: &str) -> Option<Timestamp> {
        let millis = self.attribute(key, name).await?;
        Some(Timestamp::from_millis(millis.parse().expect("a number")))
    }
}

/// A plan of a delivery to each of these.
pub(crate) fn plan(event: &Event, to: &[&str], due: Timestamp) -> Vec<Queued> {
    let queued = |to: &&str| {
        let to = DestinationName::parse(to).expect("a name");
        let key = DeliveryKey::of(&event.id, to, ActionName::deliver(), Run(0));
        Queued { key, due }
    };
    to.iter().map(queued).collect()
}

pub(crate) fn hint(key: &DeliveryKey, due: Timestamp) -> Hint {
    Hint {
        event: key.event.clone(),
        delivery: key.id.clone(),
        due,
    }
}

pub(crate) fn failure(attempt: &Attempt) -> AttemptRecord {
    let outcome = Outcome::Unanswered(Unanswered::TimeLimit);
    let at = attempt.event.received_at;
    AttemptRecord::new(attempt.number, at, Duration::from_secs(3), &outcome)
}
