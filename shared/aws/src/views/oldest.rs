//! Since when the oldest waiting delivery of each destination is due. The index of what waits is in order of since when it
//! waits, which is never later than it is due: so a few of its rows tell, or there are too many, and it is not known. What
//! was read serves for a while: an open page asks every other second, for hours where something stays away.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;

use super::lanes::{From, Lanes, List};
use crate::item::delivery::Delivery;
use crate::read::unreadable;
use crate::{Aws, keys, schema};

const DOING: &str = "reading what waits";
/// Destinations that are looked at at once.
const AT_ONCE: usize = 4;
/// Most deliveries of a destination that are looked at. Where so many wait for pauses to end, which of them is due first is
/// nothing to see.
const MOST_ROWS: usize = 1000;
/// How many of them are enough nearly always.
const ENOUGH: usize = 200;
/// Oldest recent events whose deliveries are looked at for a record: those that the keeper's first walk has not come to,
/// after which all have one. Where attempts are not even begun, these tell.
const MOST_RECENT: usize = 10;

/// What was read, and of which destinations.
#[derive(Clone, Debug)]
pub(crate) struct Oldest {
    asked: BTreeSet<DestinationName>,
    due: BTreeMap<DestinationName, Timestamp>,
}

impl Aws {
    /// When the first waiting delivery is due, of those of `destinations` of which it is known, as it was read for them some
    /// seconds ago at most. What waits since then is not among it, unless nothing of its destination waited then.
    pub(super) async fn oldest_due(
        &self,
        destinations: BTreeSet<DestinationName>,
    ) -> Answer<BTreeMap<DestinationName, Timestamp>> {
        if destinations.is_empty() {
            return Ok(BTreeMap::new());
        }
        let read = Box::pin(async {
            Ok(Oldest {
                due: self.read_oldest_due(&destinations).await?,
                asked: destinations.clone(),
            })
        });
        let is_of_them = |oldest: &Oldest| oldest.asked.is_superset(&destinations);
        let mut oldest = self.oldest.get_if(&*self.clock, is_of_them, read).await?;
        oldest.due.retain(|to, _| destinations.contains(to));
        Ok(oldest.due)
    }

    async fn read_oldest_due(
        &self,
        destinations: &BTreeSet<DestinationName>,
    ) -> Answer<BTreeMap<DestinationName, Timestamp>> {
        let walked = self.walked_to(keys::NEAR_WALK).await?;
        let unrecorded = self.first_unrecorded(DOING, walked, MOST_RECENT).await?;
        let oldest: Vec<(DestinationName, Option<Timestamp>)> =
            stream::iter(destinations.iter().cloned())
                .map(|to| {
                    let unrecorded = unrecorded.get(&to).copied();
                    async move {
                        let oldest = self.oldest_due_of(&to, unrecorded).await?;
                        Ok((to, oldest))
                    }
                })
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
        let known = |(to, oldest): (DestinationName, Option<Timestamp>)| Some((to, oldest?));
        Ok(oldest.into_iter().filter_map(known).collect())
    }

    /// `oldest` is what is known of those without a record.
    async fn oldest_due_of(
        &self,
        to: &DestinationName,
        mut oldest: Option<Timestamp>,
    ) -> Answer<Option<Timestamp>> {
        let shards = (0..keys::SHARDS).filter_map(|n| keys::open(State::Waiting, to, n));
        let list = List {
            doing: DOING,
            index: Some(schema::OPEN),
            partitions: shards.collect(),
            from: From::Oldest(keys::moment(Timestamp::default())),
            wanted: ENOUGH,
        };
        let mut lanes = Lanes::new(self, list);
        for _ in 0..MOST_ROWS {
            let Some(row) = lanes.next().await? else {
                return Ok(oldest);
            };
            let delivery = Delivery::read_row(&row.item).map_err(unreadable(DOING))?;
            // All that follow wait since later, and are due later still.
            if oldest.is_some_and(|oldest| delivery.moment() >= oldest) {
                return Ok(oldest);
            }
            let due = delivery.stood.due;
            oldest = Some(oldest.map_or(due, |oldest| oldest.min(due)));
        }
        Ok(None)
    }
}
