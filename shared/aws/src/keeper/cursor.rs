//! Where a walk over recent events is, in each part of their index. It only moves forward: of two that write at once, the
//! later one adds what the other wrote.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::ports::{Answer, BackendError};
use switchboard_core::time::Timestamp;

use super::Keeper;
use crate::change::ROUNDS;
use crate::failure::{Conditional, conditional};
use crate::item::{Reading, Unreadable, VERSION, names, place};
use crate::keys;
use crate::read::unreadable;

const DOING: &str = "keeping a walk's place";

/// One of the two walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    Near,
    Far,
}

impl Walk {
    /// Sort key of its cursor.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Near => keys::NEAR_WALK,
            Self::Far => keys::FAR_WALK,
        }
    }
}

/// Sort key of the last event seen, by partition of the index.
pub(super) type Places = BTreeMap<String, String>;

/// A stored cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    revision: u64,
    pub(super) places: Places,
    /// All events before this moment were seen.
    at: Option<Timestamp>,
}

impl Cursor {
    /// With what another run has seen, too.
    fn and(&self, places: &Places) -> Self {
        let mut both = self.clone();
        for (partition, seen) in places {
            let place = both.places.entry(partition.clone()).or_default();
            if seen > place {
                place.clone_from(seen);
            }
        }
        // A source that is new since then had no event before that moment, so it moves nothing back.
        let least = both.places.values().min();
        let least = least.and_then(|place| keys::moment_of(place));
        both.at = both.at.max(least);
        both
    }
}

fn read(item: &crate::item::Attributes) -> Result<Cursor, Unreadable> {
    let reading = Reading::of("cursor", item)?;
    Ok(Cursor {
        revision: reading.number(names::REVISION)?,
        places: reading.parsed(names::JSON, |text| serde_json::from_str(text).ok())?,
        at: reading.moment_if_any(names::AT)?,
    })
}

impl Keeper {
    /// Where a walk is.
    pub(super) async fn cursor(&self, walk: Walk) -> Answer<Cursor> {
        let key = place(keys::SETTINGS_PARTITION, walk.key());
        let item = self.aws.get(DOING, key, None).await?;
        let cursor = item.map(|item| read(&item).map_err(unreadable(DOING)));
        Ok(cursor.transpose()?.unwrap_or_default())
    }

    /// Keeps how far a walk came; `places` has one for every part of the index. Twice is once.
    pub(super) async fn move_cursor(&self, walk: Walk, places: &Places) -> Answer<()> {
        for _ in 0..ROUNDS {
            let before = self.cursor(walk).await?;
            let after = before.and(places);
            if after == before || self.write_cursor(walk, &before, after).await? {
                return Ok(());
            }
        }
        Err(BackendError::new(DOING, "others move it all the time"))
    }

    async fn write_cursor(&self, walk: Walk, before: &Cursor, after: Cursor) -> Answer<bool> {
        let number = |number: u64| AttributeValue::N(number.to_string());
        // Texts: nothing that JSON cannot hold.
        let text = serde_json::to_string(&after.places).unwrap_or_default();
        let at = after.at.unwrap_or_default().millis();
        let update = self
            .aws
            .dynamodb
            .update_item()
            .table_name(&self.aws.place.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, walk.key())))
            .update_expression("SET v = :v, vr = :after, js = :js, #at = :at")
            .expression_attribute_names("#at", names::AT)
            .expression_attribute_values(":v", number(VERSION.into()))
            .expression_attribute_values(":after", number(before.revision.saturating_add(1)))
            .expression_attribute_values(":js", AttributeValue::S(text))
            .expression_attribute_values(":at", AttributeValue::N(at.to_string()));
        let update = match before.revision {
            0 => update.condition_expression("attribute_not_exists(pk)"),
            revision => update
                .condition_expression("vr = :before")
                .expression_attribute_values(":before", number(revision)),
        };
        Ok(match conditional(DOING, update.send().await)? {
            Conditional::Written(_) => true,
            Conditional::Unmet(_) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(of: &[(&str, &str)]) -> Places {
        of.iter()
            .map(|(partition, place)| ((*partition).to_owned(), (*place).to_owned()))
            .collect()
    }

    #[test]
    fn a_cursor_never_moves_back() {
        let first = Cursor::default().and(&places(&[("a", "1000000000005#x"), ("b", "")]));
        assert_eq!(first.at, None, "of b nothing is seen");
        let second = first.and(&places(&[
            ("a", "1000000000003#x"),
            ("b", "1000000000004#x"),
        ]));
        let expected = places(&[("a", "1000000000005#x"), ("b", "1000000000004#x")]);
        assert_eq!(second.places, expected);
        assert_eq!(second.at, Some(Timestamp::from_millis(1_000_000_000_004)));
        let new = second.and(&places(&[("c", "")]));
        assert_eq!(new.at, second.at, "a new source moves nothing back");
    }
}
