//! The writer: one thread that takes the steps waiting for it, runs them in one transaction, commits it to disk, and
//! only then answers them. A step that fails or panics spoils only itself: the others are run again, each in its own
//! transaction.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::BackendError;
use tokio::sync::{mpsc, oneshot};

use crate::totals::Changes;
use crate::wakes::Wakes;

/// Most steps in one transaction.
const MOST_STEPS: usize = 256;
/// Most steps that may wait; beyond it the callers wait, which is what makes the door answer 503 in time.
const MOST_WAITING: usize = 4096;

/// Why a step failed.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// SQLite failed, perhaps for all steps of a transaction.
    #[error("{0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// What is stored cannot be understood.
    #[error("the stored {0} cannot be read")]
    Unreadable(&'static str),
    /// A step panicked: our own fault.
    #[error("a step broke off")]
    BrokeOff,
    /// The writer has ended.
    #[error("the store is closed")]
    Closed,
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(Arc::new(error))
    }
}

/// A transaction as steps see it.
pub(crate) struct Step<'a> {
    transaction: &'a Transaction<'a>,
    /// What the totals change by; written once, before the commit.
    pub(crate) totals: &'a mut Changes,
    /// Whose lanes are woken after the commit.
    pub(crate) wake: &'a mut BTreeSet<DestinationName>,
}

impl std::ops::Deref for Step<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.transaction
    }
}

/// A step that waits for the writer, or for its commit.
trait WaitingStep: Send {
    fn run(&mut self, step: &mut Step<'_>) -> Result<(), Failure>;
    fn answer(self: Box<Self>, committed: Result<(), Failure>);
}

struct Call<F, T> {
    step: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, Failure>>,
}

impl<T: Send, F: FnMut(&mut Step<'_>) -> Result<T, Failure> + Send> WaitingStep for Call<F, T> {
    fn run(&mut self, step: &mut Step<'_>) -> Result<(), Failure> {
        self.value = Some((self.step)(step)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), Failure>) {
        let Self { value, reply, .. } = *self;
        // Nobody waits any more when the caller gave up; the step stands all the same.
        drop(reply.send(committed.and_then(|()| value.ok_or(Failure::Closed))));
    }
}

/// Hands steps to the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    steps: mpsc::Sender<Box<dyn WaitingStep>>,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        wakes: Arc<Wakes>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (steps, waiting) = mpsc::channel(MOST_WAITING);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || run(connection, waiting, &wakes))?;
        Ok((Self { steps }, thread))
    }

    /// Runs a step and waits until it is on disk. `step` may be run more than once; only the last run counts.
    pub(crate) async fn step<T, F>(&self, doing: &'static str, step: F) -> Result<T, BackendError>
    where
        T: Send + 'static,
        F: FnMut(&mut Step<'_>) -> Result<T, Failure> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let call = Box::new(Call {
            step,
            value: None,
            reply,
        });
        let answer = match self.steps.send(call).await {
            Ok(()) => answer.await.unwrap_or(Err(Failure::Closed)),
            Err(_) => Err(Failure::Closed),
        };
        answer.map_err(|failure| BackendError::new(doing, failure))
    }
}

fn run(
    mut connection: Connection,
    mut waiting: mpsc::Receiver<Box<dyn WaitingStep>>,
    wakes: &Wakes,
) {
    while let Some(first) = waiting.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < MOST_STEPS {
            match waiting.try_recv() {
                Ok(next) => batch.push(next),
                Err(_) => break,
            }
        }
        if commit(&mut connection, &mut batch, wakes).is_ok() {
            for step in batch {
                step.answer(Ok(()));
            }
            continue;
        }
        for step in batch {
            let mut alone = [step];
            let committed = commit(&mut connection, &mut alone, wakes);
            let [step] = alone;
            step.answer(committed);
        }
    }
}

/// Runs a batch in one transaction, commits it and rings for the lanes. A panic undoes the transaction and nothing
/// more: the one connection and its thread serve everybody.
fn commit(
    connection: &mut Connection,
    batch: &mut [Box<dyn WaitingStep>],
    wakes: &Wakes,
) -> Result<(), Failure> {
    // Nothing half-done is seen afterwards: the transaction is rolled back as it is dropped, and a step that is run
    // again sets its value anew.
    let wake = catch_unwind(AssertUnwindSafe(|| write(connection, batch)))
        .unwrap_or(Err(Failure::BrokeOff))?;
    wakes.wake(wake);
    Ok(())
}

/// Whose lanes are to be woken.
fn write(
    connection: &mut Connection,
    batch: &mut [Box<dyn WaitingStep>],
) -> Result<BTreeSet<DestinationName>, Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut totals = Changes::default();
    let mut wake = BTreeSet::new();
    for waiting in batch {
        waiting.run(&mut Step {
            transaction: &transaction,
            totals: &mut totals,
            wake: &mut wake,
        })?;
    }
    totals.write(&transaction)?;
    fail::reach(FailPoint::BeforeCommit);
    transaction.commit()?;
    fail::reach(FailPoint::AfterCommit);
    Ok(wake)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_step_that_panics_spoils_only_itself_and_the_writer_goes_on() {
        let connection = Connection::open_in_memory().expect("open");
        connection
            .execute_batch("CREATE TABLE kept (n INTEGER)")
            .expect("a table");
        let (steps, waiting) = mpsc::channel(MOST_WAITING);
        let writer = Writer { steps };
        let keep = |n: i64| {
            writer.step("keeping", move |step| {
                step.execute("INSERT INTO kept VALUES (?1)", [n])?;
                Ok(n)
            })
        };
        let broken = writer.step("breaking", |step| -> Result<(), Failure> {
            step.execute("INSERT INTO kept VALUES (99)", [])?;
            panic!("as told")
        });
        // All wait before the thread starts, so that they are one batch.
        let thread = async {
            std::thread::spawn(move || run(connection, waiting, &Wakes::default()));
        };
        let (one, broken, two, ()) = tokio::join!(keep(1), broken, keep(2), thread);
        assert_eq!((one.expect("kept"), two.expect("kept")), (1, 2));
        let error = broken.expect_err("broken");
        assert_eq!(error.line(), "breaking: a step broke off");
        assert_eq!(keep(3).await.expect("the thread goes on"), 3);
        let kept = writer
            .step("reading", |step| {
                let mut statement = step.prepare("SELECT n FROM kept ORDER BY n")?;
                let kept = statement.query_map([], |row| row.get(0))?;
                Ok(kept.collect::<Result<Vec<i64>, _>>()?)
            })
            .await;
        assert_eq!(kept.expect("read"), [1, 2, 3]);
    }
}
