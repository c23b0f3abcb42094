//! What tests make: the table as the template deploys it, and the environment of a function that runs against an emulator.

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
    let keys = || INDEXES.iter().map(|index| index.key).chain([KEY]);
    let attributes = keys().flat_map(|key| [key.partition, key.sort]).map(text);
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
    Ok(vec![
        element(key.partition, KeyType::Hash)?,
        element(key.sort, KeyType::Range)?,
    ])
}

fn index(index: &Index) -> Result<GlobalSecondaryIndex, BuildError> {
    let projected = match index.projection {
        Projection::All => ProjectionType::All,
        Projection::Keys => ProjectionType::KeysOnly,
    };
    GlobalSecondaryIndex::builder()
        .index_name(index.name)
        .set_key_schema(Some(key(index.key)?))
        .projection(Projected::builder().projection_type(projected).build())
        .build()
}
