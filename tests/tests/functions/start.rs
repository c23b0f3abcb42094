//! Settings that are missing or wrong are one line each, and nothing is started.

use switchboard_tests::lambda::Function;

/// Each function, and what it needs beside the settings of all.
const FUNCTIONS: [(&str, &[&str]); 4] = [
    ("ingress", &[]),
    ("worker", &["AWS_LAMBDA_RUNTIME_API"]),
    ("status", &["SWITCHBOARD_STREAM", "AWS_LAMBDA_RUNTIME_API"]),
    ("keeper", &["SWITCHBOARD_STREAM"]),
];

const ALL: [&str; 6] = [
    "SWITCHBOARD_TABLE",
    "SWITCHBOARD_DELIVERIES",
    "SWITCHBOARD_RETURNED",
    "SWITCHBOARD_DEAD_LETTERS",
    "SWITCHBOARD_SECRETS",
    "AWS_REGION",
];

#[tokio::test]
async fn every_missing_setting_is_a_line_that_names_it() {
    for (name, own) in FUNCTIONS {
        let (code, told) = Function::named(name).unset("AWS_REGION").fails().await;
        assert_eq!(code, 64, "{name}: {told}");
        let mut expected: Vec<String> = ALL
            .iter()
            .chain(own)
            .map(|setting| format!("switchboard: {setting} is not set"))
            .collect();
        let mut lines: Vec<&str> = told.lines().collect();
        expected.sort();
        lines.sort_unstable();
        assert_eq!(lines, expected, "{name}");
    }
}

#[tokio::test]
async fn every_wrong_setting_is_a_line_that_names_it() {
    let function = Function::named("worker")
        .set("SWITCHBOARD_TABLE", "a table")
        .set("SWITCHBOARD_DELIVERIES", "deliveries")
        .set("SWITCHBOARD_DEAD_LETTERS", "ftp://queue/1")
        .set("SWITCHBOARD_RETURNED", "https://queue")
        .set("SWITCHBOARD_SECRETS", "board/")
        .set("AWS_ENDPOINT_URL", "nowhere")
        .set("AWS_LAMBDA_RUNTIME_API", "127.0.0.1");
    let (code, told) = function.fails().await;
    assert_eq!(code, 64, "{told}");
    for wrong in [
        "SWITCHBOARD_TABLE is not the name of a table: \"a table\"",
        "SWITCHBOARD_DELIVERIES is not the address of a queue: \"deliveries\"",
        "SWITCHBOARD_DEAD_LETTERS is not the address of a queue: \"ftp://queue/1\"",
        "SWITCHBOARD_RETURNED is not the address of a queue: \"https://queue\"",
        "SWITCHBOARD_SECRETS is not a prefix of names: \"board/\"",
        "AWS_ENDPOINT_URL is no http or https address",
        "AWS_LAMBDA_RUNTIME_API is not a host with a port: \"127.0.0.1\"",
    ] {
        let line = format!("switchboard: {wrong}");
        assert!(told.lines().any(|told| told == line), "{line}: {told}");
    }
    assert_eq!(told.lines().count(), 7, "{told}");
}

#[tokio::test]
async fn a_level_of_the_log_that_is_none_is_told() {
    let (code, told) = Function::named("ingress")
        .set("RUST_LOG", "loud")
        .fails()
        .await;
    assert_eq!(code, 64, "{told}");
    let line = "switchboard: RUST_LOG is not a level of the log, such as info: \"loud\"\n";
    assert_eq!(told, line);
}
