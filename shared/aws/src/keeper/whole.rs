//! Since when the totals are whole: what tells how old they may be.

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;

use super::Keeper;
use crate::failure::conditional;
use crate::item::{Reading, VERSION, names, place};
use crate::keys;
use crate::read::unreadable;

const DOING: &str = "keeping since when the totals are whole";

impl Keeper {
    /// When a fold last began that left nothing, or the first one that left something.
    pub(super) async fn whole_since(&self) -> Answer<Option<Timestamp>> {
        let key = place(keys::SETTINGS_PARTITION, keys::WHOLE);
        let Some(item) = self.aws.get(DOING, key, None).await? else {
            return Ok(None);
        };
        let reading = Reading::of("cursor", &item).map_err(unreadable(DOING))?;
        let at = reading.moment(names::AT).map_err(unreadable(DOING))?;
        Ok(Some(at))
    }

    /// A fold that began at `at` left nothing, or is the first that is known of. Only moves forward; twice is once.
    pub(super) async fn set_whole(&self, at: Timestamp) -> Answer<()> {
        let number = |number: i64| AttributeValue::N(number.to_string());
        let written = self
            .aws
            .dynamodb
            .update_item()
            .table_name(&self.aws.place.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, keys::WHOLE)))
            .update_expression("SET v = :v, #at = :at")
            .condition_expression("attribute_not_exists(pk) OR #at < :at")
            .expression_attribute_names("#at", names::AT)
            .expression_attribute_values(":v", number(VERSION.into()))
            .expression_attribute_values(":at", number(at.millis()))
            .send()
            .await;
        conditional(DOING, written)?;
        Ok(())
    }
}
