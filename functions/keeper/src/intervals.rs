//! The keeper's intervals: the usual ones. In a debug build a test may shorten the one that it would have to wait for:
//! `SWITCHBOARD_KEEPER_HIDES` is how many seconds what is taken from a queue stays hidden.

use std::time::Duration;

use switchboard_aws::keeper::KeeperIntervals;
use switchboard_functions::environment::Environment;

/// Where that stands.
const HIDES: &str = "SWITCHBOARD_KEEPER_HIDES";

/// Those that the environment wants.
pub(crate) fn of(environment: &Environment) -> KeeperIntervals {
    let usual = KeeperIntervals::default();
    if !cfg!(debug_assertions) || environment.given(HIDES).is_none() {
        return usual;
    }
    let seconds = environment.parsed(HIDES, "a number of seconds", |value| value.parse().ok());
    KeeperIntervals {
        hide_taken: seconds.map_or(usual.hide_taken, Duration::from_secs),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_of_seconds_is_taken_for_one() {
        let told = |value: &str| -> Environment {
            let variables = [(HIDES.to_owned(), value.to_owned())];
            variables.into_iter().collect()
        };
        let usual = KeeperIntervals::default();
        assert_eq!(of(&Environment::default()), usual);
        assert_eq!(of(&told("3")).hide_taken, Duration::from_secs(3));
        let wrong = told("soon");
        assert_eq!(of(&wrong), usual);
        assert!(wrong.whole(Some(())).is_err(), "it is told");
    }
}
