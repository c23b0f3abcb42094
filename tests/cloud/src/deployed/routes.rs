//! The routes of the HTTP API. SAM writes them into the API's `OpenAPI` body, which the emulator does not read.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use super::stack;
use crate::aws::{ACCOUNT, Aws, REGION, Service, read};

/// Adds an integration and a route for each path of the body.
pub(super) async fn add(aws: &Aws, stack: &str, resources: &BTreeMap<String, String>) {
    let processed = stack::processed(aws, stack).await;
    let paths = &processed["Resources"]["Api"]["Properties"]["Body"]["paths"];
    let api = &resources["Api"];
    for (path, methods) in paths.as_object().expect("paths") {
        for (method, held) in methods.as_object().expect("methods") {
            let uri = &held["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"];
            let function = function(uri.as_str().expect("a function's address"));
            let arn = format!(
                "arn:aws:lambda:{REGION}:{ACCOUNT}:function:{}",
                resources[function]
            );
            let integration = json!({
                "integrationType": "AWS_PROXY",
                "integrationUri": arn,
                "payloadFormatVersion": "2.0",
            });
            let made = post(aws, &format!("/v2/apis/{api}/integrations"), &integration).await;
            let id = made["integrationId"].as_str().expect("an integration");
            let method = match method.as_str() {
                "x-amazon-apigateway-any-method" => "ANY".to_owned(),
                method => method.to_uppercase(),
            };
            let route = json!({
                "routeKey": format!("{method} {path}"),
                "target": format!("integrations/{id}"),
            });
            post(aws, &format!("/v2/apis/{api}/routes"), &route).await;
        }
    }
}

/// The function in an integration's address, by its name in the template: `…/functions/${Ingress.Arn}/invocations`.
fn function(uri: &str) -> &str {
    let name = uri.split_once("${").and_then(|_| {
        let (_, behind) = uri.rsplit_once("${")?;
        Some(behind.split_once(".Arn}")?.0)
    });
    name.unwrap_or_else(|| panic!("expected a function in {uri}"))
}

async fn post(aws: &Aws, path: &str, body: &Value) -> Value {
    let answer = aws
        .rest(Service::ApiGateway, Method::POST, path, body.to_string())
        .await;
    read(&answer)
}
