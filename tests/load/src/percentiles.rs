//! Times in nanoseconds, and their percentiles in milliseconds.

use serde_json::{Value, json};

/// What 1,000 of `sorted` times come to: its value at `thousandth`.
fn at(sorted: &[u64], thousandth: usize) -> Value {
    let last = sorted.len().saturating_sub(1);
    let index = (last * thousandth).div_ceil(1000).min(last);
    sorted
        .get(index)
        .map_or(Value::Null, |ns| json!(millis(*ns)))
}

#[expect(clippy::cast_precision_loss, reason = "a measured time, shown")]
fn millis(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// The percentiles of times, in milliseconds.
pub(crate) fn of(mut times: Vec<u64>) -> Value {
    times.sort_unstable();
    json!({
        "count": times.len(),
        "p50_ms": at(&times, 500),
        "p95_ms": at(&times, 950),
        "p99_ms": at(&times, 990),
        "max_ms": at(&times, 1000),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_time_that_was_measured() {
        let times = (1..=100).map(|n| n * 1_000_000).collect();
        let found = of(times);
        assert_eq!(found["p50_ms"], json!(51.0));
        assert_eq!(found["p99_ms"], json!(100.0));
        assert_eq!(found["max_ms"], json!(100.0));
        assert_eq!(of(Vec::new())["p50_ms"], Value::Null);
    }
}
