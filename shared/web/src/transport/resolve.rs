//! Names to addresses. What they resolve to is judged by whoever connects.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};

/// Resolves names.
pub trait Resolver: Send + Sync + 'static {
    /// Every address of `host`, in the order they are to be tried.
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

type Found = Result<Arc<[IpAddr]>, io::ErrorKind>;
type UnderWay = HashMap<String, Shared<BoxFuture<'static, Found>>>;

/// Asks the operating system. Attempts that want the same name at the same moment share one question: each occupies a
/// thread for as long as the name servers take, and a name whose servers are silent must not take them all.
#[derive(Clone, Default)]
pub struct SystemResolver(Arc<Mutex<UnderWay>>);

impl SystemResolver {
    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks in a task of its own, which also ends the sharing: the next question is a new one.
    fn ask(&self, host: &str) -> BoxFuture<'static, Found> {
        let resolver = self.clone();
        let host = host.to_owned();
        let asked = tokio::spawn(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await;
            resolver.under_way().remove(&host);
            found
                .map(|found| found.map(|address| address.ip()).collect())
                .map_err(|error| error.kind())
        });
        asked
            .map(|ended| ended.unwrap_or(Err(io::ErrorKind::Other)))
            .boxed()
    }
}

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let shared = self
            .under_way()
            .entry(host.to_owned())
            .or_insert_with(|| self.ask(host).shared())
            .clone();
        shared
            .map(|found| found.map(|found| found.to_vec()).map_err(io::Error::from))
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn questions_for_one_name_at_one_moment_are_one_and_the_next_is_a_new_one() {
        let resolver = SystemResolver::default();
        let both = (resolver.resolve("localhost"), resolver.resolve("localhost"));
        assert_eq!(resolver.under_way().len(), 1);
        let (first, second) = futures_util::future::join(both.0, both.1).await;
        let first = first.expect("this machine has a name");
        assert!(first.iter().all(IpAddr::is_loopback), "{first:?}");
        assert_eq!(first, second.expect("the same answer"));
        assert!(resolver.under_way().is_empty());
    }

    #[tokio::test]
    async fn a_question_that_nobody_waits_for_any_more_is_forgotten_when_it_is_answered() {
        let resolver = SystemResolver::default();
        drop(resolver.resolve("localhost"));
        let forgotten = async {
            while !resolver.under_way().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let limit = std::time::Duration::from_secs(20);
        tokio::time::timeout(limit, forgotten)
            .await
            .expect("forgotten within the deadline");
    }
}
