//! A sender: posts signed events, each with an id of its own, over connections that are kept alive.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::event::Request;
use crate::idle::Idle;
use crate::lock::locked;
use crate::told::Told;
use crate::wire::Wire;
use crate::{clock, event};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A sender of events.
#[derive(Args)]
pub(crate) struct Send {
    /// Host and port.
    #[arg(long)]
    to: String,
    /// The path of the source's address.
    #[arg(long)]
    path: String,
    /// The source's secret.
    #[arg(long)]
    secret: String,
    /// What every sender's id begins with, so that a second call sends other events.
    #[arg(long)]
    ids: String,
    /// Bytes of each body.
    #[arg(long, default_value_t = 1024)]
    body: usize,
    /// How many events.
    #[arg(long)]
    events: u64,
    /// Connections: each sends its next event when the last is answered. At a rate: the most there may be.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Sends at this rate, whatever is answered, each body saying when it was sent.
    #[arg(long)]
    per_second: Option<u64>,
    /// Writes the id of every accepted event to this file, a line each.
    #[arg(long)]
    accepted: Option<PathBuf>,
}

/// What all connections share.
struct Sending {
    send: Send,
    next: AtomicU64,
    told: Mutex<Told>,
    idle: Idle,
}

impl Send {
    pub(crate) async fn play(self) -> io::Result<()> {
        let rate = self.per_second;
        let told = Told::listing(self.accepted.as_deref())?;
        let sending = Arc::new(Sending {
            send: self,
            next: AtomicU64::new(0),
            told: Mutex::new(told),
            idle: Idle::default(),
        });
        let started = clock::started();
        let began_ns = clock::now_ns();
        match rate {
            Some(rate) => sending.open_loop(rate).await?,
            None => sending.closed_loop().await?,
        }
        let took = started.elapsed().as_secs_f64();
        let mut told = std::mem::take(&mut *locked(&sending.told)).told()?;
        told.insert("began_ns".to_owned(), json!(began_ns));
        told.insert("seconds".to_owned(), json!(took));
        println!("{}", Value::Object(told));
        Ok(())
    }
}

impl Sending {
    /// Every connection sends its next event when the last is answered.
    async fn closed_loop(self: &Arc<Self>) -> io::Result<()> {
        let mut connections = JoinSet::new();
        for _ in 0..self.send.connections {
            let sending = Arc::clone(self);
            connections.spawn(async move {
                let body = event::body(0, sending.send.body);
                let signature = event::signature(&sending.send.secret, &body)
                    .ok_or(io::ErrorKind::InvalidInput)?;
                let mut wire = None;
                while let Some(number) = sending.number() {
                    let request = sending.request(number, &body, &signature);
                    wire = sending.ask(wire, &request).await;
                }
                io::Result::Ok(())
            });
        }
        while let Some(ended) = connections.join_next().await {
            ended.map_err(io::Error::other)??;
        }
        Ok(())
    }

    /// Every event is sent at its planned moment, over a connection that is idle or a new one.
    async fn open_loop(self: &Arc<Self>, rate: u64) -> io::Result<()> {
        let start = clock::started();
        let mut under_way = JoinSet::new();
        while let Some(number) = self.number() {
            let after = Duration::from_nanos(number.saturating_mul(1_000_000_000) / rate.max(1));
            clock::at(start, after).await;
            while under_way.try_join_next().is_some() {}
            if under_way.len() >= self.send.connections {
                locked(&self.told).not_sent();
                continue;
            }
            let sending = Arc::clone(self);
            under_way.spawn(async move {
                let body = event::body(clock::now_ns(), sending.send.body);
                let Some(signature) = event::signature(&sending.send.secret, &body) else {
                    return;
                };
                let request = sending.request(number, &body, &signature);
                let wire = sending.idle.take();
                if let Some(wire) = sending.ask(wire, &request).await {
                    sending.idle.give(wire);
                }
            });
        }
        while under_way.join_next().await.is_some() {}
        Ok(())
    }

    fn number(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.send.events).then_some(number)
    }

    fn request(&self, number: u64, body: &[u8], signature: &str) -> Vec<u8> {
        let Send { to, path, ids, .. } = &self.send;
        let request = Request {
            to,
            path,
            kind: event::KIND,
            id: &format!("{ids}-{number}"),
            signature,
            body,
        };
        request.bytes()
    }

    /// Sends one event and keeps what came of it; the connection, if it can be used again.
    async fn ask(&self, wire: Option<Wire>, request: &[u8]) -> Option<Wire> {
        let started = clock::started();
        let asked = Wire::asked(wire, &self.send.to, request, PATIENCE).await;
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut told = locked(&self.told);
        if let Some((wire, answer)) = asked {
            told.answered(answer, wire.event(), took);
            Some(wire)
        } else {
            told.unanswered();
            None
        }
    }
}
