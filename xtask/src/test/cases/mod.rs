//! The cases: what is known to go wrong in systems of this kind, and the tests that show that it does not go wrong
//! here. After the tests the table is printed, each case with its tests and what became of them. A case that applies
//! and has no test that passed fails the run, and so does a table that is not whole.

mod table;
mod verdict;

use crate::command::Failure;
use crate::environment::Environment;
use crate::test::results::Results;
use table::Case;
use verdict::{Verdict, of_case, of_test};

/// Where the table stands, seen from the root.
const TABLE: &str = "tests/cases.toml";

/// Prints the table with what became of each case; the counts as the remark, or why it failed.
pub(super) fn judge(environment: &Environment, results: &Results) -> Result<String, Failure> {
    let text = std::fs::read_to_string(environment.root.join(TABLE))
        .map_err(|cause| Failure(format!("{TABLE}: {cause}")))?;
    let (cases, faults) = table::read(&text);
    println!("{}", written(&cases, results));
    for fault in &faults {
        println!("{TABLE}: {fault}");
    }
    verdict(&cases, &faults, results)
}

/// The counts, and whether they are good enough.
fn verdict(cases: &[Case], faults: &[String], results: &Results) -> Result<String, Failure> {
    let count = |verdict| {
        let of = cases
            .iter()
            .filter(|case| of_case(case, results) == verdict);
        of.count()
    };
    let (failed, missing) = (count(Verdict::Failed), count(Verdict::Missing));
    let counts = format!(
        "{} passed, {failed} failed, {missing} missing, {} not applicable yet, of {}",
        count(Verdict::Passed),
        count(Verdict::NotYet),
        table::known().len()
    );
    if !faults.is_empty() {
        return Err(Failure(format!(
            "{counts}; faults of {TABLE}: {}",
            faults.len()
        )));
    }
    if failed + missing > 0 {
        return Err(Failure(counts));
    }
    Ok(counts)
}

/// The table as text: a line for each case, and below it one for each of its tests and remarks.
fn written(cases: &[Case], results: &Results) -> String {
    let line = |first: &str, word: &str, rest: &str| format!("  {first:<8}{word:<9}{rest}");
    let mut lines = vec![line("case", "result", "what, and the tests that show it")];
    for case in cases {
        lines.push(line(&case.id, of_case(case, results).word(), &case.what));
        for test in &case.tests {
            let (verdict, remark) = of_test(test, results);
            let remark = if remark.is_empty() {
                String::new()
            } else {
                format!(" ({remark})")
            };
            lines.push(line("", verdict.word(), &format!("  {test}{remark}")));
        }
        let part = if case.tests.is_empty() {
            "not applicable yet"
        } else {
            "not applicable yet, of it"
        };
        lines.extend(
            case.not_yet
                .iter()
                .map(|why| line("", "", &format!("  {part}: {why}"))),
        );
        let differs = case.differs.iter();
        lines.extend(differs.map(|what| line("", "", &format!("  specified otherwise: {what}"))));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut results = Results::default();
        results.read("     Running tests/rules/main.rs (target/debug/deps/rules-0123456789abcdef)");
        results.read("test good ... ok");
        results.read("test bad ... FAILED");
        results
    }

    fn case(id: &str, tests: &[&str], not_yet: Option<&str>) -> Case {
        Case {
            id: id.to_owned(),
            what: "what it is".to_owned(),
            tests: tests.iter().map(|name| format!("rules::{name}")).collect(),
            not_yet: not_yet.map(str::to_owned),
            differs: None,
        }
    }

    #[test]
    fn each_case_stands_with_its_tests_and_what_became_of_them() {
        let mut cases = [
            case("SIG-1", &["good", "bad"], None),
            case("DED-12", &["gone"], Some("on AWS")),
            case("LAM-5", &[], Some("there is no function yet")),
        ];
        cases[1].differs = Some("another thing".to_owned());
        assert_eq!(
            written(&cases, &results()),
            "\x20 case    result   what, and the tests that show it\n\
             \x20 SIG-1   FAILED   what it is\n\
             \x20         passed     rules::good\n\
             \x20         FAILED     rules::bad\n\
             \x20 DED-12  MISSING  what it is\n\
             \x20         MISSING    rules::gone (no test of this name was run)\n\
             \x20                    not applicable yet, of it: on AWS\n\
             \x20                    specified otherwise: another thing\n\
             \x20 LAM-5   not yet  what it is\n\
             \x20                    not applicable yet: there is no function yet"
        );
    }

    #[test]
    fn one_case_failed_or_missing_or_one_fault_fails_the_run() {
        let good = case("SIG-1", &["good"], None);
        let later = case("LAM-5", &[], Some("later"));
        let judge = |cases: &[Case], faults: &[String]| verdict(cases, faults, &results());
        let fine = [good.clone(), later];
        assert_eq!(
            judge(&fine, &[]),
            Ok("1 passed, 0 failed, 0 missing, 1 not applicable yet, of 99".to_owned())
        );
        for (tests, due) in [
            (
                &["bad"],
                "1 passed, 1 failed, 0 missing, 0 not applicable yet, of 99",
            ),
            (
                &["gone"],
                "1 passed, 0 failed, 1 missing, 0 not applicable yet, of 99",
            ),
        ] {
            let cases = [good.clone(), case("SIG-2", tests, None)];
            assert_eq!(judge(&cases, &[]), Err(Failure(due.to_owned())));
        }
        let faulty = judge(&fine, &["SIG-3: it is not in the table".to_owned()]);
        let Err(Failure(why)) = faulty else {
            panic!("a fault fails the run")
        };
        assert!(why.ends_with("faults of tests/cases.toml: 1"), "{why}");
    }

    #[test]
    fn the_projects_own_table_is_whole() {
        let (cases, faults) = table::read(include_str!("../../../../tests/cases.toml"));
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(cases.len(), table::known().len());
    }
}
