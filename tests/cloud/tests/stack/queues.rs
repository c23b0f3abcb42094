//! The three queues, and what takes from them.

use serde_json::json;

use super::{attribute, named, properties, reference};

/// Days that a queue can keep anything at most.
const LONGEST_S: u64 = 14 * 24 * 60 * 60;

#[test]
fn there_are_three_queues_each_encrypted_and_keeping_as_long_as_can_be() {
    assert_eq!(
        named("AWS::SQS::Queue"),
        ["DeadLetters", "Deliveries", "Returned"]
    );
    for name in named("AWS::SQS::Queue") {
        let queue = properties(&name, "AWS::SQS::Queue");
        assert_eq!(queue["SqsManagedSseEnabled"], true, "{name}");
        assert_eq!(queue["MessageRetentionPeriod"], LONGEST_S, "{name}");
        // Deliveries find their order by their due times, and fair queues are standard ones.
        assert_eq!(queue.get("FifoQueue"), None, "{name}");
    }
}

/// Giving back is normal, so it takes many times until the platform moves a hint away.
#[test]
fn what_was_received_fifty_times_goes_to_returned() {
    let deliveries = properties("Deliveries", "AWS::SQS::Queue");
    let due = json!({ "deadLetterTargetArn": attribute("Returned", "Arn"), "maxReceiveCount": 50 });
    assert_eq!(deliveries["RedrivePolicy"], due);
    for name in ["Returned", "DeadLetters"] {
        let queue = properties(name, "AWS::SQS::Queue");
        assert_eq!(queue.get("RedrivePolicy"), None, "{name}");
    }
}

/// AWS asks for six times the time limit of the function: a hint in work must not come again.
#[test]
fn a_hint_stays_hidden_six_times_as_long_as_its_worker_may_run() {
    let deliveries = properties("Deliveries", "AWS::SQS::Queue");
    let hidden = deliveries["VisibilityTimeout"].as_u64().expect("seconds");
    let worker = properties("Worker", "AWS::Serverless::Function");
    let limit = worker["Timeout"].as_u64().expect("seconds");
    assert!(hidden >= 6 * limit, "{hidden} s for a limit of {limit} s");
}

/// `MaximumConcurrency` must be a number: one by reference becomes text on the way and stops the mapping.
#[test]
fn the_worker_takes_ten_hints_at_once_and_gives_back_single_ones() {
    assert_eq!(named("AWS::Lambda::EventSourceMapping"), ["Hints"]);
    let due = json!({
        "EventSourceArn": attribute("Deliveries", "Arn"),
        "FunctionName": reference("Worker"),
        "BatchSize": 10,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "ScalingConfig": { "MaximumConcurrency": 100 },
    });
    assert_eq!(properties("Hints", "AWS::Lambda::EventSourceMapping"), due);
}
