//! What a request to DynamoDB is about: the items it writes, as they were and are, and those that a read passes over.

use serde_json::{Value, json};
use switchboard_aws::schema::KEY;

use crate::call::{Billed, Cause};
use crate::counter::Upstream;
use crate::item::{Item, bytes};
use crate::units::{Change, Reading, Written, read};

/// Partition and sort keys of what a process reads for itself.
const OWN: [(&str, &str); 2] = [("S", "configuration"), ("S", "settings")];
/// A transaction prepares each write and makes it: both are billed.
const OF_A_TRANSACTION: f64 = 2.0;

/// The items that a request writes, by their keys, as they were before it.
#[derive(Debug)]
pub(crate) struct Writes {
    table: String,
    items: Vec<(Value, Option<Item>)>,
}

impl Writes {
    /// Looks them up, straight from the service.
    pub(crate) async fn before(upstream: &Upstream, operation: &str, asked: &Value) -> Self {
        let mut items = Vec::new();
        let mut table = asked["TableName"].as_str().unwrap_or_default().to_owned();
        for (of, key) in written(operation, asked) {
            table = of;
            let item = upstream.item(&table, &key).await;
            items.push((key, item));
        }
        Self { table, items }
    }

    /// The same as they are now.
    async fn changes(self, upstream: &Upstream) -> Vec<Change> {
        let mut changes = Vec::new();
        for (key, before) in self.items {
            let after = upstream.item(&self.table, &key).await;
            changes.push(Change { before, after });
        }
        changes
    }
}

fn written(operation: &str, asked: &Value) -> Vec<(String, Value)> {
    let one = |write: &Value| {
        let key = match &write["Item"] {
            Value::Null => write["Key"].clone(),
            item => {
                let names = std::iter::once(KEY.partition).chain(KEY.sort);
                names
                    .map(|name| (name.to_owned(), item[name].clone()))
                    .collect()
            }
        };
        let table = write["TableName"].as_str().expect("a table");
        (table.to_owned(), key)
    };
    match operation {
        "PutItem" | "UpdateItem" | "DeleteItem" => vec![one(asked)],
        "TransactWriteItems" => {
            let writes = asked["TransactItems"].as_array().expect("a list");
            let inner =
                |write: &Value| write.as_object().expect("a write").values().next().cloned();
            writes
                .iter()
                .map(|write| one(&inner(write).expect("a write")))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// What the call is made for, by the item that it is about.
pub(crate) fn cause(operation: &str, asked: &Value) -> Cause {
    let is_own = |key: &Value| {
        let text = |name: &str| key[name]["S"].as_str().unwrap_or_default();
        OWN.contains(&(text(KEY.partition), text(KEY.sort.unwrap_or_default())))
    };
    match operation {
        "GetItem" | "UpdateItem" if is_own(&asked["Key"]) => Cause::Upkeep,
        _ => Cause::Work,
    }
}

/// What is billed for a call of DynamoDB that was answered; `Err` where no rule is known here.
pub(crate) async fn billed(
    upstream: &Upstream,
    operation: &str,
    (asked, answer): (&Value, &Value),
    is_done: bool,
    writes: Writes,
) -> Result<Billed, String> {
    let mut billed = Billed {
        reported: reported(&answer["ConsumedCapacity"]),
        ..Billed::default()
    };
    match operation {
        "PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems" => {
            let times = match operation {
                "TransactWriteItems" => OF_A_TRANSACTION,
                _ => 1.0,
            };
            for change in writes.changes(upstream).await {
                let Written { table, indexes } = if is_done {
                    change.written()
                } else {
                    change.refused()
                };
                let units = u32::try_from(table + indexes).expect("a small number");
                billed.writes += f64::from(units) * times;
                billed.stored += change.grown();
                if let Some(bytes) = change.streamed() {
                    billed.records += 1;
                    billed.streamed += bytes;
                }
            }
        }
        "GetItem" => {
            let table = asked["TableName"].as_str().expect("a table");
            let item = upstream.item(table, &asked["Key"]).await;
            let length = item.as_ref().map(bytes).unwrap_or_default();
            billed.reads = read(length, reading(asked));
        }
        // Each item by itself, as if it had been asked for alone.
        "BatchGetItem" => {
            for (table, of_table) in asked["RequestItems"].as_object().into_iter().flatten() {
                for key in of_table["Keys"].as_array().into_iter().flatten() {
                    let item = upstream.item(table, key).await;
                    let length = item.as_ref().map(bytes).unwrap_or_default();
                    billed.reads += read(length, reading(of_table));
                }
            }
        }
        "Query" => {
            let passed = upstream.passed_over(asked).await;
            billed.reads = read(passed.iter().map(bytes).sum(), reading(asked));
        }
        "DescribeTable" => {}
        other => return Err(format!("there is no rule for the units of {other}")),
    }
    Ok(billed)
}

fn reading(asked: &Value) -> Reading {
    match asked["ConsistentRead"].as_bool() {
        Some(true) => Reading::Consistent,
        Some(false) | None => Reading::Eventual,
    }
}

fn reported(capacity: &Value) -> f64 {
    match capacity {
        Value::Array(tables) => tables.iter().map(reported).sum(),
        one => one["CapacityUnits"].as_f64().unwrap_or_default(),
    }
}

impl Upstream {
    /// An item whole, as it stands.
    async fn item(&self, table: &str, key: &Value) -> Option<Item> {
        let input = json!({ "TableName": table, "Key": key, "ConsistentRead": true });
        let answer = self.ask("GetItem", &input).await;
        answer["Item"].as_object().cloned()
    }

    /// The items that a query passes over whole: those too that its filter leaves out, and attributes that it does not ask for.
    async fn passed_over(&self, asked: &Value) -> Vec<Item> {
        let answer = self.ask("Query", &whole(asked)).await;
        let items = answer["Items"].as_array().expect("items");
        let items = items.iter().map(|item| item.as_object().cloned());
        items.map(|item| item.expect("an item")).collect()
    }
}

/// The same query for all that lies in its range. Names and values that are then used nowhere would be refused.
fn whole(asked: &Value) -> Value {
    let condition = asked["KeyConditionExpression"].as_str().expect("a range");
    let is_part = |byte: char| byte.is_ascii_alphanumeric() || "#:_".contains(byte);
    let used: Vec<&str> = condition.split(|byte| !is_part(byte)).collect();
    let mut whole = asked.clone();
    let asking = whole.as_object_mut().expect("a request");
    for name in ["ProjectionExpression", "FilterExpression", "Select"] {
        asking.remove(name);
    }
    for list in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        let mut kept = asked[list].as_object().cloned().unwrap_or_default();
        kept.retain(|name, _| used.contains(&name.as_str()));
        asking.remove(list);
        if !kept.is_empty() {
            asking.insert(list.to_owned(), Value::Object(kept));
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_that_a_request_writes_are_known_by_their_keys() {
        let key = json!({ "pk": { "S": "E#1" }, "sk": { "S": "A" } });
        let mut item = key.clone();
        item["at"] = json!({ "N": "1" });
        let put = json!({ "TableName": "board", "Item": item });
        let update = json!({ "TableName": "board", "Key": key });
        let both = json!({ "TransactItems": [{ "Put": put }, { "Update": update }] });
        let one = ("board".to_owned(), key);
        assert_eq!(written("PutItem", &put), std::slice::from_ref(&one));
        assert_eq!(written("UpdateItem", &update), std::slice::from_ref(&one));
        assert_eq!(written("TransactWriteItems", &both), [one.clone(), one]);
        assert_eq!(written("Query", &json!({ "TableName": "board" })), []);
    }

    #[test]
    fn a_query_is_made_whole_by_leaving_out_what_narrows_it() {
        let narrow = json!({
            "TableName": "board", "Limit": 100, "KeyConditionExpression": "pk = :pk AND #s BETWEEN :a AND :b",
            "FilterExpression": "#due <= :p", "ProjectionExpression": "#x, v",
            "ExpressionAttributeNames": { "#s": "sk", "#due": "due", "#x": "pk" },
            "ExpressionAttributeValues": { ":pk": 1, ":p": 2, ":a": 3, ":b": 4 },
        });
        let due = json!({
            "TableName": "board", "Limit": 100, "KeyConditionExpression": "pk = :pk AND #s BETWEEN :a AND :b",
            "ExpressionAttributeNames": { "#s": "sk" },
            "ExpressionAttributeValues": { ":pk": 1, ":a": 3, ":b": 4 },
        });
        assert_eq!(whole(&narrow), due);
        let plain = json!({
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeNames": { "#x": "sk" },
            "ExpressionAttributeValues": { ":pk": 1 },
        });
        assert_eq!(whole(&plain).get("ExpressionAttributeNames"), None);
    }

    #[test]
    fn what_a_process_reads_for_itself_is_upkeep_and_all_else_is_work() {
        let at = |sort: &str| json!({ "Key": { "pk": { "S": "S" }, "sk": { "S": sort } } });
        assert_eq!(cause("GetItem", &at("settings")), Cause::Upkeep);
        assert_eq!(cause("GetItem", &at("configuration")), Cause::Upkeep);
        assert_eq!(cause("UpdateItem", &at("settings")), Cause::Upkeep);
        assert_eq!(cause("GetItem", &at("cursor#near")), Cause::Work);
        assert_eq!(cause("PutItem", &json!({ "Item": {} })), Cause::Work);
    }
}
