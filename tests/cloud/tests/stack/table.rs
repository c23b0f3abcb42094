//! The table: what it costs, keeps, tells and finds.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_aws::schema::{INDEXES, KEY, Key, Projection, TTL};

use super::{named, parameter, properties, reference, resource};

fn table() -> Value {
    properties("Table", "AWS::DynamoDB::Table")
}

#[test]
fn the_table_is_paid_by_request_encrypted_and_streams_both_images() {
    assert_eq!(named("AWS::DynamoDB::Table"), ["Table"]);
    let table = table();
    assert_eq!(table["BillingMode"], "PAY_PER_REQUEST");
    let stream = json!({ "StreamViewType": "NEW_AND_OLD_IMAGES" });
    assert_eq!(table["StreamSpecification"], stream);
    assert_eq!(table["SSESpecification"], json!({ "SSEEnabled": true }));
}

#[test]
fn the_table_outlives_its_stack_and_is_protected_and_recoverable_unless_a_parameter_says_otherwise()
{
    let whole = resource("Table", "AWS::DynamoDB::Table");
    assert_eq!(whole["DeletionPolicy"], "Retain");
    assert_eq!(whole["UpdateReplacePolicy"], "Retain");
    let table = table();
    let protection = &table["DeletionProtectionEnabled"];
    assert_eq!(protection, &reference("DeletionProtection"));
    let recovery = json!({ "PointInTimeRecoveryEnabled": reference("PointInTimeRecovery") });
    assert_eq!(table["PointInTimeRecoverySpecification"], recovery);
    for name in ["DeletionProtection", "PointInTimeRecovery"] {
        let parameter = parameter(name);
        assert_eq!(parameter["Default"], "true", "{name}");
        assert_eq!(
            parameter["AllowedValues"],
            json!(["true", "false"]),
            "{name}"
        );
    }
}

/// A key as `CloudFormation` has it.
fn key(key: Key) -> Value {
    let mut written = vec![json!({ "AttributeName": key.partition, "KeyType": "HASH" })];
    written.extend(
        key.sort
            .map(|sort| json!({ "AttributeName": sort, "KeyType": "RANGE" })),
    );
    Value::Array(written)
}

/// What an index holds beside the keys, in no order.
fn held(projection: &Value) -> (Value, BTreeSet<&str>) {
    let attributes = projection["NonKeyAttributes"]
        .as_array()
        .into_iter()
        .flatten();
    let attributes = attributes.map(|name| name.as_str().expect("a name"));
    (projection["ProjectionType"].clone(), attributes.collect())
}

/// The backend's own description of its table, against which its tests run, is what is deployed.
#[test]
fn the_table_and_each_index_have_the_keys_and_hold_what_the_backend_reads_and_no_more() {
    let table = table();
    assert_eq!(table["KeySchema"], key(KEY));
    let ttl = json!({ "AttributeName": TTL, "Enabled": true });
    assert_eq!(table["TimeToLiveSpecification"], ttl);
    let indexes = table["GlobalSecondaryIndexes"].as_array().expect("indexes");
    assert_eq!(indexes.len(), INDEXES.len());
    for (found, due) in indexes.iter().zip(INDEXES) {
        assert_eq!(found["IndexName"], due.name);
        assert_eq!(found["KeySchema"], key(due.key), "{}", due.name);
        let due_held = match due.projection {
            Projection::Keys => (json!("KEYS_ONLY"), BTreeSet::new()),
            Projection::Only(names) => (json!("INCLUDE"), names.iter().copied().collect()),
        };
        assert_eq!(held(&found["Projection"]), due_held, "{}", due.name);
    }
}

/// `CloudFormation` refuses an attribute that is declared and no key, and a key that is not declared.
#[test]
fn exactly_the_keys_are_declared_all_of_them_text() {
    let table = table();
    let declared = table["AttributeDefinitions"]
        .as_array()
        .expect("attributes");
    let is_text = |attribute: &Value| attribute["AttributeType"] == "S";
    assert!(declared.iter().all(is_text), "{declared:?}");
    let declared: BTreeSet<_> = declared
        .iter()
        .map(|attribute| attribute["AttributeName"].as_str().expect("a name"))
        .collect();
    let keys = INDEXES.iter().map(|index| index.key).chain([KEY]);
    let due: BTreeSet<_> = keys
        .flat_map(|key| [Some(key.partition), key.sort])
        .flatten()
        .collect();
    assert_eq!(declared, due);
}
