//! That no delivery has two chains of hints: whatever is in the queue, what follows from it is one hint.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use switchboard_core::delivery::{DeliveryKey, Next};
use switchboard_core::ports::{Begun, Ledger, Recorded};

use crate::scene::{KEEP, Scene, failure};

impl Scene {
    /// Lets workers take all hints at once, each in a process of its own; every attempt fails. Each of `open` is attempted,
    /// recorded once, and has one hint behind that.
    pub(crate) async fn follow(&self, open: &[DeliveryKey], after: &str) {
        let hints = self.drain_hints().await;
        let begun = hints.iter().map(async |hint| {
            let worker = self.process(&self.ground.clients);
            match worker.begin_message(hint, 1, self.now()).await {
                Ok(Begun::Go(attempt)) => Some((worker, attempt)),
                Ok(Begun::Drop) => None,
                other => panic!("what is due may be attempted or is dropped, not {other:?}"),
            }
        });
        let begun: Vec<_> = join_all(begun).await.into_iter().flatten().collect();
        let recorded = (1_u64..).zip(&begun).map(async |(n, (worker, attempt))| {
            // Each of them waited for another time, and draws another pause.
            let due = self.now().plus(Duration::from_millis(n));
            let mut failed = failure(attempt);
            failed.duration_ms += n;
            let recorded = worker.record(attempt, &failed, Next::Waiting(due), KEEP);
            let recorded = recorded.await.expect("recorded");
            (attempt.key.id.clone(), recorded == Recorded::First)
        });
        let mut firsts: BTreeMap<_, u32> = BTreeMap::new();
        for (id, first) in join_all(recorded).await {
            *firsts.entry(id).or_default() += u32::from(first);
        }
        let next = self.drain_hints().await;
        let mut follows: BTreeMap<_, u32> = BTreeMap::new();
        for hint in &next {
            let due = self.moment(&hint.key, "due").await;
            assert_eq!(
                due,
                Some(hint.due),
                "a hint for what the record says, {after}"
            );
            *follows.entry(hint.key.id.clone()).or_default() += 1;
        }
        let expected: BTreeMap<_, u32> = open.iter().map(|key| (key.id.clone(), 1)).collect();
        assert_eq!(
            firsts, expected,
            "each open delivery is attempted and recorded once, {after}"
        );
        assert_eq!(follows, expected, "each has one hint behind that, {after}");
    }
}
