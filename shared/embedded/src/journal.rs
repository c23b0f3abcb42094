//! Counting and listing what was not accepted. A count that cannot be written waits in memory for the next one that can.

use std::collections::BTreeMap;

use switchboard_core::names::SourceName;
use switchboard_core::ports::Note;
use switchboard_core::refusal::Cause;
use switchboard_core::time::Timestamp;

use crate::failure::Failure;
use crate::totals::REFUSED;
use crate::writer::Step;

/// How many refusals and how many declined requests are listed; the oldest give way.
const LISTED: i64 = 1000;

/// Counts of notes that could not be written, and when the last of each came. As many entries as there are sources and
/// causes at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unwritten(BTreeMap<Counted, (i64, Timestamp)>);

/// A source, where there is one, and the status and cause it was declined for; without those it was refused.
type Counted = (Option<SourceName>, Option<(u16, String)>);

impl Unwritten {
    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the count of a note for later.
    pub(crate) fn add(&mut self, at: Timestamp, note: &Note) {
        let key = match note {
            Note::Refused { source, .. } => (Some(source.clone()), None),
            Note::Declined { source, cause, .. } => {
                (source.clone(), Some((cause.status(), cause.to_string())))
            }
        };
        self.count_of(key, 1, at);
    }

    /// Puts back what could not be written this time either.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, (by, at)) in other.0 {
            self.count_of(key, by, at);
        }
    }

    fn count_of(&mut self, key: Counted, by: i64, at: Timestamp) {
        let (count, last) = self.0.entry(key).or_insert((0, at));
        *count = count.saturating_add(by);
        *last = at.max(*last);
    }

    /// Adds the counts to the totals.
    pub(crate) fn count(&self, step: &mut Step<'_>) {
        for ((source, cause), (by, at)) in &self.0 {
            match (source, cause) {
                (Some(source), None) => {
                    step.totals.source(REFUSED, source, *by);
                    step.happened.refusal(source, *at);
                }
                (source, Some((status, cause))) => {
                    step.totals.declined(source.as_ref(), *status, cause, *by);
                }
                (None, None) => {}
            }
        }
    }
}

/// Counts a note and lists it if it is written out.
pub(crate) fn note(step: &mut Step<'_>, at: Timestamp, note: &Note) -> Result<(), Failure> {
    match note {
        Note::Refused { source, listed } => {
            step.totals.source(REFUSED, source, 1);
            step.happened.refusal(source, at);
            let Some(refusal) = listed else { return Ok(()) };
            let detail =
                serde_json::to_string(refusal).map_err(|_| Failure::Unreadable("refusal"))?;
            step.prepare_cached("INSERT INTO refusal (at, source, detail) VALUES (?1, ?2, ?3)")?
                .execute((at.millis(), source.as_str(), detail))?;
            step.prepare_cached("DELETE FROM refusal WHERE seq <= ?1")?
                .execute([step.last_insert_rowid().saturating_sub(LISTED)])?;
        }
        Note::Declined {
            source,
            cause,
            listed,
        } => {
            step.totals
                .declined(source.as_ref(), cause.status(), &cause.to_string(), 1);
            let Some(path) = listed else { return Ok(()) };
            list_declined(step, at, source.as_ref(), path, *cause)?;
        }
    }
    Ok(())
}

fn list_declined(
    step: &Step<'_>,
    at: Timestamp,
    source: Option<&SourceName>,
    path: &str,
    cause: Cause,
) -> Result<(), Failure> {
    step.prepare_cached(
        "INSERT INTO declined (at, source, path, status, cause) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((
        at.millis(),
        source.map(SourceName::as_str),
        path,
        cause.status(),
        cause.to_string(),
    ))?;
    step.prepare_cached("DELETE FROM declined WHERE seq <= ?1")?
        .execute([step.last_insert_rowid().saturating_sub(LISTED)])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::time::Duration;

    use futures_util::FutureExt;
    use switchboard_core::ports::{Answer, Journal, Views};
    use switchboard_core::refusal::Refusal;
    use tokio::time::timeout;

    use super::*;
    use crate::queue::MOST_WAITING;
    use crate::store::Store;

    /// A refusal that needs pages of its own.
    fn long() -> Note {
        let listed = Refusal {
            reason: "x".repeat(100_000),
            secrets_tried: 1,
            clock_distance_s: None,
            body_length: 0,
            content_type: switchboard_core::piece::Piece::default(),
            near_miss: None,
        };
        let source = SourceName::parse("shop").expect("a name");
        Note::Refused {
            source,
            listed: Some(listed),
        }
    }

    async fn most_pages(store: &Store, pages: u32) {
        let set = store.step("setting a limit", move |step| {
            Ok(step.pragma_update(None, "max_page_count", pages)?)
        });
        set.await.expect("set");
    }

    fn uncounted(store: &Store) {
        let source = SourceName::parse("shop").expect("a name");
        let note = Note::Declined {
            source: Some(source),
            cause: Cause::Overloaded,
            listed: None,
        };
        store.unwritten().add(Timestamp::default(), &note);
    }

    #[tokio::test]
    async fn one_caller_at_a_time_writes_earlier_counts_and_no_other_waits_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let mut first = std::pin::pin!(store.step("a step", |_| Ok(())));
        let mut second = std::pin::pin!(store.step("a step", |_| Ok(())));
        // Both are on disk, and the writer is kept busy, when their callers go on.
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        let (go_on, told) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let mut begun = Some(begun);
        let mut busy = std::pin::pin!(store.step("being busy", move |_| {
            if let Some(begun) = begun.take() {
                let _ = begun.send(());
            }
            let _ = told.recv();
            Ok(())
        }));
        // Steps that waited before are in an earlier transaction, or in this one, which is let end once.
        assert!(busy.as_mut().now_or_never().is_none());
        has_begun.await.expect("it is busy");
        drop(go_on);
        busy.await.expect("it goes on");

        let (go_on, told) = std::sync::mpsc::channel::<()>();
        let mut busy = std::pin::pin!(store.step("being busy", move |_| {
            let _ = told.recv();
            Ok(())
        }));
        assert!(busy.as_mut().now_or_never().is_none());
        uncounted(&store);
        assert!(first.as_mut().now_or_never().is_none(), "it writes counts");
        uncounted(&store);
        assert!(second.as_mut().now_or_never().is_some(), "it does not");
        drop(go_on);
        let (first, busy) = tokio::join!(first, busy);
        first.and(busy).expect("written");
        store.ready().await.expect("written");
        let totals = store.overview().await.expect("totals").totals;
        assert_eq!(totals.declined, 2);
    }

    /// Keeps the writer busy until the sender is dropped.
    fn busy(store: &Store) -> (std::sync::mpsc::Sender<()>, impl Future<Output = ()>) {
        let (go_on, told) = std::sync::mpsc::channel::<()>();
        let busy = store.step("being busy", move |_| {
            let _ = told.recv();
            Ok(())
        });
        (go_on, async { busy.await.expect("it goes on") })
    }

    /// A caller whose step is on disk and who has not gone on yet.
    async fn on_disk(store: &Store) -> Pin<Box<impl Future<Output = Answer<()>>>> {
        loop {
            let mut caller = Box::pin(store.step("a step", |_| Ok(())));
            let is_waiting = caller.as_mut().now_or_never().is_none();
            store.step("another", |_| Ok(())).await.expect("written");
            // Where the writer was faster than this thread, it is done.
            if is_waiting {
                return caller;
            }
        }
    }

    /// What is counted in the end.
    async fn declined(store: &Store) -> u64 {
        let counted = async {
            loop {
                store.ready().await.expect("written");
                let declined = store.overview().await.expect("totals").totals.declined;
                if declined > 0 {
                    return declined;
                }
            }
        };
        let counted = timeout(Duration::from_secs(20), counted).await;
        counted.expect("it is counted")
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_while_it_waits_for_a_place_takes_no_counts_along() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let mut caller = on_disk(&store).await;
        let (go_on, busy) = busy(&store);
        let mut busy = std::pin::pin!(busy);
        assert!(busy.as_mut().now_or_never().is_none());
        let mut filling = Vec::new();
        for _ in 0..2 * MOST_WAITING {
            let mut step = Box::pin(store.step("taking a place", |_| Ok(())));
            assert!(step.as_mut().now_or_never().is_none());
            filling.push(step);
            // A task that never waits is made to, after some turns, even where there is a place.
            tokio::task::yield_now().await;
        }
        uncounted(&store);
        assert!(caller.as_mut().now_or_never().is_none(), "it counts");
        drop(caller);
        drop(go_on);
        busy.await;
        drop(filling);
        assert_eq!(declined(&store).await, 1);
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_before_counting_fails_takes_no_counts_along() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let fails = "CREATE TEMP TRIGGER fails BEFORE INSERT ON total BEGIN SELECT RAISE(ABORT, 'as told'); END";
        let set = store.step("breaking", |step| Ok(step.execute_batch(fails)?));
        set.await.expect("set");
        let mut caller = on_disk(&store).await;
        let (go_on, busy) = busy(&store);
        let mut busy = std::pin::pin!(busy);
        assert!(busy.as_mut().now_or_never().is_none());
        uncounted(&store);
        assert!(caller.as_mut().now_or_never().is_none(), "it counts");
        // What counts has its turn, so that its step waits behind the busy one.
        tokio::task::yield_now().await;
        drop(caller);
        drop(go_on);
        busy.await;
        // One that waited behind what counts, so that the mending is in no transaction with it.
        store.step("another", |_| Ok(())).await.expect("written");
        let mend = store.step("mending", |step| {
            Ok(step.execute_batch("DROP TRIGGER fails")?)
        });
        mend.await.expect("mended");
        assert_eq!(declined(&store).await, 1);
    }

    #[tokio::test]
    async fn a_flood_of_counts_waits_in_memory_and_leaves_places_to_what_is_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let (go_on, told) = std::sync::mpsc::channel::<()>();
        let mut busy = std::pin::pin!(store.step("being busy", move |_| {
            let _ = told.recv();
            Ok(())
        }));
        assert!(busy.as_mut().now_or_never().is_none());
        let now = Timestamp::from_seconds(1_800_000_000);
        let declined = |listed: Option<&str>| Note::Declined {
            source: None,
            cause: Cause::UnknownSource,
            listed: listed.map(str::to_owned),
        };
        let mut in_memory = 0;
        for _ in 0..2000 {
            let noted = store.note(now, declined(None)).now_or_never();
            in_memory += u32::from(noted.is_some());
        }
        assert!((500..1900).contains(&in_memory), "{in_memory} of 2000");
        let mut listed = std::pin::pin!(store.note(now, declined(Some("nobody"))));
        assert!(listed.as_mut().now_or_never().is_none(), "it has a place");
        drop(go_on);
        busy.await.expect("it goes on");
        // The last in the queue: all others are written when it is.
        listed.await.expect("written");
        store.ready().await.expect("written");
        let totals = store.overview().await.expect("totals").totals;
        assert_eq!(totals.declined, 2001);
    }

    #[tokio::test]
    async fn what_a_full_store_could_not_count_is_counted_when_there_is_room_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        most_pages(&store, 1).await;
        let now = Timestamp::from_seconds(1_800_000_000);
        for _ in 0..3 {
            assert!(store.note(now, long()).await.is_err(), "the store is full");
        }
        most_pages(&store, 1_000_000).await;
        store.ready().await.expect("there is room again");
        let totals = store.overview().await.expect("totals").totals;
        assert_eq!(totals.refused, 3);
        let recent = store.recent(now).await.expect("the last hour");
        let shop = recent.sources.into_values().next().expect("one source");
        assert_eq!(shop.last_refusal, Some(now), "when the last of them came");
    }
}
