//! What an open page costs: it reads the overview anew every two seconds, for as long as somebody sees it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::counted::{Open, Sum};
use super::prices::{
    GATEWAY_REQUEST, GIGABYTE_SECOND, INVOCATION, MEMORY, OWN_MS, QUEUE_REQUEST, READ_UNIT,
    REFRESHES_AN_HOUR, SECRET_CALL, SENT_OUT, SHARDS, STREAM_READ, TABLE_READ_MS, WRITE_UNIT,
};

/// A refresh, on average, and an hour of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    /// What is to be seen on it, as the program that counts has it.
    pub(super) seen: String,
    /// Calls that read the table, and its stream.
    pub(super) reads: f64,
    pub(super) read_units: f64,
    /// Bytes of its answer.
    pub(super) bytes: f64,
    /// For an hour.
    pub(super) dollars: f64,
}

impl Page {
    /// Of what was counted.
    pub(super) fn of(open: &Open) -> Self {
        let (sum, each) = (&open.sum, 1.0 / open.refreshes);
        let reads = reads(sum) * each;
        let bytes = open.out_bytes * each;
        // The emulator's stream has one shard.
        let stream = sum.count("dynamodb-streams", "GetRecords") * each * SHARDS;
        let secrets = sum.count("secretsmanager", "GetSecretValue") * each;
        let milliseconds = (OWN_MS + TABLE_READ_MS * reads).ceil();
        let refresh = GATEWAY_REQUEST.of(1.0)
            + INVOCATION.of(1.0)
            + GIGABYTE_SECOND.of(milliseconds / 1000.0 * MEMORY)
            + READ_UNIT.of(sum.read_units * each)
            + WRITE_UNIT.of(sum.write_units * each)
            + STREAM_READ.of(stream)
            + QUEUE_REQUEST.of(sum.queue_requests * each)
            + SECRET_CALL.of(secrets)
            + SENT_OUT.of(bytes);
        Self {
            seen: open.seen.clone(),
            reads,
            read_units: sum.read_units * each,
            bytes,
            dollars: refresh * REFRESHES_AN_HOUR,
        }
    }

    /// The same as JSON.
    pub(super) fn row(&self) -> Value {
        json!({
            "page": self.seen,
            "reads_a_refresh": self.reads,
            "read_units_a_refresh": self.read_units,
            "bytes_a_refresh": self.bytes,
            "dollars_an_hour": self.dollars,
        })
    }
}

fn reads(sum: &Sum) -> f64 {
    let of = |service: &str| sum.calls.get(service);
    let services = ["dynamodb", "dynamodb-streams"];
    let operations = services.iter().filter_map(|name| of(name)).flatten();
    let reads = operations.filter(|(name, _)| !name.starts_with("Update"));
    reads.map(|(_, count)| count).sum()
}

/// All of them.
pub(super) fn table(pages: &[Page]) -> String {
    let mut table = "| an open page while | reads a refresh | read units | bytes | dollars an hour |\n|---|---|---|---|---|\n".to_owned();
    for page in pages {
        let seen = match page.seen.as_str() {
            "nothing" => "nothing waits",
            "waiting" => "something waits for twelve destinations",
            other => other,
        };
        let _ = writeln!(
            table,
            "| {seen} | {:.1} | {:.1} | {:.0} | {:.4} |",
            page.reads, page.read_units, page.bytes, page.dollars
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::bill::tests::sample;
    use super::*;

    #[test]
    fn an_hour_is_so_many_refreshes_and_each_pays_for_what_it_reads() {
        let page = Page::of(&sample().pages[0]);
        assert!((page.reads - 4.0).abs() < 1e-9, "{page:?}");
        let ms = 3.0 + 4.0 * 4.0;
        let refresh = 1e-6
            + 0.2e-6
            + 0.000_013_333_4 * ms / 1000.0 * 0.5
            + 3.0 * 0.125e-6
            + 4.0 * 0.2e-6
            + 0.4e-6
            + 1024.0 * 0.09 / (1024.0 * 1024.0 * 1024.0);
        assert!((page.dollars - refresh * 1800.0).abs() < 1e-9, "{page:?}");
        let shown = table(std::slice::from_ref(&page));
        assert!(
            shown.contains("| nothing waits | 4.0 | 3.0 | 1024 |"),
            "{shown}"
        );
        assert_eq!(page.row()["page"], "nothing");
    }
}
