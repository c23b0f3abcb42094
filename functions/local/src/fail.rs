//! What a test has happen at fail points, told by `SWITCHBOARD_FAIL`: `NAME=stop` (dies there, as by a crash),
//! `NAME=stop:3` (the third time), `NAME=slow:20` (waits 20 ms each time), `NAME=panic`; several with commas. Debug builds only.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_core::fail::{self, FailPoint};

use crate::end::Failed;

/// What happens at a point.
#[derive(Debug)]
enum Action {
    /// The process dies when the point is reached for this many more times.
    Stop(AtomicU64),
    /// The thread waits.
    Slow(Duration),
    /// The thread panics.
    Panic,
}

impl Action {
    fn read(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "stop" => Some(Self::Stop(AtomicU64::new(1))),
            None if text == "panic" => Some(Self::Panic),
            Some(("stop", time)) => Some(Self::Stop(AtomicU64::new(time.parse().ok()?))),
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
        }
    }
}

#[expect(clippy::panic, reason = "this is what the test wants")]
fn break_off() {
    panic!("as a fail point wants")
}

fn read(plan: &str) -> Result<BTreeMap<FailPoint, Action>, Failed> {
    let one = |part: &str| {
        let (name, action) = part.split_once('=')?;
        Some((FailPoint::named(name)?, Action::read(action)?))
    };
    plan.split(',')
        .map(|part| {
            one(part).ok_or_else(|| {
                Failed::configuration(format!("SWITCHBOARD_FAIL: {part:?} is no fail point"))
            })
        })
        .collect()
}

/// Installs what `plan` says; nothing without one.
pub(crate) fn install(plan: Option<&str>) -> Result<(), Failed> {
    let Some(plan) = plan.filter(|_| cfg!(debug_assertions)) else {
        return Ok(());
    };
    let plan = read(plan)?;
    fail::install(Box::new(move |point| {
        if let Some(action) = plan.get(&point) {
            action.act();
        }
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_points_and_what_happens_there() {
        let plan = "after-commit=stop:3,before-commit=slow:20,before-telling=panic";
        let plan = read(plan).expect("a plan");
        assert_eq!(
            format!("{plan:?}"),
            "{BeforeCommit: Slow(20ms), AfterCommit: Stop(3), BeforeTelling: Panic}"
        );
        for bad in [
            "",
            "after-commit",
            "after-lunch=stop",
            "after-commit=stop:x",
            "after-commit=go",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
