//! Changing a delivery's record: only as it was seen, so that of two that change it at once one decides again.

use std::borrow::Cow;
use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use switchboard_core::delivery::State;
use switchboard_core::ports::{Answer, BackendError};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use crate::failure::{Conditional, conditional};
use crate::item::delivery::{Delivery, REST, ROW};
use crate::item::{Attributes, Reading, names, place};
use crate::queue::is_near;
use crate::read::unreadable;
use crate::token::Token;
use crate::{Aws, keys};

/// How often a change is decided anew when others come first; so many at once there never are.
pub(crate) const ROUNDS: u32 = 10;
/// How long after a delivery is due the keeper looks whether its hint was lost.
const LOOK_AFTER: std::time::Duration = std::time::Duration::from_mins(2);
/// How long before a far due time the keeper queues the one hint.
const LOOK_BEFORE: std::time::Duration = std::time::Duration::from_mins(10);

/// What a change was decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// No record of that life.
    Absent,
    /// The record as this write left it.
    LeftBy(Token),
}

impl Seen {
    /// Whether an item is that record, still as it was seen.
    fn left(&self, item: &Attributes) -> bool {
        match self {
            Self::Absent => false,
            Self::LeftBy(token) => carries(item, token),
        }
    }
}

/// What of a record a change knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// All.
    Whole,
    /// Its row of the index of open deliveries: the log and what is counted of returns stay as they are.
    Row,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Changed {
    /// It is made.
    Yes,
    /// Something else came first; what stands now, if anything does.
    No(Option<Attributes>),
}

/// When the keeper is to look at a delivery that waits for `due`.
pub(crate) fn look(due: Timestamp, now: Timestamp) -> Timestamp {
    if is_near(due, now) {
        return due.plus(LOOK_AFTER);
    }
    let before = i64::try_from(LOOK_BEFORE.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(due.millis().saturating_sub(before))
}

/// When the keeper is to look at a delivery that stands so since now.
pub(crate) fn watched(stood: &Stood, now: Timestamp) -> Option<Timestamp> {
    match stood.state {
        State::Waiting => Some(look(stood.due, now)),
        // Its ticket is put behind the record, if nothing comes between.
        State::Dead => Some(now.plus(LOOK_AFTER)),
        State::Held | State::Delivered => None,
    }
}

/// An update expression that makes an item of `after`, with names and values.
#[derive(Debug, Default)]
struct Expression {
    sets: Vec<String>,
    removes: Vec<String>,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Expression {
    fn of(mut after: Attributes, kept: &[&str]) -> Self {
        let mut expression = Self::default();
        let written = ROW.iter().chain(&REST).filter(|name| !kept.contains(name));
        for (n, name) in (0_u32..).zip(written) {
            let short = format!("#a{n}");
            match after.remove(*name) {
                Some(value) => {
                    expression.sets.push(format!("{short} = :a{n}"));
                    expression.values.insert(format!(":a{n}"), value);
                }
                None => expression.removes.push(short.clone()),
            }
            expression.names.insert(short, (*name).to_owned());
        }
        expression
    }

    fn text(&self) -> String {
        let mut text = format!("SET {}", self.sets.join(", "));
        if !self.removes.is_empty() {
            text.push_str(" REMOVE ");
            text.push_str(&self.removes.join(", "));
        }
        text
    }
}

impl Aws {
    /// Writes a record where it still stands as it was seen. The token that `after` carries is the call's own: where the
    /// condition fails on a record with that token, the write was made before and its answer lost. Twice is once.
    ///
    /// What is to stand in the index of open and dead deliveries is known to lists before it is there. Where the record was
    /// made to stay longer since it was seen, which changes nothing else of it, so does what is written.
    pub(crate) async fn change(
        &self,
        doing: &'static str,
        after: &Delivery,
        seen: &Seen,
        known: Known,
    ) -> Answer<Changed> {
        if after.stood.state != State::Delivered {
            self.settings
                .know_destination(&after.key.destination)
                .await?;
        }
        let mut after = Cow::Borrowed(after);
        for _ in 0..ROUNDS {
            match self.write_change(doing, &after, seen, known).await? {
                Conditional::Written(()) => return Ok(Changed::Yes),
                Conditional::Unmet(Some(item)) if carries(&item, &after.token) => {
                    return Ok(Changed::Yes);
                }
                Conditional::Unmet(Some(item)) if seen.left(&item) => {
                    let stays =
                        Reading::of("delivery", &item).and_then(|read| read.number(names::TTL));
                    after.to_mut().stays = stays.map_err(unreadable(doing))?;
                }
                Conditional::Unmet(item) => return Ok(Changed::No(item)),
            }
        }
        Err(BackendError::new(
            doing,
            "others make the delivery stay longer all the time",
        ))
    }

    async fn write_change(
        &self,
        doing: &'static str,
        after: &Delivery,
        seen: &Seen,
        known: Known,
    ) -> Answer<Conditional<()>> {
        let kept: &[&str] = match known {
            Known::Whole => &[],
            // A dead letter begins anew.
            Known::Row if after.stood.state == State::Dead => &[names::LOG],
            Known::Row => &[names::LOG, names::RETURNS, names::RETURNED],
        };
        let mut expression = Expression::of(after.write(), kept);
        let condition = match seen {
            Seen::Absent => {
                let life = AttributeValue::S(after.life.to_string());
                expression.values.insert(":life".to_owned(), life);
                let received = AttributeValue::N(after.about.received_at.millis().to_string());
                expression.values.insert(":received".to_owned(), received);
                // Of an earlier life, never of a later one.
                "attribute_not_exists(pk) OR (lf <> :life AND ra <= :received)"
            }
            Seen::LeftBy(token) => {
                let token = AttributeValue::S(token.to_string());
                expression.values.insert(":seen".to_owned(), token);
                let ttl = AttributeValue::N(after.ttl().to_string());
                expression.values.insert(":ttl".to_owned(), ttl);
                expression
                    .names
                    .insert("#ttl".to_owned(), names::TTL.to_owned());
                "tok = :seen AND #ttl <= :ttl"
            }
        };
        let key = place(keys::event(&after.key.event), keys::delivery(&after.key.id));
        let written = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(key))
            .update_expression(expression.text())
            .condition_expression(condition)
            .set_expression_attribute_names(Some(expression.names))
            .set_expression_attribute_values(Some(expression.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        Ok(match conditional(doing, written)? {
            Conditional::Written(_) => Conditional::Written(()),
            Conditional::Unmet(item) => Conditional::Unmet(item),
        })
    }
}

/// Whether the write with this token left the item.
pub(crate) fn carries(item: &Attributes, token: &Token) -> bool {
    let found = item.get(names::TOKEN).and_then(|value| value.as_s().ok());
    found.is_some_and(|found| found == token.as_str())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::item::delivery::tests::sample;

    #[test]
    fn a_near_delivery_is_looked_at_behind_its_due_time_and_a_far_one_before_it() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let near = now.plus(Duration::from_mins(12));
        assert_eq!(look(near, now), near.plus(Duration::from_mins(2)));
        let far = now.plus(Duration::from_mins(13));
        assert_eq!(look(far, now), now.plus(Duration::from_mins(3)));
    }

    #[test]
    fn a_change_writes_every_attribute_or_removes_it() {
        for state in State::ALL {
            let expression = Expression::of(sample(state).write(), &[]);
            let touched = expression.sets.len() + expression.removes.len();
            assert_eq!(touched, ROW.len() + REST.len(), "{state:?}");
        }
        let kept = Expression::of(sample(State::Held).write(), &[names::LOG]);
        assert!(!kept.names.values().any(|name| name == names::LOG));
    }
}
