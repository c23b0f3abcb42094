//! Reading again: what is stored, the secrets that it names, and which of both counts from then on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::complaint::Complaint;
use super::found::{AsFound, NOT_ANSWERED, values};
use super::{Applied, Current, Deployed, Unseen};
use crate::configuration::{self, Configuration, Fault, Origin, check_deployed_for};
use crate::ports::{Found, Stored, Version};
use crate::secret::{Secret, SecretName};

/// What whoever reads remembers from one time to the next.
#[derive(Default)]
pub(super) struct Turn {
    /// What was stored when it could be read last.
    stored: Option<Stored>,
    /// When it is looked at again, in ticks.
    pub(super) look: Duration,
    /// When the last look began, in ticks.
    pub(super) began: Option<Duration>,
    /// When the last look began that came to an end, in ticks: whatever stood then it has seen, or has said that it could not.
    pub(super) looked: Option<Duration>,
    /// For which version the secrets were read last, and when, in ticks.
    read: Option<(Version, Duration)>,
    /// The secrets of the configuration in use.
    secrets: BTreeMap<SecretName, Secret>,
    of_store: Complaint,
    of_text: Complaint,
    of_secrets: Complaint,
}

impl Deployed {
    /// Reads what is due at `now`. Whatever fails leaves what stands.
    pub(super) async fn refresh(&self, turn: &mut Turn, now: Duration) {
        self.hold_off(now);
        let looks = turn.look <= now;
        if looks {
            turn.look = now.saturating_add(self.every.look);
            turn.began = Some(now);
            self.look(turn).await;
        }
        if let Some(stored) = turn.stored.clone()
            && self.is_due(turn, stored.version, now)
        {
            self.take(turn, stored, now).await;
        }
        if looks {
            // Not before the secrets are read: whoever is cut off in between has seen nothing that counts.
            turn.looked = Some(now);
        }
        self.settle(turn);
    }

    /// Moves what is due on before it is read, so that one who is cut off in the middle does not make everybody after it
    /// read. While nothing stands everybody waits for the one who reads.
    fn hold_off(&self, now: Duration) {
        let mut shown = self.shown();
        if shown.current.is_some() {
            shown.due = now.saturating_add(self.every.look);
        }
    }

    /// Whether secrets are to be read for a version: for a new one at once, else after their time, or while nothing stands.
    fn is_due(&self, turn: &Turn, version: Version, now: Duration) -> bool {
        let fresh = turn
            .read
            .is_some_and(|(read, at)| read == version && now < self.end_of(at));
        !fresh || self.shown().current.is_none()
    }

    /// Until when secrets count that were read at `at`.
    fn end_of(&self, at: Duration) -> Duration {
        at.saturating_add(self.every.secrets)
    }

    /// What counts, if it is what the last look found.
    pub(super) fn found(&self, turn: &Turn) -> Result<Current, Unseen> {
        if let Some(why) = turn.of_store.line() {
            return Err(Unseen::Unusable(why.to_owned()));
        }
        let Some(stored) = &turn.stored else {
            return Err(Unseen::Unusable("none was applied yet".to_owned()));
        };
        let current = self.shown().current.clone();
        let is_it = |current: &Current| {
            let applied = current.applied;
            applied.is_some_and(|applied| applied.version == stored.version)
        };
        current.filter(is_it).ok_or_else(|| {
            let why = turn.of_text.line().unwrap_or("it is not in use yet");
            Unseen::Unusable(why.to_owned())
        })
    }

    /// Looks at what is stored.
    async fn look(&self, turn: &mut Turn) {
        match self.stored().await {
            Ok(Some(stored)) => {
                turn.of_store.over("the configuration can be read again");
                turn.stored = Some(stored);
            }
            // None that was there goes by itself.
            Ok(None) if turn.stored.is_some() => {
                turn.of_store
                    .is("what was applied is not stored any more".to_owned());
            }
            Ok(None) => {
                turn.of_store.over("the configuration can be read again");
                let never = || Current {
                    configuration: Arc::new(Configuration::empty()),
                    applied: None,
                };
                self.shown().current.get_or_insert_with(never);
            }
            Err(error) => turn.of_store.is(error.line()),
        }
    }

    /// Reads the secrets of a stored configuration and puts it in use, unless it cannot be used.
    async fn take(&self, turn: &mut Turn, stored: Stored, now: Duration) {
        let named = check_deployed_for(&stored.text, self.needs).secrets;
        let mut found = self.secrets.read(&named).await;
        turn.read = Some((stored.version, now));
        let mut kept = Vec::new();
        for name in named {
            let why = match found.get(&name) {
                Some(Ok(_)) => continue,
                Some(Err(why)) => why.clone(),
                None => NOT_ANSWERED.to_owned(),
            };
            if let Some(last) = turn.secrets.get(&name) {
                kept.push(format!("secret:{name}, whose last value stays: {why}"));
                found.insert(name, Ok(last.clone()));
            }
        }
        let as_found = AsFound(&found);
        match configuration::read_for(&stored.text, Origin::Deployed, self.needs, &as_found) {
            Ok(read) => {
                if kept.is_empty() {
                    turn.of_secrets.over("every secret can be read again");
                } else {
                    turn.of_secrets
                        .is(format!("not readable: {}", kept.join("; ")));
                }
                self.stand(turn, stored, read.configuration, found, now);
            }
            Err(faults) => {
                let why = format!("version {}: {}", stored.version, line(&faults));
                turn.of_text.is(why);
            }
        }
    }

    /// Puts a configuration in use, unless it is in use already.
    pub(super) fn stand(
        &self,
        turn: &mut Turn,
        stored: Stored,
        configuration: Configuration,
        found: Found,
        now: Duration,
    ) {
        let secrets = values(found);
        let applied = Applied {
            version: stored.version,
            at: stored.at,
        };
        turn.of_text.over("what is applied can be used again");
        turn.read = Some((stored.version, now));
        turn.stored = Some(stored);
        let mut shown = self.shown();
        let before = shown.current.as_ref().and_then(|current| current.applied);
        if before == Some(applied) && turn.secrets == secrets {
            return;
        }
        tracing::info!(
            configuration.version = applied.version.number(),
            sources = configuration.sources.len(),
            destinations = configuration.destinations.len(),
            routes = configuration.routes.len(),
            new_secrets = before == Some(applied),
            "configuration in use"
        );
        turn.secrets = secrets;
        shown.current = Some(Current {
            configuration: Arc::new(configuration),
            applied: Some(applied),
        });
    }

    /// Notes when something is due next, and why nothing stands if nothing does.
    pub(super) fn settle(&self, turn: &Turn) {
        let secrets = turn.read.map_or(Duration::MAX, |(_, at)| self.end_of(at));
        let mut shown = self.shown();
        shown.due = turn.look.min(secrets);
        let wrong = turn.of_store.line().or(turn.of_text.line());
        wrong.unwrap_or_default().clone_into(&mut shown.why);
    }
}

/// All faults, in one line.
fn line(faults: &[Fault]) -> String {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    faults.join("; ")
}
