//! What the ingress writes out of requests that it does not accept, over a real store.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::configuration::{self, Origin};
use switchboard_core::ingress::{Ingress, Reply};
use switchboard_core::ports::Views;
use switchboard_core::refusal::{Cause, DetailBudget};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::time::Timestamp;
use switchboard_core::views::PageAsk;
use switchboard_embedded::Store;
use switchboard_testkit::clock::HandClock;

const CONFIGURATION: &str = r#"
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:S"]
"#;

struct OneSecret;

impl SecretReader for OneSecret {
    fn read(&self, _: &Reference) -> Result<String, String> {
        Ok("a secret of sixteen bytes or more".to_owned())
    }
}

#[tokio::test]
async fn a_flood_of_one_kind_does_not_hide_the_other() {
    let flood = DetailBudget::BURST * 2;
    for refused_first in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Arc::new(Store::open(folder.path()).expect("a store"));
        let read = configuration::read(CONFIGURATION, Origin::File, &OneSecret);
        let ingress = Ingress::new(
            Arc::new(read.expect("a configuration").configuration),
            Arc::clone(&store),
            Arc::new(HandClock::at(Timestamp::from_seconds(1_800_000_000))),
            Box::new(ChaCha8Rng::seed_from_u64(1)),
        );
        let source = ingress.source("shop").expect("a source");
        let (refusals, declines) = if refused_first {
            (flood, 1)
        } else {
            (1, flood)
        };
        for refused in [refused_first, !refused_first] {
            for _ in 0..if refused { refusals } else { declines } {
                let (due, reply) = if refused {
                    let (headers, body) = (HeaderMap::new(), Bytes::from_static(b"{}"));
                    (
                        Reply::Refused,
                        ingress.receive(source, &headers, body).await,
                    )
                } else {
                    let cause = Cause::UnknownSource;
                    (
                        Reply::Declined(cause),
                        ingress.decline(None, "x", cause).await,
                    )
                };
                assert_eq!(reply, due);
            }
        }
        let ask = PageAsk {
            after: None,
            limit: 100,
        };
        let listed = (
            store.refusals(&ask).await.expect("read").items.len(),
            store.declined(&ask).await.expect("read").items.len(),
        );
        let burst = DetailBudget::BURST as usize;
        let expected = if refused_first {
            (burst, 1)
        } else {
            (1, burst)
        };
        assert_eq!(listed, expected, "refusals and declined requests listed");
    }
}
