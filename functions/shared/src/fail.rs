//! What a test has happen at fail points, told by `SWITCHBOARD_FAIL` as to the local binary: `NAME=stop` (dies there, as by
//! a crash), `NAME=stop:3` (the third time), `NAME=slow:20` (waits 20 ms each time), `NAME=panic` (each time). Here also
//! `NAME=panic:5` (the fifth time). Debug builds only.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_core::fail::{self, FailPoint};

use crate::environment::Environment;

/// Where the plan stands.
const PLAN: &str = "SWITCHBOARD_FAIL";

/// What happens at a point.
#[derive(Debug)]
enum Action {
    /// The process dies when the point is reached for this many more times.
    Stop(AtomicU64),
    /// The thread waits.
    Slow(Duration),
    /// The thread panics.
    Panic,
    /// It does at one of the next times, this many on, and at no other.
    PanicAt(AtomicU64),
}

impl Action {
    fn read(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "stop" => Some(Self::Stop(AtomicU64::new(1))),
            None if text == "panic" => Some(Self::Panic),
            Some(("stop", time)) => Some(Self::Stop(AtomicU64::new(time.parse().ok()?))),
            Some(("panic", time)) => Some(Self::PanicAt(AtomicU64::new(time.parse().ok()?))),
            Some(("slow", millis)) => Some(Self::Slow(Duration::from_millis(millis.parse().ok()?))),
            Some(_) | None => None,
        }
    }

    fn act(&self) {
        match self {
            Self::Stop(left) => {
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    std::process::abort();
                }
            }
            Self::Slow(pause) => std::thread::sleep(*pause),
            Self::Panic => break_off(),
            Self::PanicAt(left) => {
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    break_off();
                }
            }
        }
    }
}

#[expect(clippy::panic, reason = "this is what the test wants")]
fn break_off() {
    panic!("as a fail point wants")
}

fn read(plan: &str) -> Option<BTreeMap<FailPoint, Action>> {
    let one = |part: &str| {
        let (name, action) = part.split_once('=')?;
        Some((FailPoint::named(name)?, Action::read(action)?))
    };
    plan.split(',').map(one).collect()
}

/// Installs what the plan says; nothing without one.
pub(crate) fn install(environment: &Environment) {
    if !cfg!(debug_assertions) || environment.given(PLAN).is_none() {
        return;
    }
    if let Some(plan) = environment.parsed(PLAN, "a plan of fail points", read) {
        fail::install(Box::new(move |point| {
            if let Some(action) = plan.get(&point) {
                action.act();
            }
        }));
    }
}
