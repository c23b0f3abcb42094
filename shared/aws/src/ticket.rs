//! Tickets of deaths: what the alarm counts, and what somebody moves who redrives by moving messages. A death owes one: the
//! write that makes a delivery dead says so, in the index of what the keeper is to look at. Whoever puts the ticket takes
//! that back; what is still owed after some minutes, the keeper puts. So a death that is cut off behind its record gets its
//! ticket, and one of many that are buried at once does too. Cut between the ticket and that write, a death has two tickets,
//! which is as good as one.

use switchboard_core::ports::Answer;

use crate::failure::conditional;
use crate::item::delivery::Delivery;
use crate::item::{names, place};
use crate::message::ticket;
use crate::{Aws, keys};

impl Aws {
    /// Puts the ticket of a dead letter that owes one, and notes that it is put, where that still is this death. Twice is two
    /// tickets of it.
    pub(crate) async fn put_owed(&self, dead: &Delivery) -> Answer<()> {
        const DOING: &str = "noting that a ticket is put";
        if dead.watch.look.is_none() {
            return Ok(());
        }
        self.put_ticket(ticket(&dead.key, dead.stood.attempts))
            .await?;
        let written = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(place(
                keys::event(&dead.key.event),
                keys::delivery(&dead.key.id),
            )))
            .update_expression("REMOVE #look, #partition, #sort")
            .condition_expression("tok = :seen")
            .expression_attribute_names("#look", names::LOOK)
            .expression_attribute_names("#partition", names::WAITING[0])
            .expression_attribute_names("#sort", names::WAITING[1])
            .expression_attribute_values(
                ":seen",
                aws_sdk_dynamodb::types::AttributeValue::S(dead.token.to_string()),
            )
            .send()
            .await;
        conditional(DOING, written)?;
        Ok(())
    }
}
