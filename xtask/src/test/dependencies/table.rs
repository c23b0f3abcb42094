//! The dependency rule as a table: which crate may depend on which, and what a crate never brings along.
//!
//! `core` <- {`web`, `aws`, `embedded`, `receiver`, `testkit`} <- {`functions/*`, `tests`, `xtask`}.

/// Crates that the rule treats alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// What decides.
    Core,
    /// The adapters: what does.
    Middle,
    /// What tests share.
    Testkit,
    /// The binaries.
    Function,
    /// What only developers run.
    Developer,
}

/// What the crates in one folder may do. The first row that fits a folder counts.
pub(super) struct Row {
    /// The folder; `*` at its end stands for any.
    pub(super) folder: &'static str,
    /// Their group.
    pub(super) group: Group,
    /// What they may depend on.
    pub(super) may_use: &'static [Group],
    /// What their tests may depend on besides.
    pub(super) tests_may_use: &'static [Group],
    /// Crates that never stand anywhere in their tree, on no target and with no feature; `*` at the end stands for any.
    pub(super) never: &'static [&'static str],
}

/// The rule.
pub(super) const RULE: [Row; 12] = [
    Row {
        folder: "shared/core",
        group: Group::Core,
        may_use: &[],
        tests_may_use: &[],
        never: &[
            "tokio",
            "tokio-*",
            "aws-*",
            "lambda_*",
            "axum",
            "axum-*",
            "hyper",
            "hyper-*",
            "reqwest",
            "ureq",
            "getrandom",
            "rusqlite",
            "libsqlite3-sys",
        ],
    },
    Row {
        folder: "shared/testkit",
        group: Group::Testkit,
        may_use: &[Group::Core],
        tests_may_use: &[],
        never: &[],
    },
    Row {
        folder: "shared/*",
        group: Group::Middle,
        may_use: &[Group::Core],
        tests_may_use: &[Group::Testkit],
        never: &[],
    },
    Row {
        folder: "functions/local",
        group: Group::Function,
        may_use: &[Group::Core, Group::Middle],
        tests_may_use: &[Group::Testkit],
        never: &["aws-*", "lambda_*"],
    },
    // What the functions on AWS share is theirs as an adapter is.
    Row {
        folder: "functions/shared",
        group: Group::Middle,
        may_use: &[Group::Core, Group::Middle],
        tests_may_use: &[Group::Testkit],
        never: &["rusqlite", "libsqlite3-sys"],
    },
    Row {
        folder: "functions/*",
        group: Group::Function,
        may_use: &[Group::Core, Group::Middle],
        tests_may_use: &[Group::Testkit],
        never: &["rusqlite", "libsqlite3-sys"],
    },
    Row {
        folder: "tests",
        group: Group::Developer,
        may_use: &[Group::Core, Group::Middle, Group::Testkit],
        tests_may_use: &[],
        never: &[],
    },
    // The stack on AWS is told of as the rest is: with the same senders, receivers and browser.
    Row {
        folder: "tests/cloud",
        group: Group::Developer,
        may_use: &[Group::Core, Group::Middle, Group::Testkit, Group::Developer],
        tests_may_use: &[],
        never: &[],
    },
    // What is counted is counted with the same senders and destinations.
    Row {
        folder: "tests/cost",
        group: Group::Developer,
        may_use: &[Group::Core, Group::Middle, Group::Testkit, Group::Developer],
        tests_may_use: &[],
        never: &[],
    },
    Row {
        folder: "tests/load",
        group: Group::Developer,
        may_use: &[Group::Core, Group::Middle],
        tests_may_use: &[],
        never: &[],
    },
    Row {
        folder: "tests/fuzzed",
        group: Group::Developer,
        may_use: &[Group::Core, Group::Middle, Group::Testkit],
        tests_may_use: &[],
        // Nightly Rust builds it for libFuzzer: what it brings along is compiled once more.
        never: &["rusqlite", "libsqlite3-sys"],
    },
    Row {
        folder: "xtask",
        group: Group::Developer,
        may_use: &[Group::Core, Group::Middle, Group::Testkit],
        tests_may_use: &[],
        never: &[],
    },
];
