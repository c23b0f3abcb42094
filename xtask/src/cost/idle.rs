//! What a deployed stack costs in a month in which nothing comes: the keeper each minute, Lambda's polling of the queue,
//! alarms, secrets.

use super::counted::{Calls, Counted, Sum};
use super::prices::{
    ALARM, BESIDE_A_LINE, GIGABYTE_SECOND, INVOCATION, KEEPER_MS, KEY_CALL, KEY_CALLS_A_MINUTE,
    LOGGED, LOOKS_A_MINUTE, MEMORY, METRIC, MINUTES, OTHER_SECRETS, POLLS_A_MINUTE, QUEUE_REQUEST,
    READ_UNIT, SCHEDULED, SECRET, SECRET_CALL, SHARDS, SOURCE_SECRETS, STREAM_READ, WRITE_UNIT,
};

/// A month of an idle stack.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Idle {
    /// What it is, and dollars for a month.
    pub(super) lines: Vec<(&'static str, f64)>,
    /// Calls in a minute.
    pub(super) calls: Calls,
    /// What a process that is busy all the time reads for itself in a minute.
    pub(super) busy_calls: Calls,
    /// Dollars for a month of that.
    pub(super) busy: f64,
}

/// What a busy process reads for itself in a minute: the configuration and the settings every few seconds, secrets once.
pub(super) fn of_a_busy_process(upkeep: &Sum) -> (Calls, f64) {
    let looks = upkeep.count("dynamodb", "GetItem") * LOOKS_A_MINUTE;
    let secrets = upkeep.count("secretsmanager", "GetSecretValue");
    let mut calls = Calls::new();
    for (service, operation, count) in [
        ("dynamodb", "GetItem", looks),
        ("secretsmanager", "GetSecretValue", secrets),
    ] {
        let operations = calls.entry(service.to_owned()).or_default();
        operations.insert(operation.to_owned(), count);
    }
    let reads = READ_UNIT.of(LOOKS_A_MINUTE * upkeep.read_units);
    (calls, reads + SECRET_CALL.of(secrets))
}

impl Idle {
    /// Of what was counted, for the stack of this template.
    pub(super) fn of(counted: &Counted, template: &str) -> Self {
        let minutes = &counted.minutes;
        let both = minutes.idle.and(&minutes.upkeep);
        // The emulator's stream has one shard. Of a further one the end is read once.
        let stream = both.count("dynamodb-streams", "GetRecords") + SHARDS - 1.0;
        let logged = minutes.log_bytes + minutes.log_lines * BESIDE_A_LINE;
        let run = SCHEDULED.of(1.0)
            + INVOCATION.of(1.0)
            + GIGABYTE_SECOND.of(KEEPER_MS / 1000.0 * MEMORY);
        let table = READ_UNIT.of(both.read_units) + WRITE_UNIT.of(both.write_units);
        let count =
            |what: &str| f64::from(u32::try_from(template.matches(what).count()).unwrap_or(0));
        let (busy_calls, busy) = of_a_busy_process(&counted.upkeep.worker);
        let alarms = ALARM.of(count("Type: AWS::CloudWatch::Alarm"));
        Self {
            lines: vec![
                ("runs of the keeper, one a minute", MINUTES * run),
                ("its reads and writes of the table", MINUTES * table),
                (
                    "its reads of the table's stream",
                    MINUTES * STREAM_READ.of(stream),
                ),
                (
                    "its looks into two queues",
                    MINUTES * QUEUE_REQUEST.of(both.queue_requests),
                ),
                (
                    "polling of the deliveries' queue",
                    MINUTES * QUEUE_REQUEST.of(POLLS_A_MINUTE),
                ),
                ("log", MINUTES * LOGGED.of(logged)),
                ("alarms", alarms),
                ("metrics", METRIC.of(count("MetricTransformations:"))),
                ("secrets", SECRET.of(SOURCE_SECRETS + OTHER_SECRETS)),
                (
                    "uses of the table's key",
                    MINUTES * KEY_CALL.of(KEY_CALLS_A_MINUTE),
                ),
            ],
            calls: in_a_minute(&both),
            busy_calls,
            busy: busy * MINUTES,
        }
    }

    /// Dollars for a month.
    pub(super) fn total(&self) -> f64 {
        self.lines.iter().map(|(_, dollars)| dollars).sum()
    }
}

fn in_a_minute(both: &Sum) -> Calls {
    let mut calls = both.calls.clone();
    let queues = calls.entry("sqs".to_owned()).or_default();
    *queues.entry("ReceiveMessage".to_owned()).or_default() += POLLS_A_MINUTE;
    calls
}

#[cfg(test)]
mod tests {
    use super::super::bill::tests::sample;
    use super::*;

    #[test]
    fn a_month_has_what_the_template_has_and_what_each_minute_asks_for() {
        let template = "A:\n  Type: AWS::CloudWatch::Alarm\nB:\n  Type: AWS::CloudWatch::Alarm\n";
        let idle = Idle::of(&sample(), template);
        let line = |name: &str| {
            let mut lines = idle.lines.iter();
            lines.find(|(what, _)| *what == name).expect("a line").1
        };
        let near = |found: f64, due: f64| (found - due).abs() < 0.000_01;
        assert!(near(line("alarms"), 0.2) && near(line("metrics"), 0.0));
        assert!(near(line("secrets"), 5.0 * 0.4));
        let polling = line("polling of the deliveries' queue");
        assert!(near(polling, 43_200.0 * 15.0 * 0.4e-6));
        let sum: f64 = idle.lines.iter().map(|(_, dollars)| dollars).sum();
        assert!(near(idle.total(), sum));
        assert!(near(idle.calls["sqs"]["ReceiveMessage"], 15.0));
        assert!(near(idle.busy_calls["dynamodb"]["GetItem"], 24.0));
        assert!(near(idle.busy, 43_200.0 * 24.0 * 0.125e-6));
    }
}
