//! What AWS charges, and what is assumed of a deployment: the one place for both. Prices are the list prices of us-east-1
//! (N. Virginia) for on-demand use as they stood at the end of 2025, without free tiers and discounts, each from
//! the service's own pricing page.

/// Dollars for so many of a unit.
pub(super) struct Price {
    dollars: f64,
    per: f64,
}

impl Price {
    const fn each(dollars: f64) -> Self {
        Self { dollars, per: 1.0 }
    }

    const fn per_million(dollars: f64) -> Self {
        Self {
            dollars,
            per: 1_000_000.0,
        }
    }

    /// Dollars for this many.
    pub(super) fn of(&self, units: f64) -> f64 {
        units * self.dollars / self.per
    }
}

const GIGABYTE: f64 = 1024.0 * 1024.0 * 1024.0;

const fn per_gigabyte(dollars: f64) -> Price {
    Price {
        dollars,
        per: GIGABYTE,
    }
}

/// HTTP API: each request, by begun 512 KB ([`GATEWAY_STEP`]) of its body; the first 300 million of a month.
pub(super) const GATEWAY_REQUEST: Price = Price::per_million(1.00);
/// Bytes of a request that an HTTP API bills as one.
pub(super) const GATEWAY_STEP: f64 = 512.0 * 1024.0;

/// Lambda: each invocation.
pub(super) const INVOCATION: Price = Price::per_million(0.20);
/// Lambda on arm64: each second with a gigabyte of memory, billed by the millisecond.
pub(super) const GIGABYTE_SECOND: Price = Price::each(0.000_013_333_4);

/// SQS standard queue: each request, by begun 64 KB ([`QUEUE_STEP`]) of messages.
pub(super) const QUEUE_REQUEST: Price = Price::per_million(0.40);
/// Bytes of a queue's messages that are one request; the counting goes by it too (`CHUNK` in `tests/cost/src/call.rs`).
pub(super) const QUEUE_STEP: f64 = 64.0 * 1024.0;
/// The same on the queue of deliveries: fair queues cost 0.10 more. Taken on its sends, receives and deletes alike, since
/// the page does not say of which; if it is of sends alone, this is too much by a quarter of the rest.
pub(super) const FAIR_QUEUE_REQUEST: Price = Price::per_million(0.50);

/// DynamoDB on demand: each write unit, of the table and of its indexes.
pub(super) const WRITE_UNIT: Price = Price::per_million(0.625);
/// DynamoDB on demand: each read unit; an eventually consistent read of 4 KB is half of one.
pub(super) const READ_UNIT: Price = Price::per_million(0.125);
/// DynamoDB streams: each `GetRecords` of our own (those of a Lambda trigger are free, and there is none): 0.02 for 100,000.
pub(super) const STREAM_READ: Price = Price::per_million(0.20);
/// DynamoDB: a byte stored for a month, by gigabytes. Removal by TTL is free.
pub(super) const STORED: Price = per_gigabyte(0.25);
/// DynamoDB: point-in-time recovery of a byte for a month.
pub(super) const RECOVERABLE: Price = per_gigabyte(0.20);

/// `CloudWatch` Logs: a byte taken in.
pub(super) const LOGGED: Price = per_gigabyte(0.50);
/// `CloudWatch` Logs: a byte kept for a month. It is kept compressed; taken here as if it were not.
pub(super) const LOG_KEPT: Price = per_gigabyte(0.03);
/// `CloudWatch`: an alarm for a month.
pub(super) const ALARM: Price = Price::each(0.10);
/// `CloudWatch`: a metric of our own for a month.
pub(super) const METRIC: Price = Price::each(0.30);

/// Secrets Manager: a secret for a month.
pub(super) const SECRET: Price = Price::each(0.40);
/// Secrets Manager: each call; 0.05 for 10,000.
pub(super) const SECRET_CALL: Price = Price::per_million(5.00);
/// KMS: each use of the key that AWS manages for the table; 0.03 for 10,000.
pub(super) const KEY_CALL: Price = Price::per_million(3.00);
/// `EventBridge`: each run of a schedule, as its scheduler charges it.
pub(super) const SCHEDULED: Price = Price::per_million(1.00);

/// Data out to the internet: a byte, of the first 10 TB of a month. Destinations in the same region cost less.
pub(super) const SENT_OUT: Price = per_gigabyte(0.09);

// What is assumed.

/// Memory of a function, in GB: the template's default of 512 MB.
pub(super) const MEMORY: f64 = 0.5;
/// How long a write to the table takes, as a function sees it, in milliseconds. All of these are of AWS's own figures for
/// single-digit latency and of a third of a processor; nothing here measures AWS.
pub(super) const TABLE_WRITE_MS: f64 = 5.0;
/// The same of a read; several at once take as long as one.
pub(super) const TABLE_READ_MS: f64 = 4.0;
/// The same of a request to a queue.
pub(super) const QUEUE_SEND_MS: f64 = 8.0;
/// A function's own work for a request, or for a delivery of a batch.
pub(super) const OWN_MS: f64 = 3.0;
/// Its own work for a megabyte of a body: reading, checking, encoding.
pub(super) const OWN_MS_PER_MEGABYTE: f64 = 60.0;
/// How long a destination takes to answer.
pub(super) const DESTINATION_MS: f64 = 50.0;
/// How long before its delivery is due the hint of a retry may come: the queue counts in whole seconds, and the worker waits
/// out the rest. Any part of it is as likely as another.
pub(super) const EARLY_MS: f64 = 1_000.0;
/// How many invocations begin with a cold start: one in so many.
pub(super) const COLD_ONE_IN: f64 = 1_000.0;
/// What a cold start is billed for.
pub(super) const COLD_MS: f64 = 250.0;
/// How long a run of the keeper with nothing to do is billed for: some fifty calls, one behind the other.
pub(super) const KEEPER_MS: f64 = 300.0;
/// Queries of a walk that the keeper makes at once: `AT_ONCE` of its code.
pub(super) const WALK_AT_ONCE: f64 = 16.0;

/// What `CloudWatch` Logs counts for a line beside its bytes.
pub(super) const BESIDE_A_LINE: f64 = 26.0;
/// Receives of an empty queue in a minute: Lambda keeps five pollers on a queue, each of which waits 20 seconds.
pub(super) const POLLS_A_MINUTE: f64 = 15.0;
/// Shards of the table's stream that are open: one for each of the four partitions that an on-demand table begins with.
pub(super) const SHARDS: f64 = 4.0;
/// Most records and bytes that one read of a stream gives.
pub(super) const READ_RECORDS: f64 = 1_000.0;
/// See [`READ_RECORDS`].
pub(super) const READ_BYTES: f64 = 1024.0 * 1024.0;
/// How often in a minute a busy process looks for another configuration and other settings: each every 5 seconds.
pub(super) const LOOKS_A_MINUTE: f64 = 12.0;
/// How often in a minute the table's key is asked for: by each of three functions once in five minutes.
pub(super) const KEY_CALLS_A_MINUTE: f64 = 3.0 / 5.0;
/// Secrets of the four sources that are counted with.
pub(super) const SOURCE_SECRETS: f64 = 4.0;
/// Secrets beside those of the sources: the admin token.
pub(super) const OTHER_SECRETS: f64 = 1.0;
/// Months that an event is kept: 30 days.
pub(super) const KEPT_MONTHS: f64 = 1.0;
/// How often an open page is read anew in an hour, while somebody sees it: every two seconds.
pub(super) const REFRESHES_AN_HOUR: f64 = 1_800.0;
/// Minutes of a month of 30 days.
pub(super) const MINUTES: f64 = 30.0 * 24.0 * 60.0;

/// How many events come, and how full the batches of hints are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// Events in a second.
    pub(super) events_per_second: f64,
    /// Hints that the worker gets at once.
    pub(super) batch: f64,
    /// What a million events may cost at most, of the usual kind: see [`USUAL`].
    pub(super) bound: f64,
}

/// Both loads.
pub(super) const LOADS: [Load; 2] = [
    Load {
        events_per_second: 50.0,
        batch: 10.0,
        bound: 9.0,
    },
    Load {
        events_per_second: 1.0,
        batch: 1.0,
        bound: 13.0,
    },
];

/// The usual event: to so many destinations, of so many bytes, delivered at the first attempt.
pub(super) const USUAL: (u32, u32, u32) = (3, 1024, 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_assumed_of_the_stack_stands_in_its_template() {
        let template = include_str!("../../../template.yaml");
        let (_, memory) = template.split_once("  Memory:\n").expect("a parameter");
        let memory = memory
            .lines()
            .find_map(|line| line.trim().strip_prefix("Default: "));
        let memory: f64 = memory.expect("a default").parse().expect("a number");
        assert!((memory / 1024.0 - MEMORY).abs() < f64::EPSILON);
        for assumed in [
            "BillingMode: PAY_PER_REQUEST",
            "Schedule: rate(1 minute)",
            "BatchSize: 10\n",
            "Default: arm64",
        ] {
            assert!(template.contains(assumed), "{assumed}");
        }
        assert!(
            !template.contains("ProvisionedPollerConfig"),
            "Lambda polls as it does by default"
        );
    }

    #[test]
    fn a_price_is_for_as_many_of_its_unit_as_it_says() {
        let near = |found: f64, due: f64| (found - due).abs() < 1e-9;
        assert!(near(WRITE_UNIT.of(2_000_000.0), 1.25));
        assert!(near(STORED.of(2.0 * GIGABYTE), 0.5));
        assert!(near(ALARM.of(3.0), 0.3));
    }
}
