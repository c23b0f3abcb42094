//! Counting declined requests: each in a task of its own, so that nobody cuts it in the middle, and only so many tasks
//! at once. While a store hangs, what comes beyond them is added up by source and cause and counted when it goes on:
//! the totals stay exact, and what waits takes as much memory as there are sources, however many requests come.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_core::ingress::Ingress;
use switchboard_core::names::SourceName;
use switchboard_core::ports::Backend;
use switchboard_core::refusal::Cause;
use tokio::task::JoinHandle;

/// Longest path that is kept of a declined request, in characters: as much as the list shows.
const LONGEST_PATH: usize = 60;

/// A declined request that is to be counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declined {
    source: Option<SourceName>,
    cause: Cause,
    path: String,
}

impl Declined {
    /// One to `source`, if there is one of that name. Of the path it keeps the beginning only.
    pub(super) fn new(source: Option<&SourceName>, path: &str, cause: Cause) -> Self {
        Self {
            source: source.cloned(),
            cause,
            path: path.chars().take(LONGEST_PATH).collect(),
        }
    }
}

/// Requests of one source and cause for which there was no task; the path is that of the last.
struct Sum {
    of: Declined,
    requests: u64,
}

/// What is not counted yet.
#[derive(Default)]
struct Open {
    tasks: usize,
    sums: Vec<Sum>,
}

impl Open {
    fn add(&mut self, declined: Declined) {
        let same =
            |sum: &&mut Sum| (&sum.of.source, sum.of.cause) == (&declined.source, declined.cause);
        if let Some(sum) = self.sums.iter_mut().find(same) {
            sum.requests = sum.requests.saturating_add(1);
            sum.of = declined;
        } else {
            self.sums.push(Sum {
                of: declined,
                requests: 1,
            });
        }
    }

    /// One of the added requests.
    fn take(&mut self) -> Option<Declined> {
        let sum = self.sums.last_mut()?;
        sum.requests = sum.requests.saturating_sub(1);
        if sum.requests == 0 {
            return self.sums.pop().map(|sum| sum.of);
        }
        let Declined {
            source,
            cause,
            path,
        } = &sum.of;
        Some(Declined::new(source.as_ref(), path, *cause))
    }
}

/// Counts declined requests.
pub(super) struct Counter<B> {
    ingress: Arc<Ingress<B>>,
    most: usize,
    open: Mutex<Open>,
}

impl<B: Backend> Counter<B> {
    /// One that counts with at most `most` tasks at once.
    pub(super) fn new(ingress: Arc<Ingress<B>>, most: usize) -> Arc<Self> {
        Arc::new(Self {
            ingress,
            most,
            open: Mutex::default(),
        })
    }

    /// Begins to count a request; `None` when it is counted later, since too many are being counted.
    pub(super) fn count(self: &Arc<Self>, declined: Declined) -> Option<JoinHandle<()>> {
        let mut open = self.open();
        if open.tasks >= self.most {
            open.add(declined);
            return None;
        }
        open.tasks = open.tasks.saturating_add(1);
        drop(open);
        let mut place = Place(Some(Arc::clone(self)));
        let counter = Arc::clone(self);
        Some(tokio::spawn(async move {
            counter.write(declined).await;
            while let Some(added) = place.next() {
                counter.write(added).await;
            }
        }))
    }

    async fn write(&self, declined: Declined) {
        let name = declined.source.as_ref().map(SourceName::as_str);
        let source = name.and_then(|name| self.ingress.source(name));
        self.ingress
            .decline(source, &declined.path, declined.cause)
            .await;
    }
}

impl<B> Counter<B> {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task's place among all; given back at its end, also when it breaks off.
struct Place<B>(Option<Arc<Counter<B>>>);

impl<B> Place<B> {
    /// What else is to be counted. When that is nothing, the place is given back in the same step: what is added later
    /// finds it free.
    fn next(&mut self) -> Option<Declined> {
        let counter = self.0.take()?;
        let mut open = counter.open();
        let next = open.take();
        if next.is_none() {
            open.tasks = open.tasks.saturating_sub(1);
        }
        drop(open);
        if next.is_some() {
            self.0 = Some(counter);
        }
        next
    }
}

impl<B> Drop for Place<B> {
    fn drop(&mut self) {
        if let Some(counter) = self.0.take() {
            let mut open = counter.open();
            open.tasks = open.tasks.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declined(source: &str, path: &str) -> Declined {
        let source = SourceName::parse(source).expect("a name");
        Declined::new(Some(&source), path, Cause::TooLarge)
    }

    #[test]
    fn of_a_path_only_the_beginning_is_kept() {
        let kept = Declined::new(None, &"/é".repeat(100), Cause::UnknownSource).path;
        assert_eq!(kept, "/é".repeat(30));
    }

    #[test]
    fn what_is_added_up_comes_out_as_often_with_the_last_path() {
        let mut open = Open::default();
        for path in ["a", "b", "c"] {
            open.add(declined("shop", path));
        }
        open.add(declined("code", "d"));
        assert_eq!(open.sums.len(), 2, "one for each source and cause");
        let out: Vec<Declined> = std::iter::from_fn(|| open.take()).collect();
        let shop = || declined("shop", "c");
        assert_eq!(out, [declined("code", "d"), shop(), shop(), shop()]);
    }
}
