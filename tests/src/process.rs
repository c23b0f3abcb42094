//! What a test needs of the machine beside the binary, and what the binary holds of it.

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
    limit_handles(std::process::id(), &format!("{needed}:{hard}")).await;
}

/// Sets how many files a process may have open: `SOFT:HARD`, or both as one number.
pub async fn limit_handles(id: u32, limit: &str) {
    let set = Command::new("prlimit")
        .args(["--pid", &id.to_string(), &format!("--nofile={limit}")])
        .status()
        .await;
    assert!(set.expect("prlimit").success(), "the limit is set");
}

/// The files that a process has open.
pub fn handles(id: u32) -> usize {
    std::fs::read_dir(format!("/proc/{id}/fd"))
        .expect("its handles")
        .count()
}

/// Resident memory of a process, in MiB.
pub fn memory(id: u32) -> u64 {
    mebibytes(id, "VmRSS:")
}

/// The most resident memory that a process ever had, in MiB.
pub fn peak(id: u32) -> u64 {
    mebibytes(id, "VmHWM:")
}

fn mebibytes(id: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.expect("its resident memory") / 1024
}

/// Processor time that a process has used, in hundredths of a second, of user and system together.
pub fn processor_time(id: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("its numbers");
    // The program's name stands in brackets and may hold anything.
    let after_name = stat.rsplit(')').next().expect("numbers");
    let numbers: Vec<&str> = after_name.split_whitespace().collect();
    numbers[11].parse::<u64>().expect("user") + numbers[12].parse::<u64>().expect("system")
}
