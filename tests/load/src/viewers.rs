//! Pages that stand open: each reads the overview again and again, and says what it was told of when that was computed.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use switchboard_core::time::Timestamp;
use tokio::task::JoinSet;

use crate::clock;
use crate::lock::locked;
use crate::wire::Wire;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pages that stand open.
#[derive(Args)]
pub(crate) struct Viewers {
    /// Host and port.
    #[arg(long)]
    to: String,
    /// The admin token.
    #[arg(long)]
    token: String,
    /// How many.
    #[arg(long)]
    pages: u32,
    /// How often each reads it.
    #[arg(long)]
    readings: u32,
    /// From one reading of a page to its next.
    #[arg(long, default_value_t = 2_000)]
    every_ms: u64,
}

/// What all pages found.
#[derive(Default)]
struct Found {
    answered: u32,
    unanswered: u32,
    /// The moments that the answers are of.
    computed: BTreeSet<Timestamp>,
}

impl Viewers {
    pub(crate) async fn play(self) -> io::Result<()> {
        let found = Arc::new(Mutex::new(Found::default()));
        let viewers = Arc::new(self);
        let mut pages = JoinSet::new();
        for number in 0..viewers.pages {
            pages.spawn(page(Arc::clone(&viewers), Arc::clone(&found), number));
        }
        while let Some(ended) = pages.join_next().await {
            ended.map_err(io::Error::other)?;
        }
        let found = locked(&found);
        let (first, last) = (found.computed.first(), found.computed.last());
        let span = first.zip(last).map(|(first, last)| last.since(*first));
        println!(
            "{}",
            json!({
                "answered": found.answered,
                "unanswered": found.unanswered,
                "computed": found.computed.len(),
                "span_s": span.unwrap_or_default().as_secs_f64(),
            })
        );
        Ok(())
    }
}

/// One page: no two read at the same moment, as people do not open theirs together.
async fn page(viewers: Arc<Viewers>, found: Arc<Mutex<Found>>, number: u32) {
    let Viewers { to, token, .. } = &*viewers;
    let every = Duration::from_millis(viewers.every_ms);
    let request = format!(
        "GET /api/overview HTTP/1.1\r\nhost: {to}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    let start = clock::started();
    let own = every * number / viewers.pages.max(1);
    let mut wire = None;
    for reading in 0..viewers.readings {
        clock::at(start, own + every * reading).await;
        let asked = Wire::asked(wire, to, request.as_bytes(), PATIENCE).await;
        let mut found = locked(&found);
        let told = asked.as_ref().and_then(|(wire, answer)| {
            let body: Value = serde_json::from_slice(wire.body()).ok()?;
            let at = Timestamp::parse(body.get("at")?.as_str()?)?;
            (answer.status == 200).then_some(at)
        });
        match told {
            Some(at) => {
                found.answered += 1;
                found.computed.insert(at);
            }
            None => found.unanswered += 1,
        }
        wire = asked.map(|(wire, _)| wire);
    }
}
