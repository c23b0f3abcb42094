//! What README says of running it as a service, kept to: the configuration, the commands and the unit.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use switchboard_tests::run::Run;
use switchboard_tests::switchboard::command;
use switchboard_tests::wait::DEADLINE;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

const README: &str = include_str!("../../README.md");
const UNIT: &str = include_str!("../../functions/local/switchboard.service");

/// What the variables of the example may be.
const VARIABLES: [(&str, &str); 3] = [
    ("SHOP_SECRET", "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"),
    ("ACCOUNTING_AUTHORIZATION", "Bearer of-accounting"),
    ("ALERT_URL", "https://alerts.example.com/hook?key=of-alerts"),
];

fn section() -> &'static str {
    let (_, rest) = README
        .split_once("\n## Run it as a service\n")
        .expect("the section");
    rest.split_once("\n## ")
        .map_or(rest, |(section, _)| section)
}

/// The blocks of a language in the section.
fn blocks(language: &str) -> Vec<&'static str> {
    let parts = section().split("```");
    let inside = parts.skip(1).step_by(2);
    inside
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'))
        .collect()
}

/// All values of a key of the unit.
fn unit(key: &str) -> Vec<&'static str> {
    let values = UNIT.lines().filter_map(|line| line.split_once('='));
    values
        .filter(|(found, _)| *found == key)
        .map(|(_, value)| value)
        .collect()
}

/// A folder with the example's configuration.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let configuration = blocks("toml").concat();
    std::fs::write(folder.path().join("switchboard.toml"), configuration).expect("a file");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Run {
    let run = Run::of(folder, arguments);
    VARIABLES
        .iter()
        .fold(run, |run, (name, value)| run.set(name, value))
}

#[tokio::test]
async fn the_example_configuration_holds_and_names_every_secret() {
    let folder = folder();
    let check = ["check", "--config", "switchboard.toml"];
    let ended = run(folder.path(), &check).ended().await;
    assert_eq!((ended.code, &*ended.err), (0, ""));
    assert!(ended.out.contains("1 source, 1 destination, 1 route"));
    for (name, _) in VARIABLES {
        let without = run(folder.path(), &check).unset(name).ended().await;
        assert_eq!(without.code, 64, "{name} is one of its secrets");
    }
}

#[tokio::test]
async fn every_command_and_flag_that_is_named_exists() {
    let folder = folder();
    let mut commands = BTreeSet::new();
    // In blocks, after the name of the binary; in the text, between backticks.
    let lines = section().lines().chain(section().split('`'));
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (n, word) in words.iter().enumerate() {
            let next = words.get(n + 1).filter(|next| is_command(next));
            let before = n.checked_sub(1).and_then(|n| words.get(n));
            let called = before.is_none_or(|before| ["$", "switchboard"].contains(before));
            if let Some(next) = next.filter(|_| *word == "switchboard" && called) {
                let flags = words.iter().filter(|word| word.starts_with("--"));
                commands.insert((*next, flags.copied().collect::<Vec<_>>()));
            }
        }
    }
    let exec = unit("ExecStart").concat();
    let flags = exec
        .split_whitespace()
        .filter(|word| word.starts_with("--"));
    commands.insert(("serve", flags.collect()));
    assert!(commands.len() >= 3, "{commands:?}");
    for (name, flags) in commands {
        let help = Run::of(folder.path(), &[name, "--help"]).ended().await;
        assert_eq!(help.code, 0, "{name}: {}", help.err);
        for flag in flags {
            assert!(help.out.contains(flag), "{name} has {flag}: {}", help.out);
        }
    }
}

fn is_command(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_lowercase())
}

/// The unit's own command line, with the paths and the port of a test.
fn command_line() -> Vec<String> {
    let exec = unit("ExecStart").concat();
    let words = exec.split_whitespace().skip(1);
    words
        .map(|word| match word {
            "/etc/switchboard/switchboard.toml" => "switchboard.toml".to_owned(),
            "/var/lib/switchboard" => "data".to_owned(),
            "127.0.0.1:3000" => "127.0.0.1:0".to_owned(),
            other => other.to_owned(),
        })
        .collect()
}

#[tokio::test]
async fn the_units_command_line_starts_it() {
    let folder = folder();
    let mut child = command(folder.path())
        .args(command_line())
        .envs(VARIABLES)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let first = timeout(DEADLINE, lines.next_line()).await.expect("in time");
    assert_eq!(
        first.expect("text").as_deref(),
        Some("Switchboard is running.")
    );
    assert!(folder.path().join("data/switchboard.sqlite").exists());
    child.kill().await.expect("killed");
}

#[tokio::test]
async fn the_unit_starts_it_again_but_not_where_that_mends_nothing() {
    assert_eq!(unit("Restart"), ["on-failure"]);
    let prevented = unit("RestartPreventExitStatus").concat();
    let prevented: Vec<i32> = prevented
        .split_whitespace()
        .map(|code| code.parse().expect("a code"))
        .collect();
    let folder = folder();
    let line = command_line();
    let mut line: Vec<&str> = line.iter().map(String::as_str).collect();
    let unset = run(folder.path(), &line).unset("SHOP_SECRET").ended().await;
    line.push("--no-such-flag");
    let wrong = run(folder.path(), &line).ended().await;
    assert_eq!(prevented, [wrong.code, unset.code]);
}

#[test]
fn the_unit_has_handles_for_ten_thousand_senders_and_one_folder_to_write() {
    let handles: u32 = unit("LimitNOFILE").concat().parse().expect("a number");
    assert!(handles > 2 * 10_000, "{handles}");
    assert_eq!(unit("ProtectSystem"), ["strict"]);
    assert_eq!(unit("StateDirectory"), ["switchboard"]);
    assert!(unit("ReadWritePaths").is_empty());
    assert_eq!(unit("NoNewPrivileges"), ["yes"]);
    let state = format!("--data /var/lib/{}", unit("StateDirectory").concat());
    assert!(unit("ExecStart").concat().contains(&state));
}
