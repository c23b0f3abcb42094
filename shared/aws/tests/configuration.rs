//! The store of configurations in a table, and the secrets beside it, over the emulator.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_aws::client::{Clients, clients};
use switchboard_aws::configuration::Configurations;
use switchboard_aws::secrets::StoredSecrets;
use switchboard_aws::testing::{create_table, environment};
use switchboard_core::ports::{ConfigurationStore, Secrets, Version};
use switchboard_core::secret::SecretName;
use switchboard_core::time::Timestamp;
use switchboard_testkit::emulator::{Emulator, fresh_account};
use switchboard_testkit::suite::configuration::Fixture;

const TABLE: &str = "switchboard";

/// Clients of an account that nobody used before.
fn fresh_clients() -> Clients {
    let account = fresh_account();
    let environment = environment(&Emulator::shared().url(), account.as_str());
    clients(&environment.expect("an environment"))
}

struct InTable;

impl Fixture for InTable {
    type Store = Configurations;

    async fn fresh(&self) -> Configurations {
        let clients = fresh_clients();
        let made = create_table(&clients.dynamodb, TABLE).await;
        made.expect("a table");
        Configurations::new(clients.dynamodb, TABLE.to_owned())
    }

    async fn reopened(&self, store: Configurations) -> Configurations {
        store
    }
}

switchboard_testkit::configuration_conformance!(InTable);

#[tokio::test]
async fn what_a_newer_program_stored_is_told_and_never_overwritten() {
    let clients = fresh_clients();
    create_table(&clients.dynamodb, TABLE)
        .await
        .expect("a table");
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let number = |number: &str| AttributeValue::N(number.to_owned());
    let put = clients
        .dynamodb
        .put_item()
        .table_name(TABLE)
        .item("pk", text("S"))
        .item("sk", text("configuration"))
        .item("v", number("2"))
        .item("vr", number("7"))
        .item("tx", text("a form of the future"))
        .item("at", number("1"))
        .send()
        .await;
    put.expect("put");
    let store = Configurations::new(clients.dynamodb, TABLE.to_owned());
    let stored = store.stored().await.expect("read").expect("there");
    assert_eq!((stored.format, stored.version.number()), (2, 7));
    for seen in [None, Version::new(6), Version::new(7)] {
        let replaced = store.replace(seen, "mine", Timestamp::default()).await;
        let error = replaced.expect_err("not overwritten").line();
        assert!(error.contains("format 2"), "{error}");
    }
}

#[tokio::test]
async fn secrets_are_read_by_their_names_under_the_prefix() {
    let clients = fresh_clients();
    for (name, value) in [
        ("board/shop", "sixteen bytes or more"),
        ("board/shop/next", "another\n"),
        ("board/empty", " "),
        ("other/shop", "of another deployment"),
    ] {
        let create = clients.secrets.create_secret().name(name);
        create.secret_string(value).send().await.expect("created");
    }
    let secrets = StoredSecrets::new(clients.secrets, "board".to_owned());
    let names = ["shop", "shop/next", "empty", "missing"];
    let names: BTreeSet<SecretName> = names.into_iter().filter_map(SecretName::parse).collect();
    let found = secrets.read(&names).await;
    let found = |name: &str| {
        let name = SecretName::parse(name).expect("a name");
        found
            .get(&name)
            .cloned()
            .expect("every name has its answer")
    };
    let exposed = |name| found(name).map(|secret| secret.expose().to_owned());
    assert_eq!(exposed("shop"), Ok("sixteen bytes or more".to_owned()));
    assert_eq!(exposed("shop/next"), Ok("another".to_owned()));
    assert_eq!(
        exposed("empty"),
        Err("reading a secret: it is empty".to_owned())
    );
    let missing = exposed("missing").expect_err("none");
    assert!(missing.contains("ResourceNotFoundException"), "{missing}");
}
