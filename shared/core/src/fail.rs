//! Fail points: named places between two effects, where a test kills the process, makes a step fail or slows it down.
//!
//! Only a debug build has them: in a release build [`reach`] is empty. The binary says what happens at which one
//! ([`install`]); nothing here reads the environment or ends a process.

use std::sync::OnceLock;

/// Declares the points once: their names, in one place, so that a test can go through all of them.
macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// A place between two effects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FailPoint {
            $($(#[$doc])* $point,)*
        }

        impl FailPoint {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$point,)*];

            /// Its name, as it is written in the environment.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$point => $name,)*
                }
            }
        }
    };
}

points! {
    /// A request is proven and read; nothing of it is stored.
    BeforeAccept = "before-accept",
    /// The steps of a batch stand in an open transaction; nothing is on disk.
    BeforeCommit = "before-commit",
    /// The transaction is on disk; nobody knows it yet.
    AfterCommit = "after-commit",
    /// The same, where nothing catches a panic any more; no lane is told.
    BeforeTelling = "before-telling",
    /// The event and its deliveries are stored; its sender has no answer.
    BeforeAnswer = "before-answer",
    /// A request is refused or declined; it is not counted, and its sender has no answer.
    BeforeNote = "before-note",
    /// It is counted; its sender has no answer.
    AfterNote = "after-note",
    /// The store takes steps again; what could only be counted in memory meanwhile is not written.
    BeforeEarlierCounts = "before-earlier-counts",

    /// An attempt is begun; nothing of it has left, nothing of it is stored.
    BeforeSending = "before-sending",
    /// The destination has answered, or has not in time; only this process knows.
    AfterSending = "after-sending",
    /// What follows from the outcome is drawn; nothing of it is stored.
    BeforeRecord = "before-record",
    /// The attempt and what follows are stored; the lane counts it as under way still.
    AfterRecord = "after-record",
    /// A lane has found that there is nowhere to deliver to; its deliveries are open.
    BeforeBury = "before-bury",
    /// Some or all of them are dead letters.
    AfterBury = "after-bury",
    /// A lane has found its destination held; what is due is waiting.
    BeforeShelve = "before-shelve",
    /// Some or all of it is held.
    AfterShelve = "after-shelve",

    /// A change of the settings is stored; this process still goes by what stood before.
    AfterSetting = "after-setting",
    /// A redrive is asked for; every dead letter is one still.
    BeforeRedrive = "before-redrive",
    /// A step of a redrive, a release or a clearing is stored; others are to come.
    BetweenSteps = "between-steps",
    /// A step of a replay is stored; others may be to come.
    BetweenRuns = "between-runs",
    /// All that was to be redriven waits; the operator has no answer.
    AfterRedrive = "after-redrive",
    /// A destination is not held any more; what was held of it still is.
    InRelease = "in-release",
    /// Your endpoint is cleared; its open copies are open still.
    InClearing = "in-clearing",

    /// The lanes have not started; nothing that a crash left half-way is looked for yet.
    BeforeRecover = "before-recover",
    /// A step of the recovery is stored; no lane is woken for it.
    AfterRecover = "after-recover",
    /// Events past their life are all there still, or those that earlier steps left.
    BeforeExpiry = "before-expiry",
    /// A step has removed some.
    AfterExpiry = "after-expiry",

    /// The data folder is made and locked; its database is an empty file, or as it was.
    FolderClaimed = "folder-claimed",
    /// The database is looked at; not one table of this version is made.
    BeforeMigration = "before-migration",
    /// The tables are made in an open transaction.
    InMigration = "in-migration",
    /// The tables are on disk; the database has no write-ahead log yet.
    AfterMigration = "after-migration",
    /// The store is open; nothing else is.
    StoreOpen = "store-open",
    /// The admin token is written under another name; there is none by its own.
    TokenWritten = "token-written",
    /// The ports are bound; nobody is served.
    BeforeServing = "before-serving",
    /// All that takes requests or delivers has ended; what could only be counted in memory is not written.
    BeforeLastWrite = "before-last-write",

    /// A backup's part is there and empty.
    BackupBegun = "backup-begun",
    /// The part is a whole copy, perhaps not on disk; the backup has no name.
    BackupCopied = "backup-copied",
    /// The backup has its name; so has its part.
    BackupNamed = "backup-named",

    /// The sample receivers' file is there, and empty or as it was.
    ReceiversClaimed = "receivers-claimed",
    /// A receiver has written its book in an open transaction; nothing is on disk.
    ReceiverBeforeCommit = "receiver-before-commit",
    /// Book and key are on disk; the delivery has no answer.
    ReceiverAfterCommit = "receiver-after-commit",
    /// A copy of what was applied is found out; it is not counted and has no answer.
    ReceiverBeforeCount = "receiver-before-count",
}

impl FailPoint {
    /// The point of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|point| point.as_str() == name)
    }
}

/// What happens at a point.
type Hook = Box<dyn Fn(FailPoint) + Send + Sync>;

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Says what happens at every point of this process from now on; only the first call counts.
pub fn install(hook: Hook) {
    drop(HOOK.set(hook));
}

/// A point is reached: does what was installed for it, which may be to end the process. Nothing in a release build.
#[inline]
pub fn reach(point: FailPoint) {
    if cfg!(debug_assertions)
        && let Some(hook) = HOOK.get()
    {
        hook(point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_name_of_its_own() {
        for point in FailPoint::ALL {
            assert_eq!(FailPoint::named(point.as_str()), Some(*point));
        }
        assert_eq!(FailPoint::named("after-lunch"), None);
    }
}
