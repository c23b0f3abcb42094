//! What the template says, where the emulator would not show it: it ignores much of it, and AWS would tell at a deployment
//! only, or never.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod alarms;
mod functions;
mod queues;
mod rights;
mod standing;
mod table;

use serde_json::{Value, json};
use switchboard_cloud::template::template;

/// The functions, by their names in the template.
const FUNCTIONS: [&str; 4] = ["Ingress", "Worker", "Status", "Keeper"];

/// A resource of the template, of this type.
fn resource(name: &str, kind: &str) -> Value {
    let found = template()["Resources"][name].clone();
    assert_eq!(found["Type"], kind, "{name}");
    found
}

/// The properties of a resource of this type.
fn properties(name: &str, kind: &str) -> Value {
    resource(name, kind)["Properties"].take()
}

/// A parameter of the template.
fn parameter(name: &str) -> Value {
    let found = template()["Parameters"][name].clone();
    assert!(found.is_object(), "there is no parameter {name}");
    found
}

/// The names of all resources of a type.
fn named(kind: &str) -> Vec<String> {
    let template = template();
    let resources = template["Resources"].as_object().expect("resources");
    let of_kind = resources.iter().filter(|(_, held)| held["Type"] == kind);
    of_kind.map(|(name, _)| name.clone()).collect()
}

/// A reference to a parameter or resource.
fn reference(name: &str) -> Value {
    json!({ "Ref": name })
}

/// An attribute of a resource.
fn attribute(resource: &str, attribute: &str) -> Value {
    json!({ "Fn::GetAtt": [resource, attribute] })
}
