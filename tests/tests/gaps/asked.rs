//! The stories of the status function: there is one for everything that it is asked, and in one of them each of its rights is
//! used, so that every call that it makes suffers everything somewhere.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::call::{Call, Plan};
use crate::operated::Named;
use crate::watched::Heard;
use crate::{changed, operated, read, replayed};

type Telling = Pin<Box<dyn Future<Output = Heard>>>;

/// All of them. Each is told with every fault of its calls where it stands.
const STORIES: [fn(Option<Plan>) -> Telling; 9] = [
    |plan| Box::pin(operated::story(Named::All, plan)),
    |plan| Box::pin(operated::story(Named::Each, plan)),
    |plan| Box::pin(operated::story(Named::Destinations, plan)),
    |plan| Box::pin(replayed::story(plan)),
    |plan| Box::pin(changed::held(plan)),
    |plan| Box::pin(changed::endpoint(plan)),
    |plan| Box::pin(changed::applied(plan)),
    |plan| Box::pin(changed::tested(plan)),
    |plan| Box::pin(read::story(plan)),
];

/// What is answered from what the process holds: no more is asked of a service for it than the operators' token.
const ALONE: [(&str, &str); 9] = [
    ("GET", "/"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("POST", "/sign-out"),
    ("GET", "/page.css"),
    ("GET", "/icon.svg"),
    ("GET", "/page.js"),
    ("GET", "/sign-in.js"),
    ("GET", "/api/openapi.json"),
];

/// Rights that no story uses, each because of what no story has.
const UNUSED: [(&str, &str); 1] = [("dynamodb:DeleteItem", "an event in its second life")];

const DESCRIPTION: &str = include_str!("../../../shared/web/src/status/openapi.json");
const TEMPLATE: &str = include_str!("../../../template.yaml");

/// All that the status function can be asked: method and path, with `{event}` where an id stands.
fn described() -> BTreeSet<(String, String)> {
    let description: Value = serde_json::from_str(DESCRIPTION).expect("JSON");
    let paths = description["paths"].as_object().expect("paths");
    let methods = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flat_map(|all| all.keys());
        let verbs = methods.filter(|name| !matches!(name.as_str(), "parameters" | "summary"));
        verbs.map(move |method| (method.to_uppercase(), path.clone()))
    });
    methods.collect()
}

/// A path as the description names it.
fn as_described(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        if part.starts_with("evt_") {
            "{event}"
        } else {
            part
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// What the template allows the status function.
fn rights() -> BTreeSet<String> {
    let (_, behind) = TEMPLATE.split_once("\n  Status:\n").expect("the function");
    let own = behind.lines().take_while(|line| line.starts_with("    "));
    let words = own.flat_map(|line| line.split([' ', ',', '[', ']']));
    let services = ["dynamodb:", "sqs:", "secretsmanager:"];
    let rights = words.filter(|word| services.iter().any(|service| word.starts_with(service)));
    rights.map(str::to_owned).collect()
}

/// The rights that a call uses.
fn used(call: &Call) -> Vec<String> {
    let of = |service: &str, name: &str| format!("{service}:{name}");
    match call.operation.as_str() {
        "TransactWriteItems" if call.of.starts_with("E/") => ["ConditionCheckItem", "PutItem"]
            .map(|name| of("dynamodb", name))
            .into(),
        "TransactWriteItems" => vec![of("dynamodb", "UpdateItem")],
        "SendMessageBatch" => vec![of("sqs", "SendMessage")],
        "GetSecretValue" => vec![of("secretsmanager", "GetSecretValue")],
        name if name.ends_with("QueueAttributes") => vec![of("sqs", name)],
        name => vec![of("dynamodb", name)],
    }
}

#[tokio::test]
async fn everything_that_the_status_function_is_asked_and_may_do_has_its_story() {
    let (mut asked, mut rights_used) = (BTreeSet::new(), BTreeSet::new());
    for story in STORIES {
        let heard = story(None).await;
        let paths = heard.asked.into_iter();
        asked.extend(paths.map(|(method, path)| (method, as_described(&path))));
        rights_used.extend(heard.calls.iter().flat_map(used));
    }
    asked.extend(ALONE.map(|(method, path)| (method.to_owned(), path.to_owned())));
    assert_eq!(asked, described(), "asked in a story, and described");
    rights_used.extend(UNUSED.map(|(right, _)| right.to_owned()));
    assert_eq!(rights_used, rights(), "used in a story, and given");
}
