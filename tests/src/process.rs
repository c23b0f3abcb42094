//! What a test needs of the machine beside the binary.

use tokio::process::Command;

/// Lets this process, and those it starts from here on, open that many files, as far as its hard limit allows that.
pub async fn allow_handles(needed: u64) {
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
