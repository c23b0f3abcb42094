//! Storing a further run of an event with its own plan.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Put, TransactWriteItem};
use switchboard_core::identity::{EventId, Run};
use switchboard_core::ports::{Answer, BackendError, Queued};
use switchboard_core::time::Timestamp;

use crate::accept::planned;
use crate::change::{Known, ROUNDS, Seen};
use crate::failure::failed;
use crate::item::delivery::Delivery;
use crate::item::event::Head;
use crate::item::{Attributes, place, run};
use crate::message::{Message, Origin};
use crate::prolong::Longer;
use crate::{Aws, keys, life};

const DOING: &str = "replaying an event";
/// Most items of a transaction; the run and its event are two.
const MOST: usize = 98;
/// That nothing of this life lies there.
const ABSENT: &str = "attribute_not_exists(pk) OR lf <> :life";

impl Aws {
    /// The port's step: the run and the records of its deliveries, which wait, are one transaction, since the keeper finds
    /// records by `look` and runs not at all. Then hints are sent.
    ///
    /// Cut before the transaction nothing stands, cut behind it the keeper queues what is overdue. Of two calls at once one
    /// stores the run, and what the other finds changes nothing. A plan too long for a transaction is written on behind it;
    /// the same call made again completes that.
    pub(crate) async fn store_run(
        &self,
        event: &EventId,
        run: Run,
        plan: &[Queued],
    ) -> Answer<bool> {
        self.know_destinations(plan).await?;
        for _ in 0..ROUNDS {
            let Some(head) = self.head(event).await? else {
                return Ok(false);
            };
            if run == Run(0) {
                return Ok(true);
            }
            let key = place(keys::event(event), keys::run(run));
            if let Some(item) = self.get(DOING, key, None).await? {
                let found = run::Stored::read(&item, head.received_at)
                    .map_err(crate::read::unreadable(DOING))?;
                if found.life == head.life {
                    self.put_rest(&head, &found.plan).await?;
                    return Ok(true);
                }
            }
            if let Some(last) = last(plan)
                && life::is_outlasted(head.until, last)
            {
                self.prolong(event, &head.life, Longer::For(last)).await?;
            }
            if self.put_run(&head, run, plan).await? {
                self.put_rest(&head, plan).await?;
                self.send(&hints(&head, plan)).await?;
                return Ok(true);
            }
        }
        Err(BackendError::new(
            DOING,
            "others change the event all the time",
        ))
    }

    async fn know_destinations(&self, plan: &[Queued]) -> Answer<()> {
        for queued in plan {
            self.settings
                .know_destination(&queued.key.destination)
                .await?;
        }
        Ok(())
    }

    /// Puts the run and the first of its records; `false` when something else came first.
    async fn put_run(&self, head: &Head, run: Run, plan: &[Queued]) -> Answer<bool> {
        let now = self.clock.now();
        let stored = run::Stored {
            event: head.id.clone(),
            run,
            life: head.life.clone(),
            token: self.tokens.fresh(),
            plan: plan.to_vec(),
        };
        let check = ConditionCheck::builder()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::event(&head.id), keys::EVENT)))
            .condition_expression("tok = :life")
            .expression_attribute_values(":life", AttributeValue::S(head.life.to_string()))
            .build()
            .map_err(|cause| BackendError::new(DOING, cause))?;
        let mut writes = vec![TransactWriteItem::builder().condition_check(check).build()];
        let run = stored.write(head.received_at, end(head, plan));
        let first = plan.iter().take(MOST);
        let records = first.map(|queued| self.record_of(head, queued, plan, now).write());
        for item in std::iter::once(run).chain(records) {
            let put = self.put_absent(head, item)?;
            writes.push(TransactWriteItem::builder().put(put).build());
        }
        let written = self
            .dynamodb
            .transact_write_items()
            .set_transact_items(Some(writes))
            .client_request_token(stored.token.as_str())
            .send()
            .await;
        match written {
            Ok(_) => Ok(true),
            // A condition failed, or another transaction was at it.
            Err(SdkError::ServiceError(answer))
                if answer.err().is_transaction_canceled_exception() =>
            {
                Ok(false)
            }
            Err(error) => Err(failed(DOING, error)),
        }
    }

    /// The record of a delivery of a run: it stays as long as that of the run's last one.
    fn record_of(&self, head: &Head, queued: &Queued, plan: &[Queued], now: Timestamp) -> Delivery {
        let record = planned(head, queued, self.tokens.fresh(), now);
        Delivery {
            stays: record.stays.max(life::of_belongings(end(head, plan))),
            ..record
        }
    }

    fn put_absent(&self, head: &Head, item: Attributes) -> Answer<Put> {
        Put::builder()
            .table_name(&self.place.table)
            .set_item(Some(item))
            .condition_expression(ABSENT)
            .expression_attribute_values(":life", AttributeValue::S(head.life.to_string()))
            .build()
            .map_err(|cause| BackendError::new(DOING, cause))
    }

    /// The records of what a transaction had no room for.
    async fn put_rest(&self, head: &Head, plan: &[Queued]) -> Answer<()> {
        let now = self.clock.now();
        for queued in plan.iter().skip(MOST) {
            let record = self.record_of(head, queued, plan, now);
            self.change(DOING, &record, &Seen::Absent, Known::Whole)
                .await?;
        }
        Ok(())
    }
}

/// When the last delivery of a plan is due.
fn last(plan: &[Queued]) -> Option<Timestamp> {
    plan.iter().map(|queued| queued.due).max()
}

/// The end of its event's life that a run goes by: the longest, and longer for a delivery that is due late.
fn end(head: &Head, plan: &[Queued]) -> Timestamp {
    let longest = life::longest(head.until);
    last(plan).map_or(longest, |last| life::with_delivery(longest, last))
}

fn hints(head: &Head, plan: &[Queued]) -> Vec<Message> {
    let message = |queued: &Queued| Message {
        key: queued.key.clone(),
        due: queued.due,
        life: head.life.clone(),
        origin: Origin::Later,
        event: None,
    };
    plan.iter().map(message).collect()
}
