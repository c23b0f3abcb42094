//! The answer to a delivery that was applied: kept with its key and given again to every later copy.

/// Longest body of an answer, in bytes: it is kept as long as its key, and nobody needs more of it.
pub const LONGEST_ANSWER: usize = 64 * 1024;

/// Why something is not an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// An answer is kept and given again, so one that is not a success would be given for ever.
    #[error(
        "the answer to what was applied has a status from 200 to 299; anything else is the effect's error"
    )]
    NotSuccess,
    /// Over [`LONGEST_ANSWER`].
    #[error("the body of an answer is longer than {LONGEST_ANSWER} bytes")]
    TooLong,
}

/// Status and body that say "applied".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Answer {
    /// 200 without a body.
    pub fn ok() -> Self {
        Self {
            status: 200,
            body: Vec::new(),
        }
    }

    /// A status from 200 to 299 with a body of at most [`LONGEST_ANSWER`] bytes.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Result<Self, AnswerError> {
        let body = body.into();
        if !(200..=299).contains(&status) {
            return Err(AnswerError::NotSuccess);
        }
        if body.len() > LONGEST_ANSWER {
            return Err(AnswerError::TooLong);
        }
        Ok(Self { status, body })
    }

    /// The HTTP status, from 200 to 299.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The bytes of the body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The answer as it stands in the store, whose own checks keep it within bounds.
    pub(crate) fn kept(status: u16, body: Vec<u8>) -> Self {
        Self { status, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_success_of_bounded_length_is_an_answer() {
        assert_eq!(Answer::new(204, "").map(|answer| answer.status()), Ok(204));
        for status in [0, 100, 199, 300, 409, 500] {
            assert_eq!(Answer::new(status, ""), Err(AnswerError::NotSuccess));
        }
        let longest = vec![b'x'; LONGEST_ANSWER];
        assert!(Answer::new(200, longest.clone()).is_ok());
        assert_eq!(
            Answer::new(200, [longest, vec![b'x']].concat()),
            Err(AnswerError::TooLong)
        );
    }
}
