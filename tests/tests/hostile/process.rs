//! What a process holds of the machine, as the kernel tells it.

use switchboard_tests::switchboard::Switchboard;
use tokio::process::Command;

/// Resident memory in MiB.
pub(crate) fn memory(switchboard: &Switchboard) -> u64 {
    mebibytes(switchboard, "VmRSS:")
}

/// The most resident memory there ever was, in MiB.
pub(crate) fn peak(switchboard: &Switchboard) -> u64 {
    mebibytes(switchboard, "VmHWM:")
}

fn mebibytes(switchboard: &Switchboard, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", switchboard.id()));
    let status = status.expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.expect("its resident memory") / 1024
}

/// Open file handles.
pub(crate) fn handles(switchboard: &Switchboard) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", switchboard.id()))
        .expect("its handles")
        .count()
}

/// Lets this process, and those it starts from here on, open that many files, as far as its hard limit allows that.
pub(crate) async fn allow_handles(needed: u64) {
    let limits = std::fs::read_to_string("/proc/self/limits").expect("our limits");
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let words: Vec<&str> = line.expect("a limit").split_whitespace().collect();
    let number = |word: &str| word.parse().unwrap_or(u64::MAX);
    let (soft, hard) = (number(words[3]), number(words[4]));
    if soft >= needed {
        return;
    }
    assert!(
        hard >= needed,
        "this test needs {needed} open files and the hard limit is {hard}; raise it, as with: \
         sudo prlimit --pid $$ --nofile={needed}:{needed}"
    );
    let set = Command::new("prlimit")
        .args(["--pid", &std::process::id().to_string()])
        .arg(format!("--nofile={needed}:{hard}"))
        .status()
        .await;
    assert!(set.expect("prlimit").success(), "the limit is raised");
}
