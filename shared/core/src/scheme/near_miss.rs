//! What would have made a refused signature hold: found for operators, never told to the sender.

use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER_PERMISSIVE};
use http::HeaderMap;

use super::{Claim, Encoding, Key, Scheme, holds, standard_webhooks};
use crate::configuration::Source;
use crate::refusal::NearMiss;
use crate::secret::Secret;

/// Longest body, in bytes, for which a near miss is looked for: each try runs over the whole of it.
pub const LONGEST_BODY: usize = 1024 * 1024;
/// Most other sources whose secrets are tried.
const MOST_SOURCES: usize = 50;

/// Looks for a near miss of a request to `source` that was refused, among `all` sources.
pub fn find(source: &Source, all: &[Source], headers: &HeaderMap, body: &[u8]) -> Option<NearMiss> {
    if body.len() > LONGEST_BODY {
        return None;
    }
    let scheme = source.scheme;
    let claim = (scheme.claim)(headers).ok()?;
    let (due, written) = match scheme.encoding {
        Encoding::Hex => (Encoding::Hex, Encoding::Base64),
        Encoding::Base64 => (Encoding::Base64, Encoding::Hex),
    };
    let as_due = decoded(&claim, due);
    let as_written = decoded(&claim, written);
    for (secret, key) in source.secrets() {
        if holds(key, &claim.before, body, &as_written) {
            return Some(NearMiss::OtherEncoding {
                written: name(written),
                due: name(due),
            });
        }
        if holds(key, &claim.before, &[body, b"\n"].concat(), &as_due) {
            return Some(NearMiss::BodyWithLineEnd);
        }
        let cut = body
            .strip_suffix(b"\r\n")
            .or_else(|| body.strip_suffix(b"\n"));
        if cut.is_some_and(|cut| holds(key, &claim.before, cut, &as_due)) {
            return Some(NearMiss::BodyWithoutLineEnd);
        }
        for (key, near) in other_keys(scheme, secret) {
            if holds(&key, &claim.before, body, &as_due) {
                return Some(near);
            }
        }
    }
    let others = all
        .iter()
        .filter(|other| other.name != source.name)
        .take(MOST_SOURCES);
    others
        .flat_map(|other| other.secrets().map(move |secret| (other, secret)))
        .find_map(|(other, (secret, key))| {
            // Read by this source's rule and by its own: what counts is what the sender signed with.
            let keys = [(scheme.key)(secret).ok(), Some(key.clone())];
            let found = keys
                .iter()
                .flatten()
                .any(|key| holds(key, &claim.before, body, &as_due));
            found.then(|| NearMiss::OtherSource(other.name.clone()))
        })
}

fn decoded(claim: &Claim, encoding: Encoding) -> Vec<Vec<u8>> {
    claim
        .signatures
        .iter()
        .filter_map(|text| encoding.decode(text))
        .collect()
}

fn name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Hex => "hex",
        Encoding::Base64 => "base64",
    }
}

/// The keys that a sender may have made of the same secret by another scheme's rule.
fn other_keys(scheme: &Scheme, secret: &Secret) -> Vec<(Key, NearMiss)> {
    let text = secret.expose();
    let rest = text.split_once('_').map_or(text, |(_, rest)| rest);
    let unprefixed = text.strip_prefix(standard_webhooks::PREFIX).unwrap_or(text);
    let from_base64 = BASE64
        .decode(unprefixed.as_bytes())
        .or_else(|_| BASE64_NOPAD.decode(unprefixed.as_bytes()))
        .ok();
    let used_as_text = scheme.name != standard_webhooks::SCHEME.name;
    let mut candidates: Vec<(Option<Vec<u8>>, NearMiss)> = vec![
        (
            Some(format!("{text}\n").into_bytes()),
            NearMiss::SecretWithLineEnd,
        ),
        (
            Some(format!("{text}\r\n").into_bytes()),
            NearMiss::SecretWithLineEnd,
        ),
        (
            HEXLOWER_PERMISSIVE.decode(rest.as_bytes()).ok(),
            NearMiss::SecretFromHex,
        ),
    ];
    if used_as_text {
        candidates.push((
            Some(rest.as_bytes().to_vec()),
            NearMiss::SecretWithoutPrefix,
        ));
        candidates.push((from_base64, NearMiss::SecretFromBase64));
    } else {
        candidates.push((Some(text.as_bytes().to_vec()), NearMiss::SecretAsText));
        candidates.push((Some(unprefixed.as_bytes().to_vec()), NearMiss::SecretAsText));
    }
    let keyed = candidates
        .into_iter()
        .filter_map(|(bytes, near)| Some((Key::new(&bytes?).ok()?, near)));
    keyed.collect()
}
