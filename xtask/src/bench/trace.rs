//! Pages that SQLite had to read because no cache held them, counted by their system calls: they do not vary with how
//! busy the machine is.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::command::Failure;

/// Said where strace is not there.
const NO_STRACE: &str =
    "strace is missing or may not trace; this brings it: apt-get install strace";

/// How many pages the process reads from the database and its log during `work`.
pub(super) fn page_reads(
    file: &Path,
    process: u32,
    work: impl FnOnce() -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let mut strace = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-e",
            "trace=pread64,pwrite64",
            "-p",
            &process.to_string(),
            "-o",
        ])
        .arg(file)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|cause| Failure(format!("{NO_STRACE}: {cause}")))?;
    // It says nowhere but on its standard error that it has begun; a second is long.
    std::thread::sleep(Duration::from_secs(1));
    let begun = strace.try_wait().is_ok_and(|ended| ended.is_none());
    let worked = if begun {
        work()
    } else {
        Err(Failure(NO_STRACE.to_owned()))
    };
    drop(
        Command::new("kill")
            .args(["-INT", &strace.id().to_string()])
            .status(),
    );
    drop(strace.wait());
    worked?;
    let lines = std::fs::read_to_string(file).map_err(|cause| Failure(cause.to_string()))?;
    Ok(f64::from(count(&lines)))
}

/// Counts reads of the database and its log. One that the same thread at once writes to the database is a page that is
/// moved there from the log, and no miss of a cache.
fn count(trace: &str) -> u32 {
    let mut reads = 0;
    let mut from_log: BTreeMap<&str, bool> = BTreeMap::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let was_from_log = from_log.insert(thread, false).unwrap_or(false);
        if call.contains("pread64(") && call.contains(".sqlite") {
            reads += 1;
            from_log.insert(thread, call.contains(".sqlite-wal>"));
        } else if call.contains("pwrite64(") && call.contains(".sqlite>") && was_from_log {
            reads -= 1;
        }
    }
    reads
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn a_page_that_moves_from_the_log_to_the_database_is_no_miss() {
        let trace = "\
7 pread64(9</d/switchboard.sqlite>, \"\"..., 4096, 8192) = 4096
7 pread64(10</d/switchboard.sqlite-wal>, \"\"..., 4096, 56) = 4096
7 pwrite64(9</d/switchboard.sqlite>, \"\"..., 4096, 0) = 4096
8 pread64(10</d/switchboard.sqlite-wal>, \"\"..., 4096, 56) = 4096
7 pwrite64(9</d/switchboard.sqlite>, \"\"..., 4096, 0) = 4096
9 pread64(4</etc/hosts>, \"\"..., 4096, 0) = 90
";
        assert_eq!(count(trace), 2);
    }
}
