//! Storing a further run of an event with its own plan.

use std::time::Duration;

use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Put as PutItem, TransactWriteItem};
use switchboard_core::identity::{EventId, Run};
use switchboard_core::ports::{Answer, BackendError, Queued};
use switchboard_core::time::Timestamp;
use tokio::time::timeout;

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
/// That a condition of a transaction did not hold.
const UNMET: &str = "ConditionalCheckFailed";
/// That another transaction was at one of its items.
const CONFLICT: &str = "TransactionConflict";
/// How long whoever is at one of the items is waited for at most, before it is tried again.
const CONFLICT_PAUSE: Duration = Duration::from_millis(100);
/// Most items of a transaction; the run and its event are two.
const MOST: usize = 98;
/// That nothing of this life lies there.
const ABSENT: &str = "attribute_not_exists(pk) OR lf <> :life";

/// What became of the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Put {
    /// It is made.
    Stored,
    /// The run is there, or the event is another one: what stands is to be read.
    OthersFirst,
    /// Another transaction was at one of the items.
    Conflict,
}

impl Aws {
    /// The port's step: the run and the records of its deliveries, which wait, are one transaction, since the keeper finds
    /// records by `look` and runs not at all. Then hints are sent. A transaction takes the right to check a condition
    /// (`dynamodb:ConditionCheckItem`) beside that to put items.
    ///
    /// Cut before the transaction nothing stands, cut behind it the keeper queues what is overdue. Of two calls at once one
    /// stores the run, and what the other finds changes nothing but that hints are sent twice. A plan too long for a
    /// transaction is written on behind it; the same call made again completes that.
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
                    // The call that stored it may have been cut before its hints.
                    self.put_rest(&head, &found.plan).await?;
                    self.send(&hints(&head, &found.plan)).await?;
                    return Ok(true);
                }
            }
            if let Some(last) = last(plan)
                && life::is_outlasted(head.until, last)
            {
                self.prolong(event, &head.life, Longer::For(last)).await?;
            }
            match self.put_run(&head, run, plan).await? {
                Put::Stored => {
                    self.put_rest(&head, plan).await?;
                    self.send(&hints(&head, plan)).await?;
                    return Ok(true);
                }
                Put::OthersFirst => {}
                Put::Conflict => {
                    let pause = self.tokens.pause(CONFLICT_PAUSE);
                    let _ = timeout(pause, std::future::pending::<()>()).await;
                }
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

    /// Puts the run and the first of its records.
    async fn put_run(&self, head: &Head, run: Run, plan: &[Queued]) -> Answer<Put> {
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
            Ok(_) => Ok(Put::Stored),
            Err(error) => match error.as_service_error().and_then(cancelled) {
                Some(put) => Ok(put),
                None => Err(failed(DOING, error)),
            },
        }
    }

    /// The record of a delivery of a run: it stays as long as that of the run's last one.
    fn record_of(&self, head: &Head, queued: &Queued, plan: &[Queued], now: Timestamp) -> Delivery {
        planned(head, queued, self.tokens.fresh(), now, end(head, plan))
    }

    fn put_absent(&self, head: &Head, item: Attributes) -> Answer<PutItem> {
        PutItem::builder()
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

/// What became of a transaction that was cancelled for others; `None` where the service had another reason, such as too
/// many requests, and the caller may not think that anything stands.
fn cancelled(error: &TransactWriteItemsError) -> Option<Put> {
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = error else {
        return None;
    };
    let reasons = cancelled.cancellation_reasons().iter();
    let codes: Vec<&str> = reasons
        .filter_map(|reason| reason.code())
        .filter(|code| *code != "None")
        .collect();
    let of_others = |code: &&str| matches!(*code, UNMET | CONFLICT);
    if codes.is_empty() || !codes.iter().all(of_others) {
        return None;
    }
    Some(if codes.contains(&UNMET) {
        Put::OthersFirst
    } else {
        Put::Conflict
    })
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

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::CancellationReason;
    use aws_sdk_dynamodb::types::error::TransactionCanceledException;

    use super::*;

    #[test]
    fn only_a_condition_or_another_transaction_is_the_doing_of_others() {
        for (codes, expected) in [
            (&["None", UNMET][..], Some(Put::OthersFirst)),
            (&["None", CONFLICT], Some(Put::Conflict)),
            (&[CONFLICT, UNMET], Some(Put::OthersFirst)),
            (&["None", "ThrottlingError"], None),
            (&[UNMET, "ThrottlingError"], None),
            (&["ProvisionedThroughputExceeded"], None),
            (&["ValidationError"], None),
            (&[], None),
        ] {
            let reason = |code: &&str| CancellationReason::builder().code(*code).build();
            let reasons = codes.iter().map(reason).collect();
            let exception = TransactionCanceledException::builder();
            let exception = exception.set_cancellation_reasons(Some(reasons)).build();
            let error = TransactWriteItemsError::TransactionCanceledException(exception);
            assert_eq!(cancelled(&error), expected, "{codes:?}");
        }
        let other = TransactWriteItemsError::unhandled("another failure");
        assert_eq!(cancelled(&other), None);
    }
}
