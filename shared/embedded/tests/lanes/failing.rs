//! A store that takes events and records nothing.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;

use crate::setting::{CONFIGURATION, Does, Told, configured, run};

/// Attempts that cannot be recorded.
const ATTEMPTS: usize = 8;

/// What is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn lines_with(&self, text: &str) -> Vec<String> {
        let log = self.0.lock().expect("a lock").clone();
        let log = String::from_utf8(log).expect("text");
        let lines = log.lines().filter(|line| line.contains(text));
        lines.map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a statement beside the store.
fn beside(folder: &Path, statement: &str) {
    let connection = Connection::open(folder.join("switchboard.sqlite")).expect("open");
    let wait = Duration::from_secs(20);
    connection.busy_timeout(wait).expect("set");
    connection.execute_batch(statement).expect("run");
}

#[tokio::test]
async fn while_attempts_are_not_recorded_a_lane_says_so_once_and_once_when_they_are_again() {
    let log = Log::default();
    let own = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || own.clone());
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("good", Does::Wait)]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    for round in 1..=2 {
        for n in 0..ATTEMPTS {
            running.accept(&format!("{round}-{n}"), &["good"]).await;
        }
        running
            .until("all are under way", |_| {
                told.requests_to("good").len() == round * ATTEMPTS
            })
            .await;
        beside(
            folder.path(),
            "CREATE TRIGGER fails BEFORE UPDATE ON delivery BEGIN SELECT RAISE(ABORT, 'as told'); END",
        );
        told.0.gate.add_permits(ATTEMPTS);
        let begun = |text| log.lines_with(text).len() >= round;
        running
            .until("it is said", |_| begun("attempts are not recorded"))
            .await;
        beside(folder.path(), "DROP TRIGGER fails");
        running
            .until("all are recorded", |totals| {
                totals.delivered == (round * ATTEMPTS) as u64
            })
            .await;
        running
            .until("it is said", |_| begun("attempts are recorded again"))
            .await;
        assert_eq!(log.lines_with("attempts are recorded again").len(), round);
        let failures = log.lines_with("ERROR");
        assert_eq!(failures.len(), round, "{failures:#?}");
        let last = failures.last().expect("a line");
        assert!(last.contains("destination=good"), "{last}");
        assert!(last.contains("as told"), "{last}");
    }
    assert_eq!(
        told.requests_to("good").len(),
        2 * ATTEMPTS,
        "none was made again"
    );
    running.end().await;
}
