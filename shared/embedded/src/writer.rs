//! The writer: one thread that takes the steps waiting for it, runs them in one transaction, commits it to disk, and
//! only then answers them. A step that fails or panics spoils only itself: the others are run again, each in its own
//! transaction.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::BackendError;
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::minutes::Happened;
use crate::open::StoreFault;
use crate::queue::{MOST_STEPS, NotTaken, Queue, Whose};
use crate::settings;
use crate::totals::Changes;
use crate::wakes::{News, Wakes};

/// From this many steps in a transaction on the writer is busy. Then it waits a moment for more before it begins one that
/// nobody outside waits for: what is settled is settled in fewer transactions.
const BUSY: usize = 8;
/// That moment.
const MOMENT: Duration = Duration::from_millis(1);

/// A transaction as steps see it.
pub(crate) struct Step<'a> {
    transaction: &'a Transaction<'a>,
    /// What the totals change by; written once, before the commit.
    pub(crate) totals: &'a mut Changes,
    /// What happened in which minute, and last; written once, too.
    pub(crate) happened: &'a mut Happened,
    /// What lanes are told after the commit.
    pub(crate) news: &'a mut News,
    known: &'a mut Known,
}

/// What the one writer knows without asking the file.
#[derive(Debug)]
struct Known {
    /// The place of the next event in the order of receipt. It only grows while the process runs, also over rows that
    /// were removed: lanes compare it.
    next_seq: i64,
    /// The destinations held, once a step of this transaction has asked.
    held: Option<BTreeSet<DestinationName>>,
}

impl Known {
    fn of(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let sql = "SELECT coalesce(max(seq), 0) + 1 FROM event";
        let next_seq = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(Self {
            next_seq,
            held: None,
        })
    }
}

impl Step<'_> {
    /// The place of a new event.
    pub(crate) fn next_seq(&mut self) -> i64 {
        let seq = self.known.next_seq;
        self.known.next_seq = seq.saturating_add(1);
        seq
    }

    /// Whether a destination is held as this commits.
    pub(crate) fn is_held(&mut self, destination: &DestinationName) -> Result<bool, Failure> {
        if self.known.held.is_none() {
            self.known.held = Some(settings::held(self.transaction)?);
        }
        let held = self.known.held.as_ref();
        Ok(held.is_some_and(|held| held.contains(destination)))
    }

    /// The destinations held have changed.
    pub(crate) fn forget_held(&mut self) {
        self.known.held = None;
    }
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

type Steps = Queue<Box<dyn WaitingStep>>;

/// Hands steps to the writer thread, which ends when this is closed and nothing waits any more.
#[derive(Clone)]
pub(crate) struct Writer(Arc<Steps>);

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

/// Closes the queue when the writer thread ends, however it does, and lets go of what waits in it.
struct Ending<'a>(&'a Steps);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.close();
        let mut left = Vec::new();
        loop {
            self.0.take(&mut left);
            if left.drain(..).count() == 0 {
                break;
            }
        }
        self.0.end();
    }
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        wakes: Arc<Wakes>,
    ) -> Result<(Self, JoinHandle<()>), StoreFault> {
        let known = Known::of(&connection)?;
        let steps = Arc::new(Steps::default());
        let waiting = Arc::clone(&steps);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || run(connection, known, &waiting, &wakes))
            .map_err(StoreFault::Thread)?;
        Ok((Self(steps), thread))
    }

    /// Takes no more steps; what waits is still written.
    pub(crate) fn close(&self) {
        self.0.close();
    }

    /// Waits until the writer thread has ended: nothing can be written any more.
    pub(crate) async fn ended(&self) {
        self.0.ended().await;
    }

    /// Runs a step and waits until it is on disk. `step` may be run more than once; only the last run counts.
    pub(crate) async fn step<T, F>(
        &self,
        whose: Whose,
        doing: &'static str,
        step: F,
    ) -> Result<T, BackendError>
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
        let answer = match self.0.put(whose, call).await {
            Ok(()) => answer.await.unwrap_or(Err(Failure::Closed)),
            Err(NotTaken::Full) => return Err(BackendError::overloaded(doing, Failure::Full)),
            Err(NotTaken::Closed) => Err(Failure::Closed),
        };
        answer.map_err(|failure| BackendError::new(doing, failure))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a transaction takes decides only how many steps may wait for the next"
)]
fn stopwatch() -> Instant {
    Instant::now()
}

fn run(mut connection: Connection, mut known: Known, waiting: &Steps, wakes: &Wakes) {
    let _ending = Ending(waiting);
    let mut batch = Vec::with_capacity(MOST_STEPS);
    let mut before = 0;
    loop {
        let outside = waiting.take(&mut batch);
        if batch.is_empty() {
            return;
        }
        if outside == 0 && before >= BUSY && batch.len() < MOST_STEPS {
            std::thread::sleep(MOMENT);
            waiting.take(&mut batch);
        }
        before = batch.len();
        let begun = stopwatch();
        let committed = commit(&mut connection, &mut known, &mut batch, wakes);
        if committed.is_ok() {
            waiting.took(begun.elapsed());
            for step in batch.drain(..) {
                step.answer(Ok(()));
            }
            continue;
        }
        for step in batch.drain(..) {
            let mut alone = [step];
            let committed = commit(&mut connection, &mut known, &mut alone, wakes);
            let [step] = alone;
            step.answer(committed);
        }
        waiting.took(begun.elapsed());
    }
}

/// Runs a batch in one transaction, commits it and tells the lanes. A panic undoes the transaction and nothing
/// more: the one connection and its thread serve everybody.
fn commit(
    connection: &mut Connection,
    known: &mut Known,
    batch: &mut [Box<dyn WaitingStep>],
    wakes: &Wakes,
) -> Result<(), Failure> {
    // Nothing half-done is seen afterwards: the transaction is rolled back as it is dropped, and a step that is run
    // again sets its value anew.
    let news = catch_unwind(AssertUnwindSafe(|| write(connection, known, batch)))
        .unwrap_or(Err(Failure::BrokeOff))?;
    fail::reach(FailPoint::BeforeTelling);
    wakes.tell(news);
    Ok(())
}

/// What lanes are to be told.
fn write(
    connection: &mut Connection,
    known: &mut Known,
    batch: &mut [Box<dyn WaitingStep>],
) -> Result<News, Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut totals = Changes::default();
    let mut happened = Happened::default();
    let mut news = News::default();
    known.held = None;
    for waiting in batch {
        waiting.run(&mut Step {
            transaction: &transaction,
            totals: &mut totals,
            happened: &mut happened,
            news: &mut news,
            known,
        })?;
    }
    totals.write(&transaction)?;
    happened.write(&transaction)?;
    fail::reach(FailPoint::BeforeCommit);
    transaction.commit()?;
    fail::reach(FailPoint::AfterCommit);
    Ok(news)
}

#[cfg(test)]
mod cost;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    /// Breaks off whoever lets go of it.
    struct Spring;

    impl Drop for Spring {
        fn drop(&mut self) {
            panic!("as told")
        }
    }

    #[tokio::test]
    async fn a_writer_that_breaks_off_lets_everybody_go_and_says_so() {
        let connection = Connection::open_in_memory().expect("open");
        let known = Known {
            next_seq: 1,
            held: None,
        };
        let steps = Arc::new(Steps::default());
        let writer = Writer(Arc::clone(&steps));
        // Nobody waits for it any more, so that the writer itself lets go of what it made.
        let sprung = writer.step(Whose::Inside, "springing", |_| Ok(Spring));
        assert!(sprung.now_or_never().is_none());
        let waits = writer.step(Whose::Inside, "waiting", |_| Ok(()));
        assert!(writer.ended().now_or_never().is_none(), "it runs");
        let thread = async {
            std::thread::spawn(move || run(connection, known, &steps, &Wakes::default()));
        };
        let (waited, ()) = tokio::join!(waits, thread);
        let error = waited.expect_err("let go");
        assert_eq!(error.line(), "waiting: the store is closed");
        let told = tokio::time::timeout(Duration::from_secs(20), writer.ended());
        told.await.expect("it says so");
        let late = writer.step(Whose::Outside, "coming late", |_| Ok(())).await;
        assert!(!late.expect_err("closed").is_overloaded());
    }

    #[tokio::test]
    async fn a_step_that_panics_spoils_only_itself_and_the_writer_goes_on() {
        let connection = Connection::open_in_memory().expect("open");
        connection
            .execute_batch("CREATE TABLE kept (n INTEGER)")
            .expect("a table");
        let steps = Arc::new(Steps::default());
        let writer = Writer(Arc::clone(&steps));
        let keep = |n: i64| {
            writer.step(Whose::Outside, "keeping", move |step| {
                step.execute("INSERT INTO kept VALUES (?1)", [n])?;
                Ok(n)
            })
        };
        let broken = writer.step(Whose::Outside, "breaking", |step| -> Result<(), Failure> {
            step.execute("INSERT INTO kept VALUES (99)", [])?;
            panic!("as told")
        });
        // All wait before the thread starts, so that they are one batch.
        let thread = async {
            let known = Known {
                next_seq: 1,
                held: None,
            };
            std::thread::spawn(move || run(connection, known, &steps, &Wakes::default()));
        };
        let (one, broken, two, ()) = tokio::join!(keep(1), broken, keep(2), thread);
        assert_eq!((one.expect("kept"), two.expect("kept")), (1, 2));
        let error = broken.expect_err("broken");
        assert_eq!(error.line(), "breaking: a step broke off");
        assert_eq!(keep(3).await.expect("the thread goes on"), 3);
        let kept = writer
            .step(Whose::Inside, "reading", |step| {
                let mut statement = step.prepare("SELECT n FROM kept ORDER BY n")?;
                let kept = statement.query_map([], |row| row.get(0))?;
                Ok(kept.collect::<Result<Vec<i64>, _>>()?)
            })
            .await;
        assert_eq!(kept.expect("read"), [1, 2, 3]);
    }
}
