//! Log lines on their way out: a thread of its own writes them, many at once, so that a line costs whoever logs it no
//! system call, and nobody waits for a reader that stands still.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use super::dropped;
use crate::command::LogForm;
use crate::end::LAST_LINES;

/// Most bytes of lines that wait; what comes beyond them is dropped and counted.
const MOST_WAITING: usize = 4 * 1024 * 1024;
/// How long the first line waits for others.
const MOMENT: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    dropped: u64,
    is_over: bool,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where lines are put.
#[derive(Clone, Debug)]
pub(super) struct Lines(Arc<Shared>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.0.lock();
        if waiting.lines.len().saturating_add(line.len()) > MOST_WAITING {
            waiting.dropped = waiting.dropped.saturating_add(1);
        } else {
            let was_empty = waiting.lines.is_empty();
            waiting.lines.extend_from_slice(line);
            if was_empty {
                self.0.bell.notify_one();
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The thread that writes. What waits is written before this is gone, unless its reader stands still.
#[derive(Debug)]
pub(crate) struct Writing {
    shared: Arc<Shared>,
    /// Never told anything; closed when the thread has ended.
    ended: Receiver<()>,
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.bell.notify_one();
        // A thread that cannot write ends with the process.
        let _ = self.ended.recv_timeout(LAST_LINES);
    }
}

/// Starts to write to `out`. Without a thread nothing is written.
pub(super) fn start(out: impl Write + Send + 'static, form: LogForm) -> (Lines, Writing) {
    let shared = Arc::new(Shared::default());
    let own = Arc::clone(&shared);
    let (end, ended) = channel();
    let thread = std::thread::Builder::new().name("log".to_owned());
    drop(thread.spawn(move || {
        let _end = end;
        write(&own, out, form);
    }));
    (Lines(Arc::clone(&shared)), Writing { shared, ended })
}

fn write(shared: &Shared, mut out: impl Write, form: LogForm) {
    let mut lines = Vec::new();
    loop {
        let mut waiting = shared.lock();
        while waiting.lines.is_empty() && !waiting.is_over {
            waiting = shared
                .bell
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if !waiting.is_over {
            drop(waiting);
            std::thread::sleep(MOMENT);
            waiting = shared.lock();
        }
        std::mem::swap(&mut lines, &mut waiting.lines);
        let (dropped, is_over) = (std::mem::take(&mut waiting.dropped), waiting.is_over);
        drop(waiting);
        // Whoever reads them has gone away: that is no reason to stop.
        drop(out.write_all(&lines));
        if dropped > 0 {
            drop(out.write_all(dropped::line(form, dropped).as_bytes()));
        }
        drop(out.flush());
        if is_over {
            return;
        }
        lines.clear();
        // One flood of lines is no reason to hold its memory for ever.
        lines.shrink_to(64 * 1024);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;

    use serde_json::Value;

    use super::*;

    /// Takes what is written once it may.
    struct Gate {
        may: Receiver<()>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.may.recv().expect("the test goes on");
            self.written.send(bytes.to_vec()).expect("the test goes on");
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_written_in_their_order_and_what_waits_at_the_end_too() {
        let (go, may) = channel();
        let (written, found) = channel();
        let (mut lines, writing) = start(Gate { may, written }, LogForm::Text);
        lines.write_all(b"one\n").expect("taken");
        go.send(()).expect("it waits");
        assert_eq!(found.recv().expect("written"), b"one\n");
        lines.write_all(b"two\n").expect("taken");
        lines.write_all(b"three\n").expect("taken");
        for _ in 0..2 {
            go.send(()).expect("it waits");
        }
        drop(writing);
        let rest: Vec<u8> = found.try_iter().flatten().collect();
        assert_eq!(rest, b"two\nthree\n");
    }

    #[test]
    fn a_reader_that_stands_still_holds_nobody_up_and_is_told_what_it_missed() {
        let (go, may) = channel();
        let (written, found) = channel();
        let (mut lines, writing) = start(Gate { may, written }, LogForm::Json);
        let line = format!("{{\"message\":\"{}\"}}\n", "x".repeat(64 * 1024));
        for _ in 0..3 * MOST_WAITING / line.len() {
            lines.write_all(line.as_bytes()).expect("taken");
        }
        // Nobody waits for what is written from here on.
        for _ in 0..100 {
            go.send(()).expect("it waits");
        }
        drop(writing);
        let all: Vec<u8> = found.try_iter().flatten().collect();
        assert!(all.len() < 3 * MOST_WAITING, "some were dropped");
        let all = String::from_utf8(all).expect("text");
        let read = |line| serde_json::from_str(line).expect("each line is one object");
        let all: Vec<Value> = all.lines().map(read).collect();
        let told = all.last().expect("lines");
        assert!(told["log.dropped"].is_u64(), "{told}");
    }

    #[test]
    fn a_reader_that_never_takes_anything_does_not_hold_up_the_end() {
        let (go, may) = channel();
        let (written, _found) = channel();
        let (mut lines, writing) = start(Gate { may, written }, LogForm::Text);
        lines.write_all(b"one\n").expect("taken");
        let (gone, is_gone) = channel();
        std::thread::spawn(move || {
            drop(writing);
            gone.send(())
        });
        let waited = is_gone.recv_timeout(Duration::from_secs(20));
        waited.expect("it is let go");
        drop(go);
    }
}
