//! What stays when something cannot be read, and what is said of it.

use switchboard_core::ports::Stored;

use crate::setting::{Setting, text, version};

const DOWN: &str = "the table is away";

#[tokio::test]
async fn a_store_that_fails_leaves_what_there_is() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    assert_eq!(setting.number().await, 1);
    setting.put(2, &text("b"));
    setting.store.fails(Some(DOWN));
    setting.after(5);
    assert_eq!(setting.number().await, 1);
    setting.store.fails(None);
    assert_eq!(setting.number().await, 1, "it is not asked before its time");
    setting.after(5);
    assert_eq!(setting.number().await, 2);
}

#[tokio::test]
async fn a_secret_is_rotated_while_the_store_fails() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.store.fails(Some(DOWN));
    setting.secrets.set("shop", "the-second-secret");
    setting.after(60);
    assert_eq!(setting.secret().await, "the-second-secret");
}

#[tokio::test]
async fn a_text_that_cannot_be_used_leaves_what_there_is() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    for unusable in [
        "no TOML".to_owned(),
        text("Not A Name"),
        text("a").replace("secret:shop", "secret:nobody-made-it"),
        text("a").replace("secret:shop", "env:SHOP"),
    ] {
        setting.put(2, &unusable);
        setting.after(61);
        assert_eq!(setting.number().await, 1, "{unusable}");
        assert_eq!(setting.secret().await, "the-first-secret");
    }
    setting.put(3, &text("c"));
    setting.after(5);
    assert_eq!(setting.number().await, 3);
}

#[tokio::test]
async fn a_secret_that_goes_away_or_becomes_unusable_keeps_its_last_value() {
    let setting = Setting::new();
    let with_key = text("a").replace("shopify", "standard-webhooks");
    setting.secrets.set("shop", "whsec_Zmlyc3RmaXJzdGZpcnN0");
    setting.put(1, &with_key);
    let first = setting.secret().await;
    setting.secrets.remove("shop");
    setting.after(60);
    assert_eq!(setting.secret().await, first, "it went away");
    for unusable in ["", "   ", "whsec_!!!"] {
        setting.secrets.set("shop", unusable);
        setting.after(60);
        assert_eq!(setting.secret().await, first, "{unusable:?}");
    }
    setting.secrets.set("shop", "whsec_c2Vjb25kc2Vjb25kc2Vj");
    setting.after(60);
    assert_eq!(setting.secret().await, "whsec_c2Vjb25kc2Vjb25kc2Vj");
}

#[tokio::test]
async fn a_secret_that_goes_away_holds_up_the_rotation_of_no_other() {
    let setting = Setting::new();
    setting.secrets.set("old", "an-older-secret");
    let two = "secrets = [\"secret:shop\", \"secret:old\"]";
    setting.put(1, &text("a").replace("secrets = [\"secret:shop\"]", two));
    setting.current().await;
    setting.secrets.remove("old");
    setting.secrets.set("shop", "the-second-secret");
    setting.after(60);
    assert_eq!(setting.secret().await, "the-second-secret");
    let configuration = setting.configuration().await;
    assert_eq!(configuration.sources[0].keys().len(), 2);
}

#[tokio::test]
async fn a_configuration_that_is_not_stored_any_more_stays_in_use() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.store.put(None);
    setting.after(61);
    assert_eq!(setting.number().await, 1);
}

#[tokio::test]
async fn whoever_has_read_nothing_yet_says_so_and_has_no_empty_one() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.store.fails(Some(DOWN));
    let said = setting.deployed.current().await.expect_err("nothing");
    assert_eq!(
        said.to_string(),
        "no configuration was read yet: ask for the configuration: the table is away"
    );
    setting.store.fails(None);
    setting.secrets.remove("shop");
    setting.after(5);
    let said = setting.deployed.current().await.expect_err("nothing");
    assert_eq!(
        said.to_string(),
        "no configuration was read yet: version 1: source \"shop\": secrets: the secret secret:shop cannot be read: \
         there is none"
    );
    let asked = setting.secrets.asked();
    setting.deployed.current().await.expect_err("nothing");
    assert_eq!(setting.secrets.asked(), asked, "not for every request");
    setting.secrets.set("shop", "the-first-secret");
    setting.after(5);
    assert_eq!(setting.number().await, 1);
}

#[tokio::test]
async fn another_format_is_told_in_one_line_and_leaves_what_there_is() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.store.put(Some(Stored {
        format: 2,
        version: version(2),
        text: text("b"),
        at: switchboard_core::time::Timestamp::default(),
    }));
    setting.after(5);
    assert_eq!(setting.number().await, 1);
    let cold = setting.another();
    let line = "read the configuration: version 2 is stored in format 2, and this program reads 1: \
        a newer one put it there";
    let said = cold.current().await.expect_err("nothing");
    assert_eq!(
        said.to_string(),
        format!("no configuration was read yet: {line}")
    );
    assert_eq!(cold.stored().await.expect_err("an error").line(), line);
    setting
        .deployed
        .apply(&text("c"), Some(version(2)))
        .await
        .expect_err("an older program does not replace what it cannot read");
}
