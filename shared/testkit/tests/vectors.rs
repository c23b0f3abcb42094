//! The core's decisions against the vectors made with the senders' official libraries.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use switchboard_core::names::SourceName;
    use switchboard_core::scheme::{self, Identity, Scheme, SecretFault};
    use switchboard_testkit::vectors::{Expect, Grade, Vector, load, supported};

    /// What we make of a request.
    #[derive(Debug, PartialEq, Eq)]
    enum Decision {
        /// Its headers cannot be sent.
        Unsendable,
        /// Its source could not be configured.
        Unconfigured(SecretFault),
        Refused,
        /// The signature holds; its identity where it can be read.
        Accepted(Option<Identity>),
    }

    fn decide(vector: &Vector, scheme: &'static Scheme, body: &[u8]) -> Decision {
        let Some(headers) = vector.headers() else {
            return Decision::Unsendable;
        };
        let name = SourceName::parse("source").expect("name");
        let source = match vector.source(name, scheme) {
            Ok(source) => source,
            Err(fault) => return Decision::Unconfigured(fault),
        };
        match scheme::verify(scheme, source.keys(), &headers, body, vector.now()) {
            Ok(_) => Decision::Accepted((scheme.identify)(&headers, body).ok()),
            Err(_) => Decision::Refused,
        }
    }

    fn must() -> Vec<(Vector, &'static Scheme)> {
        supported(Grade::Must).expect("vectors")
    }

    /// The vector's own identity, where it gives one.
    fn assert_identity(vector: &Vector, decision: &Decision, id: &str) {
        let Decision::Accepted(Some(identity)) = decision else {
            panic!("{} ({}): {decision:?}", vector.id, vector.name);
        };
        assert_eq!(identity.sender_id.as_str(), id, "{}", vector.id);
        assert_eq!(
            identity.kind.as_str(),
            vector.event_type.as_deref().unwrap_or_default(),
            "{}",
            vector.id
        );
    }

    #[test]
    fn every_binding_vector_is_decided_as_it_must_be() {
        let mut ran: BTreeMap<(String, &str), u32> = BTreeMap::new();
        for (vector, scheme) in must() {
            let decision = decide(&vector, scheme, &vector.body());
            let about = format!("{} ({}): {}", vector.id, vector.name, vector.reason);
            assert_ne!(decision, Decision::Unsendable, "{about}");
            let (expected, held) = match vector.expect {
                Expect::Accept => ("accept", matches!(decision, Decision::Accepted(_))),
                Expect::Refuse => ("refuse", !matches!(decision, Decision::Accepted(_))),
            };
            assert!(held, "{about}: {expected} was due, not {decision:?}");
            *ran.entry((vector.sender.clone(), expected)).or_default() += 1;
        }
        let ran: Vec<(&str, &str, u32)> = ran
            .iter()
            .map(|((sender, expected), n)| (sender.as_str(), *expected, *n))
            .collect();
        let due = [
            ("github", "accept", 11),
            ("github", "refuse", 16),
            ("shopify", "accept", 10),
            ("shopify", "refuse", 14),
            ("standardwebhooks", "accept", 13),
            ("standardwebhooks", "refuse", 24),
            ("stripe", "accept", 13),
            ("stripe", "refuse", 25),
            ("svix", "accept", 1),
            ("svix", "refuse", 2),
        ];
        assert_eq!(ran, due, "vectors got lost on the way");
    }

    #[test]
    fn every_accepted_vector_is_known_by_its_senders_id_and_kind() {
        let mut ran = 0;
        for (vector, scheme) in must() {
            if let (Expect::Accept, Some(id)) = (vector.expect, &vector.event_id) {
                assert_identity(&vector, &decide(&vector, scheme, &vector.body()), id);
                ran += 1;
            }
        }
        assert_eq!(ran, 48, "vectors got lost on the way");
    }

    #[test]
    fn a_body_that_came_through_an_api_gateway_is_the_same_body() {
        let mut ran = 0;
        for (vector, scheme) in must() {
            let Some(body) = vector.gateway_body() else {
                assert_ne!(vector.family, "apigw", "{}: no readable body", vector.id);
                continue;
            };
            assert_eq!(body, vector.body(), "{}", vector.id);
            let id = vector.event_id.as_deref().expect("an id");
            assert_identity(&vector, &decide(&vector, scheme, &body), id);
            ran += 1;
        }
        assert_eq!(ran, 7, "vectors got lost on the way");
    }

    #[test]
    fn a_secret_that_cannot_be_used_makes_no_key() {
        let vectors = load().expect("vectors");
        let unconfigured: Vec<(&str, SecretFault)> = vectors
            .iter()
            .filter_map(
                |vector| match decide(vector, vector.scheme()?, &vector.body()) {
                    Decision::Unconfigured(fault) => Some((vector.id.as_str(), fault)),
                    Decision::Unsendable | Decision::Refused | Decision::Accepted(_) => None,
                },
            )
            .collect();
        let due = [
            ("stripe-067", SecretFault::Empty),
            ("standardwebhooks-072", SecretFault::NotBase64),
        ];
        assert_eq!(unconfigured, due);
    }

    /// What we decide where either way is harmless: a change of mind shows here.
    #[test]
    fn of_the_vectors_that_bind_nobody_these_are_accepted() {
        let free = supported(Grade::Free).expect("vectors");
        assert_eq!(free.len(), 49, "vectors got lost on the way");
        let accepted: Vec<String> = free
            .iter()
            .filter_map(
                |(vector, scheme)| match decide(vector, scheme, &vector.body()) {
                    Decision::Accepted(Some(_)) => Some(format!("{}: {}", vector.id, vector.name)),
                    Decision::Accepted(None) => {
                        Some(format!("{}: {}; then 400", vector.id, vector.name))
                    }
                    Decision::Unsendable | Decision::Unconfigured(_) | Decision::Refused => None,
                },
            )
            .collect();
        let due = [
            "stripe-014: non-UTF-8 body, MAC over the raw bytes",
            "stripe-016: body with UTF-8 BOM, MAC over the raw bytes",
            "stripe-017: empty body, right MAC; then 400",
            "stripe-061: huge header: 120 wrong v1, then the right one",
            "stripe-066: configured secret ends in a newline",
            "github-019: non-UTF-8 body, MAC over the raw bytes",
            "github-021: empty body, right MAC",
            "github-029: upper-case hex",
            "github-044: configured secret ends in a newline",
            "shopify-012: no X-Shopify-Webhook-Id",
            "shopify-013: no X-Shopify-Topic",
            "shopify-014: valid, \"Events\" delivery (shopify-* headers)",
            "shopify-026: empty body, right MAC",
            "shopify-040: space around the value",
            "standardwebhooks-013: non-UTF-8 body, MAC over the raw bytes",
            "standardwebhooks-015: empty body, right MAC",
            "standardwebhooks-021: svix-* headers on a plain Standard Webhooks source",
            "standardwebhooks-029: two spaces between signatures",
            "standardwebhooks-030: leading and trailing space",
            "standardwebhooks-062: huge header: 150 wrong, then the right one",
            "standardwebhooks-065: secret without base64 padding",
            "svix-003: both sets, svix-* right",
        ];
        assert_eq!(accepted, due);
    }
}
