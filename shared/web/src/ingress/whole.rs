//! A step that is finished whoever gives it up: a sender who hangs up and a time limit cut the waiting for it, not the
//! step.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt;
use futures_util::future::CatchUnwind;
use tokio::runtime::Handle;

/// The step's own code broke off.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BrokeOff;

type Step<F> = Pin<Box<CatchUnwind<AssertUnwindSafe<F>>>>;

/// A step under way. It runs within whoever waits for it; when that is dropped, what is left of it runs in a task of its
/// own.
pub(super) struct Whole<F>(Option<Step<F>>)
where
    F: Future<Output: Send> + Send + 'static;

impl<F> Whole<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    pub(super) fn new(step: F) -> Self {
        Self(Some(Box::pin(AssertUnwindSafe(step).catch_unwind())))
    }
}

impl<F> Future for Whole<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    type Output = Result<F::Output, BrokeOff>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(step) = &mut self.0 else {
            return Poll::Ready(Err(BrokeOff));
        };
        let done = std::task::ready!(step.as_mut().poll(context));
        self.0 = None;
        Poll::Ready(done.map_err(|_| BrokeOff))
    }
}

impl<F> Drop for Whole<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn drop(&mut self) {
        // Without a runtime the process is at its end.
        if let Some(rest) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_step_that_is_given_up_half_way_or_before_it_began_is_finished() {
        for has_begun in [true, false] {
            let (go, may_go) = oneshot::channel();
            let (done, is_done) = oneshot::channel();
            let mut step = Whole::new(async move {
                may_go.await.expect("the test goes on");
                done.send(()).expect("the test waits");
            });
            if has_begun {
                assert!((&mut step).now_or_never().is_none());
            }
            drop(step);
            go.send(()).expect("it waits");
            let finished = timeout(Duration::from_secs(10), is_done).await;
            finished.expect("in time").expect("it is finished");
        }
    }

    #[tokio::test]
    async fn a_step_that_breaks_off_says_so_and_breaks_nothing_else() {
        assert_eq!(Whole::new(async { 7 }).await, Ok(7));
        let broken = Whole::new(async {
            panic!("as the test wants");
        });
        let answer: Result<(), BrokeOff> = broken.await;
        assert_eq!(answer, Err(BrokeOff));
    }
}
