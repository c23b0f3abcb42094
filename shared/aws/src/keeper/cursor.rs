//! Moments that the keeper keeps from one run to the next. A cursor only moves on, so of two runs at once the one that is
//! behind takes nothing back.

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;

use crate::failure::conditional;
use crate::item::{Reading, VERSION, names, place};
use crate::read::unreadable;
use crate::{Aws, keys};

impl Aws {
    /// Where the cursor of that sort key is.
    pub(crate) async fn cursor(&self, sort: &str) -> Answer<Option<Timestamp>> {
        const DOING: &str = "reading a cursor";
        let key = place(keys::SETTINGS_PARTITION, sort);
        let Some(item) = self.get(DOING, key, None).await? else {
            return Ok(None);
        };
        let reading = Reading::of("cursor", &item).map_err(unreadable(DOING))?;
        let at = reading.moment(names::AT).map_err(unreadable(DOING))?;
        Ok(Some(at))
    }

    /// Moves a cursor on to `at`. Twice is once.
    pub(crate) async fn move_cursor(&self, sort: &str, at: Timestamp) -> Answer<()> {
        let number = |number: i64| AttributeValue::N(number.to_string());
        let written = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, sort)))
            .update_expression("SET v = :v, #at = :at")
            .condition_expression("attribute_not_exists(pk) OR #at < :at")
            .expression_attribute_names("#at", names::AT)
            .expression_attribute_values(":v", number(VERSION.into()))
            .expression_attribute_values(":at", number(at.millis()))
            .send()
            .await;
        conditional("moving a cursor", written)?;
        Ok(())
    }
}
