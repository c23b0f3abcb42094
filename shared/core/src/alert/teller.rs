//! Tells alerts: looks how the destinations stand, keeps what is raised before it is told, and tells one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Alert, Message, Record, Standing};
use crate::address::Address;
use crate::delivery::{Outcome, Verdict};
use crate::names::DestinationName;
use crate::ports::{AlertStore, Answer, Transport};
use crate::time::{Clock, Timestamp};

/// Most alerts told in one round, so that a round ends soon when it should stop.
const MOST: usize = 5;
/// The pause after a first failure; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Where alerts go, and how it went so far.
pub struct Teller<B, T> {
    backend: Arc<B>,
    transport: T,
    clock: Arc<dyn Clock>,
    address: Address,
    after: Duration,
    /// Failures one after the other; all alerts go to one address, so they wait together.
    failures: u32,
    /// Not told before this, by the clock's ticks.
    not_before: Duration,
    /// Why it failed last, so that a failure is logged once.
    failing: Option<String>,
    /// The destination told of last: the next one has its turn first.
    last: Option<DestinationName>,
}

impl<B: AlertStore, T: Transport> Teller<B, T> {
    /// Tells `address`; a delivery may wait for `after`.
    pub fn new(
        backend: Arc<B>,
        transport: T,
        clock: Arc<dyn Clock>,
        address: Address,
        after: Duration,
    ) -> Self {
        Self {
            backend,
            transport,
            clock,
            address,
            after,
            failures: 0,
            not_before: Duration::ZERO,
            failing: None,
            last: None,
        }
    }

    /// Looks once and tells what is to be told, until one cannot be told. `Err` when the store fails; the next round
    /// goes on from what is kept.
    pub async fn round(&mut self) -> Answer<()> {
        let mut records = self.backend.alerts().await?;
        let standings = self.backend.standings().await?;
        let now = self.clock.now();
        for standing in &standings {
            let name = &standing.destination;
            let before = records.get(name).cloned().unwrap_or_default();
            let after = before.clone().judged(standing, now, self.after);
            if after != before {
                self.backend.keep_alert(name, &after).await?;
                log_change(name, &before, &after);
                records.insert(name.clone(), after);
            }
        }
        if self.clock.ticks() < self.not_before {
            return Ok(());
        }
        self.tell(&standings, &mut records, now).await
    }

    async fn tell(
        &mut self,
        standings: &[Standing],
        records: &mut BTreeMap<DestinationName, Record>,
        now: Timestamp,
    ) -> Answer<()> {
        let mut left = MOST;
        for standing in self.in_turn(standings) {
            let name = &standing.destination;
            let mut record = records.remove(name).unwrap_or_default();
            while let Some(alert) = record.pending().first().copied() {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                self.last = Some(name.clone());
                let begun = record.clone().begun(alert);
                if begun != record {
                    self.backend.keep_alert(name, &begun).await?;
                }
                if !self.post(alert, standing, now).await {
                    return Ok(());
                }
                record = begun.told(alert);
                self.backend.keep_alert(name, &record).await?;
            }
        }
        Ok(())
    }

    /// The destinations, those behind the one told of last first: one alert that is never taken holds up no other.
    fn in_turn<'a>(&self, standings: &'a [Standing]) -> Vec<&'a Standing> {
        let is_behind = |standing: &&Standing| Some(&standing.destination) > self.last.as_ref();
        let (mut first, rest): (Vec<_>, Vec<_>) = standings.iter().partition(is_behind);
        first.extend(rest);
        first
    }

    /// Whether the receiver took it.
    async fn post(&mut self, alert: Alert, standing: &Standing, now: Timestamp) -> bool {
        let message = Message::new(alert, standing, now, self.after);
        let Some(request) = message.request(&self.address) else {
            return false;
        };
        let why = match self.transport.post(request).await {
            outcome if outcome.verdict() == Verdict::Delivered => None,
            Outcome::Answered { status, .. } => Some(format!("answered {status}")),
            Outcome::Unanswered(why) => Some(why.to_string()),
        };
        let name = &standing.destination;
        let Some(why) = why else {
            if self.failing.take().is_some() {
                tracing::info!("alert_url takes alerts again");
            }
            self.failures = 0;
            tracing::info!(alert.kind = alert.kind(), delivery.destination = %name, "alert told");
            return true;
        };
        if self.failing.as_ref() != Some(&why) {
            tracing::warn!(alert.error = %why, "alert_url takes no alerts; they are kept and told later");
            self.failing = Some(why);
        }
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16));
        self.not_before = self
            .clock
            .ticks()
            .saturating_add(doubled.min(LONGEST_PAUSE));
        self.failures = self.failures.saturating_add(1);
        false
    }
}

fn log_change(destination: &DestinationName, before: &Record, after: &Record) {
    for trouble in after.raised.keys() {
        if !before.raised.contains_key(trouble) {
            tracing::warn!(alert.kind = trouble.as_str(), delivery.destination = %destination, "alert raised");
        }
    }
    if after.raised.is_empty() && !before.raised.is_empty() {
        tracing::info!(delivery.destination = %destination, "the destination has recovered");
    }
}
