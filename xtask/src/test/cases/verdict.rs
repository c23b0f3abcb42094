//! What a case comes to by all of its tests: one that failed makes it failed, one that was not run makes it missing.

use super::table::Case;
use crate::test::results::{Fate, Results};

/// What a case comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It has no test yet, and says why.
    NotYet,
    /// Every test of it passed.
    Passed,
    /// A test of it was not run, or cannot be told from another.
    Missing,
    /// A test of it failed.
    Failed,
}

impl Verdict {
    /// The word for it in the table.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::NotYet => "not yet",
            Self::Passed => "passed",
            Self::Missing => "MISSING",
            Self::Failed => "FAILED",
        }
    }
}

/// What one test comes to, and a remark where it is not plain.
pub(super) fn of_test(name: &str, results: &Results) -> (Verdict, &'static str) {
    match results.of(name) {
        Some(Fate::Passed) => (Verdict::Passed, ""),
        Some(Fate::Failed) => (Verdict::Failed, ""),
        Some(Fate::Ignored) => (Verdict::Missing, "it is ignored"),
        Some(Fate::Ambiguous) => (
            Verdict::Missing,
            "two test programs hold a test of this name",
        ),
        None => (Verdict::Missing, "no test of this name was run"),
    }
}

/// What a case comes to: the worst of its tests.
pub(super) fn of_case(case: &Case, results: &Results) -> Verdict {
    case.tests
        .iter()
        .map(|test| of_test(test, results).0)
        .max()
        .unwrap_or(Verdict::NotYet)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut results = Results::default();
        for line in [
            "     Running tests/rules/main.rs (target/debug/deps/rules-0123456789abcdef)",
            "test good ... ok",
            "test bad ... FAILED",
            "test ignored ... ignored",
            "     Running tests/rules/main.rs (target/debug/deps/rules-fedcba9876543210)",
            "test double ... ok",
            "test double ... ok",
        ] {
            results.read(line);
        }
        results
    }

    fn case(tests: &[&str]) -> Case {
        Case {
            id: "SIG-1".to_owned(),
            what: "what it is".to_owned(),
            tests: tests.iter().map(|name| format!("rules::{name}")).collect(),
            not_yet: Some("later".to_owned()),
            differs: None,
        }
    }

    #[test]
    fn a_case_is_as_good_as_its_worst_test() {
        let results = results();
        for (tests, due) in [
            (&["good"][..], Verdict::Passed),
            (&["good", "bad"], Verdict::Failed),
            (&["gone", "bad", "good"], Verdict::Failed),
            (&["good", "gone"], Verdict::Missing),
            (&["good", "ignored"], Verdict::Missing),
            (&["double"], Verdict::Missing),
            (&[], Verdict::NotYet),
        ] {
            assert_eq!(of_case(&case(tests), &results), due, "{tests:?}");
        }
    }
}
