//! Who is an operator: the admin token, the cookie that a sign-in gives, and the codes of one-time links. Decides
//! over texts only; comparisons are the MAC's own.
//!
//! A cookie proves itself by the admin token. So any number of processes that share the token know each other's sign-ins, and
//! a new token ends every sign-in at once, in each process as it gets it. Only what was ended before its time is kept, among
//! what operators have set. One-time links and the count of failed sign-ins are of one process.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use switchboard_core::secret::Secret;
use switchboard_core::sign_in::{SignIn, SignInId};
use switchboard_core::time::Timestamp;

/// The cookie's name.
pub(super) const COOKIE: &str = "switchboard-session";
/// Bytes that tell a sign-in from others.
const ID: usize = 16;
/// How long a sign-in holds.
pub(super) const SIGNED_IN_FOR: Duration = Duration::from_hours(12);

/// The admin token, ready to be compared with. Its keys are made of the token alone: a restart keeps every cookie
/// good, and a new token ends them all.
pub(super) struct AdminToken {
    token: Hmac<Sha256>,
    expected: [u8; 32],
    session: Hmac<Sha256>,
}

impl AdminToken {
    pub(super) fn new(token: &Secret) -> Self {
        let text = token.expose().trim();
        let root = keyed(&Sha256::digest(text).into());
        let part = |purpose: &str| keyed(&over(&root, purpose).finalize().into_bytes().into());
        let (token, session) = (part("switchboard admin token"), part("switchboard session"));
        Self {
            expected: over(&token, text).finalize().into_bytes().into(),
            token,
            session,
        }
    }

    /// Whether a text is the token; spaces that were pasted with it do not count.
    pub(super) fn is(&self, presented: &str) -> bool {
        over(&self.token, presented.trim())
            .verify_slice(&self.expected)
            .is_ok()
    }

    /// The value of a cookie that holds from `now` on: its end in seconds since 1970, what tells it from others, and the MAC
    /// over both.
    pub(super) fn cookie(&self, now: Timestamp, random: &[u8; 32]) -> String {
        let end = now.plus(SIGNED_IN_FOR).seconds();
        let id = BASE64URL_NOPAD.encode(random.first_chunk::<ID>().unwrap_or(&[0; ID]));
        let told = format!("{end}.{id}");
        let mac = over(&self.session, &told).finalize().into_bytes();
        format!("{told}.{}", BASE64URL_NOPAD.encode(&mac))
    }

    /// The sign-in whose cookie this is, where we made it and it is not over at `now`.
    pub(super) fn made(&self, value: &str, now: Timestamp) -> Option<SignIn> {
        let (told, mac) = value.rsplit_once('.')?;
        let mac = BASE64URL_NOPAD.decode(mac.as_bytes()).ok()?;
        over(&self.session, told).verify_slice(&mac).ok()?;
        let (end, id) = told.split_once('.')?;
        let end = end.parse().ok().filter(|end| now.seconds() < *end)?;
        Some(SignIn {
            end: Timestamp::from_seconds(end),
            id: SignInId::parse(id)?,
        })
    }
}

fn over(mac: &Hmac<Sha256>, text: &str) -> Hmac<Sha256> {
    mac.clone().chain_update(text)
}

/// HMAC under 32 bytes: padded to the hash's block by hand, as HMAC itself does, which cannot fail.
fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    Hmac::new(&block.into())
}

/// Over which connections the cookie may travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CookieScope {
    /// https only.
    HttpsOnly,
    /// http too.
    AnyScheme,
}

impl CookieScope {
    /// The header's value that keeps `value` for as long as a sign-in holds.
    pub(super) fn keep(self, value: &str) -> String {
        self.header(value, SIGNED_IN_FOR)
    }

    /// The header's value that takes the cookie away.
    pub(super) fn forget(self) -> String {
        self.header("", Duration::ZERO)
    }

    fn header(self, value: &str, age: Duration) -> String {
        let secure = match self {
            Self::HttpsOnly => "; Secure",
            Self::AnyScheme => "",
        };
        format!(
            "{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{secure}",
            age.as_secs()
        )
    }
}

/// The codes of one-time links that were not used yet, as digests: looking one up tells nothing of another.
#[derive(Default)]
pub(super) struct OneTimeCodes(BTreeSet<[u8; 32]>);

impl OneTimeCodes {
    /// Makes a code of random bytes.
    pub(super) fn issue(&mut self, random: &[u8; 32]) -> String {
        let code = BASE64URL_NOPAD.encode(random);
        self.0.insert(Sha256::digest(&code).into());
        code
    }

    /// Uses a code up; whether it was good.
    pub(super) fn take(&mut self, code: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(code).into();
        self.0.remove(&digest)
    }
}

/// When the last failed sign-ins by token were, in ticks: a token that a person chose must not be guessed through
/// the form. Requests with the token in a header are not limited, or any stranger could lock programs out.
#[derive(Default)]
pub(super) struct FailedSignIns(VecDeque<Duration>);

impl FailedSignIns {
    /// Failed sign-ins allowed within [`Self::WITHIN`].
    pub(super) const MOST: usize = 10;
    /// How long a failed sign-in counts.
    pub(super) const WITHIN: Duration = Duration::from_mins(1);

    /// How long until the next sign-in is looked at; `None` when it is now.
    pub(super) fn pause(&mut self, ticks: Duration) -> Option<Duration> {
        self.0
            .retain(|failed| ticks.saturating_sub(*failed) < Self::WITHIN);
        let first = self.0.front().filter(|_| self.0.len() >= Self::MOST)?;
        Some(first.saturating_add(Self::WITHIN).saturating_sub(ticks))
    }

    /// Counts a failed one.
    pub(super) fn count(&mut self, ticks: Duration) {
        self.0.push_back(ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> AdminToken {
        AdminToken::new(&Secret::new(text).expect("token"))
    }

    #[test]
    fn only_the_token_itself_is_the_token() {
        let right = token("correct horse battery staple");
        assert!(right.is("correct horse battery staple"));
        assert!(right.is(" correct horse battery staple\n"), "as pasted");
        for wrong in [
            "",
            "correct",
            "correct horse battery staplE",
            "correct horse battery staple2",
        ] {
            assert!(!right.is(wrong), "{wrong:?} is another text");
        }
    }

    #[test]
    fn a_cookie_holds_for_twelve_hours_over_restarts_and_ends_with_its_token() {
        let now = Timestamp::from_seconds(1_000_000);
        let cookie = token("one").cookie(now, &[7; 32]);
        let made = |text: &str, at| token(text).made(&cookie, at);
        let sign_in = made("one", now).expect("after a restart");
        assert_eq!(sign_in.end, now.plus(SIGNED_IN_FOR));
        let last = now.plus(SIGNED_IN_FOR.saturating_sub(Duration::from_secs(1)));
        assert_eq!(made("one", last), Some(sign_in));
        assert_eq!(made("one", now.plus(SIGNED_IN_FOR)), None);
        assert_eq!(made("two", now), None, "another token");
    }

    #[test]
    fn two_sign_ins_of_one_second_are_told_from_each_other() {
        let now = Timestamp::from_seconds(1_000_000);
        let of = |random| {
            let cookie = token("one").cookie(now, &[random; 32]);
            token("one").made(&cookie, now).expect("ours")
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn a_cookie_that_was_changed_is_not_ours() {
        let now = Timestamp::from_seconds(1_000_000);
        let right = token("one");
        let cookie = right.cookie(now, &[7; 32]);
        let (told, mac) = cookie.rsplit_once('.').expect("two parts");
        let (end, id) = told.split_once('.').expect("two parts");
        for forged in [
            format!("9{told}.{mac}"),
            format!("{told}a.{mac}"),
            format!("{told}."),
            format!("{told}.{}", &mac[..20]),
            format!("+{told}.{mac}"),
            format!("{end}.{mac}"),
            format!("{end}..{mac}"),
            format!("{id}.{mac}"),
            told.to_owned(),
            String::new(),
        ] {
            assert_eq!(right.made(&forged, now), None, "{forged}");
        }
    }

    #[test]
    fn a_code_is_good_once() {
        let mut codes = OneTimeCodes::default();
        let (first, second) = (codes.issue(&[1; 32]), codes.issue(&[2; 32]));
        assert!(!codes.take(""));
        assert!(codes.take(&first));
        assert!(!codes.take(&first));
        assert!(codes.take(&second), "another link stays good");
    }

    #[test]
    fn ten_failed_sign_ins_a_minute_are_looked_at_and_no_more() {
        let mut failed = FailedSignIns::default();
        for second in 0..10 {
            assert_eq!(failed.pause(Duration::from_secs(second)), None);
            failed.count(Duration::from_secs(second));
        }
        let at = |second| Duration::from_secs(second);
        assert_eq!(failed.pause(at(10)), Some(at(50)));
        assert_eq!(failed.pause(at(60)), None, "the first no longer counts");
        failed.count(at(60));
        assert_eq!(failed.pause(at(60)), Some(at(1)));
    }
}
