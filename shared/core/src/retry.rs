//! The retry rule: how long after a failed attempt the next one is due, or that there is none.

use std::time::Duration;

use rand::{Rng, RngExt};

/// The pauses of a destination and how far chance moves them.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryRule {
    pauses: Vec<Duration>,
    jitter: f64,
}

/// Most pauses a rule may have.
pub const MOST_PAUSES: usize = 50;
/// Longest pause a rule may have.
pub const LONGEST_PAUSE: Duration = Duration::from_hours(7 * 24);

impl RetryRule {
    /// A rule of `pauses`, each moved by up to `jitter` (0 to 0.9) of itself either way; `None` when out of bounds.
    pub fn new(pauses: Vec<Duration>, jitter: f64) -> Option<Self> {
        let fits =
            pauses.len() <= MOST_PAUSES && pauses.iter().all(|pause| *pause <= LONGEST_PAUSE);
        (fits && (0.0..=0.9).contains(&jitter)).then_some(Self { pauses, jitter })
    }

    /// How many attempts one round has: the first, and one after each pause.
    pub fn attempts(&self) -> u32 {
        u32::try_from(self.pauses.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// The pauses as configured, without chance.
    pub fn pauses(&self) -> &[Duration] {
        &self.pauses
    }

    /// How far chance moves a pause, as a part of it.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// The pause after the `failed`-th failed attempt of a round (from 1), drawn evenly from the whole range;
    /// `None` when that was the round's last attempt.
    pub fn pause_after(&self, failed: u32, rng: &mut dyn Rng) -> Option<Duration> {
        let index = usize::try_from(failed.checked_sub(1)?).ok()?;
        self.pauses
            .get(index)
            .map(|pause| jittered(*pause, self.jitter, rng))
    }
}

impl Default for RetryRule {
    /// 2, 4, 8, 16 and 32 seconds, each up to a fifth longer or shorter.
    fn default() -> Self {
        Self {
            pauses: [2, 4, 8, 16, 32].map(Duration::from_secs).to_vec(),
            jitter: 0.2,
        }
    }
}

/// `pause`, longer or shorter by up to `jitter` of itself.
pub fn jittered(pause: Duration, jitter: f64, rng: &mut dyn Rng) -> Duration {
    let (shortest, longest) = (pause.mul_f64(1.0 - jitter), pause.mul_f64(1.0 + jitter));
    rng.random_range(shortest..=longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    const DRAWS: u32 = 4000;

    #[test]
    fn every_pause_stays_in_its_range_moves_both_ways_and_keeps_its_mean() {
        let rule = RetryRule::default();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for (failed, base) in (1..=5).zip([2.0, 4.0, 8.0, 16.0, 32.0]) {
            let drawn: Vec<f64> = (0..DRAWS)
                .map(|_| {
                    rule.pause_after(failed, &mut rng)
                        .expect("a pause")
                        .as_secs_f64()
                })
                .collect();
            assert!(
                drawn.iter().all(|s| (base * 0.8..=base * 1.2).contains(s)),
                "after {failed}: out of range"
            );
            assert!(
                drawn.iter().any(|s| *s < base * 0.82),
                "after {failed}: never near the short end"
            );
            assert!(
                drawn.iter().any(|s| *s > base * 1.18),
                "after {failed}: never near the long end"
            );
            let mean = drawn.iter().sum::<f64>() / f64::from(DRAWS);
            assert!(
                (mean / base - 1.0).abs() < 0.01,
                "after {failed}: mean {mean}"
            );
        }
    }

    #[test]
    fn the_sixth_failure_has_no_pause_after_it() {
        let rule = RetryRule::default();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        assert_eq!(rule.attempts(), 6);
        assert_eq!(rule.pause_after(6, &mut rng), None);
        assert_eq!(rule.pause_after(0, &mut rng), None);
        assert_eq!(rule.pause_after(u32::MAX, &mut rng), None);
    }

    #[test]
    fn without_jitter_a_pause_is_exact_and_bounds_are_kept() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let exact = RetryRule::new(vec![Duration::from_millis(50)], 0.0).expect("rule");
        assert_eq!(
            exact.pause_after(1, &mut rng),
            Some(Duration::from_millis(50))
        );
        assert_eq!(
            RetryRule::new(vec![LONGEST_PAUSE + Duration::from_secs(1)], 0.2),
            None
        );
        assert_eq!(RetryRule::new(vec![], 1.0), None);
        assert_eq!(RetryRule::new(vec![], f64::NAN), None);
    }
}
