//! What each function may do: exactly what stands here, and nothing on more than it needs.

use std::collections::BTreeSet;

use switchboard_cloud::rights::{INDEXES, Right, SECRETS, granted};
use switchboard_cloud::template::template;

use super::{FUNCTIONS, properties};

/// Function, what it may do, and on what.
const RIGHTS: [(&str, &str, &[&str]); 18] = [
    (
        "Ingress",
        "dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
        &["Table.Arn"],
    ),
    ("Ingress", "sqs:SendMessage", &["Deliveries.Arn"]),
    ("Ingress", "secretsmanager:GetSecretValue", &[SECRETS]),
    (
        "Worker",
        "dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem",
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
        "dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:UpdateItem",
        &["Table.Arn"],
    ),
    ("Status", "dynamodb:Query", &[INDEXES]),
    (
        "Status",
        "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator",
        &["Table.StreamArn"],
    ),
    (
        "Status",
        "sqs:GetQueueAttributes sqs:SendMessage",
        &["Deliveries.Arn"],
    ),
    ("Status", "secretsmanager:GetSecretValue", &[SECRETS]),
    (
        "Keeper",
        "dynamodb:GetItem dynamodb:Query dynamodb:UpdateItem",
        &["Table.Arn"],
    ),
    ("Keeper", "dynamodb:Query", &[INDEXES]),
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
        "sqs:ChangeMessageVisibility sqs:DeleteMessage sqs:ReceiveMessage sqs:SendMessage",
        &["DeadLetters.Arn"],
    ),
];

#[test]
fn each_function_may_do_exactly_what_is_listed_and_only_on_what_is_its_own() {
    for function in FUNCTIONS {
        let mut due: BTreeSet<Right> = BTreeSet::new();
        for (_, actions, resources) in RIGHTS.iter().filter(|(name, ..)| *name == function) {
            for resource in *resources {
                let actions = actions.split(' ').map(str::to_owned);
                due.extend(actions.map(|action| (action, (*resource).to_owned())));
            }
        }
        assert_eq!(
            granted(&template(), function),
            due,
            "what {function} may do"
        );
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
