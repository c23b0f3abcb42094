//! What can be seen of a deployed stack from outside its functions: logs, queues and the table.

use http::Method;
use serde_json::{Value, json};

use super::Deployed;
use crate::aws::{Service, read};

impl Deployed {
    /// What a function has logged so far, by its name in the template: a line each, the platform's among them.
    pub async fn log(&self, function: &str) -> Vec<String> {
        let group = format!("/aws/lambda/{}", self.resource(function));
        let mut lines = Vec::new();
        let mut input = json!({ "logGroupName": group });
        loop {
            let mut page = self
                .aws
                .json(Service::Logs, "FilterLogEvents", &input)
                .await;
            let events = page["events"].as_array().into_iter().flatten();
            lines.extend(events.filter_map(|event| Some(event["message"].as_str()?.to_owned())));
            match page["nextToken"].take() {
                Value::Null => return lines,
                next => input["nextToken"] = next,
            }
        }
    }

    /// How many messages a queue of the template holds: those to be seen, in work and waiting for their time.
    pub async fn depth(&self, queue: &str) -> u64 {
        let input = json!({
            "QueueUrl": self.resource(queue),
            "AttributeNames": [
                "ApproximateNumberOfMessages",
                "ApproximateNumberOfMessagesNotVisible",
                "ApproximateNumberOfMessagesDelayed",
            ],
        });
        let found = self
            .aws
            .json(Service::Sqs, "GetQueueAttributes", &input)
            .await;
        let counts = found["Attributes"]
            .as_object()
            .expect("attributes")
            .values();
        let counts = counts.filter_map(|count| count.as_str()?.parse::<u64>().ok());
        counts.sum()
    }

    /// Puts a message into a queue.
    pub async fn put(&self, queue: &str, body: &str) {
        let input = json!({ "QueueUrl": self.resource(queue), "MessageBody": body });
        self.aws.json(Service::Sqs, "SendMessage", &input).await;
    }

    /// The messages of a queue that can be seen, ten at most; they stay there.
    pub async fn peek(&self, queue: &str) -> Vec<Value> {
        let input = json!({
            "QueueUrl": self.resource(queue),
            "MaxNumberOfMessages": 10,
            "VisibilityTimeout": 0,
        });
        let found = self.aws.json(Service::Sqs, "ReceiveMessage", &input).await;
        let messages = found["Messages"].as_array().into_iter().flatten();
        let bodies = messages.filter_map(|message| message["Body"].as_str());
        bodies.map(|body| read(body.as_bytes())).collect()
    }

    /// Everything in the table that belongs to an event.
    pub async fn items(&self, event: &str) -> Vec<Value> {
        let input = json!({
            "TableName": self.resource("Table"),
            "ConsistentRead": true,
            "KeyConditionExpression": "pk = :event",
            "ExpressionAttributeValues": { ":event": { "S": format!("E#{event}") } },
        });
        let mut found = self.aws.json(Service::DynamoDb, "Query", &input).await;
        match found["Items"].take() {
            Value::Array(items) => items,
            other => panic!("expected items, found {other}"),
        }
    }

    /// Calls a function by hand, such as the keeper before its minute; what it answers.
    pub async fn call(&self, function: &str, input: &Value) -> Value {
        let path = format!(
            "/2015-03-31/functions/{}/invocations",
            self.resource(function)
        );
        let body = input.to_string();
        let answer = self
            .aws
            .rest(Service::Lambda, Method::POST, &path, body)
            .await;
        read(&answer)
    }
}
