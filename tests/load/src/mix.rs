//! A sender of all that comes to a door in everyday life, at a steady rate: events of several lengths, to a slow and to a
//! failing destination too, repeats, forged requests, and requests for a source that there is not. What came of each
//! second is a line of JSON.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use crate::event::{self, Request};
use crate::idle::Idle;
use crate::lock::locked;
use crate::wire::Wire;
use crate::{clock, percentiles};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most connections at once.
const CONNECTIONS: usize = 256;
/// Lengths of bodies, in bytes, that take turns.
const LENGTHS: [usize; 4] = [200, 1024, 4 * 1024, 16 * 1024];
/// The length of a long body, in bytes.
const LONG: usize = 128 * 1024;

/// A sender of a mixture.
#[derive(Args)]
pub(crate) struct Mix {
    /// Host and port.
    #[arg(long)]
    to: String,
    /// The path of the source's address.
    #[arg(long)]
    path: String,
    /// The source's secret.
    #[arg(long)]
    secret: String,
    /// Requests a second, whatever is answered.
    #[arg(long)]
    per_second: u64,
    /// For how long.
    #[arg(long)]
    seconds: u64,
}

/// What a request is, and so what must become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    New,
    Repeat,
    Forged,
    Unknown,
}

/// One request of the mixture.
#[derive(Debug, PartialEq, Eq)]
struct Planned {
    what: What,
    /// The number in the event's id.
    id: u64,
    kind: &'static str,
    length: usize,
}

/// The request of a number. Twenty in a row hold everything; the fourteenth comes twice more.
fn planned(number: u64) -> Planned {
    let turn = usize::try_from(number % 4).unwrap_or(0);
    let length = LENGTHS.get(turn).copied().unwrap_or(LONG);
    let (what, id, kind, length) = match number % 20 {
        13 => (What::New, number, event::KIND, 0),
        14 => (What::Repeat, number.saturating_sub(1), event::KIND, 0),
        15 => (What::Repeat, number.saturating_sub(2), event::KIND, 0),
        16 => (What::Forged, number, event::KIND, length),
        17 => (What::Unknown, number, event::KIND, length),
        18 => (What::New, number, "slow", length),
        19 => (What::New, number, "failing", length),
        12 => (What::New, number, event::KIND, LONG),
        _ => (What::New, number, event::KIND, length),
    };
    Planned {
        what,
        id,
        kind,
        length,
    }
}

/// What came of the requests of a second.
#[derive(Default)]
struct Window {
    times: Vec<u64>,
    accepted: u64,
    repeats: u64,
    refused: u64,
    declined: u64,
    /// Requests that were answered otherwise than they must be, or not at all.
    wrong: u64,
}

/// What the body of an answer says.
#[derive(Clone, Copy)]
enum Said {
    Repeat,
    Other,
}

impl Said {
    fn of(body: &[u8]) -> Self {
        if body.starts_with(br#"{"status":"repeat""#) {
            Self::Repeat
        } else {
            Self::Other
        }
    }
}

impl Window {
    fn told(self) -> String {
        json!({
            "answers": percentiles::of(self.times),
            "accepted": self.accepted,
            "repeats": self.repeats,
            "refused": self.refused,
            "declined": self.declined,
            "wrong": self.wrong,
        })
        .to_string()
    }

    fn answered(&mut self, what: What, status: u16, said: Said, took_ns: u64) {
        self.times.push(took_ns);
        let count = match (what, status, said) {
            // A repeat may be there before what it repeats.
            (What::New | What::Repeat, 200, Said::Repeat) => &mut self.repeats,
            (What::New | What::Repeat, 200, Said::Other) => &mut self.accepted,
            (What::Forged, 401, Said::Repeat | Said::Other) => &mut self.refused,
            (What::Unknown, 404, Said::Repeat | Said::Other) => &mut self.declined,
            (What::New | What::Repeat | What::Forged | What::Unknown, _, _) => &mut self.wrong,
        };
        *count += 1;
    }
}

/// What all requests share.
struct Mixing {
    mix: Mix,
    window: Mutex<Window>,
    idle: Idle,
}

impl Mix {
    pub(crate) async fn play(self) -> io::Result<()> {
        let (rate, requests) = (self.per_second.max(1), self.per_second * self.seconds);
        let mixing = Arc::new(Mixing {
            mix: self,
            window: Mutex::default(),
            idle: Idle::default(),
        });
        let start = clock::started();
        let mut under_way = JoinSet::new();
        for number in 0..requests {
            let after = Duration::from_nanos(number.saturating_mul(1_000_000_000) / rate);
            clock::at(start, after).await;
            if number > 0 && number % rate == 0 {
                mixing.tell();
            }
            while under_way.try_join_next().is_some() {}
            if under_way.len() >= CONNECTIONS {
                locked(&mixing.window).wrong += 1;
                continue;
            }
            let mixing = Arc::clone(&mixing);
            under_way.spawn(async move { mixing.send(&planned(number)).await });
        }
        while under_way.join_next().await.is_some() {}
        mixing.tell();
        Ok(())
    }
}

impl Mixing {
    fn tell(&self) {
        println!("{}", std::mem::take(&mut *locked(&self.window)).told());
    }

    fn request(&self, planned: &Planned) -> Option<Vec<u8>> {
        let Mix {
            to, path, secret, ..
        } = &self.mix;
        // A repeat has the body of what it repeats, so that one cannot say when it was sent.
        let sent_ns = match planned.length {
            0 => 0,
            _ => clock::now_ns(),
        };
        let body = event::body(sent_ns, planned.length);
        let signed = match planned.what {
            What::Forged => b"another body",
            What::New | What::Repeat | What::Unknown => body.as_slice(),
        };
        let path = match planned.what {
            What::Unknown => "/in/nobody",
            What::New | What::Repeat | What::Forged => path,
        };
        let request = Request {
            to,
            path,
            kind: planned.kind,
            id: &format!("mix-{}", planned.id),
            signature: &event::signature(secret, signed)?,
            body: &body,
        };
        Some(request.bytes())
    }

    async fn send(&self, planned: &Planned) {
        let started = clock::started();
        let Some(request) = self.request(planned) else {
            return;
        };
        let asked = Wire::asked(self.idle.take(), &self.mix.to, &request, PATIENCE).await;
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let Some((wire, answer)) = asked {
            let said = Said::of(wire.body());
            let mut window = locked(&self.window);
            window.answered(planned.what, answer.status, said, took);
            self.idle.give(wire);
        } else {
            locked(&self.window).wrong += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_in_a_row_hold_everything_and_a_repeat_has_the_body_of_what_it_repeats() {
        let all: Vec<Planned> = (20..40).map(planned).collect();
        let count = |what| all.iter().filter(|planned| planned.what == what).count();
        assert_eq!(count(What::New), 16);
        assert_eq!(count(What::Forged), 1);
        assert_eq!(count(What::Unknown), 1);
        for repeat in all.iter().filter(|planned| planned.what == What::Repeat) {
            assert_eq!((repeat.id, repeat.length), (33, all[13].length));
            assert_eq!(all[13].what, What::New);
        }
        for kind in [event::KIND, "slow", "failing"] {
            assert!(all.iter().any(|planned| planned.kind == kind), "{kind}");
        }
    }

    #[test]
    fn an_answer_that_must_not_be_is_wrong() {
        let mut window = Window::default();
        for (what, status) in [
            (What::New, 200),
            (What::New, 503),
            (What::Forged, 200),
            (What::Unknown, 404),
        ] {
            window.answered(what, status, Said::Other, 1);
        }
        assert_eq!((window.accepted, window.declined, window.wrong), (1, 1, 2));
    }
}
