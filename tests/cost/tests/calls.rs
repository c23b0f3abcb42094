//! What one event asks of AWS, with warm functions. A call more costs money with every event, and is to be seen here first.

use serde_json::{Value, json};
use switchboard_cost::call::Sum;
use switchboard_cost::minute::events;
use switchboard_cost::scene::{Arrival, Counted, Scene, Stage};
use switchboard_testkit::emulator::Emulator;

const SMALL: usize = 1024;
/// No hint carries it.
const BIG: usize = 300 * 1024;

async fn counted(destinations: usize, body_bytes: usize, retries: usize) -> Counted {
    counted_at(Arrival::Due, destinations, body_bytes, retries).await
}

async fn counted_at(
    arrival: Arrival,
    destinations: usize,
    body_bytes: usize,
    retries: usize,
) -> Counted {
    let (mut stage, _) = Stage::start(Emulator::shared()).await;
    let scene = Scene {
        destinations,
        body_bytes,
        retries,
        arrival,
    };
    stage.count(scene).await
}

fn calls(sum: &Sum) -> Value {
    json!(sum.calls)
}

/// Units are halves: exact in this type.
fn is(units: f64, due: f64) -> bool {
    (units - due).abs() < f64::EPSILON
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_success_is_one_put_one_batch_of_hints_and_an_update_for_each_destination() {
    let counted = counted(3, SMALL, 0).await;
    let ingress = json!({ "dynamodb": { "PutItem": 1 }, "sqs": { "SendMessageBatch": 1 } });
    assert_eq!(calls(&counted.ingress), ingress);
    let worker = json!({ "dynamodb": { "UpdateItem": 3 } });
    assert_eq!(calls(&counted.worker), worker);
    let (ingress, worker) = (&counted.ingress, &counted.worker);
    assert!(is(ingress.write_units, 3.0), "item and index: {ingress:?}");
    assert!(is(worker.write_units, 3.0), "one each: {worker:?}");
    assert!(is(ingress.read_units + worker.read_units, 0.0), "no read");
    // Of writes that are made the emulator knows the rules too.
    assert!(is(ingress.reported_units, ingress.write_units));
    assert!(is(worker.reported_units, worker.write_units));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_is_two_reads_an_update_and_a_hint_more_and_pays_for_two_indexes_twice() {
    let counted = counted(1, SMALL, 1).await;
    let ingress = json!({ "dynamodb": { "PutItem": 1 }, "sqs": { "SendMessageBatch": 1 } });
    assert_eq!(calls(&counted.ingress), ingress);
    let worker = json!({
        "dynamodb": { "GetItem": 2, "UpdateItem": 2 }, "sqs": { "SendMessageBatch": 1 }
    });
    assert_eq!(calls(&counted.worker), worker);
    assert!(is(counted.worker.write_units, 6.0), "{:?}", counted.worker);
    assert!(is(counted.worker.read_units, 2.0), "{:?}", counted.worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hint_that_comes_before_its_delivery_is_due_is_read_for_once() {
    let counted = counted_at(Arrival::Early, 1, SMALL, 1).await;
    let worker = json!({
        "dynamodb": { "GetItem": 2, "UpdateItem": 2 }, "sqs": { "SendMessageBatch": 1 }
    });
    assert_eq!(calls(&counted.worker), worker);
    assert!(is(counted.worker.read_units, 2.0), "{:?}", counted.worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_no_hint_carries_is_read_for_each_attempt() {
    let counted = counted(1, BIG, 0).await;
    let ingress = json!({ "dynamodb": { "PutItem": 1 }, "sqs": { "SendMessageBatch": 1 } });
    assert_eq!(calls(&counted.ingress), ingress);
    assert_eq!(counted.ingress.queue_requests, 1);
    let worker = json!({ "dynamodb": { "GetItem": 2, "UpdateItem": 1 } });
    assert_eq!(calls(&counted.worker), worker);
    // 301 kilobytes in pieces of four, and the record that is not there.
    assert!(is(counted.worker.read_units, 77.0), "{:?}", counted.worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_keepers_walks_reads_an_event_once_and_the_fold_writes_an_item_for_each_name() {
    let added = events(Emulator::shared(), 3).await;
    assert!(is(added.walk_queries, 2.0), "{added:?}");
    // Half a unit each, and what a page of the index grows by.
    assert!((1.0..1.1).contains(&added.walk_read_units), "{added:?}");
    // The totals, the source and three destinations, in a transaction.
    assert!(is(added.fold_write_units, 10.0), "{added:?}");
}
