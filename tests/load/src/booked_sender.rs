//! Senders that keep a book: events of several sources, rightly signed, over a few connections. An event without an
//! answer is sent again after a while, and sometimes never, as GitHub does; now and then one that was answered comes
//! again. Every answer 200 is a line of the book. It ends when its input does and nothing is to be sent again.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use switchboard_core::scheme::{Draft, Key, Scheme};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;
use tokio::task::JoinSet;

use crate::clock;
use crate::lock::locked;
use crate::wire::Wire;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// Longest pause between two events of a connection.
const PAUSE_MS: u64 = 50;
/// After how many other events one without an answer is sent again.
const AGAIN_AFTER: usize = 5;
/// Of 100 events without an answer, how many are never sent again.
const NEVER_AGAIN: u32 = 30;
/// Of 100 answered events, how many come again all the same.
const ANYWAY: u32 = 5;

/// Senders with a book.
#[derive(Args)]
pub(crate) struct BookedSender {
    /// Host and port.
    #[arg(long)]
    to: String,
    /// A source, its scheme, the kind of its events and its secret, with commas; several take turns.
    #[arg(long, required = true)]
    source: Vec<String>,
    /// The file that gets a line for each 200: source, sender's id, event, status.
    #[arg(long)]
    book: PathBuf,
    /// What the choices are drawn from; every sender's id begins with it.
    #[arg(long)]
    seed: u64,
    /// Connections: each sends its next event when the last is answered.
    #[arg(long, default_value_t = 4)]
    connections: u64,
}

/// A source that is posted to.
struct Source {
    name: String,
    kind: String,
    scheme: &'static Scheme,
    key: Key,
}

impl Source {
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ',');
        let (name, scheme, kind) = (parts.next()?, parts.next()?, parts.next()?);
        let scheme = Scheme::named(scheme)?;
        let key = (scheme.key)(&Secret::new(parts.next()?)?).ok()?;
        Some(Self {
            name: name.to_owned(),
            kind: kind.to_owned(),
            scheme,
            key,
        })
    }

    /// A request of the event `id`, signed now.
    fn request(&self, to: &str, id: &str) -> Vec<u8> {
        let body = json!({ "id": id, "type": self.kind }).to_string();
        let millis = i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX);
        let draft = Draft {
            id,
            kind: &self.kind,
            now: Timestamp::from_millis(millis),
            body: body.as_bytes(),
        };
        let signed = (self.scheme.sign)(&self.key, &draft);
        let signed: Vec<String> = signed
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        format!(
            "POST /in/{} HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\n{}content-length: {}\r\n\r\n{body}",
            self.name,
            signed.concat(),
            body.len()
        )
        .into_bytes()
    }
}

/// What all connections share.
struct Senders {
    to: String,
    sources: Vec<Source>,
    seed: u64,
    book: Mutex<File>,
    ended: AtomicBool,
}

impl BookedSender {
    pub(crate) async fn play(self) -> io::Result<()> {
        let sources: Option<Vec<Source>> =
            self.source.iter().map(|text| Source::read(text)).collect();
        let book = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.book)?;
        let senders = Arc::new(Senders {
            to: self.to,
            sources: sources.ok_or(io::ErrorKind::InvalidInput)?,
            seed: self.seed,
            book: Mutex::new(book),
            ended: AtomicBool::new(false),
        });
        let told = Arc::clone(&senders);
        std::thread::spawn(move || {
            drop(io::stdin().read_to_end(&mut Vec::new()));
            told.ended.store(true, Ordering::Relaxed);
        });
        let mut connections = JoinSet::new();
        for number in 0..self.connections {
            let senders = Arc::clone(&senders);
            connections.spawn(async move { Connection::new(&senders, number).run().await });
        }
        let mut sent = 0;
        while let Some(ended) = connections.join_next().await {
            sent += ended.map_err(io::Error::other)??;
        }
        println!("{}", json!({ "sent": sent }));
        Ok(())
    }
}

/// An event: its source among all, and the sender's id.
type Event = (usize, String);

/// One sender after the other over one connection.
struct Connection<'a> {
    senders: &'a Senders,
    number: u64,
    rng: ChaCha20Rng,
    wire: Option<Wire>,
    again: VecDeque<Event>,
}

impl<'a> Connection<'a> {
    fn new(senders: &'a Senders, number: u64) -> Self {
        Self {
            senders,
            number,
            rng: ChaCha20Rng::seed_from_u64(senders.seed.wrapping_mul(1000).wrapping_add(number)),
            wire: None,
            again: VecDeque::new(),
        }
    }

    /// Sends until the end; how many events.
    async fn run(mut self) -> io::Result<u64> {
        let mut events = 0;
        loop {
            let ended = self.senders.ended.load(Ordering::Relaxed);
            let event = if ended || self.again.len() > AGAIN_AFTER {
                self.again.pop_front()
            } else {
                events += 1;
                Some(self.fresh(events))
            };
            let Some(event) = event else {
                return Ok(events);
            };
            let drawn = self.rng.random_range(0..100);
            let comes_again = if self.send(&event).await? {
                drawn < ANYWAY && !ended
            } else {
                drawn >= NEVER_AGAIN
            };
            if comes_again {
                self.again.push_back(event);
            }
            let pause = Duration::from_millis(self.rng.random_range(0..PAUSE_MS));
            clock::at(clock::started(), pause).await;
        }
    }

    fn fresh(&mut self, number: u64) -> Event {
        let source = self.rng.random_range(0..self.senders.sources.len());
        let Senders { seed, .. } = self.senders;
        (source, format!("{seed}-{}-{number}", self.number))
    }

    /// Sends an event; whether it was answered 200, which is in the book then.
    async fn send(&mut self, (source, id): &Event) -> io::Result<bool> {
        let Some(source) = self.senders.sources.get(*source) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let request = source.request(&self.senders.to, id);
        let asked = Wire::asked(self.wire.take(), &self.senders.to, &request, PATIENCE);
        let Some((wire, found)) = asked.await else {
            return Ok(false);
        };
        let answer: Value = serde_json::from_slice(wire.body()).unwrap_or_default();
        self.wire = Some(wire);
        match found.status {
            200 => {
                let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or("-");
                let line = format!(
                    "{} {id} {} {}\n",
                    source.name,
                    text("event"),
                    text("status")
                );
                locked(&self.senders.book).write_all(line.as_bytes())?;
                Ok(true)
            }
            503 => Ok(false),
            other => Err(io::Error::other(format!("{id} was answered {other}"))),
        }
    }
}
