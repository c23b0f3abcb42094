//! The steps of a run, as they go: what is being done, how long it took, and which one failed.

use std::time::{Duration, Instant};

/// Tells the steps of a run, and remembers the one that is under way.
#[derive(Debug, Default)]
pub struct Told {
    steps: u32,
    under_way: Option<String>,
}

impl Told {
    /// Does a step and tells it.
    #[expect(clippy::print_stdout, reason = "whoever runs it sees how it goes")]
    pub async fn step<T>(&mut self, what: &str, doing: impl Future<Output = T>) -> T {
        self.steps += 1;
        self.under_way = Some(what.to_owned());
        println!("[{:>2}] {what}", self.steps);
        let (done, took) = timed(doing).await;
        println!("     {:.1} s", took.as_secs_f64());
        self.under_way = None;
        done
    }
}

impl Drop for Told {
    #[expect(clippy::print_stderr, reason = "whoever runs it is told what failed")]
    fn drop(&mut self) {
        if let Some(step) = &self.under_way {
            eprintln!("     it ended in step {}: {step}", self.steps);
        }
    }
}

/// Something, and how long it took.
#[expect(
    clippy::disallowed_methods,
    reason = "it is told to whoever watches; nothing is decided by it"
)]
async fn timed<T>(doing: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let done = doing.await;
    (done, start.elapsed())
}
