//! What is sampled, what each of it may grow by, and whether it did.
//!
//! Compared are the medians of the second and of the last quarter: the first quarter is for caches to fill, and a median
//! does not care for a busy moment of a shared machine. What grows by design is not held to anything: the database, with
//! its events and dead letters, which lie on disk. Memory is for what is under way, and for SQLite's page caches, which
//! are full within seconds of this load.

use super::sample::Sample;

/// What a series may grow by from the second quarter to the last: to so many times its value, and so much more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Allowed {
    pub(crate) times: f64,
    pub(crate) more: f64,
}

/// One kind of what is sampled.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// `None`: it is reported only.
    pub(crate) allowed: Option<Allowed>,
    /// What a sample says of it; nothing when nothing came in its second.
    pub(crate) of: fn(&Sample) -> Option<f64>,
}

const fn allowed(times: f64, more: f64) -> Allowed {
    Allowed { times, more }
}

/// All that is sampled. Times double on a machine that gets busier, so they are held to more than that: what looks
/// through a history that grows takes many times as long.
pub(crate) const SERIES: [Series; 9] = [
    Series {
        name: "resident memory",
        unit: "MB",
        allowed: Some(allowed(1.05, 5.0)),
        of: |sample| Some(sample.memory),
    },
    Series {
        name: "file handles",
        unit: "",
        allowed: Some(allowed(1.0, 12.0)),
        of: |sample| Some(sample.handles),
    },
    Series {
        name: "threads",
        unit: "",
        allowed: Some(allowed(1.0, 4.0)),
        of: |sample| Some(sample.threads),
    },
    Series {
        name: "answer, p50",
        unit: "ms",
        allowed: Some(allowed(3.0, 20.0)),
        of: |sample| sample.answer_p50,
    },
    Series {
        name: "answer, p99",
        unit: "ms",
        allowed: Some(allowed(3.0, 200.0)),
        of: |sample| sample.answer_p99,
    },
    Series {
        name: "POST to arrival, p50",
        unit: "ms",
        allowed: Some(allowed(3.0, 20.0)),
        of: |sample| sample.arrival_p50,
    },
    Series {
        name: "POST to arrival, p99",
        unit: "ms",
        allowed: Some(allowed(3.0, 200.0)),
        of: |sample| sample.arrival_p99,
    },
    Series {
        name: "write-ahead log",
        unit: "MB",
        // A checkpoint is due at 16 MB and waits for whoever reads.
        allowed: Some(allowed(1.0, 16.0)),
        of: |sample| Some(sample.log_size),
    },
    Series {
        name: "database",
        unit: "MB",
        allowed: None,
        of: |sample| Some(sample.database_size),
    },
];

/// The medians that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Medians {
    pub(crate) second: f64,
    pub(crate) last: f64,
}

/// The medians of the second and the last quarter; nothing when a quarter has no value.
pub(crate) fn medians(values: &[Option<f64>]) -> Option<Medians> {
    let quarter = values.len() / 4;
    Some(Medians {
        second: median(values.get(quarter..2 * quarter)?)?,
        last: median(values.get(3 * quarter..)?)?,
    })
}

fn median(values: &[Option<f64>]) -> Option<f64> {
    let mut values: Vec<f64> = values.iter().copied().flatten().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Allowed {
    /// The most that the last median may be.
    pub(crate) fn most(self, medians: Medians) -> f64 {
        medians.second * self.times + self.more
    }
}

impl Series {
    pub(crate) fn medians(&self, samples: &[Sample]) -> Option<Medians> {
        let values: Vec<Option<f64>> = samples.iter().map(self.of).collect();
        medians(&values)
    }

    /// Whether it did not grow by more than it may. What was not measured did not hold.
    pub(crate) fn holds(&self, samples: &[Sample]) -> bool {
        match (self.allowed, self.medians(samples)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(allowed), Some(medians)) => medians.last <= allowed.most(medians),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: u32 = 120;

    fn memory(of: impl Fn(u32) -> f64) -> Vec<Sample> {
        let sample = |second| Sample {
            memory: of(second),
            ..Sample::default()
        };
        (0..SECONDS).map(sample).collect()
    }

    fn holds(samples: &[Sample]) -> bool {
        SERIES[0].holds(samples)
    }

    #[test]
    fn a_steady_growth_is_a_trend_and_filling_at_first_is_none() {
        assert!(holds(&memory(|_| 60.0)));
        // A kilobyte more with each of 200 requests a second.
        assert!(!holds(&memory(|second| 60.0 + 0.2 * f64::from(second))));
        assert!(holds(&memory(|second| f64::from(second.min(30)) * 2.0)));
    }

    #[test]
    fn noise_and_a_busy_moment_are_no_trend_and_do_not_hide_one() {
        let noise = |second: u32| f64::from(second * 7 % 11);
        assert!(holds(&memory(|second| 60.0 + noise(second))));
        let busy = |second: u32| {
            if (100..112).contains(&second) {
                900.0
            } else {
                0.0
            }
        };
        assert!(holds(&memory(|second| 60.0 + busy(second))));
        let early = |second: u32| {
            if (32..44).contains(&second) {
                900.0
            } else {
                0.0
            }
        };
        let grows = |second: u32| 0.4 * f64::from(second) + noise(second);
        assert!(!holds(&memory(|second| 60.0
            + early(second)
            + grows(second))));
    }

    #[test]
    fn what_was_not_measured_does_not_hold_and_what_is_reported_only_does() {
        let nothing = memory(|_| 60.0);
        let by_name = |name: &str| {
            let found = SERIES.iter().find(|series| series.name == name);
            found.expect("a series").holds(&nothing)
        };
        assert!(!by_name("answer, p50"), "no answer came");
        assert!(by_name("database"));
        assert!(!holds(&[]));
    }

    #[test]
    fn seconds_without_a_value_are_left_out() {
        let values: Vec<Option<f64>> = (0..40).map(|n| (n % 3 == 0).then_some(7.0)).collect();
        let found = medians(&values).expect("medians");
        assert_eq!((found.second, found.last), (7.0, 7.0));
    }
}
