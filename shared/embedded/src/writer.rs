//! The writer: one thread that takes the steps waiting for it, runs them in one transaction, commits it to disk, and
//! only then answers them. A step that fails spoils only itself: the others are run again, each in its own transaction.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction, TransactionBehavior};
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

trait Job: Send {
    fn run(&mut self, step: &mut Step<'_>) -> Result<(), Failure>;
    fn answer(self: Box<Self>, committed: Result<(), Failure>);
}

struct Call<F, T> {
    step: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, Failure>>,
}

impl<T: Send, F: FnMut(&mut Step<'_>) -> Result<T, Failure> + Send> Job for Call<F, T> {
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
    jobs: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        wakes: Arc<Wakes>,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (jobs, waiting) = mpsc::channel(MOST_WAITING);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || run(connection, waiting, &wakes))?;
        Ok((Self { jobs }, thread))
    }

    /// Runs a step and waits until it is on disk. `step` may be run more than once; only the last run counts.
    pub(crate) async fn step<T, F>(&self, doing: &'static str, step: F) -> Result<T, BackendError>
    where
        T: Send + 'static,
        F: FnMut(&mut Step<'_>) -> Result<T, Failure> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Call {
            step,
            value: None,
            reply,
        });
        let answer = match self.jobs.send(job).await {
            Ok(()) => answer.await.unwrap_or(Err(Failure::Closed)),
            Err(_) => Err(Failure::Closed),
        };
        answer.map_err(|failure| BackendError::new(doing, failure))
    }
}

fn run(mut connection: Connection, mut waiting: mpsc::Receiver<Box<dyn Job>>, wakes: &Wakes) {
    while let Some(first) = waiting.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < MOST_STEPS {
            match waiting.try_recv() {
                Ok(next) => batch.push(next),
                Err(_) => break,
            }
        }
        if commit(&mut connection, &mut batch, wakes).is_ok() {
            for job in batch {
                job.answer(Ok(()));
            }
            continue;
        }
        for job in batch {
            let mut alone = [job];
            let committed = commit(&mut connection, &mut alone, wakes);
            let [job] = alone;
            job.answer(committed);
        }
    }
}

fn commit(
    connection: &mut Connection,
    batch: &mut [Box<dyn Job>],
    wakes: &Wakes,
) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut totals = Changes::default();
    let mut wake = BTreeSet::new();
    for job in batch {
        job.run(&mut Step {
            transaction: &transaction,
            totals: &mut totals,
            wake: &mut wake,
        })?;
    }
    totals.write(&transaction)?;
    transaction.commit()?;
    wakes.wake(wake);
    Ok(())
}
