//! The configuration that was applied: one item, replaced on the condition that nobody else replaced it meanwhile.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use switchboard_core::ports::{
    Answer, BackendError, ConfigurationStore, Replaced, Stored, Version,
};
use switchboard_core::time::Timestamp;

use crate::failure::{Conditional, conditional, failed};
use crate::item::{Attributes, Unreadable, configuration, place};
use crate::keys;

/// The store of configurations in a table.
#[derive(Clone, Debug)]
pub struct Configurations {
    dynamodb: Client,
    table: String,
}

impl Configurations {
    /// The one in the table of that name.
    pub const fn new(dynamodb: Client, table: String) -> Self {
        Self { dynamodb, table }
    }
}

/// What stood before a write that was not made.
fn before(doing: &'static str, item: Option<Attributes>) -> Answer<Option<Stored>> {
    let read = item.map(|item| configuration::read(&item)).transpose();
    read.map_err(|cause: Unreadable| BackendError::new(doing, cause))
}

impl ConfigurationStore for Configurations {
    async fn stored(&self) -> Answer<Option<Stored>> {
        const DOING: &str = "reading the configuration";
        let read = self
            .dynamodb
            .get_item()
            .table_name(&self.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, keys::CONFIGURATION)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| failed(DOING, error))?;
        before(DOING, read.item)
    }

    async fn replace(&self, seen: Option<Version>, text: &str, at: Timestamp) -> Answer<Replaced> {
        const DOING: &str = "replacing the configuration";
        let after = Stored {
            format: Stored::FORMAT,
            version: Version::after(seen),
            text: text.to_owned(),
            at,
        };
        let put = self
            .dynamodb
            .put_item()
            .table_name(&self.table)
            .set_item(Some(configuration::write(&after)))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let put = match seen {
            None => put.condition_expression("attribute_not_exists(pk)"),
            Some(seen) => put
                .condition_expression("vr = :seen AND v <= :v")
                .expression_attribute_values(":seen", AttributeValue::N(seen.to_string()))
                .expression_attribute_values(":v", AttributeValue::N(after.format.to_string())),
        };
        let old = match conditional(DOING, put.send().await)? {
            Conditional::Written(_) => return Ok(Replaced::Done(after.version)),
            Conditional::Unmet(old) => before(DOING, old)?,
        };
        match old {
            // A newer program's: this one knows nothing of what it would overwrite.
            Some(old) if old.format > Stored::FORMAT => Err(BackendError::new(
                DOING,
                format!(
                    "it is stored in format {}, and this program writes {}",
                    old.format,
                    Stored::FORMAT
                ),
            )),
            // Our own write, whose answer was lost.
            Some(old) if old.version == after.version && old.text == after.text => {
                Ok(Replaced::Done(after.version))
            }
            old => Ok(Replaced::Other(old.map(|old| old.version))),
        }
    }
}
