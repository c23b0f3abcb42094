//! What stands beside table, queues and functions: logs, secrets, and what whoever deployed it is told.

use serde_json::{Value, json};
use switchboard_cloud::template::template;

use super::{FUNCTIONS, named, parameter, properties, reference};

#[test]
fn each_function_has_a_log_that_is_kept_for_as_many_days_as_a_parameter_says() {
    for name in FUNCTIONS {
        let log = properties(&format!("{name}Log"), "AWS::Logs::LogGroup");
        let place = json!({ "Fn::Sub": format!("/aws/lambda/${{{name}}}") });
        assert_eq!(log["LogGroupName"], place, "{name}");
        assert_eq!(log["RetentionInDays"], reference("LogDays"), "{name}");
    }
    assert_eq!(named("AWS::Logs::LogGroup").len(), FUNCTIONS.len());
    assert_eq!(parameter("LogDays")["Default"], 30);
    assert_eq!(parameter("LogLevel")["Default"], "info");
}

/// The functions decide by `RUST_LOG` what they write; the platform must let it through, as fields.
#[test]
fn what_a_function_logs_arrives_as_fields_and_is_thinned_out_by_nobody_else() {
    let logging = template()["Globals"]["Function"]["LoggingConfig"].take();
    let due =
        json!({ "LogFormat": "JSON", "ApplicationLogLevel": "TRACE", "SystemLogLevel": "WARN" });
    assert_eq!(logging, due);
}

#[test]
fn the_template_makes_an_admin_token_that_nobody_ever_sees_in_it() {
    assert_eq!(named("AWS::SecretsManager::Secret"), ["AdminToken"]);
    let token = properties("AdminToken", "AWS::SecretsManager::Secret");
    assert_eq!(
        token["Name"],
        json!({ "Fn::Sub": "${AWS::StackName}/admin-token" })
    );
    let made = json!({ "PasswordLength": 40, "ExcludePunctuation": true });
    assert_eq!(token["GenerateSecretString"], made);
    assert_eq!(token.get("SecretString"), None);
}

#[test]
fn whoever_deployed_it_is_told_its_address_its_sources_its_token_and_its_table() {
    let outputs = template()["Outputs"].take();
    let value = |name: &str| outputs[name]["Value"].clone();
    let sub = |text: &str| json!({ "Fn::Sub": text });
    let url = "https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}";
    assert_eq!(value("Url"), sub(url));
    assert_eq!(value("Source"), sub(&format!("{url}/in/NAME")));
    assert_eq!(
        value("AdminTokenSecret"),
        sub("${AWS::StackName}/admin-token")
    );
    assert_eq!(value("TableName"), reference("Table"));
    let described = |output: &Value| output["Description"].is_string();
    let outputs = outputs.as_object().expect("outputs");
    assert!(
        outputs.values().all(described),
        "an output is not described"
    );
}

#[test]
fn every_parameter_is_described_and_has_a_default_so_that_a_deployment_asks_nothing() {
    let template = template();
    for (name, parameter) in template["Parameters"].as_object().expect("parameters") {
        assert!(parameter["Description"].is_string(), "{name}");
        assert!(parameter.get("Default").is_some(), "{name}");
    }
}
