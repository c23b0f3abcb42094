//! Rights: what a function may do on what, as the template grants it, and what it really did.

use std::collections::BTreeSet;

use http::HeaderMap;
use serde_json::Value;

/// The stack's own secrets, whatever their names.
pub const SECRETS: &str = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${AWS::StackName}/*";
/// All indexes of the table.
pub const INDEXES: &str = "${Table.Arn}/index/*";

/// A right: an action such as `sqs:SendMessage`, and what it is on, such as `Deliveries.Arn`.
pub type Right = (String, String);

/// What the template grants a function.
pub fn granted(template: &Value, function: &str) -> BTreeSet<Right> {
    let mut granted = BTreeSet::new();
    let policies = &template["Resources"][function]["Properties"]["Policies"];
    for policy in policies.as_array().expect("policies") {
        for statement in policy["Statement"].as_array().expect("statements") {
            assert_eq!(statement["Effect"], "Allow", "{function}");
            for resource in many(&statement["Resource"]) {
                let actions = many(&statement["Action"]).into_iter();
                granted.extend(actions.map(|action| (action, resource.clone())));
            }
        }
    }
    granted
}

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

/// The rights that a request to AWS takes: one, but for a transaction, which takes that of each of its parts.
pub fn taken(headers: &HeaderMap, body: &[u8]) -> Vec<Right> {
    let target = headers.get("x-amz-target");
    let target = target
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let (service, operation) = target.split_once('.').unwrap_or_default();
    // AWS counts many at once as one right.
    let operation = match (service, operation) {
        ("AmazonSQS", operation) => operation.trim_end_matches("Batch"),
        (_, operation) => operation,
    };
    let input: Value = serde_json::from_slice(body).unwrap_or_default();
    let (service, on) = match service {
        "DynamoDB_20120810" => match input["IndexName"].as_str() {
            Some(_) => ("dynamodb", INDEXES.to_owned()),
            None => ("dynamodb", "Table.Arn".to_owned()),
        },
        "DynamoDBStreams_20120810" => ("dynamodb", "Table.StreamArn".to_owned()),
        "AmazonSQS" => ("sqs", queue(input["QueueUrl"].as_str().unwrap_or_default())),
        "secretsmanager" => ("secretsmanager", SECRETS.to_owned()),
        other => (other, format!("{target:?}")),
    };
    let operations = match operation {
        "TransactWriteItems" => parts(&input),
        "TransactGetItems" => vec!["GetItem"],
        operation => vec![operation],
    };
    let right = |operation| (format!("{service}:{operation}"), on.clone());
    operations.into_iter().map(right).collect()
}

/// What the parts of a transaction would be alone.
fn parts(input: &Value) -> Vec<&'static str> {
    let parts = input["TransactItems"].as_array().into_iter().flatten();
    let names = parts.filter_map(|part| part.as_object()?.keys().next());
    names
        .map(|name| match name.as_str() {
            "Put" => "PutItem",
            "Update" => "UpdateItem",
            "Delete" => "DeleteItem",
            "ConditionCheck" => "ConditionCheckItem",
            other => panic!("no part of a transaction is called {other}"),
        })
        .collect()
}

/// A queue by its name in the template, from the name that it was given: `switchboard-Deliveries-6116E8AA8A6E2`.
fn queue(url: &str) -> String {
    let name = url.rsplit('/').next().unwrap_or_default();
    let name = name.split('-').nth(1).unwrap_or(name);
    format!("{name}.Arn")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_takes_the_right_that_aws_counts_for_it() {
        let taken = |target: &'static str, body: Value| {
            let mut headers = HeaderMap::new();
            headers.insert("x-amz-target", HeaderValue::from_static(target));
            let rights = taken(&headers, body.to_string().as_bytes());
            let rights = rights.iter().map(|(action, on)| format!("{action} {on}"));
            rights.collect::<Vec<_>>().join(", ")
        };
        let table = json!({ "TableName": "switchboard-Table-1" });
        let index = json!({ "TableName": "switchboard-Table-1", "IndexName": "recent" });
        let queue = json!({ "QueueUrl": "http://localhost:1/000000000000/switchboard-Deliveries-6116E8AA8A6E2" });
        let parts = json!({ "TransactItems": [{ "Update": {} }, { "Put": {} }] });
        for (target, body, due) in [
            (
                "DynamoDB_20120810.TransactWriteItems",
                parts,
                "dynamodb:UpdateItem Table.Arn, dynamodb:PutItem Table.Arn",
            ),
            (
                "DynamoDB_20120810.PutItem",
                table.clone(),
                "dynamodb:PutItem Table.Arn",
            ),
            ("DynamoDB_20120810.Query", table, "dynamodb:Query Table.Arn"),
            (
                "DynamoDB_20120810.Query",
                index,
                "dynamodb:Query ${Table.Arn}/index/*",
            ),
            (
                "DynamoDBStreams_20120810.GetRecords",
                json!({}),
                "dynamodb:GetRecords Table.StreamArn",
            ),
            (
                "AmazonSQS.SendMessage",
                queue.clone(),
                "sqs:SendMessage Deliveries.Arn",
            ),
            (
                "AmazonSQS.SendMessageBatch",
                queue,
                "sqs:SendMessage Deliveries.Arn",
            ),
        ] {
            assert_eq!(taken(target, body), due);
        }
    }

    #[test]
    fn what_is_granted_is_every_action_on_every_resource_of_a_statement() {
        let template = json!({ "Resources": { "F": { "Properties": { "Policies": [{ "Statement": [
            { "Effect": "Allow", "Action": ["a:B", "a:C"], "Resource": [{ "Fn::GetAtt": ["T", "Arn"] }, { "Fn::Sub": "x/*" }] },
            { "Effect": "Allow", "Action": "d:E", "Resource": { "Fn::GetAtt": ["Q", "Arn"] } },
        ] }] } } } });
        let due = [
            ("a:B", "T.Arn"),
            ("a:B", "x/*"),
            ("a:C", "T.Arn"),
            ("a:C", "x/*"),
            ("d:E", "Q.Arn"),
        ];
        let due = due.map(|(action, on)| (action.to_owned(), on.to_owned()));
        assert_eq!(granted(&template, "F"), BTreeSet::from(due));
    }
}
