//! How samples are told: a table for whoever waits, and every second as CSV.

use std::fmt::Write as _;

use super::sample::Sample;
use super::series::SERIES;

/// The medians of each series, as a Markdown table.
pub(crate) fn as_table(samples: &[Sample]) -> String {
    let mut table =
        "| series | second quarter | last quarter | may be | |\n|---|---|---|---|---|\n".to_owned();
    for series in &SERIES {
        let medians = series.medians(samples);
        let shown = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
        };
        let most = series.allowed.zip(medians);
        let most = most.map(|(allowed, medians)| allowed.most(medians));
        let verdict = match (most, series.holds(samples)) {
            (None, true) => "reported",
            (None, false) => "NOT MEASURED",
            (Some(_), true) => "holds",
            (Some(_), false) => "GREW",
        };
        let unit = series.unit;
        let _ = writeln!(
            table,
            "| {} | {} {unit} | {} {unit} | {} {unit} | {verdict} |",
            series.name,
            shown(medians.map(|medians| medians.second)),
            shown(medians.map(|medians| medians.last)),
            shown(most),
        );
    }
    table
}

/// Every second, a line each, under the names of the series.
pub(crate) fn as_csv(samples: &[Sample]) -> String {
    let names = SERIES
        .iter()
        .map(|series| format!(",\"{} {}\"", series.name, series.unit));
    let mut csv = format!("second{}\n", names.collect::<String>());
    for (second, sample) in samples.iter().enumerate() {
        let _ = write!(csv, "{second}");
        for series in &SERIES {
            let value = (series.of)(sample).map(|value| format!("{value:.3}"));
            let _ = write!(csv, ",{}", value.unwrap_or_default());
        }
        csv.push('\n');
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_what_grew_and_the_csv_holds_every_second() {
        let sample = |second| Sample {
            memory: 60.0 + f64::from(second),
            threads: 9.0,
            ..Sample::default()
        };
        let samples: Vec<Sample> = (0..100).map(sample).collect();
        let table = as_table(&samples);
        assert!(
            table.contains("| resident memory | 97.0 MB | 147.0 MB | 106.9 MB | GREW |"),
            "{table}"
        );
        assert!(
            table.contains("| threads | 9.0  | 9.0  | 13.0  | holds |"),
            "{table}"
        );
        let csv = as_csv(&samples);
        assert_eq!(csv.lines().count(), 101);
        assert!(csv.starts_with("second,\"resident memory MB\",\"file handles \","));
        assert!(
            csv.ends_with("\n99,159.000,0.000,9.000,,,,,0.000,0.000\n"),
            "{csv}"
        );
    }
}
