//! The signature check and what follows it, on requests of any form: the first line names the scheme, the second is
//! the secret, the third the present in seconds since 1970; then headers and body.

use switchboard_core::configuration::Source;
use switchboard_core::ingress::explain;
use switchboard_core::names::SourceName;
use switchboard_core::refusal::NearMiss;
use switchboard_core::scheme::{ALL, Scheme, verify};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;

use crate::request;

/// The secret of the other source, which near misses are looked for with.
const OTHERS: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request that is accepted is not accepted with another body or without its signature; one that is refused is
/// explained in words that are ours alone.
pub fn claimed(input: &[u8]) {
    let told = request::read(input, 3);
    let name = request::text(told.first[0]);
    let Some(scheme) = Scheme::named(&name) else {
        return;
    };
    let Some(source) = source("one", scheme, &request::text(told.first[1])) else {
        return;
    };
    let now = request::text(told.first[2]).parse().unwrap_or_default();
    let now = Timestamp::from_seconds(now);
    match verify(scheme, source.keys(), &told.headers, told.body, now) {
        Ok(_) => {
            let longer = [told.body, b"\0"].concat();
            assert!(
                verify(scheme, source.keys(), &told.headers, &longer, now).is_err(),
                "accepted with a longer body"
            );
            assert!((scheme.claim)(&told.headers).is_ok(), "it was accepted");
            let mut without = told.headers.clone();
            // A sender may say the same by an older and by a newer name of its header.
            while let Ok(claim) = (scheme.claim)(&without)
                && without.remove(claim.header).is_some()
            {}
            let without = verify(scheme, source.keys(), &without, told.body, now);
            assert!(without.is_err(), "accepted without its signature");
            if let Ok(identity) = (scheme.identify)(&told.headers, told.body) {
                assert!(!identity.sender_id.as_str().is_empty());
            }
        }
        Err((reason, checked)) => {
            let others = ALL.map(source_of_others);
            let all: Vec<Source> = others.into_iter().flatten().collect();
            let refusal = explain(&source, &all, &told.headers, told.body, reason, checked);
            assert_eq!(refusal.reason, reason.to_string());
            if let Some(near) = refusal.near_miss {
                assert!(is_ours(&near, &all), "{near:?} is not one of our sentences");
            }
            // What a refused request says is not read any further; it must not break when it is.
            let _ = (scheme.identify)(&told.headers, told.body);
        }
    }
}

fn source_of_others(scheme: &'static Scheme) -> Option<Source> {
    source(scheme.name, scheme, OTHERS)
}

fn source(name: &str, scheme: &'static Scheme, secret: &str) -> Option<Source> {
    let secret = Secret::new(secret)?;
    let key = (scheme.key)(&secret).ok()?;
    let name = SourceName::parse(name).expect("a name");
    Some(Source::new(name, scheme, vec![(secret, key)]))
}

/// Whether a near miss is told in one of the sentences there are.
fn is_ours(near: &str, all: &[Source]) -> bool {
    let encodings = [("hex", "base64"), ("base64", "hex")];
    let mut sentences = vec![
        NearMiss::SecretAsText,
        NearMiss::SecretWithoutPrefix,
        NearMiss::SecretFromBase64,
        NearMiss::SecretFromHex,
        NearMiss::SecretWithLineEnd,
        NearMiss::BodyWithLineEnd,
        NearMiss::BodyWithoutLineEnd,
    ];
    sentences.extend(encodings.map(|(written, due)| NearMiss::OtherEncoding { written, due }));
    sentences.extend(
        all.iter()
            .map(|source| NearMiss::OtherSource(source.name.clone())),
    );
    sentences.iter().any(|known| known.to_string() == near)
}
