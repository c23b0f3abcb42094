//! How the steps of a run share its time: one after the other, and none takes the turn of those behind it.

use std::time::Duration;

use futures_util::future::BoxFuture;
use switchboard_core::ports::Answer;
use switchboard_core::time::Clock;
use tokio::time::timeout;

use super::{Step, late};

/// Into how many parts the time is cut, of which each step behind has one for sure.
const PARTS: u32 = 12;

/// Takes the steps in their order; what each came to.
///
/// A step may take all the time that is left but for a twelfth of the whole for each one behind it. So with seven steps the
/// first has a half at most, each has a twelfth at least, in every run, whatever the others do; and what a step leaves is
/// for all that follow. Given up at the end of its turn, a step is where a death would leave it: those that go far keep how
/// far they came, so that turns of any length come to an end together.
pub(super) async fn take(
    steps: Vec<(Step, BoxFuture<'_, Answer<()>>)>,
    whole: Duration,
    clock: &dyn Clock,
) -> Vec<(Step, Answer<()>)> {
    let began = clock.ticks();
    let mut behind = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let mut came_to = Vec::new();
    for (step, taken) in steps {
        behind = behind.saturating_sub(1);
        let passed = clock.ticks().saturating_sub(began);
        let taken = timeout(turn(whole, passed, behind), taken).await;
        came_to.push((step, taken.unwrap_or_else(|_| Err(late()))));
    }
    came_to
}

/// How long the turn of a step is, with so many behind it.
fn turn(whole: Duration, passed: Duration, behind: u32) -> Duration {
    let kept = (whole / PARTS).saturating_mul(behind);
    whole.saturating_sub(passed).saturating_sub(kept)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::FutureExt;
    use switchboard_core::time::Timestamp;
    use switchboard_testkit::clock::HandClock;

    use super::*;

    /// Far longer than anything here takes.
    const DEADLINE: Duration = Duration::from_secs(20);

    #[test]
    fn each_step_has_a_twelfth_for_sure_and_what_the_others_leave() {
        let seconds = Duration::from_secs;
        let turn = |passed, behind| turn(seconds(24), seconds(passed), behind);
        assert_eq!(turn(0, 6), seconds(12), "the first of seven");
        for (passed, behind) in [(12, 5), (14, 4), (16, 3), (18, 2), (20, 1), (22, 0)] {
            let twelfth = turn(passed, behind);
            assert_eq!(twelfth, seconds(2), "where all before took all they could");
        }
        assert_eq!(turn(1, 5), seconds(13), "what the first one left");
        assert_eq!(turn(1, 0), seconds(23), "what six left");
        assert_eq!(turn(30, 0), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_step_that_never_ends_takes_no_others_turn() {
        let clock = HandClock::at(Timestamp::from_seconds(1_000));
        let endless = || pending::<Answer<()>>().boxed();
        let short = || {
            let some_time = async {
                tokio::task::yield_now().await;
                Ok(())
            };
            some_time.boxed()
        };
        for nth in 0..4 {
            let steps = (0..4).map(|n| if n == nth { endless() } else { short() });
            let steps = steps.map(|step| (Step::Near, step)).collect();
            let whole = Duration::from_millis(1_200);
            let taken = timeout(DEADLINE, take(steps, whole, &clock)).await;
            let ended: Vec<bool> = taken
                .expect("it is given up")
                .iter()
                .map(|(_, came_to)| came_to.is_ok())
                .collect();
            let expected: Vec<bool> = (0..4).map(|n| n != nth).collect();
            assert_eq!(ended, expected);
        }
    }
}
