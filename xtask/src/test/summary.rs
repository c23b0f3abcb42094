//! What stands at the end of a run: each step, what became of it and how long it took, and the count of tests.

use std::time::Duration;

use super::tally::Tally;
use crate::clock;

/// What became of a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It passed; a remark, perhaps empty.
    Passed(String),
    /// It failed, and why.
    Failed(String),
    /// A step before it failed on which all depend.
    NotRun,
}

/// One step in the summary.
pub(super) struct Row {
    /// Its name.
    pub(super) step: &'static str,
    /// What became of it.
    pub(super) verdict: Verdict,
    /// How long it took.
    pub(super) took: Duration,
}

impl Row {
    /// The row of a step that was not run.
    pub(super) fn not_run(step: &'static str) -> Self {
        Self {
            step,
            verdict: Verdict::NotRun,
            took: Duration::ZERO,
        }
    }

    /// Whether the step passed.
    pub(super) fn passed(&self) -> bool {
        match self.verdict {
            Verdict::Passed(_) => true,
            Verdict::Failed(_) | Verdict::NotRun => false,
        }
    }
}

/// The summary as text. Its last line is the count of tests alone.
pub(super) fn written(rows: &[Row], tally: &Tally, whole: Duration) -> String {
    let mut lines = vec!["summary".to_owned()];
    for row in rows {
        let took = clock::written(row.took);
        let (word, took, remark) = match &row.verdict {
            Verdict::Passed(remark) => ("passed", took.as_str(), remark.as_str()),
            Verdict::Failed(why) => ("FAILED", took.as_str(), why.as_str()),
            Verdict::NotRun => ("not run", "", ""),
        };
        let line = format!("  {:<16} {word:<8} {took:>11}  {remark}", row.step);
        lines.push(line.trim_end().to_owned());
    }
    lines.extend(tally.named.iter().map(|test| format!("    {test}")));
    let word = if rows.iter().all(Row::passed) {
        "passed"
    } else {
        "FAILED"
    };
    lines.push(format!("{word} in {}", clock::written(whole)));
    lines.push(format!(
        "tests: {} passed, {} failed",
        tally.passed, tally.failed
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_and_every_failed_test_is_in_the_summary() {
        let mut tally = Tally::default();
        tally.read("test retry::the_pause_grows ... FAILED");
        tally.read("test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured");
        let rows = [
            Row {
                step: "format",
                verdict: Verdict::Passed(String::new()),
                took: Duration::from_millis(900),
            },
            Row {
                step: "tests",
                verdict: Verdict::Failed("3 passed, 1 failed, 0 ignored".to_owned()),
                took: Duration::from_secs(75),
            },
        ];
        assert_eq!(
            written(&rows, &tally, Duration::from_secs(76)),
            "summary\n\
             \x20 format           passed         0.9 s\n\
             \x20 tests            FAILED    1 min 15 s  3 passed, 1 failed, 0 ignored\n\
             \x20   failed: retry::the_pause_grows\n\
             FAILED in 1 min 16 s\n\
             tests: 3 passed, 1 failed"
        );
    }

    #[test]
    fn a_step_that_was_not_run_is_not_passed() {
        assert!(!Row::not_run("tests").passed());
        let text = written(
            &[Row::not_run("tests")],
            &Tally::default(),
            Duration::from_secs(1),
        );
        assert!(text.contains("FAILED in 1.0 s"), "found: {text}");
    }
}
