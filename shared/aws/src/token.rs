//! Tokens: what a write is known by, made once per call and the same over all that the SDK sends for it again.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use rand::Rng;

/// Random bytes of a token: no two calls ever draw the same.
const BYTES: usize = 16;

/// The token of one call. That of the call that stored an event is the event's life.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(Arc<str>);

impl Token {
    /// Takes a token as it was stored.
    pub(crate) fn stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The token as text: 22 characters of the alphabet for URLs.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Makes tokens.
pub(crate) struct Tokens(Mutex<Box<dyn Rng + Send>>);

impl Tokens {
    /// Tokens drawn from `rng`, which has to be one that nobody can foresee or repeat.
    pub(crate) fn new(rng: Box<dyn Rng + Send>) -> Self {
        Self(Mutex::new(rng))
    }

    /// A token that no call had before.
    pub(crate) fn fresh(&self) -> Token {
        let mut bytes = [0; BYTES];
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .fill_bytes(&mut bytes);
        Token(BASE64URL_NOPAD.encode(&bytes).into())
    }

    /// A pause below that, in whole milliseconds: two who draw one do not meet again.
    pub(crate) fn pause(&self, below: Duration) -> Duration {
        let most = u64::try_from(below.as_millis()).unwrap_or(u64::MAX).max(1);
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Duration::from_millis(rng.next_u64() % most)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens")
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::*;

    #[test]
    fn every_token_is_another_and_fits_into_a_key() {
        let tokens = Tokens::new(Box::new(ChaCha8Rng::seed_from_u64(7)));
        let made: std::collections::BTreeSet<_> = (0..1000).map(|_| tokens.fresh()).collect();
        assert_eq!(made.len(), 1000);
        for token in made {
            assert_eq!(token.as_str().len(), 22);
            assert!(!token.as_str().contains(['#', '=']));
        }
    }
}
