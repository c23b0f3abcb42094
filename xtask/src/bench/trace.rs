//! Pages that SQLite had to read because no cache held them, counted by their system calls: they do not vary with how
//! busy the machine is.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::command::Failure;

/// Said where strace is not there.
const NO_STRACE: &str =
    "strace is missing or may not trace; this brings it: apt-get install strace";
/// How long it may take to attach to every thread of a process.
const ATTACHING: Duration = Duration::from_mins(1);

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
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|cause| Failure(format!("{NO_STRACE}: {cause}")))?;
    let said = strace.stderr.take();
    let begun = said.ok_or_else(|| Failure(NO_STRACE.to_owned()));
    let worked = begun
        .and_then(|said| attached(BufReader::new(said)))
        .and_then(|()| work());
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

/// Waits until strace says that it is attached to every thread: what is read before that, it does not see.
fn attached(said: impl BufRead + Send + 'static) -> Result<(), Failure> {
    let (tell, told) = mpsc::channel();
    // What it says later is read on, so that it never waits for a reader.
    std::thread::spawn(move || {
        for line in said.lines().map_while(Result::ok) {
            drop(tell.send(line));
        }
    });
    let mut all = String::new();
    while let Ok(line) = told.recv_timeout(ATTACHING) {
        if line.contains("attached") {
            return Ok(());
        }
        all.push_str(&line);
    }
    Err(Failure(format!("{NO_STRACE}: {all}")))
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
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn no_read_is_missed_from_the_first_on() {
        let folder = std::env::temp_dir().join(format!("switchboard-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let pages = folder.join("pages.sqlite");
        std::fs::write(&pages, "one page").expect("a file");
        let work = || {
            let pages = File::open(&pages).expect("a file");
            for _ in 0..3 {
                pages.read_exact_at(&mut [0; 8], 0).expect("a page");
            }
            Ok(())
        };
        let counted = page_reads(&folder.join("trace"), std::process::id(), work);
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(counted, Ok(3.0));
    }

    #[test]
    fn an_strace_that_does_not_attach_is_told_with_what_it_said() {
        let said = "strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted\n";
        let Failure(why) = attached(said.as_bytes()).expect_err("not attached");
        assert!(why.ends_with("Operation not permitted"), "{why}");
        let said = "strace: Process 7 attached with 9 threads\n";
        assert_eq!(attached(said.as_bytes()), Ok(()));
    }

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
