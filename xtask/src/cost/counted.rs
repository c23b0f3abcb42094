//! What the program `cost` counted, as it prints it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Calls by service and operation.
pub(super) type Calls = BTreeMap<String, BTreeMap<String, f64>>;

/// All that was counted.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Counted {
    pub(super) scenes: Vec<Scene>,
    pub(super) upkeep: Upkeep,
    pub(super) minutes: Minutes,
    pub(super) pages: Vec<Open>,
}

/// Calls added up.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Sum {
    pub(super) calls: Calls,
    pub(super) write_units: f64,
    pub(super) read_units: f64,
    /// What the emulator says instead of both.
    pub(super) reported_units: f64,
    /// Begun 64 KB of messages.
    pub(super) queue_requests: f64,
    pub(super) request_bytes: f64,
    pub(super) answer_bytes: f64,
    pub(super) stored_bytes: f64,
    pub(super) stream_records: f64,
    pub(super) stream_bytes: f64,
}

/// One event.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Scene {
    pub(super) destinations: u32,
    pub(super) body_bytes: u32,
    pub(super) retries: u32,
    pub(super) ingress: Sum,
    pub(super) worker: Sum,
    pub(super) hints: f64,
    pub(super) hint_bytes: f64,
    pub(super) out_bytes: f64,
    pub(super) log_lines: f64,
    pub(super) log_bytes: f64,
}

/// What both functions read for themselves when they begin.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Upkeep {
    pub(super) ingress: Sum,
    pub(super) worker: Sum,
}

/// Refreshes of an open page.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Open {
    pub(super) seen: String,
    pub(super) refreshes: f64,
    pub(super) sum: Sum,
    pub(super) out_bytes: f64,
}

/// Minutes of the keeper.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Minutes {
    pub(super) idle: Sum,
    pub(super) upkeep: Sum,
    pub(super) log_lines: f64,
    pub(super) log_bytes: f64,
    pub(super) of_events: Vec<OfEvents>,
}

/// What events add to them.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OfEvents {
    pub(super) destinations: u32,
    pub(super) walk_queries: f64,
    pub(super) walk_read_units: f64,
    pub(super) fold_write_units: f64,
}

impl Sum {
    pub(super) fn count(&self, service: &str, operation: &str) -> f64 {
        let operations = self.calls.get(service);
        let found = operations.and_then(|operations| operations.get(operation));
        found.copied().unwrap_or_default()
    }

    /// Of both together.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut calls = self.calls.clone();
        for (service, operations) in &other.calls {
            for (operation, count) in operations {
                let mine = calls.entry(service.clone()).or_default();
                *mine.entry(operation.clone()).or_default() += count;
            }
        }
        Self {
            calls,
            write_units: self.write_units + other.write_units,
            read_units: self.read_units + other.read_units,
            reported_units: self.reported_units + other.reported_units,
            queue_requests: self.queue_requests + other.queue_requests,
            request_bytes: self.request_bytes + other.request_bytes,
            answer_bytes: self.answer_bytes + other.answer_bytes,
            stored_bytes: self.stored_bytes + other.stored_bytes,
            stream_records: self.stream_records + other.stream_records,
            stream_bytes: self.stream_bytes + other.stream_bytes,
        }
    }
}

impl Scene {
    /// Of both functions.
    pub(super) fn both(&self) -> Sum {
        self.ingress.and(&self.worker)
    }

    /// Whether it is of that kind: destinations, bytes, retries.
    pub(super) fn is(&self, (destinations, body_bytes, retries): (u32, u32, u32)) -> bool {
        (self.destinations, self.body_bytes, self.retries) == (destinations, body_bytes, retries)
    }
}
