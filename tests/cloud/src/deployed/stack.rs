//! The stack itself: created, waited for, and asked what became of its resources.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use switchboard_tests::wait;

use crate::aws::{Aws, Service};

/// What AWS counts as one right, and the emulator as two: an operation, and the same for many at once.
const IN_BATCHES: [&str; 3] = [
    "sqs:SendMessage",
    "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibility",
];

/// Grants what AWS does in the emulator's own terms: it counts some rights otherwise, and takes every request to a stream to
/// be on no resource.
pub(super) fn in_the_emulators_terms(template: &mut Value) {
    let resources = template["Resources"].as_object_mut().expect("resources");
    for resource in resources.values_mut() {
        let policies = resource.pointer_mut("/Properties/Policies");
        for policy in policies.and_then(Value::as_array_mut).into_iter().flatten() {
            let statements = policy["Statement"].as_array_mut();
            for statement in statements.into_iter().flatten() {
                let action = &mut statement["Action"];
                let mut actions: Vec<Value> = match action.take() {
                    Value::Array(many) => many,
                    one => vec![one],
                };
                let batches: Vec<Value> = IN_BATCHES
                    .iter()
                    .filter(|name| actions.contains(&json!(name)))
                    .map(|name| json!(format!("{name}Batch")))
                    .collect();
                actions.extend(batches);
                *action = actions.into();
                if statement["Resource"] == json!({ "Fn::GetAtt": ["Table", "StreamArn"] }) {
                    statement["Resource"] = json!("*");
                }
            }
        }
    }
}

/// Creates the stack and waits until it stands.
pub(super) async fn create(aws: &Aws, name: &str, template: &Value) {
    let body = template.to_string();
    let form = [
        ("Action", "CreateStack"),
        ("Version", "2010-05-15"),
        ("StackName", name),
        ("TemplateBody", &body),
        ("Capabilities.member.1", "CAPABILITY_IAM"),
        ("Capabilities.member.2", "CAPABILITY_AUTO_EXPAND"),
        // The emulator runs the functions on this machine.
        ("Parameters.member.1.ParameterKey", "Architecture"),
        ("Parameters.member.1.ParameterValue", "x86_64"),
    ];
    let created = aws.query(Service::CloudFormation, &form).await;
    if let Err(why) = created {
        panic!("expected a stack: {why}");
    }
    let status = wait::until("the stack is created or failed", async || {
        let form = [
            ("Action", "DescribeStacks"),
            ("Version", "2010-05-15"),
            ("StackName", name),
        ];
        let answer = aws.query(Service::CloudFormation, &form).await.ok()?;
        let status = answer.text("StackStatus");
        (!status.is_empty() && !status.ends_with("_IN_PROGRESS")).then_some(status)
    })
    .await;
    if status != "CREATE_COMPLETE" {
        let reasons = reasons(aws, name).await;
        panic!("expected CREATE_COMPLETE, found {status}: {reasons}");
    }
}

/// Why resources of the stack could not be made.
async fn reasons(aws: &Aws, name: &str) -> String {
    let form = [
        ("Action", "DescribeStackEvents"),
        ("Version", "2010-05-15"),
        ("StackName", name),
    ];
    let answer = match aws.query(Service::CloudFormation, &form).await {
        Ok(answer) => answer,
        Err(why) => return why,
    };
    let reasons: Vec<String> = answer
        .all("member")
        .iter()
        .map(|event| {
            (
                event.text("LogicalResourceId"),
                event.text("ResourceStatusReason"),
            )
        })
        .filter(|(_, why)| !why.is_empty())
        .map(|(what, why)| format!("{what}: {why}"))
        .collect();
    reasons.join("; ")
}

/// The names that its resources were given, by their names in the template.
pub(super) async fn resources(aws: &Aws, name: &str) -> BTreeMap<String, String> {
    let form = [
        ("Action", "DescribeStackResources"),
        ("Version", "2010-05-15"),
        ("StackName", name),
    ];
    let answer = aws.query(Service::CloudFormation, &form).await;
    let answer = answer.unwrap_or_else(|why| panic!("expected the stack's resources: {why}"));
    let named = |member: &crate::aws::Xml| {
        (
            member.text("LogicalResourceId"),
            member.text("PhysicalResourceId"),
        )
    };
    answer.all("member").iter().map(named).collect()
}

/// The template as SAM made it, read.
pub(super) async fn processed(aws: &Aws, name: &str) -> Value {
    let form = [
        ("Action", "GetTemplate"),
        ("Version", "2010-05-15"),
        ("StackName", name),
        ("TemplateStage", "Processed"),
    ];
    let answer = aws.query(Service::CloudFormation, &form).await;
    let answer = answer.unwrap_or_else(|why| panic!("expected the processed template: {why}"));
    crate::template::read(&answer.text("TemplateBody"))
}
