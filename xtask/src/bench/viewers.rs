//! What pages that stand open cost a server that has nothing else to do, with a short and with a long history.

use super::row::{Bound, Row};
use crate::command::Failure;
use crate::measured::Measured;
use crate::process::number;

const PAGES: u32 = 50;
/// Readings of each page: two seconds apart, they take a minute.
const READINGS: u32 = 30;

/// Processor time of the server while the pages read for a minute, and how often it computed what they are told.
pub(super) fn viewers(measured: &Measured) -> Result<Vec<Row>, Failure> {
    let sink = measured.sink()?;
    let mut rows = Vec::new();
    for (stored, named) in [(1_000, "1,000"), (1_000_000, "1,000,000")] {
        eprintln!("storing {stored} events");
        let data = measured.path(&format!("viewed-{stored}"));
        measured.seed(&data, stored)?;
        let switchboard = measured.switchboard(&sink, &["/d0"], &data)?;
        let before = switchboard.cpu()?;
        let found = measured.viewers(&switchboard, PAGES, READINGS)?;
        let seconds = switchboard.cpu()? - before;
        let computed = (number(&found, "/computed")? - 1.0) / number(&found, "/span_s")?;
        let row = |figure: &str, value, unit, bound| Row {
            figure: format!("{figure}, {named} stored"),
            value,
            unit,
            floor: None,
            bound,
        };
        rows.extend([
            row(
                "processor time for 50 pages that are open for a minute",
                seconds,
                "s",
                Bound::AtMost(1.0),
            ),
            // Moments are told in milliseconds.
            row(
                "overviews computed for them",
                computed,
                "/s",
                Bound::AtMost(1.01),
            ),
        ]);
    }
    Ok(rows)
}
