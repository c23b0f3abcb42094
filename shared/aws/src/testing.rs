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
        returned: create_queue(clients, &format!("{name}-returned")).await?,
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
