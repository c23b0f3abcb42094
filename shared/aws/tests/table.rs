//! The clients, the table and its conditions over the wire, against the emulator.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use aws_sdk_dynamodb::types::{
    AttributeValue, ProjectionType, ReturnValuesOnConditionCheckFailure, StreamViewType,
};
use switchboard_aws::client::{Clients, clients};
use switchboard_aws::failure::{Conditional, Item, conditional};
use switchboard_aws::schema::{INDEXES, KEY, Projection, RECENT, TTL};
use switchboard_aws::testing::{create_table, environment};
use switchboard_testkit::emulator::{Account, Emulator, fresh_account};

const TABLE: &str = "switchboard";

fn of(account: &Account) -> Clients {
    let url = Emulator::shared().url();
    clients(&environment(&url, account.as_str()).expect("an environment"))
}

/// Clients of an account of this test's, where the table is.
async fn with_table() -> Clients {
    let clients = of(&fresh_account());
    create_table(&clients.dynamodb, TABLE).await.expect("made");
    clients
}

fn item(value: &str) -> Item {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let attributes = [("pk", "p"), ("sk", "s"), ("value", value)];
    attributes
        .map(|(name, value)| (name.to_owned(), text(value)))
        .into()
}

/// A put of what is not there yet.
async fn put(clients: &Clients, value: &str) -> Result<Conditional<()>, String> {
    let request = clients
        .dynamodb
        .put_item()
        .table_name(TABLE)
        .set_item(Some(item(value)))
        .condition_expression(format!("attribute_not_exists({})", KEY.partition))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let written = request.send().await.map(|_| ());
    conditional("putting an item", written).map_err(|error| error.line())
}

#[tokio::test]
async fn a_missing_table_is_an_error_and_an_unmet_condition_is_none() {
    let line = put(&of(&fresh_account()), "first").await;
    let line = line.expect_err("there is no table");
    let begin = "putting an item: the service answered 400 ResourceNotFoundException: ";
    assert!(line.starts_with(begin), "found: {line}");

    let clients = with_table().await;
    let first = put(&clients, "first").await;
    assert_eq!(first, Ok(Conditional::Written(())));
    let second = put(&clients, "second").await;
    assert_eq!(second, Ok(Conditional::Unmet(Some(item("first")))));
}

#[tokio::test]
async fn accounts_see_nothing_of_each_other() {
    let clients = with_table().await;
    let tables = async |clients: &Clients| {
        let listed = clients.dynamodb.list_tables().send().await;
        listed.expect("a list").table_names().to_vec()
    };
    assert_eq!(tables(&clients).await, [TABLE]);
    let other = tables(&of(&fresh_account())).await;
    assert_eq!(other, Vec::<String>::new());
}

#[tokio::test]
async fn the_table_is_as_the_schema_says() {
    let clients = with_table().await;
    let described = clients.dynamodb.describe_table().table_name(TABLE);
    let described = described.send().await.expect("a description");
    let table = described.table.expect("a table");
    let names = |schema: &[aws_sdk_dynamodb::types::KeySchemaElement]| {
        let names = schema.iter().map(|key| key.attribute_name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(table.key_schema()), ["pk", "sk"]);
    let stream = table.stream_specification().expect("a stream");
    assert_eq!(
        stream.stream_view_type(),
        Some(&StreamViewType::NewAndOldImages)
    );
    let mut found: Vec<_> = table
        .global_secondary_indexes()
        .iter()
        .map(|index| {
            let projection = index.projection().expect("a projection").clone();
            (
                index.index_name().expect("a name").to_owned(),
                names(index.key_schema()),
                projection.projection_type.expect("a type"),
                projection.non_key_attributes.unwrap_or_default(),
            )
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let owned =
        |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    let mut expected: Vec<_> = INDEXES
        .iter()
        .map(|index| {
            let (projection, attributes) = match index.projection {
                Projection::Keys => (ProjectionType::KeysOnly, Vec::new()),
                Projection::Only(attributes) => (ProjectionType::Include, owned(attributes)),
            };
            let key: Vec<&str> = std::iter::once(index.key.partition)
                .chain(index.key.sort)
                .collect();
            (index.name.to_owned(), owned(&key), projection, attributes)
        })
        .collect();
    expected.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(found, expected);
    let expiry = clients.dynamodb.describe_time_to_live().table_name(TABLE);
    let expiry = expiry.send().await.expect("a description");
    let expiry = expiry.time_to_live_description.expect("a setting");
    assert_eq!(expiry.attribute_name(), Some(TTL));
}

#[tokio::test]
async fn only_items_with_its_key_are_in_an_index() {
    let clients = with_table().await;
    let put = async |sort: &str, indexed: &[(&str, &str)]| {
        let attributes = [("pk", "p"), ("sk", sort)];
        let attributes = attributes.iter().chain(indexed);
        let item: Item = attributes
            .map(|(name, value)| ((*name).to_owned(), AttributeValue::S((*value).to_owned())))
            .collect();
        let request = clients.dynamodb.put_item().table_name(TABLE);
        let written = request.set_item(Some(item)).send().await;
        written.expect("written");
    };
    put("in", &[(RECENT.key.partition, "a"), ("g1s", "1")]).await;
    put("out", &[]).await;
    let request = clients
        .dynamodb
        .query()
        .table_name(TABLE)
        .index_name(RECENT.name)
        .key_condition_expression(format!("{} = :shard", RECENT.key.partition))
        .expression_attribute_values(":shard", AttributeValue::S("a".to_owned()));
    let found = request.send().await.expect("an answer");
    let sorts: Vec<_> = found.items().iter().map(|item| &item["sk"]).collect();
    assert_eq!(sorts, [&AttributeValue::S("in".to_owned())]);
}

#[tokio::test]
async fn each_service_answers() {
    let Clients {
        dynamodb,
        sqs,
        streams,
        secrets,
    } = with_table().await;

    let queue = sqs.create_queue().queue_name("deliveries").send().await;
    let queue = queue.expect("a queue").queue_url.expect("its address");
    let hint = sqs.send_message().queue_url(&queue).message_body("hint");
    hint.send().await.expect("sent");
    let got = sqs.receive_message().queue_url(&queue).send().await;
    let bodies: Vec<_> = got
        .expect("an answer")
        .messages
        .unwrap_or_default()
        .into_iter()
        .filter_map(|message| message.body)
        .collect();
    assert_eq!(bodies, ["hint"]);

    let table = dynamodb.describe_table().table_name(TABLE).send().await;
    let table = table.expect("a description").table.expect("a table");
    let stream = table.latest_stream_arn().expect("a stream");
    let described = streams.describe_stream().stream_arn(stream).send().await;
    let described = described.expect("an answer").stream_description;
    let shards = described.expect("a description").shards.unwrap_or_default();
    assert!(!shards.is_empty(), "the table has a stream");

    let secret = secrets.create_secret().name("shop").secret_string("key");
    secret.send().await.expect("stored");
    let read = secrets.get_secret_value().secret_id("shop").send().await;
    let read = read.expect("an answer").secret_string;
    assert_eq!(read.as_deref(), Some("key"));
}
