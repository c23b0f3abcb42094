//! Floor (b): what a delivery cannot do without. A bare loop over the same HTTP client that posts to the sink.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use clap::Args;
use http::Uri;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use tokio::task::JoinSet;

use crate::{clock, event};

/// A bare loop of posts.
#[derive(Args)]
pub(crate) struct FloorClient {
    /// Where it posts to; several take turns.
    #[arg(long, required = true)]
    url: Vec<Uri>,
    /// How many posts in all.
    #[arg(long)]
    posts: u64,
    /// How many of them at once, for each address.
    #[arg(long, default_value_t = 32)]
    in_flight: usize,
    /// Bytes of each body.
    #[arg(long, default_value_t = 1024)]
    body: usize,
}

impl FloorClient {
    pub(crate) async fn play(self) -> io::Result<()> {
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        let left = Arc::new(AtomicU64::new(self.posts));
        let body = Bytes::from(event::body(0, self.body));
        let started = clock::started();
        let mut loops = JoinSet::new();
        for url in &self.url {
            for _ in 0..self.in_flight {
                let (client, left) = (client.clone(), Arc::clone(&left));
                loops.spawn(post(client, url.clone(), body.clone(), left));
            }
        }
        let mut failed: u64 = 0;
        while let Some(ended) = loops.join_next().await {
            failed += ended.map_err(io::Error::other)?;
        }
        let took = started.elapsed().as_secs_f64();
        println!(
            "{}",
            json!({
                "posts": self.posts,
                "failed": failed,
                "seconds": took,
                "cpu_seconds": clock::own_cpu()?,
            })
        );
        Ok(())
    }
}

/// Posts until none is left; how many failed.
async fn post(
    client: Client<HttpConnector, Full<Bytes>>,
    url: Uri,
    body: Bytes,
    left: Arc<AtomicU64>,
) -> u64 {
    let mut failed = 0;
    while left
        .try_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        })
        .is_ok()
    {
        let request = http::Request::post(url.clone())
            .header("content-type", "application/json")
            .body(Full::new(body.clone()));
        let Ok(request) = request else {
            return failed + 1;
        };
        let answered = match client.request(request).await {
            Ok(answer) => {
                answer.status().is_success() && answer.into_body().collect().await.is_ok()
            }
            Err(_) => false,
        };
        failed += u64::from(!answered);
    }
    failed
}
