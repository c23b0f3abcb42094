//! The table: what it costs, keeps, tells and finds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{named, parameter, properties, reference, resource};

fn table() -> Value {
    properties("Table", "AWS::DynamoDB::Table")
}

#[test]
fn the_table_is_paid_by_request_expires_by_ttl_and_streams_both_images() {
    assert_eq!(named("AWS::DynamoDB::Table"), ["Table"]);
    let table = table();
    assert_eq!(table["BillingMode"], "PAY_PER_REQUEST");
    let ttl = json!({ "AttributeName": "ttl", "Enabled": true });
    assert_eq!(table["TimeToLiveSpecification"], ttl);
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

/// Index, its keys, and what it holds beside the table's and its own; `None`: nothing.
const INDEXES: [(&str, &[&str], Option<&str>); 5] = [
    (
        "recent",
        &["g1", "g1s"],
        Some("src sid k at ln pl tok un scp"),
    ),
    ("scoped", &["g2", "g1s"], None),
    ("waiting", &["g3", "g3s"], Some("due to ac run lf bk lk")),
    (
        "open",
        &["g4", "g4s"],
        Some("st n bs due why wl src k ra un to ac run lf ch"),
    ),
    ("dead", &["g5"], None),
];

/// Keys as `CloudFormation` has them.
fn keys(names: &[&str]) -> Value {
    let types = ["HASH", "RANGE"];
    names
        .iter()
        .zip(types)
        .map(|(name, kind)| json!({ "AttributeName": name, "KeyType": kind }))
        .collect()
}

#[test]
fn each_index_has_its_keys_and_holds_what_is_read_from_it_and_no_more() {
    let table = table();
    assert_eq!(table["KeySchema"], keys(&["pk", "sk"]));
    let indexes = INDEXES.map(|(name, key, held)| {
        let projection = match held {
            Some(held) => json!({
                "ProjectionType": "INCLUDE",
                "NonKeyAttributes": held.split(' ').collect::<Vec<_>>(),
            }),
            None => json!({ "ProjectionType": "KEYS_ONLY" }),
        };
        json!({ "IndexName": name, "KeySchema": keys(key), "Projection": projection })
    });
    assert_eq!(table["GlobalSecondaryIndexes"], json!(indexes));
}

/// `CloudFormation` refuses an attribute that is declared and no key, and a key that is not declared.
#[test]
fn exactly_the_keys_are_declared_all_of_them_text() {
    let table = table();
    let declared = table["AttributeDefinitions"]
        .as_array()
        .expect("attributes");
    assert!(
        declared
            .iter()
            .all(|attribute| attribute["AttributeType"] == "S")
    );
    let declared: BTreeSet<_> = declared
        .iter()
        .map(|attribute| attribute["AttributeName"].as_str().expect("a name"))
        .collect();
    let keys = INDEXES.iter().flat_map(|(_, key, _)| key.iter().copied());
    let due: BTreeSet<_> = keys.chain(["pk", "sk"]).collect();
    assert_eq!(declared, due);
}
