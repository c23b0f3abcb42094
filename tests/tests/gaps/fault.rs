//! What can become of one call to a service.

use std::time::Duration;

use switchboard_testkit::proxy::Fate;
use switchboard_tests::lambda::Killer;

use crate::call::Call;

/// Longer than a client waits for one attempt of a call, so that the next one overtakes it.
const LATE: Duration = Duration::from_millis(1_700);

/// A fault of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No attempt of it reaches the service.
    Lost,
    /// The same for it and the next calls like it: more than one that is made again after a failure.
    Away,
    /// The service fails at each of them.
    Broken,
    /// The service takes none of them now.
    Throttled,
    /// All of them are carried out, and every answer is lost.
    AnswersLost,
    /// The first one is carried out, and its answer lost.
    AnswerLost,
    /// It is carried out twice.
    Doubled,
    /// The first attempt arrives behind the second one.
    Late,
    /// The last entry of the batch fails, and the same in the next batch.
    EntriesFailed,
    /// The last entry of the batch fails, once.
    EntryFailed,
    /// The service comes to no key of the batch but the last.
    KeysUnprocessed,
    /// The process dies before it is carried out.
    DiesBefore,
    /// The process dies behind it.
    DiesBehind,
}

impl Fault {
    const ALL: [Self; 13] = [
        Self::Lost,
        Self::Away,
        Self::Broken,
        Self::Throttled,
        Self::AnswersLost,
        Self::AnswerLost,
        Self::Doubled,
        Self::Late,
        Self::EntriesFailed,
        Self::EntryFailed,
        Self::KeysUnprocessed,
        Self::DiesBefore,
        Self::DiesBehind,
    ];

    /// All that can befall a call. One that only reads can do no more than fail, or be answered in part: what else happens to
    /// it is as if it had happened behind the call before it.
    pub(crate) fn all_of(call: &Call) -> Vec<Self> {
        let reads = call.reads();
        let is_batch = call.operation.ends_with("MessageBatch");
        // How a failure is told matters to the client alone, for each operation alike.
        let is_first = call.nth == 1;
        let fits = |fault: &Self| match fault {
            Self::Lost => true,
            Self::Broken | Self::Throttled => !reads && is_first,
            Self::Away
            | Self::AnswersLost
            | Self::AnswerLost
            | Self::Doubled
            | Self::Late
            | Self::DiesBefore
            | Self::DiesBehind => !reads,
            Self::EntriesFailed | Self::EntryFailed => is_batch && !reads,
            Self::KeysUnprocessed => call.operation == "BatchGetItem",
        };
        Self::ALL.into_iter().filter(fits).collect()
    }

    /// Whether each attempt of the call suffers it, or only the first.
    pub(crate) const fn is_of_every_attempt(self) -> bool {
        match self {
            Self::Lost
            | Self::Away
            | Self::Broken
            | Self::Throttled
            | Self::AnswersLost
            | Self::EntriesFailed
            | Self::DiesBefore
            | Self::DiesBehind => true,
            Self::AnswerLost
            | Self::Doubled
            | Self::Late
            | Self::EntryFailed
            | Self::KeysUnprocessed => false,
        }
    }

    /// How many calls alike suffer it, one behind the other.
    pub(crate) const fn calls(self) -> usize {
        match self {
            Self::Away => 4,
            Self::EntriesFailed => 2,
            Self::Lost
            | Self::Broken
            | Self::Throttled
            | Self::AnswersLost
            | Self::AnswerLost
            | Self::Doubled
            | Self::Late
            | Self::EntryFailed
            | Self::KeysUnprocessed
            | Self::DiesBefore
            | Self::DiesBehind => 1,
        }
    }

    /// What the proxy does for it.
    pub(crate) fn fate(self, killer: Killer) -> Fate {
        match self {
            Self::Lost | Self::Away => Fate::Lost,
            Self::Broken => Fate::Broken,
            Self::Throttled => Fate::Throttled,
            Self::AnswersLost | Self::AnswerLost => Fate::AnswerLost,
            Self::Doubled => Fate::Doubled,
            Self::Late => Fate::Late(LATE),
            Self::EntriesFailed | Self::EntryFailed => Fate::EntryFailed,
            Self::KeysUnprocessed => Fate::KeysUnprocessed,
            Self::DiesBefore => {
                killer.kill();
                Fate::Lost
            }
            Self::DiesBehind => Fate::Behind(Box::new(move || killer.kill())),
        }
    }
}
