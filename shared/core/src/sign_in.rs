//! Sign-ins that operators ended before their time: a cookie proves itself, so what is kept is which ones hold no more. Each is
//! kept until it would have ended anyway, and no more than a few: beyond them the oldest all end together.

use std::collections::BTreeSet;

use crate::time::Timestamp;

/// Longest text of an id, in bytes.
const LONGEST: usize = 64;

/// What a sign-in is told from others by; nobody can sign in with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignInId(String);

impl SignInId {
    /// Reads one: letters, digits, `-` and `_`, 64 at most.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=LONGEST).contains(&text.len());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (fits && text.bytes().all(is_plain)).then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A sign-in. Those that end sooner come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignIn {
    /// When it ends by itself.
    pub end: Timestamp,
    /// Which one it is.
    pub id: SignInId,
}

/// The sign-ins that hold no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// All that would end at this moment or before it.
    pub until: Option<Timestamp>,
    /// Each of the others.
    pub each: BTreeSet<SignIn>,
}

impl Ended {
    /// How many are kept one by one: what operators have set is read often, and stays small.
    pub const MOST: usize = 50;

    /// Whether a sign-in is among them.
    pub fn has(&self, sign_in: &SignIn) -> bool {
        self.until.is_some_and(|until| sign_in.end <= until) || self.each.contains(sign_in)
    }

    /// With one more at `now`, and without those that are over by then. Twice is once.
    #[must_use]
    pub fn with(mut self, sign_in: SignIn, now: Timestamp) -> Self {
        if !self.has(&sign_in) {
            self.each.insert(sign_in);
        }
        self.each.retain(|ended| now < ended.end);
        self.until = self.until.filter(|until| now < *until);
        while self.each.len() > Self::MOST {
            let Some(first) = self.each.pop_first() else {
                break;
            };
            self.until = self.until.max(Some(first.end));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    fn sign_in(end: i64, id: &str) -> SignIn {
        SignIn {
            end: at(end),
            id: SignInId::parse(id).expect("an id"),
        }
    }

    #[test]
    fn what_was_ended_holds_no_more_and_what_was_not_does() {
        let ended = Ended::default().with(sign_in(100, "a"), at(10));
        assert!(ended.has(&sign_in(100, "a")));
        assert!(!ended.has(&sign_in(100, "b")), "another of that second");
        assert!(!ended.has(&sign_in(99, "a")));
        assert_eq!(ended.clone().with(sign_in(100, "a"), at(10)), ended);
    }

    #[test]
    fn what_is_over_is_not_kept() {
        let ended = Ended::default().with(sign_in(100, "a"), at(10));
        let later = ended.with(sign_in(200, "b"), at(100));
        assert_eq!(later.each, BTreeSet::from([sign_in(200, "b")]));
        let over = Ended::default().with(sign_in(100, "a"), at(100));
        assert_eq!(over, Ended::default());
    }

    #[test]
    fn beyond_the_most_the_oldest_end_together_and_none_holds_again() {
        let mut ended = Ended::default();
        let all: Vec<SignIn> = (0..200)
            .map(|n| sign_in(1_000 + n, &format!("s{n}")))
            .collect();
        for sign_in in &all {
            ended = ended.with(sign_in.clone(), at(10));
            assert!(ended.each.len() <= Ended::MOST);
        }
        for sign_in in &all {
            assert!(ended.has(sign_in), "{sign_in:?}");
        }
        let fresh = sign_in(1_200, "fresh");
        assert!(!ended.has(&fresh), "whoever signed in since stays so");
        let twice = ended.clone().with(all[0].clone(), at(10));
        assert_eq!(twice, ended, "what ended with others is not kept again");
        let after = ended.with(fresh, at(1_199));
        assert_eq!((after.until, after.each.len()), (None, 1), "all over");
    }

    #[test]
    fn an_id_is_short_and_plain() {
        for bad in ["", "a.b", "a b", "ä", &"a".repeat(65)] {
            assert_eq!(SignInId::parse(bad), None, "{bad}");
        }
        assert!(SignInId::parse("Ab-_9").is_some());
    }
}
