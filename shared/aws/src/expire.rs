//! Expiry: what the service does by each item's `ttl`, in steps, for a table where it does not, and so that all backends end
//! a life alike.

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::ports::{Answer, Moved};
use switchboard_core::time::Timestamp;

use crate::failure::{Conditional, conditional};
use crate::item::event::{Body, Head};
use crate::item::place;
use crate::{Aws, keys};

const DOING: &str = "removing an event";

impl Aws {
    /// Removes events past their life that no open delivery needs, at most `limit`.
    pub(crate) async fn remove_expired(&self, now: Timestamp, limit: u32) -> Answer<Moved> {
        let mut heads = self.recent_heads(None).await?;
        heads.retain(|head| head.until <= now);
        heads.sort_by_key(|head| head.received_at);
        let mut done = 0;
        let mut left = 0;
        for head in heads {
            if done >= limit {
                left = 1;
                break;
            }
            if self.remove(&head, now).await? {
                done += 1;
            }
        }
        Ok(Moved { done, left })
    }

    /// Removes an event and all that belongs to it, in this order: its plan is emptied, which is the step; what belongs to
    /// it goes, then its body's parts, then the event itself.
    ///
    /// With an empty plan no delivery that is gone looks like one that waits. Cut anywhere, the event is still there, past
    /// its life and without an open delivery, and the same call again goes on; an event that is stored under the same id
    /// meanwhile has another life, and nothing of it is touched.
    async fn remove(&self, head: &Head, now: Timestamp) -> Answer<bool> {
        let Some(stored) = self.stored_event(&head.id).await? else {
            return Ok(false);
        };
        let head = &stored.head;
        if self.lasts(head, now).await? || !self.empty_plan(head).await? {
            return Ok(false);
        }
        let partition = keys::event(&head.id);
        let mut belongings = self.belongings(&head.id).await?;
        // Runs first: they are plans too.
        belongings.sort_by_key(|(sort, _)| !sort.starts_with(keys::RUNS));
        for (sort, life) in belongings {
            self.delete_of_life(&partition, sort, &life).await?;
        }
        if let Body::Parts(parts) = stored.body {
            for nth in 0..parts {
                let deleted = self
                    .dynamodb
                    .delete_item()
                    .table_name(&self.place.table)
                    .set_key(Some(place(partition.clone(), keys::part(&head.life, nth))))
                    .send()
                    .await;
                conditional(DOING, deleted)?;
            }
        }
        self.delete_event(head).await
    }

    async fn empty_plan(&self, head: &Head) -> Answer<bool> {
        let written = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::event(&head.id), keys::EVENT)))
            .update_expression("SET pl = :none")
            .condition_expression("tok = :life AND un = :un")
            .expression_attribute_values(":none", AttributeValue::S("[]".to_owned()))
            .expression_attribute_values(":life", AttributeValue::S(head.life.to_string()))
            .expression_attribute_values(":un", AttributeValue::N(head.until.millis().to_string()))
            .send()
            .await;
        Ok(match conditional(DOING, written)? {
            Conditional::Written(_) => true,
            Conditional::Unmet(_) => false,
        })
    }

    async fn delete_event(&self, head: &Head) -> Answer<bool> {
        let deleted = self
            .dynamodb
            .delete_item()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::event(&head.id), keys::EVENT)))
            .condition_expression("tok = :life AND un = :un")
            .expression_attribute_values(":life", AttributeValue::S(head.life.to_string()))
            .expression_attribute_values(":un", AttributeValue::N(head.until.millis().to_string()))
            .send()
            .await;
        Ok(match conditional(DOING, deleted)? {
            Conditional::Written(_) => true,
            Conditional::Unmet(_) => false,
        })
    }
}
