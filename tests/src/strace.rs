//! The system calls of a process, through strace: watched, or made to fail for a while.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::wait::DEADLINE;

/// Said where it is not there.
const MISSING: &str = "strace is missing; this brings it: sudo apt-get install -y strace";

/// strace, attached to a running process.
pub struct Strace {
    child: Child,
    trace: PathBuf,
}

impl Strace {
    /// Attaches to every thread of a process. `arguments` say what is watched or made to fail; what it sees is written to
    /// `trace`.
    pub async fn attach(
        process: u32,
        trace: &Path,
        arguments: &[impl AsRef<OsStr> + Sync],
    ) -> Self {
        let mut child = Command::new("strace")
            .args(["-f", "-y", "-s", "8192", "-p", &process.to_string(), "-o"])
            .arg(trace)
            .args(arguments)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect(MISSING);
        let mut lines = BufReader::new(child.stderr.take().expect("its words")).lines();
        let attached = async {
            let mut said = String::new();
            while let Ok(Some(line)) = lines.next_line().await {
                if line.contains("attached") {
                    return;
                }
                said.push_str(&line);
            }
            panic!("strace does not attach: {said}")
        };
        timeout(DEADLINE, attached)
            .await
            .expect("it attaches in time");
        // What it says later is read on, so that it never waits for a reader.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self {
            child,
            trace: trace.to_owned(),
        }
    }

    /// Lets the process go on alone; the calls that were seen.
    pub async fn detach(mut self) -> Vec<Call> {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().await;
        assert!(sent.expect("kill").success(), "the signal was sent");
        let ended = timeout(DEADLINE, self.child.wait()).await;
        ended.expect("it ends").expect("it ends");
        calls(&std::fs::read_to_string(&self.trace).expect("a trace"))
    }
}

/// A system call. Its beginning and its end are lines of the trace: of two calls, one was over before the other began if
/// its `ended` is less than the other's `begun`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments as they are written, a file's path behind its number.
    pub arguments: String,
    /// What it came to.
    pub result: String,
    /// The line at which it began.
    pub begun: usize,
    /// The line at which it ended.
    pub ended: usize,
}

impl Call {
    /// All texts among its arguments, one behind the other, as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut letters = self.arguments.bytes().peekable();
        let mut inside = false;
        while let Some(letter) = letters.next() {
            match letter {
                b'"' => inside = !inside,
                b'\\' if inside => {
                    let escaped = letters.next().unwrap_or_default();
                    bytes.push(match escaped {
                        b'0'..=b'7' => {
                            let mut value = u32::from(escaped - b'0');
                            for _ in 0..2 {
                                if let Some(digit @ b'0'..=b'7') = letters.peek().copied() {
                                    letters.next();
                                    value = value * 8 + u32::from(digit - b'0');
                                }
                            }
                            u8::try_from(value).expect("a byte")
                        }
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'v' => 11,
                        b'f' => 12,
                        other => other,
                    });
                }
                other if inside => bytes.push(other),
                _ => {}
            }
        }
        bytes
    }

    /// Whether these bytes are among its texts.
    pub fn has(&self, text: &str) -> bool {
        let bytes = self.bytes();
        bytes
            .windows(text.len())
            .any(|found| found == text.as_bytes())
    }
}

/// The calls of a trace that were seen to their end, in the order in which they began.
pub fn calls(trace: &str) -> Vec<Call> {
    let mut open: HashMap<&str, Call> = HashMap::new();
    let mut calls = Vec::new();
    for (number, line) in trace.lines().enumerate() {
        let Some((process, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(resumed) = rest.strip_prefix("<... ") {
            let Some((mut call, (_, more))) =
                open.remove(process).zip(resumed.split_once("resumed>"))
            else {
                continue;
            };
            call.arguments.push_str(more);
            calls.extend(whole(call, number));
        } else if let Some((name, arguments)) = rest.split_once('(') {
            let begun = Call {
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                result: String::new(),
                begun: number,
                ended: number,
            };
            match arguments.strip_suffix("<unfinished ...>") {
                Some(arguments) => {
                    let arguments = arguments.to_owned();
                    open.insert(process, Call { arguments, ..begun });
                }
                None => calls.extend(whole(begun, number)),
            }
        }
    }
    calls.sort_by_key(|call| call.begun);
    calls
}

/// Takes what a call came to off its arguments.
fn whole(call: Call, ended: usize) -> Option<Call> {
    let (arguments, result) = call.arguments.rsplit_once(" = ")?;
    Some(Call {
        arguments: arguments.trim_end().to_owned(),
        result: result.to_owned(),
        ended,
        ..call
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_others_interrupt_is_one_from_its_beginning_to_its_end() {
        let trace = "7  fsync(12</data/store-wal> <unfinished ...>\n\
                     8  writev(3<socket:[1]>, [{iov_base=\"HTTP\\r\\n\", iov_len=6}, {iov_base=\"\\0\\17a\", iov_len=3}], 2) = 9\n\
                     7  <... fsync resumed>) = -1 EIO (Input/output error) (INJECTED)\n\
                     8  +++ exited with 0 +++\n";
        let found = calls(trace);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].begun, found[0].ended), (0, 2));
        assert_eq!(found[0].arguments, "12</data/store-wal> )");
        assert!(found[0].result.ends_with("(INJECTED)"));
        assert_eq!(found[1].bytes(), b"HTTP\r\n\0\x0fa");
        assert!(found[1].has("TTP\r"));
    }
}
