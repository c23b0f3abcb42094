//! Counting tests in what `cargo test` writes, and judging the count: no test may fail, and none may be ignored.

use super::results::Results;
use crate::command::Failure;

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// How many test programs told their result.
    programs: u64,
    /// Tests that passed.
    pub(super) passed: u64,
    /// Tests that failed.
    pub(super) failed: u64,
    ignored: u64,
    /// The tests that failed or were ignored, with what they did.
    pub(super) named: Vec<String>,
    /// What became of each test.
    pub(super) results: Results,
}

impl Tally {
    /// Takes in one line.
    pub(super) fn read(&mut self, line: &str) {
        self.results.read(line);
        if let Some(result) = line.strip_prefix("test result: ") {
            self.programs += 1;
            for part in result.split(['.', ';']) {
                match part.trim().split_once(' ') {
                    Some((count, "passed")) => self.passed += number(count),
                    Some((count, "failed")) => self.failed += number(count),
                    Some((count, "ignored")) => self.ignored += number(count),
                    Some(_) | None => {}
                }
            }
        } else if let Some((name, what)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.rsplit_once(" ... "))
        {
            if what == "FAILED" {
                self.named.push(format!("failed: {name}"));
            } else if what.starts_with("ignored") {
                self.named.push(format!("ignored: {name}"));
            }
        }
    }

    /// What the count and the end of `cargo test` come to together: the remark for the summary, or why it failed.
    pub(super) fn judge(&self, ended: Result<(), Failure>) -> Result<String, Failure> {
        let count = format!(
            "{} passed, {} failed, {} ignored",
            self.passed, self.failed, self.ignored
        );
        match ended {
            Err(Failure(why)) => Err(Failure(format!("{count}; {why}"))),
            Ok(()) if self.failed > 0 => Err(Failure(count)),
            Ok(()) if self.passed == 0 => Err(Failure(format!("{count}; no test was run"))),
            Ok(()) if self.ignored > 0 => {
                Err(Failure(format!("{count}; an ignored test is a failure")))
            }
            Ok(()) => Ok(format!("{count}; test programs: {}", self.programs)),
        }
    }
}

/// A count; what is no number counts nothing, and `passed` then stays too low to be overlooked.
fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEN: &str = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.10s";

    fn of(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.read(line);
        }
        tally
    }

    fn why(judged: Result<String, Failure>) -> String {
        match judged {
            Ok(remark) => panic!("expected a failure, found: {remark}"),
            Err(Failure(why)) => why,
        }
    }

    #[test]
    fn the_results_of_all_programs_are_summed() {
        let tally = of(&[
            "running 12 tests",
            "test scheme::a_repeat_changes_nothing ... ok",
            GREEN,
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ]);
        assert_eq!(
            tally.judge(Ok(())),
            Ok("17 passed, 0 failed, 0 ignored; test programs: 2".to_owned())
        );
    }

    #[test]
    fn a_failed_test_is_counted_and_named() {
        let tally = of(&[
            "test retry::the_pause_grows ... FAILED",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ]);
        assert_eq!(tally.named, ["failed: retry::the_pause_grows"]);
        assert_eq!(why(tally.judge(Ok(()))), "3 passed, 1 failed, 0 ignored");
    }

    #[test]
    fn an_ignored_test_fails_the_whole() {
        let tally = of(&[
            "test shared/core/src/lib.rs - scheme (line 3) ... ignored",
            "test slow ... ignored, takes long",
            "test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ]);
        assert_eq!(
            tally.named,
            [
                "ignored: shared/core/src/lib.rs - scheme (line 3)",
                "ignored: slow"
            ]
        );
        assert!(why(tally.judge(Ok(()))).contains("2 ignored"));
    }

    #[test]
    fn a_program_that_died_without_a_result_fails_the_whole() {
        let ended = Err(Failure("cargo test: exit status: 101".to_owned()));
        assert!(why(of(&[GREEN]).judge(ended)).contains("exit status: 101"));
    }

    #[test]
    fn running_no_test_is_no_success() {
        assert!(why(of(&[]).judge(Ok(()))).contains("no test was run"));
    }
}
