//! The cases table, `tests/cases.toml`: read, and held against the list of cases that there must be.

use std::collections::BTreeSet;

use serde::Deserialize;

/// The chapters of the cases, with how many each has, in the order they are told.
const CHAPTERS: [(&str, u8); 10] = [
    ("SIG", 18),
    ("DED", 12),
    ("ROU", 5),
    ("DEL", 20),
    ("QUE", 14),
    ("STO", 7),
    ("DAS", 7),
    ("ADM", 4),
    ("LAM", 6),
    ("OPS", 6),
];

/// One case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// Its name, such as `SIG-1`.
    pub(super) id: String,
    /// What comes in and what is right, in a few words.
    pub(super) what: String,
    /// The tests that show it.
    #[serde(default)]
    pub(super) tests: Vec<String>,
    /// Why it does not apply yet; beside tests, which part of it does not.
    pub(super) not_yet: Option<String>,
    /// What the product specifies instead.
    pub(super) differs: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    case: Vec<Case>,
}

/// Every case there must be, in order.
pub(super) fn known() -> Vec<String> {
    CHAPTERS
        .iter()
        .flat_map(|(chapter, count)| (1..=*count).map(move |n| format!("{chapter}-{n}")))
        .collect()
}

/// The cases of the table in the order they must be told, and everything that is wrong with it.
pub(super) fn read(text: &str) -> (Vec<Case>, Vec<String>) {
    let cases = match toml::from_str::<Table>(text) {
        Ok(table) => table.case,
        Err(error) => return (Vec::new(), vec![format!("not readable: {error}")]),
    };
    let known = known();
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for case in &cases {
        if !known.contains(&case.id) {
            faults.push(format!("{}: there is no such case", case.id));
        }
        if !seen.insert(case.id.as_str()) {
            faults.push(format!("{}: it stands there twice", case.id));
        }
        faults.extend(of_one(case).map(|fault| format!("{}: {fault}", case.id)));
    }
    let missing = known.iter().filter(|id| !seen.contains(id.as_str()));
    faults.extend(missing.map(|id| format!("{id}: it is not in the table")));
    let mut cases = cases;
    cases.sort_by_key(|case| known.iter().position(|id| *id == case.id));
    (cases, faults)
}

/// What is wrong with one row.
fn of_one(case: &Case) -> impl Iterator<Item = &'static str> {
    let empty = |text: &str| text.trim().is_empty();
    let different: BTreeSet<&String> = case.tests.iter().collect();
    [
        (empty(&case.what), "it does not say what it is"),
        (
            case.tests.is_empty() && case.not_yet.is_none(),
            "it has neither a test nor a reason why it does not apply yet",
        ),
        (
            case.not_yet.as_deref().is_some_and(empty),
            "the reason why it does not apply yet is empty",
        ),
        (
            case.differs.as_deref().is_some_and(empty),
            "what the product specifies instead is empty",
        ),
        (different.len() < case.tests.len(), "it names a test twice"),
    ]
    .into_iter()
    .filter_map(|(is_wrong, fault)| is_wrong.then_some(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, rest: &str) -> String {
        format!("[[case]]\nid = \"{id}\"\nwhat = \"what it is\"\n{rest}\n")
    }

    /// Every case with one test, but for these rows instead.
    fn whole(instead: &[(&str, &str)]) -> String {
        let of = |id: &String| match instead.iter().find(|(other, _)| other == id) {
            Some((_, row)) => (*row).to_owned(),
            None => row(id, "tests = [\"rules::a\"]"),
        };
        known().iter().map(of).collect()
    }

    #[test]
    fn there_are_ninety_nine_cases() {
        let known = known();
        assert_eq!(known.len(), 99);
        assert_eq!((&*known[0], &*known[98]), ("SIG-1", "OPS-6"));
    }

    #[test]
    fn a_whole_table_has_no_fault_and_is_told_in_order() {
        let backwards: String = known()
            .iter()
            .rev()
            .map(|id| row(id, "not_yet = \"later\""))
            .collect();
        let (cases, faults) = read(&backwards);
        assert_eq!(faults, Vec::<String>::new());
        let told: Vec<String> = cases.into_iter().map(|case| case.id).collect();
        assert_eq!(told, known());
        assert_eq!(read(&whole(&[])).1, Vec::<String>::new());
    }

    #[test]
    fn a_case_that_is_missing_twice_there_or_unknown_is_a_fault() {
        let twice = row("DED-1", "not_yet = \"later\"").repeat(2);
        let unknown = row("SIG-19", "not_yet = \"later\"");
        let table = whole(&[("SIG-1", ""), ("DED-1", &twice), ("OPS-6", &unknown)]);
        assert_eq!(
            read(&table).1,
            [
                "DED-1: it stands there twice",
                "SIG-19: there is no such case",
                "SIG-1: it is not in the table",
                "OPS-6: it is not in the table",
            ]
        );
    }

    #[test]
    fn a_row_without_tests_and_without_a_reason_is_a_fault() {
        for (rest, fault) in [
            (
                "",
                "it has neither a test nor a reason why it does not apply yet",
            ),
            (
                "tests = []",
                "it has neither a test nor a reason why it does not apply yet",
            ),
            (
                "not_yet = \" \"",
                "the reason why it does not apply yet is empty",
            ),
            ("tests = [\"a::b\", \"a::b\"]", "it names a test twice"),
            (
                "tests = [\"a::b\"]\ndiffers = \"\"",
                "what the product specifies instead is empty",
            ),
        ] {
            let table = whole(&[("QUE-4", &row("QUE-4", rest))]);
            assert_eq!(read(&table).1, [format!("QUE-4: {fault}")], "{rest}");
        }
        let nameless = "[[case]]\nid = \"QUE-4\"\nwhat = \"\"\ntests = [\"a::b\"]\n";
        assert_eq!(
            read(&whole(&[("QUE-4", nameless)])).1,
            ["QUE-4: it does not say what it is"]
        );
    }

    #[test]
    fn a_misspelled_key_is_not_passed_over() {
        let table = whole(&[("QUE-4", &row("QUE-4", "test = [\"a::b\"]"))]);
        let (cases, faults) = read(&table);
        assert!(cases.is_empty());
        assert!(faults[0].starts_with("not readable: "), "{faults:?}");
    }
}
