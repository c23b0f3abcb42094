//! Fills a data folder with delivered events through the store's own steps, so that a measurement with a long history
//! need not wait for it to be sent.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use serde_json::json;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, Next, Outcome};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Keep, Ledger, Queued};
use switchboard_core::time::Timestamp;
use switchboard_embedded::Store;
use tokio::task::JoinSet;

use crate::{clock, event};

/// Steps that wait at once, so that they share transactions.
const AT_ONCE: u64 = 256;

/// A store with a history.
#[derive(Args)]
pub(crate) struct Seed {
    /// The data folder.
    #[arg(long)]
    data: PathBuf,
    /// How many events.
    #[arg(long)]
    events: u64,
    /// Whose events they are.
    #[arg(long)]
    source: String,
    /// Where each was delivered to.
    #[arg(long)]
    destination: String,
}

/// What every event has.
struct History {
    store: Store,
    source: SourceName,
    destination: DestinationName,
    kind: Kind,
    headers: KeptHeaders,
    body: Bytes,
    next: AtomicU64,
    events: u64,
}

impl Seed {
    pub(crate) async fn play(self) -> io::Result<()> {
        let headers = b"content-type: application/json\nuser-agent: load\nx-github-event: push\n";
        let history = Arc::new(History {
            store: Store::open(&self.data).map_err(io::Error::other)?,
            source: SourceName::parse(&self.source).map_err(io::Error::other)?,
            destination: DestinationName::parse(&self.destination).map_err(io::Error::other)?,
            kind: Kind::new(event::KIND).ok_or(io::ErrorKind::InvalidInput)?,
            headers: KeptHeaders::from_lines(headers),
            body: Bytes::from(event::body(0, 1024)),
            next: AtomicU64::new(0),
            events: self.events,
        });
        let started = clock::started();
        let mut loops = JoinSet::new();
        for _ in 0..AT_ONCE {
            let history = Arc::clone(&history);
            loops.spawn(async move {
                loop {
                    let number = history.next.fetch_add(1, Ordering::Relaxed);
                    if number >= history.events {
                        return io::Result::Ok(());
                    }
                    history.add(number).await?;
                }
            });
        }
        while let Some(ended) = loops.join_next().await {
            ended.map_err(io::Error::other)??;
        }
        println!(
            "{}",
            json!({ "events": self.events, "seconds": started.elapsed().as_secs_f64() })
        );
        Ok(())
    }
}

impl History {
    async fn add(&self, number: u64) -> io::Result<()> {
        let keep = Keep { days: 30 };
        let millis = i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX);
        let now = Timestamp::from_millis(millis);
        let sender_id =
            SenderId::new(&format!("seed-{number}")).ok_or(io::ErrorKind::InvalidInput)?;
        let event = Arc::new(Event {
            id: EventId::of(&self.source, &sender_id),
            source: self.source.clone(),
            sender_id,
            kind: self.kind.clone(),
            received_at: now,
            headers: self.headers.clone(),
            body: self.body.clone(),
        });
        let (action, run) = (ActionName::deliver(), Run(0));
        let key = DeliveryKey::of(&event.id, self.destination.clone(), action, run);
        let plan = [Queued {
            key: key.clone(),
            due: now,
        }];
        let accepted = self.store.accept(&event, &plan, keep).await;
        accepted.map_err(io::Error::other)?;
        let attempt = Attempt {
            key,
            event,
            number: 1,
            in_round: 1,
        };
        let outcome = Outcome::Answered {
            status: 200,
            piece: Piece::clean(b""),
        };
        let record = AttemptRecord::new(1, now, Duration::from_millis(1), &outcome);
        let recorded = self
            .store
            .record(&attempt, &record, Next::Delivered, keep)
            .await;
        recorded.map_err(io::Error::other)?;
        Ok(())
    }
}
