//! A process that dies while it applies a delivery: this test runs itself as a second process and kills it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::shop::{Shop, add, answer, apply, at, key};
use switchboard_receiver::{Applied, ApplyOnce};

/// Names the file, and the moment at which the process waits to be killed.
const FILE: &str = "SWITCHBOARD_RECEIVER_TEST_FILE";
const MOMENT: &str = "SWITCHBOARD_RECEIVER_TEST_MOMENT";
/// What the process says when it has come to its moment.
const HERE: &str = "has come to its moment";

/// Says that the moment has come and waits for the end.
fn wait_to_be_killed() {
    let mut out = std::io::stdout();
    writeln!(out, "{HERE}")
        .and_then(|()| out.flush())
        .expect("said");
    let mut nothing = Vec::new();
    std::io::stdin().read_to_end(&mut nothing).expect("waited");
}

/// The second process; without its variables it is a test that has nothing to do.
#[test]
fn second_process() {
    let Some(path) = std::env::var_os(FILE).map(PathBuf::from) else {
        return;
    };
    let before_commit = std::env::var_os(MOMENT).is_some_and(|moment| moment == "before");
    let once = ApplyOnce::open(&path).expect("open");
    once.apply(&key("dlv_a"), at(0), |transaction| {
        let answer = add(transaction, "one");
        if before_commit {
            wait_to_be_killed();
        }
        answer
    })
    .expect("applied");
    wait_to_be_killed();
}

fn start(shop: &Shop, moment: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("own path"))
        .args(["--exact", "crash::second_process", "--nocapture"])
        .env(FILE, &shop.path)
        .env(MOMENT, moment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("second process");
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let came = out.lines().any(|line| line.expect("line").contains(HERE));
    assert!(came, "the second process ended before its moment");
    child
}

fn kill(mut child: Child) {
    child.kill().expect("killed");
    child.wait().expect("gone");
}

#[test]
fn dying_between_effect_and_commit_leaves_nothing() {
    let shop = Shop::new();
    let child = start(&shop, "before");
    let once = shop.handle();
    let during = apply(&once, "dlv_a", "mine", at(1)).expect("answered");
    assert!(
        matches!(during, Applied::InProgress { .. }),
        "the other process is applying it: {during:?}"
    );
    kill(child);
    assert_eq!((shop.lines(), shop.keys()), (0, 0), "nothing stands");
    let next = apply(&once, "dlv_a", "mine", at(2)).expect("applied");
    assert_eq!(next, Applied::First(answer("mine")));
    assert_eq!((shop.lines(), shop.keys()), (1, 1));
}

#[test]
fn dying_after_the_commit_leaves_both() {
    let shop = Shop::new();
    kill(start(&shop, "after"));
    assert_eq!((shop.lines(), shop.keys()), (1, 1), "both stand");
    let next = apply(&shop.handle(), "dlv_a", "mine", at(2)).expect("answered");
    assert_eq!(next, Applied::Again(answer("one")), "the first's answer");
    assert_eq!(shop.lines(), 1);
}
