//! The four functions: how they are built, sized, told where things are, reached and started.

use serde_json::{Value, json};
use switchboard_cloud::template::template;

use super::{FUNCTIONS, attribute, named, parameter, properties, reference, resource};

const FUNCTION: &str = "AWS::Serverless::Function";

/// What all functions have in common.
fn globals() -> Value {
    template()["Globals"]["Function"].take()
}

#[test]
fn the_functions_are_rust_binaries_of_the_architecture_that_a_parameter_names() {
    let mut functions = named(FUNCTION);
    functions.sort_unstable();
    let mut due = FUNCTIONS;
    due.sort_unstable();
    assert_eq!(functions, due);
    for name in FUNCTIONS {
        let built = json!({
            "BuildMethod": "rust-cargolambda",
            "BuildProperties": { "Binary": name.to_lowercase() },
        });
        assert_eq!(resource(name, FUNCTION)["Metadata"], built, "{name}");
    }
    let globals = globals();
    assert_eq!(globals["Runtime"], "provided.al2023");
    assert_eq!(globals["Handler"], "bootstrap");
    assert_eq!(globals["Architectures"], json!([reference("Architecture")]));
    let architecture = parameter("Architecture");
    assert_eq!(architecture["Default"], "arm64");
    assert_eq!(architecture["AllowedValues"], json!(["arm64", "x86_64"]));
}

/// The first call of a cold function sets up TLS, which takes processor time, and that comes with memory.
#[test]
fn the_functions_have_512_mb_unless_a_parameter_says_otherwise() {
    assert_eq!(globals()["MemorySize"], reference("Memory"));
    assert_eq!(parameter("Memory")["Default"], 512);
    for name in FUNCTIONS {
        let own = properties(name, FUNCTION);
        for common in ["MemorySize", "Architectures", "Runtime", "Handler"] {
            assert_eq!(own.get(common), None, "{name} differs in {common}");
        }
    }
}

/// API Gateway waits for 30 seconds; the keeper starts again after 60; an attempt takes a minute at most, and is recorded by
/// calls of some seconds each.
#[test]
fn no_function_runs_on_after_whoever_waits_for_it_has_gone() {
    for (name, most) in [
        ("Ingress", 29),
        ("Status", 29),
        ("Worker", 90),
        ("Keeper", 59),
    ] {
        let limit = properties(name, FUNCTION)["Timeout"].as_u64();
        let limit = limit.expect("a time limit of its own");
        assert!(limit <= most, "{name}: {limit} s, at most {most} s");
    }
}

/// An attempt is begun only where its time limit, a minute at most, and 24 seconds for the record are left; what comes before
/// it reads configuration and settings, which may take some seconds too.
#[test]
fn the_worker_has_time_for_the_longest_attempt_and_its_record() {
    let limit = properties("Worker", FUNCTION)["Timeout"].as_u64();
    let limit = limit.expect("a time limit of its own");
    assert!(limit >= 60 + 24 + 6, "{limit} s");
}

/// Without it AWS stops a chain of calls through a queue after about 16 of them.
#[test]
fn the_worker_may_be_called_through_its_own_queue_again_and_again() {
    assert_eq!(properties("Worker", FUNCTION)["RecursiveLoop"], "Allow");
}

#[test]
fn the_functions_are_told_where_table_queues_secrets_and_stream_are() {
    let told = &globals()["Environment"]["Variables"];
    for (variable, resource) in [
        ("SWITCHBOARD_TABLE", "Table"),
        ("SWITCHBOARD_DELIVERIES", "Deliveries"),
        ("SWITCHBOARD_RETURNED", "Returned"),
        ("SWITCHBOARD_DEAD_LETTERS", "DeadLetters"),
        ("SWITCHBOARD_SECRETS", "AWS::StackName"),
        ("RUST_LOG", "LogLevel"),
    ] {
        assert_eq!(told[variable], reference(resource), "{variable}");
    }
    for name in ["Status", "Keeper"] {
        let own = properties(name, FUNCTION);
        let stream = &own["Environment"]["Variables"]["SWITCHBOARD_STREAM"];
        assert_eq!(stream, &attribute("Table", "StreamArn"), "{name}");
    }
}

#[test]
fn senders_reach_the_ingress_and_everyone_else_the_status_function() {
    let reached = |name: &str| {
        let events = properties(name, FUNCTION)["Events"].take();
        let mut paths = Vec::new();
        for event in events.as_object().expect("events").values() {
            assert_eq!(event["Type"], "HttpApi", "{name}");
            assert_eq!(event["Properties"]["ApiId"], reference("Api"), "{name}");
            assert_eq!(event["Properties"]["Method"], "ANY", "{name}");
            paths.push(
                event["Properties"]["Path"]
                    .as_str()
                    .expect("a path")
                    .to_owned(),
            );
        }
        paths.sort_unstable();
        paths
    };
    assert_eq!(reached("Ingress"), ["/in/{proxy+}"]);
    assert_eq!(reached("Status"), ["/", "/{proxy+}"]);
    assert_eq!(properties("Worker", FUNCTION).get("Events"), None);
}

#[test]
fn the_api_limits_how_fast_it_is_asked() {
    let limits = properties("Api", "AWS::Serverless::HttpApi")["DefaultRouteSettings"].take();
    let due = json!({ "ThrottlingRateLimit": 2000, "ThrottlingBurstLimit": 4000 });
    assert_eq!(limits, due);
}

#[test]
fn the_keeper_starts_each_minute() {
    let due = json!({
        "EachMinute": { "Type": "Schedule", "Properties": { "Schedule": "rate(1 minute)" } },
    });
    assert_eq!(properties("Keeper", FUNCTION)["Events"], due);
}

/// By default the platform makes a run that failed twice again, beside those of the next minutes, and runs that it has no
/// room for up to six hours later.
#[test]
fn a_run_of_the_keeper_is_never_made_again_or_late() {
    let due = json!({ "MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60 });
    assert_eq!(properties("Keeper", FUNCTION)["EventInvokeConfig"], due);
}
