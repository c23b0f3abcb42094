//! What tests make: the table as the template deploys it, its queues, and the environment of a function that runs against an
//! emulator.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
    Projection as Projected, ProjectionType, ScalarAttributeType, StreamSpecification,
    StreamViewType, TimeToLiveSpecification,
};
use switchboard_core::ports::BackendError;

use crate::Place;
use crate::client::Clients;
use crate::environment::{Environment, Unusable};
use crate::failure::failed;
use crate::schema::{INDEXES, Index, KEY, Key, Projection, TTL};

/// How long a table may take to be there.
const MADE_WITHIN: Duration = Duration::from_secs(30);

/// The environment of a caller of the emulator at this address, in an account of its own.
pub fn environment(url: &str, account: &str) -> Result<Environment, Unusable> {
    Environment::of(|name| {
        let value = match name {
            "AWS_REGION" => "us-east-1",
            "AWS_ACCESS_KEY_ID" => account,
            "AWS_SECRET_ACCESS_KEY" => "for-the-emulator",
            "AWS_ENDPOINT_URL" => url,
            _ => return None,
        };
        Some(value.to_owned())
    })
}

/// Makes the table and waits until it is there.
pub async fn create_table(dynamodb: &Client, name: &str) -> Result<(), BackendError> {
    let unbuilt = |cause: BuildError| BackendError::new("describing a table", cause);
    let stream = StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewAndOldImages);
    let mut attributes: Vec<&str> = INDEXES
        .iter()
        .map(|index| index.key)
        .chain([KEY])
        .flat_map(|key| std::iter::once(key.partition).chain(key.sort))
        .collect();
    attributes.sort_unstable();
    attributes.dedup();
    let attributes = attributes.into_iter().map(text);
    let indexes = INDEXES.iter().map(index);
    let request = dynamodb
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .stream_specification(stream.build().map_err(unbuilt)?)
        .set_attribute_definitions(Some(attributes.collect::<Result<_, _>>().map_err(unbuilt)?))
        .set_key_schema(Some(key(KEY).map_err(unbuilt)?))
        .set_global_secondary_indexes(Some(indexes.collect::<Result<_, _>>().map_err(unbuilt)?));
    let made = request.send().await;
    made.map_err(|error| failed("making a table", error))?;
    let there = dynamodb.wait_until_table_exists().table_name(name);
    let waited = there.wait(MADE_WITHIN).await;
    waited.map_err(|error| BackendError::new("waiting for a table", error))?;
    let expiry = TimeToLiveSpecification::builder()
        .attribute_name(TTL)
        .enabled(true);
    let request = dynamodb
        .update_time_to_live()
        .table_name(name)
        .time_to_live_specification(expiry.build().map_err(unbuilt)?);
    let set = request.send().await;
    set.map_err(|error| failed("setting a table's expiry", error))?;
    Ok(())
}

/// Makes the table and the queues that a backend needs, under these names.
pub async fn create_place(clients: &Clients, name: &str) -> Result<Place, BackendError> {
    create_table(&clients.dynamodb, name).await?;
    Ok(Place {
        table: name.to_owned(),
        deliveries: create_queue(clients, &format!("{name}-deliveries")).await?,
        dead_letters: create_queue(clients, &format!("{name}-dead-letters")).await?,
    })
}

async fn create_queue(clients: &Clients, name: &str) -> Result<String, BackendError> {
    const DOING: &str = "making a queue";
    let made = clients.sqs.create_queue().queue_name(name).send().await;
    let made = made.map_err(|error| failed(DOING, error))?;
    made.queue_url
        .ok_or_else(|| BackendError::new(DOING, "it has no address"))
}

/// How many messages a queue has, hidden ones too.
pub async fn counted(clients: &Clients, queue: &str) -> Result<u32, BackendError> {
    use aws_sdk_sqs::types::QueueAttributeName as Name;
    const DOING: &str = "counting messages";
    let names = [
        Name::ApproximateNumberOfMessages,
        Name::ApproximateNumberOfMessagesNotVisible,
    ];
    let ask = clients.sqs.get_queue_attributes().queue_url(queue);
    let asked = ask.set_attribute_names(Some(names.to_vec())).send().await;
    let found = asked.map_err(|error| failed(DOING, error))?.attributes;
    let numbers = found
        .into_iter()
        .flatten()
        .map(|(_, number)| number.parse::<u32>());
    numbers
        .sum::<Result<u32, _>>()
        .map_err(|cause| BackendError::new(DOING, cause))
}

/// Where a cursor of the keeper is, in milliseconds since 1970.
pub async fn cursor(
    clients: &Clients,
    table: &str,
    name: &str,
) -> Result<Option<i64>, BackendError> {
    use aws_sdk_dynamodb::types::AttributeValue;
    let get = clients.dynamodb.get_item().table_name(table);
    let get = get
        .key("pk", AttributeValue::S("S".to_owned()))
        .key("sk", AttributeValue::S(name.to_owned()));
    let got = get.send().await;
    let item = got.map_err(|error| failed("reading a cursor", error))?.item;
    Ok(item.and_then(|item| item.get("at")?.as_n().ok()?.parse().ok()))
}

/// Puts a cursor of the keeper to a moment, in milliseconds since 1970.
pub async fn put_cursor(
    clients: &Clients,
    table: &str,
    name: &str,
    at: i64,
) -> Result<(), BackendError> {
    use aws_sdk_dynamodb::types::AttributeValue;
    let put = clients.dynamodb.put_item().table_name(table);
    let put = put
        .item("pk", AttributeValue::S("S".to_owned()))
        .item("sk", AttributeValue::S(name.to_owned()))
        .item("v", AttributeValue::N("1".to_owned()))
        .item("at", AttributeValue::N(at.to_string()));
    put.send()
        .await
        .map_err(|error| failed("putting a cursor", error))?;
    Ok(())
}

fn text(name: &str) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder()
        .attribute_name(name)
        .attribute_type(ScalarAttributeType::S)
        .build()
}

fn key(key: Key) -> Result<Vec<KeySchemaElement>, BuildError> {
    let element = |name: &str, kind: KeyType| {
        KeySchemaElement::builder()
            .attribute_name(name)
            .key_type(kind)
            .build()
    };
    let sort = key.sort.map(|name| element(name, KeyType::Range));
    std::iter::once(element(key.partition, KeyType::Hash))
        .chain(sort)
        .collect()
}

fn index(index: &Index) -> Result<GlobalSecondaryIndex, BuildError> {
    let projected = Projected::builder();
    let projected = match index.projection {
        Projection::Keys => projected.projection_type(ProjectionType::KeysOnly),
        Projection::Only(attributes) => projected
            .projection_type(ProjectionType::Include)
            .set_non_key_attributes(Some(attributes.iter().map(|a| (*a).to_owned()).collect())),
    };
    GlobalSecondaryIndex::builder()
        .index_name(index.name)
        .set_key_schema(Some(key(index.key)?))
        .projection(projected.build())
        .build()
}
