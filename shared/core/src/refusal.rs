//! Why a request was not accepted: refused (401, the signature did not hold) or declined (400, 404, 413, 503).
//! The sender is told next to nothing; what operators are told is made here.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::names::SourceName;
use crate::piece::Piece;
use crate::scheme::TOLERANCE;
use crate::time::Timestamp;

/// Why a signature did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The header is absent or empty.
    #[error("missing signature: the header {header} is not there or empty")]
    MissingHeader {
        /// Its name.
        header: &'static str,
    },
    /// The header came more than once.
    #[error("the header {header} came more than once")]
    RepeatedHeader {
        /// Its name.
        header: &'static str,
    },
    /// The header is not of the scheme's form.
    #[error("the header {header} is malformed: {why}")]
    MalformedHeader {
        /// Its name.
        header: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No signature in the header can be decoded to the length that signatures have.
    #[error(
        "the header {header} is malformed: no signature in it is of the scheme's encoding and length"
    )]
    MalformedSignature {
        /// Its name.
        header: &'static str,
    },
    /// The form is right and the value is not.
    #[error("the signature is not that of any secret of this source")]
    NoSecretMatched,
    /// The signature holds, the signed time is too far from ours.
    #[error("the signature holds but its time is more than {} s from ours", TOLERANCE.as_secs())]
    TimeOutside,
}

/// What would have made the signature hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NearMiss {
    /// The sender used the secret as text where it is to be decoded.
    #[error("it holds for the secret used as text, undecoded")]
    SecretAsText,
    /// The sender used the secret without its prefix.
    #[error("it holds for the secret without its prefix")]
    SecretWithoutPrefix,
    /// The sender decoded the secret where it is to be used as text.
    #[error("it holds for the secret decoded from base64; this scheme uses it as text")]
    SecretFromBase64,
    /// The sender decoded the secret from hex.
    #[error("it holds for the secret decoded from hex; this scheme does not")]
    SecretFromHex,
    /// The sender's secret ends in a line end.
    #[error("it holds for the secret with a line end behind it: the sender's copy has one")]
    SecretWithLineEnd,
    /// The body lost a line end on the way.
    #[error("it holds for the body with a line end behind it: something on the way cut it off")]
    BodyWithLineEnd,
    /// The body won a line end on the way.
    #[error("it holds for the body without its last line end: something on the way added it")]
    BodyWithoutLineEnd,
    /// Right value, wrong encoding.
    #[error("its value is right but written in {written} where {due} is due")]
    OtherEncoding {
        /// How it is written.
        written: &'static str,
        /// How it should be.
        due: &'static str,
    },
    /// Another source's secret.
    #[error(
        "it holds for a secret of the source {0}: posted to the wrong address, or the secrets are swapped"
    )]
    OtherSource(SourceName),
}

/// Why a request whose signature held cannot be stored, or a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// No id: a repeat could not be told.
    #[error("the header {header} is missing")]
    MissingHeader {
        /// Its name.
        header: &'static str,
    },
    /// Which of them would be the id?
    #[error("the header {header} came more than once")]
    RepeatedHeader {
        /// Its name.
        header: &'static str,
    },
    /// Not UTF-8.
    #[error("the header {header} is not UTF-8 text")]
    HeaderNotText {
        /// Its name.
        header: &'static str,
    },
    /// Destinations would turn it away for ever.
    #[error("it has over 64 headers, or over 12 KiB of them")]
    HeadersTooLarge,
    /// Over the longest length.
    #[error("the id is longer than 1024 bytes or empty")]
    IdLength,
    /// Over the longest length.
    #[error("the kind is longer than 255 bytes")]
    KindTooLong,
    /// Not JSON, or id and type are no texts, or stand twice.
    #[error("the body is not readable")]
    BodyNotReadable,
    /// JSON without an id.
    #[error("the body has no id")]
    BodyWithoutId,
    /// The connection broke, stalled or sent nonsense before the whole body was there.
    #[error("the body did not arrive whole")]
    BodyNotWhole,
}

/// Why a request was answered 400, 404, 413 or 503.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// 400.
    #[error("{0}")]
    Unreadable(Unreadable),
    /// 404.
    #[error("no source of that name")]
    UnknownSource,
    /// 413.
    #[error("the body is over the limit")]
    TooLarge,
    /// 503.
    #[error("the store could not take it")]
    StoreUnavailable,
    /// 503.
    #[error("too many requests at once")]
    Overloaded,
}

impl Cause {
    /// The status it is answered with.
    pub const fn status(self) -> u16 {
        match self {
            Self::Unreadable(_) => 400,
            Self::UnknownSource => 404,
            Self::TooLarge => 413,
            Self::StoreUnavailable | Self::Overloaded => 503,
        }
    }
}

/// What operators see of a refusal. Holds no signature, no secret and nothing of the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub reason: String,
    /// How many secrets were tried.
    pub secrets_tried: usize,
    /// Ours minus the sender's time, in seconds, where the request carried one.
    pub clock_distance_s: Option<i64>,
    /// The body's length in bytes.
    pub body_length: usize,
    /// The content type, cleaned and cut.
    pub content_type: Piece,
    /// What would have made it hold, where something was found.
    pub near_miss: Option<String>,
}

impl Refusal {
    /// One line with all of it, for a terminal.
    pub fn line(&self) -> String {
        let mut line = self.reason.clone();
        if let Some(near) = &self.near_miss {
            line.push_str("; near miss: ");
            line.push_str(near);
        }
        if let Some(distance) = self.clock_distance_s {
            line = format!("{line}; clocks {distance} s apart");
        }
        format!(
            "{line}; secrets tried: {}; body: {} bytes, content type {:?}",
            self.secrets_tried,
            self.body_length,
            self.content_type.as_str()
        )
    }
}

/// How many entries of a list, refusals or declined requests, are written out in full; all are counted, whatever this
/// allows.
#[derive(Debug)]
pub struct DetailBudget {
    left: u32,
    since: Timestamp,
}

impl DetailBudget {
    /// Written out at once at most, after a quiet time.
    pub const BURST: u32 = 20;
    /// One more for each time this long goes by.
    pub const EVERY: Duration = Duration::from_millis(200);

    /// A full budget.
    pub fn new(now: Timestamp) -> Self {
        Self {
            left: Self::BURST,
            since: now,
        }
    }

    /// Takes one from the budget, if there is one.
    pub fn take(&mut self, now: Timestamp) -> bool {
        let earned = now.since(self.since).as_millis() / Self::EVERY.as_millis();
        if earned > 0 || now < self.since {
            self.left = self
                .left
                .saturating_add(u32::try_from(earned).unwrap_or(Self::BURST))
                .min(Self::BURST);
            self.since = now;
        }
        let allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_written_out_at_a_bounded_rate_only() {
        let mut budget = DetailBudget::new(Timestamp::from_millis(0));
        let written = (0..100_000)
            .filter(|ms| budget.take(Timestamp::from_millis(*ms / 10)))
            .count();
        // 10 seconds at 10,000 a second.
        assert!((60..=70).contains(&written), "{written}");
        assert!(
            budget.take(Timestamp::from_millis(60_000)),
            "quiet time fills it again"
        );
    }
}
