//! What became of each test by its name: the test program, `::`, and the test's path in it. Read from what cargo and
//! the test programs write, in the order they write it.

use std::collections::BTreeMap;

/// What became of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was ignored: not run.
    Ignored,
    /// Two programs hold a test of this name, so that it tells of neither.
    Ambiguous,
}

/// What became of every test so far.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The test program that writes now.
    program: String,
    fates: BTreeMap<String, Fate>,
}

impl Results {
    /// Takes in one line.
    pub(super) fn read(&mut self, line: &str) {
        if let Some(program) = program(line) {
            program.clone_into(&mut self.program);
        } else if let Some((test, fate)) = fate(line) {
            let name = format!("{}::{test}", self.program);
            self.fates
                .entry(name)
                .and_modify(|known| *known = Fate::Ambiguous)
                .or_insert(fate);
        }
    }

    /// What became of the test of that name; `None` when it was not run.
    pub(super) fn of(&self, name: &str) -> Option<Fate> {
        self.fates.get(name).copied()
    }
}

/// The test program that a line of cargo's announces: `Running tests/x.rs (target/debug/deps/x-0123456789abcdef)`.
fn program(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if line.starts_with("Doc-tests ") {
        return Some("doc-tests");
    }
    let (_, place) = line
        .strip_prefix("Running ")?
        .strip_suffix(')')?
        .rsplit_once(" (")?;
    let file = place.rsplit(['/', '\\']).next()?;
    let file = file.strip_suffix(".exe").unwrap_or(file);
    let (name, _) = file.rsplit_once('-')?;
    Some(name)
}

/// A test and what became of it, in a line of a test program's.
fn fate(line: &str) -> Option<(&str, Fate)> {
    let (name, what) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let fate = match what {
        "ok" => Fate::Passed,
        "FAILED" => Fate::Failed,
        ignored if ignored.starts_with("ignored") => Fate::Ignored,
        _ => return None,
    };
    // A test that is to panic is marked so behind its name.
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    Some((name, fate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Results {
        let mut results = Results::default();
        for line in lines {
            results.read(line);
        }
        results
    }

    #[test]
    fn a_test_is_known_by_its_program_and_its_path_in_it() {
        let results = of(&[
            "     Running unittests src/lib.rs (target/debug/deps/switchboard_core-0123456789abcdef)",
            "running 2 tests",
            "test retry::tests::the_pause_grows ... ok",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            "     Running tests/rules/main.rs (/elsewhere/my builds (2)/debug/deps/rules-00ff00ff00ff00ff)",
            "test proven::one_changed_byte_is_refused ... FAILED",
            "test proven::slow ... ignored, takes long",
            "test proven::it_breaks - should panic ... ok",
            "   Doc-tests switchboard_core",
            "test shared/core/src/lib.rs - scheme (line 3) ... ok",
        ]);
        for (name, fate) in [
            (
                "switchboard_core::retry::tests::the_pause_grows",
                Some(Fate::Passed),
            ),
            (
                "rules::proven::one_changed_byte_is_refused",
                Some(Fate::Failed),
            ),
            ("rules::proven::slow", Some(Fate::Ignored)),
            ("rules::proven::it_breaks", Some(Fate::Passed)),
            ("rules::retry::tests::the_pause_grows", None),
            (
                "doc-tests::shared/core/src/lib.rs - scheme (line 3)",
                Some(Fate::Passed),
            ),
            ("proven::one_changed_byte_is_refused", None),
        ] {
            assert_eq!(results.of(name), fate, "{name}");
        }
    }

    #[test]
    fn a_name_in_two_programs_tells_of_neither() {
        let results = of(&[
            "     Running tests/vectors.rs (target/debug/deps/vectors-0123456789abcdef)",
            "test every_vector_is_decided ... ok",
            "     Running tests/vectors.rs (target/debug/deps/vectors-fedcba9876543210)",
            "test every_vector_is_decided ... ok",
            "test another ... ok",
        ]);
        assert_eq!(
            results.of("vectors::every_vector_is_decided"),
            Some(Fate::Ambiguous)
        );
        assert_eq!(results.of("vectors::another"), Some(Fate::Passed));
    }

    #[test]
    fn a_test_that_never_ended_has_no_fate() {
        let results = of(&[
            "     Running tests/handles.rs (target/debug/deps/handles-0123456789abcdef)",
            "test it_hangs has been running for over 60 seconds",
            "test it_breaks_off ... ",
        ]);
        assert_eq!(results.of("handles::it_hangs"), None);
        assert_eq!(results.of("handles::it_breaks_off"), None);
    }
}
