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
    /// The steps of a batch stand in an open transaction; nothing is on disk.
    BeforeCommit = "before-commit",
    /// The transaction is on disk; nobody knows it yet.
    AfterCommit = "after-commit",
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
