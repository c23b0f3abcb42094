//! Every sample is what its sender would send: it verifies, and it yields its id and kind.

use std::collections::BTreeSet;

use http::HeaderMap;
use switchboard_core::configuration::{self, Origin, Source};
use switchboard_core::names::Kind;
use switchboard_core::route::Plan;
use switchboard_core::scheme::{self, verify};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::time::Timestamp;

use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_769_850_000);

struct SampleSecrets;

impl SecretReader for SampleSecrets {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        match reference {
            Reference::Sample(text) => Ok(text.clone()),
            Reference::Environment(_) | Reference::File(_) | Reference::Secret(_) => {
                Err("not of the sample".to_owned())
            }
        }
    }
}

fn built_in() -> configuration::Configuration {
    let text = include_str!("../../../../switchboard.toml");
    let read = configuration::read(text, Origin::BuiltIn, &SampleSecrets).expect("a configuration");
    assert_eq!(
        read.warnings,
        Vec::<String>::new(),
        "nothing to be warned of"
    );
    read.configuration
}

fn check(source: &Source, sample: &Sample) -> HeaderMap {
    let key = source.keys().first().expect("key");
    let headers = signed(source.scheme, key, sample, NOW);
    let checked = verify(source.scheme, source.keys(), &headers, &sample.body, NOW);
    assert!(checked.is_ok(), "{}: {checked:?}", source.name);
    headers
}

#[test]
fn the_built_in_sample_is_a_configuration_with_a_source_of_every_scheme_and_known_routes() {
    let configuration = built_in();
    let schemes: BTreeSet<_> = configuration
        .sources
        .iter()
        .map(|source| source.scheme.name)
        .collect();
    assert_eq!(
        schemes,
        scheme::ALL.iter().map(|scheme| scheme.name).collect()
    );
    let names: Vec<_> = configuration
        .destinations
        .iter()
        .map(|d| d.name.as_str())
        .collect();
    assert_eq!(names, ["accounting", "warehouse", "chat", "crm"]);
    assert_eq!(configuration.routes.len(), 4);
}

#[test]
fn every_sample_verifies_and_yields_its_id_and_kind() {
    let configuration = built_in();
    for source in &configuration.sources {
        let usual = usual_kind(source.scheme);
        for kind in [
            usual,
            "orders/updated",
            "charge.refunded",
            "ping",
            "anything else",
            "größe",
        ] {
            let sample = sample(source.scheme, kind, NOW, [7; 16], None);
            let headers = check(source, &sample);
            let identity = (source.scheme.identify)(&headers, &sample.body).expect("identity");
            assert_eq!(
                identity.sender_id.as_str(),
                sample.id,
                "{kind} of {}",
                source.name
            );
            assert_eq!(identity.kind.as_str(), kind, "{kind} of {}", source.name);
            assert!(headers.contains_key("content-type") && headers.contains_key("user-agent"));
        }
    }
}

#[test]
fn the_usual_kinds_go_where_the_built_in_sample_says() {
    let configuration = built_in();
    let planned = |source: &Source| -> Vec<String> {
        let kind = Kind::new(usual_kind(source.scheme)).expect("kind");
        let plan = Plan::of(&configuration.routes, &source.name, &kind);
        let deliveries = plan.deliveries().iter();
        deliveries
            .map(|planned| format!("{}: {}", planned.destination, planned.action))
            .collect()
    };
    let expected: [(&str, &[&str]); 4] = [
        (
            "shop",
            &[
                "accounting: make-invoice",
                "warehouse: reserve-items",
                "chat: post-line",
            ],
        ),
        ("payments", &["accounting: mark-paid", "chat: post-line"]),
        ("code", &["chat: post-line"]),
        ("forms", &["crm: add-contact", "chat: post-line"]),
    ];
    for (source, (name, deliveries)) in configuration.sources.iter().zip(expected) {
        assert_eq!(source.name.as_str(), name);
        assert_eq!(planned(source), deliveries, "{name}");
    }
}

#[test]
fn two_samples_are_two_events() {
    for scheme in scheme::ALL {
        let kind = usual_kind(scheme);
        let ids: BTreeSet<_> = (0..100)
            .map(|n| sample(scheme, kind, NOW, [n; 16], None).id)
            .collect();
        assert_eq!(ids.len(), 100, "{}", scheme.name);
    }
}

#[test]
fn the_order_that_a_payment_is_for_is_made_of_the_same_bytes() {
    let json = |sample: Sample| serde_json::from_slice::<Value>(&sample.body).expect("json");
    let order = json(sample(
        &scheme::shopify::SCHEME,
        "orders/create",
        NOW,
        [9; 16],
        None,
    ));
    let payment = json(sample(
        &scheme::stripe::SCHEME,
        "payment_intent.succeeded",
        NOW,
        [9; 16],
        None,
    ));
    let object = &payment["data"]["object"];
    assert_eq!(
        order["name"],
        format!(
            "#{}",
            object["metadata"]["order_id"].as_str().expect("order")
        )
    );
    let cents = object["amount"].as_u64().expect("cents");
    assert_eq!(
        order["total_price"],
        format!("{}.{:02}", cents / 100, cents % 100)
    );
}

#[test]
fn a_body_of_ones_own_is_signed_byte_for_byte() {
    let own = b"{ \"id\": \"evt_own\",\n  \"type\": \"mine\" }\n".to_vec();
    for source in &built_in().sources {
        let sample = sample(source.scheme, "mine", NOW, [1; 16], Some(own.clone()));
        assert_eq!(sample.body, own);
        let headers = check(source, &sample);
        let identity = (source.scheme.identify)(&headers, &own).expect("identity");
        let id = if source.scheme.name == "stripe" {
            "evt_own"
        } else {
            sample.id.as_str()
        };
        assert_eq!(
            (identity.sender_id.as_str(), identity.kind.as_str()),
            (id, "mine")
        );
    }
}

#[test]
fn a_kind_that_cannot_stand_in_a_header_adds_none() {
    let source = built_in().sources.remove(0);
    let sample = sample(source.scheme, "a\r\nx-evil: 1", NOW, [1; 16], None);
    let headers = check(&source, &sample);
    assert!(!headers.contains_key("x-evil"));
    assert_eq!(headers["x-shopify-topic"], "a%0D%0Ax-evil:%201");
}
