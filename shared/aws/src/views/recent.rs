//! The last hour, from what the fold keeps: the items of two hours for each source and destination that the totals name,
//! read a hundred at once, and what happened last, which stands beside the totals. So it costs the same however much
//! happened; more only for destinations that something waits for, and then only every few seconds.

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{AnswerTimes, QueueDepth, Recent, minute_of};
use tracing::error;

use crate::Aws;
use crate::fold::buckets::{Count, TEN, hour_of, minute_in};
use crate::fold::counters::Counters;
use crate::item::{Attributes, Reading, Unreadable, names, place};
use crate::keys;
use crate::read::{Consistency, KEYS, unreadable};

const DOING: &str = "reading the last hour";
/// Requests for items that are under way at once.
const AT_ONCE: usize = 4;

/// Answer times by destination.
type Times = BTreeMap<DestinationName, AnswerTimes>;

impl Aws {
    /// The last hour up to the minute of `now`. Viewers share it for a while, as long as they ask for the same minute.
    pub(super) async fn last_hour(&self, now: Timestamp) -> Answer<Recent> {
        let quiet = Recent::quiet(now);
        let since = quiet.since;
        let make = Box::pin(self.read_last_hour(quiet, now));
        let is_it = |recent: &Recent| recent.since == since;
        self.recent.get_if(&*self.clock, is_it, make).await
    }

    async fn read_last_hour(&self, quiet: Recent, now: Timestamp) -> Answer<Recent> {
        let counters = self.counters().await?;
        let waiting = counters.waiting().filter(|(_, count)| *count > 0);
        let waiting = waiting.map(|(name, _)| name.clone()).collect();
        let (items, oldest, queue) = tokio::try_join!(
            self.hours(&counters, quiet.since, now),
            self.oldest_due(waiting),
            self.depth_if_known(),
        )?;
        let mut recent = Recent { queue, ..quiet };
        tell_latest(&mut recent, &counters);
        let mut times = Times::new();
        for item in items {
            tell_hour(&mut recent, &mut times, now, &item).map_err(unreadable(DOING))?;
        }
        for (name, times) in times {
            let health = recent.destinations.entry(name).or_default();
            health.p50_ms = times.quantile(50);
            health.p95_ms = times.quantile(95);
        }
        for (name, due) in oldest {
            let health = recent.destinations.entry(name).or_default();
            health.oldest_due = Some(due);
        }
        Ok(recent)
    }

    /// The items of the hours from one moment to another, of whatever the totals name: nothing else has any.
    async fn hours(
        &self,
        counters: &Counters,
        since: Timestamp,
        now: Timestamp,
    ) -> Answer<Vec<Attributes>> {
        let sources = counters.sources().map(ToString::to_string);
        let destinations = counters.waiting().map(|(name, _)| name.to_string());
        let mut names: Vec<String> = sources.chain(destinations).collect();
        names.sort_unstable();
        names.dedup();
        let hours = hour_of(minute_of(since))..=hour_of(minute_of(now));
        let keys = hours.flat_map(|hour| {
            let of = |name: &String| place(keys::minutes(hour), name.as_str());
            names.iter().map(of).collect::<Vec<_>>()
        });
        let keys: Vec<Attributes> = keys.collect();
        let requests: Vec<Vec<Attributes>> = keys.chunks(KEYS).map(<[_]>::to_vec).collect();
        let items: Vec<Vec<Attributes>> = stream::iter(requests)
            .map(|keys| self.get_many(DOING, keys, None, Consistency::Lagging))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(items.into_iter().flatten().collect())
    }

    /// How full the queue is; nothing where it does not tell: all else is true without it.
    async fn depth_if_known(&self) -> Answer<Option<QueueDepth>> {
        match self.depth().await {
            Ok(depth) => Ok(Some(depth)),
            Err(error) => {
                error!(error = error.line(), "how full the queue is cannot be told");
                Ok(None)
            }
        }
    }
}

/// Whatever the totals name, and when something last happened there.
fn tell_latest(recent: &mut Recent, counters: &Counters) {
    let latest = &counters.latest;
    for name in counters.sources() {
        let source = recent.sources.entry(name.clone()).or_default();
        source.last_event = latest.events.get(name).copied();
        source.last_refusal = latest.refusals.get(name).copied();
    }
    for (name, _) in counters.waiting() {
        let health = recent.destinations.entry(name.clone()).or_default();
        health.last_delivered = latest.delivered.get(name).copied();
        health.last_failure = latest.failures.get(name).cloned();
    }
}

/// What an item adds of its hour.
fn tell_hour(
    recent: &mut Recent,
    times: &mut Times,
    now: Timestamp,
    item: &Attributes,
) -> Result<(), Unreadable> {
    let reading = Reading::of("hour", item)?;
    let hour = reading.parsed(names::PARTITION, keys::hour_of)?;
    let name = reading.text(names::SORT)?;
    let first = minute_of(recent.since);
    for (attribute, value) in item {
        let Some(what) = Count::of(attribute) else {
            continue;
        };
        let count = value.as_n().ok().and_then(|count| count.parse().ok());
        let count: u64 = count.ok_or(reading.fault("a count"))?;
        let minute = match what {
            Count::Events(minute) | Count::Delivered(minute) | Count::Failed(minute) => {
                recent.minute_mut(minute_in(hour, minute))
            }
            Count::Answers(ten, bin) => {
                // Those that began before the hour that is shown are in it until they are over.
                let begins = minute_in(hour, ten.saturating_mul(TEN));
                let is_shown = begins.saturating_add(TEN) > first && begins <= minute_of(now);
                if is_shown && let Ok(name) = DestinationName::parse(name) {
                    times.entry(name).or_default().add(bin, count);
                }
                continue;
            }
        };
        let Some(minute) = minute else { continue };
        let (delivered, failed) = match what {
            Count::Delivered(_) => (count, 0),
            Count::Failed(_) => (0, count),
            Count::Events(_) | Count::Answers(..) => {
                minute.events = minute.events.saturating_add(count);
                continue;
            }
        };
        minute.deliveries = minute.deliveries.saturating_add(delivered);
        minute.failures = minute.failures.saturating_add(failed);
        if let Ok(name) = DestinationName::parse(name) {
            let health = recent.destinations.entry(name).or_default();
            health.delivered = health.delivered.saturating_add(delivered);
            health.failed = health.failed.saturating_add(failed);
        }
    }
    Ok(())
}
