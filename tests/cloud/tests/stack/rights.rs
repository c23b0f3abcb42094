//! What each function may do: exactly what stands here, and nothing on more than it needs.

use serde_json::Value;

use super::{FUNCTIONS, properties};

/// The stack's own secrets, whatever their names, so that a further source needs no new right.
const SECRETS: &str = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${AWS::StackName}/*";

/// Function, what it may do, and on what.
const RIGHTS: [(&str, &str, &[&str]); 17] = [
    (
        "Ingress",
        "dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
        &["Table.Arn"],
    ),
    ("Ingress", "sqs:SendMessage", &["Deliveries.Arn"]),
    ("Ingress", "secretsmanager:GetSecretValue", &[SECRETS]),
    (
        "Worker",
        "dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
        &["Table.Arn"],
    ),
    (
        "Worker",
        "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:GetQueueAttributes sqs:ReceiveMessage sqs:SendMessage",
        &["Deliveries.Arn"],
    ),
    (
        "Worker",
        "sqs:SendMessage",
        &["DeadLetters.Arn", "Returned.Arn"],
    ),
    ("Worker", "secretsmanager:GetSecretValue", &[SECRETS]),
    (
        "Status",
        "dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
        &["${Table.Arn}/index/*", "Table.Arn"],
    ),
    (
        "Status",
        "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator",
        &["Table.StreamArn"],
    ),
    ("Status", "sqs:SendMessage", &["Deliveries.Arn"]),
    ("Status", "secretsmanager:GetSecretValue", &[SECRETS]),
    (
        "Keeper",
        "dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
        &["${Table.Arn}/index/*", "Table.Arn"],
    ),
    (
        "Keeper",
        "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator",
        &["Table.StreamArn"],
    ),
    ("Keeper", "sqs:SendMessage", &["Deliveries.Arn"]),
    (
        "Keeper",
        "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage",
        &["Returned.Arn"],
    ),
    (
        "Keeper",
        "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage",
        &["DeadLetters.Arn"],
    ),
    ("Keeper", "secretsmanager:GetSecretValue", &[SECRETS]),
];

/// One or many, as text: `Table.Arn` for an attribute.
fn many(value: &Value) -> Vec<String> {
    let one = |value: &Value| match (value, &value["Fn::GetAtt"], &value["Fn::Sub"]) {
        (Value::String(text), ..) | (_, _, Value::String(text)) => text.clone(),
        (_, Value::Array(parts), _) => {
            let parts = parts.iter().map(|part| part.as_str().expect("a name"));
            parts.collect::<Vec<_>>().join(".")
        }
        _ => panic!("neither text nor an attribute: {value}"),
    };
    match value {
        Value::Array(values) => values.iter().map(one).collect(),
        value => vec![one(value)],
    }
}

#[test]
fn each_function_may_do_exactly_what_is_listed_and_only_on_what_is_its_own() {
    for function in FUNCTIONS {
        let own = properties(function, "AWS::Serverless::Function");
        let policies = own["Policies"].as_array().expect("policies");
        let mut found = Vec::new();
        for policy in policies {
            for statement in policy["Statement"].as_array().expect("statements") {
                assert_eq!(statement["Effect"], "Allow", "{function}");
                for resource in many(&statement["Resource"]) {
                    let actions = many(&statement["Action"]);
                    found.extend(actions.into_iter().map(|action| (action, resource.clone())));
                }
            }
        }
        found.sort_unstable();
        let mut due: Vec<(String, String)> = Vec::new();
        for (_, actions, resources) in RIGHTS.iter().filter(|(name, ..)| *name == function) {
            for resource in *resources {
                let actions = actions.split(' ').map(str::to_owned);
                due.extend(actions.map(|action| (action, (*resource).to_owned())));
            }
        }
        due.sort_unstable();
        assert_eq!(found, due, "what {function} may do");
    }
}

/// A role of its own would be what SAM leaves alone; with an event of type SQS it would add rights on every queue.
#[test]
fn no_function_is_given_rights_in_another_way() {
    for function in FUNCTIONS {
        let own = properties(function, "AWS::Serverless::Function");
        for way in [
            "Role",
            "PermissionsBoundary",
            "Connectors",
            "VpcConfig",
            "Tracing",
        ] {
            assert_eq!(own.get(way), None, "{function} has {way}");
        }
        for policy in own["Policies"].as_array().expect("policies") {
            assert!(policy.is_object(), "{function} has the policy {policy}");
        }
        let events = own["Events"].as_object().into_iter().flatten();
        for (name, event) in events {
            assert_ne!(event["Type"], "SQS", "{function} has the event {name}");
        }
    }
}
