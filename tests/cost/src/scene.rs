//! A scene: one event of some size to some destinations, delivered at the first attempt or at the second, and all that was
//! asked of AWS for it. The processes are warm: what they read for themselves is counted apart.

use axum::response::IntoResponse;
use http::StatusCode;
use serde::Serialize;
use switchboard_testkit::emulator::Emulator;
use switchboard_tests::board::Message;
use switchboard_tests::gateway::given_back;
use switchboard_tests::sender::now;
use switchboard_tests::sink::Received;
use switchboard_tests::wait::until;

use crate::board::{Board, KINDS, Running, batch, due, posted};
use crate::call::{Call, Cause, Sum};

/// Most messages that the platform gives the worker at once.
const BATCH: usize = 10;
/// How early an early hint has to be, so that it still is when the worker looks, in milliseconds.
const EARLY_MS: i64 = 500;
/// How often a scene is played at most.
const PLAYS: u32 = 5;
/// Said when none of them was one.
const TOO_BUSY: &str =
    "in five plays some call was not answered in time: the machine is too busy to count";
/// About what an answer of the gateway takes beside its body, in bytes.
const ANSWER_HEAD: usize = 200;

/// When the hint of a retry is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Before its delivery is due, as nearly all are: the queue counts in whole seconds, and the rest is waited out.
    Early,
    /// When it is due.
    Due,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// To how many destinations it goes.
    pub destinations: usize,
    /// Length of its body.
    pub body_bytes: usize,
    /// How often each of them fails before it takes it.
    pub retries: usize,
    /// When the hints of these retries are received.
    pub arrival: Arrival,
}

/// All scenes of the report.
pub fn all() -> Vec<Scene> {
    let mut scenes = Vec::new();
    for (destinations, _) in KINDS {
        for kilobytes in [1, 10, 300] {
            scenes.extend([0, 1].map(|retries| Scene {
                destinations,
                body_bytes: kilobytes * 1024,
                retries,
                // An emulator is too slow to have twelve in time.
                arrival: Arrival::Due,
            }));
        }
    }
    scenes
}

/// What one event came to.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    /// To how many destinations it went.
    pub destinations: usize,
    /// Length of its body.
    pub body_bytes: usize,
    /// How often each of them failed before it took it.
    pub retries: usize,
    /// What ingress asked for.
    pub ingress: Sum,
    /// What the worker asked for.
    pub worker: Sum,
    /// Hints in the queue, one for each attempt.
    pub hints: usize,
    /// Bytes of all of them.
    pub hint_bytes: usize,
    /// Bytes that left AWS: requests to destinations, and the answer to the sender.
    pub out_bytes: usize,
    /// Lines of the log.
    pub log_lines: usize,
    /// Bytes of them.
    pub log_bytes: usize,
}

/// Warm functions on a board.
pub struct Stage {
    board: Board,
    ingress: Running,
    worker: Running,
    posted: u64,
}

/// What both functions read for themselves: when they begin, and every few seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Upkeep {
    /// What ingress reads.
    pub ingress: Sum,
    /// What the worker reads.
    pub worker: Sum,
}

impl Stage {
    /// Starts both, and has them deliver an event whose destinations fail first: from then on they know what they need.
    pub async fn start(emulator: &Emulator) -> (Self, Upkeep) {
        for _ in 0..PLAYS {
            let board = Board::start(emulator).await;
            let mut stage = Self {
                ingress: board.function("ingress").await,
                worker: board.function("worker").await,
                board,
                posted: 0,
            };
            let (destinations, _) = KINDS[KINDS.len() - 1];
            let warm = Scene {
                destinations,
                body_bytes: 1024,
                retries: 1,
                arrival: Arrival::Due,
            };
            if let Some((ingress, worker)) = stage.play(warm).await {
                let upkeep = Upkeep {
                    ingress: Sum::of(&ingress, Cause::Upkeep),
                    worker: Sum::of(&worker, Cause::Upkeep),
                };
                return (stage, upkeep);
            }
        }
        panic!("{TOO_BUSY}")
    }

    /// Plays a scene and counts. It is played anew where the machine was too busy for it.
    pub async fn count(&mut self, scene: Scene) -> Counted {
        for _ in 0..PLAYS {
            if let Some(counted) = self.counted(scene).await {
                return counted;
            }
            self.board.empty().await;
        }
        panic!("{TOO_BUSY}")
    }

    async fn counted(&mut self, scene: Scene) -> Option<Counted> {
        let (before, lines) = (self.board.sink().received().len(), self.log());
        let (ingress, worker) = self.play(scene).await?;
        let received = self.board.sink().received();
        let sent: usize = received[before..].iter().map(length).sum();
        let log = self.log();
        Some(Counted {
            destinations: scene.destinations,
            body_bytes: scene.body_bytes,
            retries: scene.retries,
            ingress: Sum::of(&ingress, Cause::Work),
            worker: Sum::of(&worker, Cause::Work),
            hints: scene.destinations * (1 + scene.retries),
            hint_bytes: messages(&ingress) + messages(&worker),
            out_bytes: sent + ANSWER_HEAD,
            log_lines: log.0 - lines.0,
            log_bytes: log.1 - lines.1,
        })
    }

    /// An event from its sender to all of its destinations; the calls of both functions. `None` where a call was not
    /// answered in time: the SDK makes it again or gives up, and neither is what is counted.
    async fn play(&mut self, scene: Scene) -> Option<(Vec<Call>, Vec<Call>)> {
        let failures = scene.retries;
        self.board.sink().answer(move |received, _| {
            let attempt: usize = received
                .header("switchboard-attempt")
                .parse()
                .expect("a number");
            if attempt <= failures {
                StatusCode::SERVICE_UNAVAILABLE.into_response()
            } else {
                StatusCode::OK.into_response()
            }
        });
        drop((self.ingress.counter.take(), self.worker.counter.take()));
        self.posted += 1;
        let id = format!("b54557e4-bdd9-4b37-8a5f-{:012}", self.posted);
        let kind = KINDS.iter().find(|(count, _)| *count == scene.destinations);
        let (_, kind) = kind.expect("a kind for so many destinations");
        let answer = self
            .ingress
            .lambda
            .invoke(&posted(&id, kind, &body(scene.body_bytes)))
            .await
            .answer();
        match answer["statusCode"].as_u64() {
            Some(200) => {}
            Some(503) => return None,
            _ => panic!("the event is accepted: {answer}"),
        }
        for round in 0..=scene.retries {
            let hints = self.board.hints(scene.destinations).await;
            let due = hints.iter().map(due);
            match scene.arrival {
                _ if round == 0 => {}
                Arrival::Due => {
                    let last = due.max();
                    until("all of them are due", async || {
                        (Some(now().millis()) > last).then_some(())
                    })
                    .await;
                }
                Arrival::Early if due.min() > Some(now().millis() + EARLY_MS) => {}
                Arrival::Early => return None,
            }
            for batch in hints.chunks(BATCH) {
                self.deal_with(batch).await?;
            }
        }
        let (ingress, worker) = (self.ingress.counter.take(), self.worker.counter.take());
        let mut all = ingress.iter().chain(&worker);
        all.all(|call| call.attempt == 1)
            .then_some((ingress, worker))
    }

    /// `None` where something is given back.
    async fn deal_with(&self, hints: &[Message]) -> Option<()> {
        let answer = self.worker.lambda.invoke(&batch(hints)).await.answer();
        self.board.forget(hints).await;
        given_back(&answer).is_empty().then_some(())
    }

    /// Lines and bytes of both logs.
    fn log(&self) -> (usize, usize) {
        let text = self.ingress.lambda.text() + &self.worker.lambda.text();
        (text.lines().count(), text.len())
    }
}

/// A body of that length: JSON, as senders mostly send it.
fn body(length: usize) -> String {
    let frame = r#"{"id":820982911946154508,"note":""}"#;
    let filled = "x".repeat(length.saturating_sub(frame.len()));
    frame.replace(r#""note":"""#, &format!(r#""note":"{filled}""#))
}

/// Bytes of a request as a destination got it: its first line, headers and body. What TLS adds is not counted.
fn length(received: &Received) -> usize {
    let line = "POST  HTTP/1.1\r\n".len() + received.path.len();
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        name.as_str().len() + value.len() + ": \r\n".len()
    };
    let headers: usize = received.headers.iter().map(header).sum();
    line + headers + "\r\n".len() + received.body.len()
}

fn messages(calls: &[Call]) -> usize {
    calls.iter().map(|call| call.billed.messages).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json_of_the_length_that_was_asked_for() {
        for length in [1024, 10 * 1024, 300 * 1024] {
            let body = body(length);
            assert_eq!(body.len(), length);
            serde_json::from_str::<serde_json::Value>(&body).expect("JSON");
        }
    }
}
