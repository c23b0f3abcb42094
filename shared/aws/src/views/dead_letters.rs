//! The list of dead letters.

use switchboard_core::delivery::State;
use switchboard_core::identity::DeliveryId;
use switchboard_core::ports::Answer;
use switchboard_core::views::{DeadLetter, Page, PageAsk};

use super::lanes::{From, Lanes, List, Row};
use super::{After, limit, nothing};
use crate::item::delivery::Delivery;
use crate::item::{Reading, Unreadable, names};
use crate::read::unreadable;
use crate::{Aws, keys, schema};

const DOING: &str = "reading dead letters";

impl Aws {
    /// Dead letters, newest first. The index has all of a row.
    pub(super) async fn list_dead_letters(&self, ask: &PageAsk) -> Answer<Page<DeadLetter>> {
        let below = match After::of(ask, |id| DeliveryId::parse(id).is_some()) {
            After::Newest => None,
            After::Below(sort) => Some(sort.to_owned()),
            After::Unreadable => return Ok(nothing()),
        };
        let known = self.settings.kept().await?;
        let partitions = known
            .destinations
            .iter()
            .flat_map(|to| (0..keys::SHARDS).filter_map(|n| keys::open(State::Dead, to, n)));
        let limit = limit(ask);
        let wanted = limit.saturating_add(1);
        let list = List {
            doing: DOING,
            index: Some(schema::OPEN),
            partitions: partitions.collect(),
            from: From::Newest(below),
            wanted,
        };
        let rows = Lanes::new(self, list).take(wanted).await?;
        let letters = rows.into_iter().map(|row| {
            let letter = letter(&row).map_err(unreadable(DOING))?;
            Ok((row.sort, letter))
        });
        Ok(Page::first_of(letters.collect::<Answer<_>>()?, limit))
    }
}

fn letter(row: &Row) -> Result<DeadLetter, Unreadable> {
    let delivery = Delivery::read_row(&row.item)?;
    let reading = Reading::of("delivery", &row.item)?;
    Ok(DeadLetter {
        delivery: delivery.key.id,
        event: delivery.key.event,
        source: delivery.about.source,
        kind: delivery.about.kind,
        destination: delivery.key.destination,
        action: delivery.key.action,
        attempts: delivery.stood.attempts,
        reason: reading.text(names::REASON_LINE)?.to_owned(),
        at: delivery.changed_at,
        kept_until: delivery.about.until,
    })
}
