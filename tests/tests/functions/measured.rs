//! What `cargo xtask bench --aws` measures is what it says: the real functions, under the platform that plays Lambda.

use std::time::Duration;

use serde_json::Value;
use switchboard_tests::load::Part;
use switchboard_tests::switchboard::beside;

/// Far longer than any of them takes.
const DEADLINE: Duration = Duration::from_mins(2);

/// What a role found that takes the ingress and the worker.
async fn found(role: &str, more: &[&str]) -> Value {
    let program = |name| beside(name).display().to_string();
    let mut arguments = vec![role.to_owned()];
    for name in ["ingress", "worker"] {
        arguments.extend([format!("--{name}"), program(name)]);
    }
    arguments.extend(more.iter().map(|&argument| argument.to_owned()));
    Part::start(&arguments).end(DEADLINE).await
}

/// What a function asked for on the way to its first answer.
fn asked<'a>(found: &'a Value, function: &str) -> Vec<&'a str> {
    let marks = found[function]["marks"].as_array().expect("marks");
    let what = marks.iter().map(|mark| mark["what"].as_str());
    what.map(|what| what.expect("a name")).collect()
}

#[tokio::test]
async fn a_cold_start_reads_what_counts_and_then_makes_one_write_for_an_event_or_a_delivery() {
    let found = found("cold-start", &["--starts", "2"]).await;
    assert_eq!(asked(&found, "floor"), ["next", "answer"]);
    let read = [
        "next",
        "GetItem configuration",
        "GetSecretValue",
        "GetItem settings",
    ];
    let ingress = [&read[..], &["PutItem", "SendMessageBatch", "answer"]].concat();
    assert_eq!(asked(&found, "ingress"), ingress);
    // Its destinations have no secrets.
    let [next, configuration, _, settings] = read;
    let first = [next, configuration, settings];
    let worker = [&first[..], &["delivery", "UpdateItem", "answer"]].concat();
    assert_eq!(asked(&found, "worker"), worker);
    for function in ["floor", "ingress", "worker"] {
        let marks = found[function]["marks"].as_array().expect("marks");
        let times = marks
            .iter()
            .map(|mark| mark["ms"].as_f64().expect("a time"));
        assert!(times.is_sorted(), "{found}");
        assert!(
            found[function]["processor_ms"].as_f64() > Some(0.0),
            "{found}"
        );
    }
}

#[tokio::test]
async fn every_hint_for_a_healthy_destination_arrives_whatever_the_one_beside_it_does() {
    for beside in ["silent", "refusing", "healthy"] {
        let batches = ["--per-second", "10", "--batches", "4", "--before", "2"];
        let arguments = [&batches[..], &["--processes", "3", "--beside", beside]].concat();
        let found = found("isolation", &arguments).await;
        assert_eq!(found["under_way"]["count"], 20, "{beside}: {found}");
        let processes = found["processes"].as_u64().expect("a number");
        assert!((1..=3).contains(&processes), "{beside}: {found}");
        // A batch keeps its process as long as its slowest attempt.
        if beside == "silent" {
            assert_eq!(processes, 3, "{found}");
            assert_ne!(found["batches_that_waited"], 0, "{found}");
        }
    }
}

#[tokio::test]
async fn a_warm_invocation_takes_the_floors_processor_time_and_more_of_its_own() {
    let found = found("warm", &["--invocations", "40"]).await;
    let time = |figure: &str| found[figure].as_f64().expect("a time");
    let floor = time("floor_us");
    assert!(floor > 0.0, "{found}");
    assert!(time("ingress_us") > floor, "{found}");
    // Ten attempts, each of which has a request made and one write.
    assert!(time("worker_us") > 2.0 * floor, "{found}");
}
