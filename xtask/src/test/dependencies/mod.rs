//! Judging the workspace by the dependency rule.

mod table;
mod tree;

use table::{Group, RULE, Row};
pub(super) use tree::members;
use tree::{Member, Node};

/// Every breach of the rule, each a sentence; none when the workspace keeps to it.
pub(super) fn breaches(members: &[Member]) -> Vec<String> {
    let mut found = Vec::new();
    for row in &RULE {
        let is_there = |member: &Member| fits(row.folder, &member.folder);
        if !row.folder.ends_with('*') && !members.iter().any(is_there) {
            found.push(format!(
                "the rule names {}, where there is no crate",
                row.folder
            ));
        }
    }
    for member in members {
        match row_of(member) {
            Some(row) => {
                found.extend(uses(member, row, members));
                found.extend(brings(member, row));
            }
            None => found.push(format!(
                "{} stands in {}, which no row of the rule fits",
                member.name, member.folder
            )),
        }
    }
    found
}

fn row_of(member: &Member) -> Option<&'static Row> {
    RULE.iter().find(|row| fits(row.folder, &member.folder))
}

/// Whether `name` is `pattern`, or begins as one that ends in `*` does.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == pattern,
    }
}

/// The crates of the workspace that a crate depends on and may not.
fn uses(member: &Member, row: &Row, members: &[Member]) -> Vec<String> {
    let may_not = |node: &Node, allowed: &[&[Group]]| {
        let used = members.iter().find(|other| other.name == node.name);
        let group = used.and_then(row_of).map(|row| row.group);
        node.depth == 1 && group.is_some_and(|group| !allowed.concat().contains(&group))
    };
    let own = member
        .tree
        .iter()
        .filter(|node| may_not(node, &[row.may_use]))
        .map(|node| {
            format!(
                "{} depends on {}; {:?} may depend on {:?} only",
                member.name, node.name, row.group, row.may_use
            )
        });
    let dev = member
        .dev
        .iter()
        // A crate's tests may name it once more, with a feature that is for tests.
        .filter(|node| node.name != member.name)
        .filter(|node| may_not(node, &[row.may_use, row.tests_may_use]))
        .map(|node| {
            format!(
                "the tests of {} depend on {}; those of {:?} may depend on {:?} and {:?} only",
                member.name, node.name, row.group, row.may_use, row.tests_may_use
            )
        });
    own.chain(dev).collect()
}

/// The crates that a crate brings along and never may, each with the way to it.
fn brings(member: &Member, row: &Row) -> Vec<String> {
    let mut way: Vec<&str> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for node in &member.tree {
        way.truncate(node.depth);
        way.push(&node.name);
        let banned = row.never.iter().any(|pattern| fits(pattern, &node.name));
        if banned && !seen.contains(&node.name.as_str()) {
            seen.push(&node.name);
            found.push(format!(
                "{} may never bring {}: {}",
                member.name,
                node.name,
                way.join(" > ")
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::nodes;

    fn member(folder: &str, tree: &[(usize, &str)], dev: &[&str]) -> Member {
        let name = format!(
            "switchboard-{}",
            folder.rsplit('/').next().unwrap_or(folder)
        );
        let written = |lines: &[(usize, &str)]| {
            let below = lines
                .iter()
                .map(|(depth, name)| format!("{depth} {name} v1.2.3 (*)\n"));
            format!(
                "0 {name} v0.1.0 (/project/{folder})\n{}",
                below.collect::<String>()
            )
        };
        let dev: Vec<_> = dev.iter().map(|name| (1, *name)).collect();
        let (tree, dev) = (nodes(&written(tree)), nodes(&written(&dev)));
        Member {
            name,
            folder: folder.to_owned(),
            tree,
            dev,
        }
    }

    /// A workspace that keeps to the rule, but for `changed`, which stands in place of the crate in its folder.
    fn workspace(changed: Option<Member>) -> Vec<Member> {
        let core = (1, "switchboard-core");
        let mut members = vec![
            member("shared/core", &[(1, "hmac"), (2, "digest")], &[]),
            member(
                "shared/web",
                &[core, (1, "hyper")],
                &["switchboard-testkit"],
            ),
            member(
                "shared/aws",
                &[core, (1, "aws-sdk-sqs")],
                &["switchboard-testkit"],
            ),
            member(
                "shared/embedded",
                &[core, (1, "rusqlite")],
                &["switchboard-testkit"],
            ),
            member("shared/receiver", &[(1, "rusqlite")], &["tempfile"]),
            member("shared/testkit", &[core, (1, "tokio")], &[]),
            member(
                "functions/local",
                &[core, (1, "switchboard-embedded"), (2, "rusqlite")],
                &["switchboard-testkit"],
            ),
            member(
                "functions/shared",
                &[core, (1, "switchboard-aws"), (2, "aws-sdk-sqs")],
                &["switchboard-testkit"],
            ),
            member(
                "functions/ingress",
                &[core, (1, "switchboard-shared"), (2, "aws-sdk-sqs")],
                &["switchboard-testkit"],
            ),
            member("tests", &[core, (1, "switchboard-testkit")], &[]),
            member("tests/cloud", &[core, (1, "switchboard-tests")], &[]),
            member("tests/cost", &[core, (1, "switchboard-tests")], &[]),
            member("tests/load", &[core, (1, "switchboard-embedded")], &[]),
            member("tests/fuzzed", &[core, (1, "switchboard-web")], &[]),
            member("xtask", &[(1, "switchboard-testkit")], &[]),
        ];
        if let Some(changed) = changed {
            members.retain(|member| member.folder != changed.folder);
            members.push(changed);
        }
        members
    }

    #[track_caller]
    fn one_breach(changed: Member) -> String {
        let mut found = breaches(&workspace(Some(changed)));
        assert_eq!(found.len(), 1, "expected one breach, found: {found:?}");
        found.remove(0)
    }

    #[test]
    fn a_workspace_that_keeps_to_the_rule_has_no_breach() {
        assert_eq!(breaches(&workspace(None)), Vec::<String>::new());
    }

    #[test]
    fn core_may_use_no_crate_of_the_workspace() {
        let breach = one_breach(member("shared/core", &[(1, "switchboard-web")], &[]));
        assert!(breach.starts_with("switchboard-core depends on switchboard-web"));
        let breach = one_breach(member("shared/core", &[], &["switchboard-testkit"]));
        assert!(breach.starts_with("the tests of switchboard-core depend on switchboard-testkit"));
    }

    #[test]
    fn core_never_brings_a_runtime_and_the_way_to_it_is_told() {
        let tree = [
            (1, "url"),
            (1, "some-client"),
            (2, "deep"),
            (3, "tokio"),
            (1, "bytes"),
        ];
        assert_eq!(
            one_breach(member("shared/core", &tree, &[])),
            "switchboard-core may never bring tokio: switchboard-core > some-client > deep > tokio"
        );
    }

    #[test]
    fn core_never_brings_any_of_what_the_rule_names() {
        for name in [
            "tokio",
            "tokio-util",
            "aws-config",
            "hyper",
            "hyper-util",
            "reqwest",
            "getrandom",
            "rusqlite",
            "axum",
        ] {
            let breach = one_breach(member("shared/core", &[(1, name)], &[]));
            assert!(breach.contains(name), "expected {name}, found: {breach}");
        }
    }

    #[test]
    fn a_banned_crate_is_told_once_however_often_it_is_in_the_tree() {
        let tree = [(1, "tokio"), (1, "b"), (2, "tokio")];
        one_breach(member("shared/core", &tree, &[]));
    }

    #[test]
    fn crates_of_the_middle_never_use_each_other() {
        let core = (1, "switchboard-core");
        let breach = one_breach(member(
            "shared/web",
            &[core, (1, "switchboard-receiver")],
            &[],
        ));
        assert!(breach.starts_with("switchboard-web depends on switchboard-receiver"));
        let breach = one_breach(member("shared/web", &[core], &["switchboard-embedded"]));
        assert!(breach.starts_with("the tests of switchboard-web depend on switchboard-embedded"));
        let breach = one_breach(member(
            "shared/testkit",
            &[core, (1, "switchboard-aws")],
            &[],
        ));
        assert!(breach.starts_with("switchboard-testkit depends on switchboard-aws"));
    }

    #[test]
    fn the_tests_of_a_crate_may_use_it_with_a_feature_for_tests() {
        let own = member(
            "shared/web",
            &[(1, "switchboard-core")],
            &["switchboard-web"],
        );
        assert_eq!(breaches(&workspace(Some(own))), Vec::<String>::new());
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        for folder in ["shared/embedded", "functions/local", "functions/ingress"] {
            let breach = one_breach(member(folder, &[(1, "switchboard-testkit")], &[]));
            assert!(
                breach.contains("depends on switchboard-testkit"),
                "expected {folder} to be told, found: {breach}"
            );
        }
    }

    #[test]
    fn the_local_binary_never_brings_the_aws_sdk() {
        let tree = [(1, "switchboard-web"), (2, "aws-smithy-types")];
        let breach = one_breach(member("functions/local", &tree, &[]));
        assert!(breach.starts_with("switchboard-local may never bring aws-smithy-types"));
    }

    #[test]
    fn a_lambda_never_brings_sqlite() {
        let tree = [(1, "switchboard-embedded"), (2, "rusqlite")];
        let breach = one_breach(member("functions/worker", &tree, &[]));
        assert!(breach.starts_with("switchboard-worker may never bring rusqlite"));
    }

    #[test]
    fn binaries_never_use_each_other() {
        let breach = one_breach(member("tests", &[(1, "switchboard-local")], &[]));
        assert!(breach.starts_with("switchboard-tests depends on switchboard-local"));
    }

    #[test]
    fn a_crate_that_no_row_fits_is_a_breach() {
        let breach = one_breach(member("extra/thing", &[], &[]));
        assert!(breach.starts_with("switchboard-thing stands in extra/thing"));
    }

    #[test]
    fn a_row_without_a_crate_is_a_breach() {
        let mut members = workspace(None);
        members.retain(|member| member.folder != "shared/core");
        assert_eq!(
            breaches(&members),
            ["the rule names shared/core, where there is no crate"]
        );
    }
}
