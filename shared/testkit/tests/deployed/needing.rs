//! A process that needs a part of the secrets asks for no other, and stands although another is missing.

use switchboard_core::configuration::Needs;

use crate::setting::{Setting, text_with_header};

#[tokio::test]
async fn a_process_that_delivers_needs_the_secrets_of_destinations_only() {
    let setting = Setting::new();
    setting.put(1, &text_with_header());
    setting.secrets.remove("shop");
    setting.secrets.set("crm", "Bearer of-the-crm");
    let current = setting.needing(Needs::Destinations).current().await;
    let configuration = current.expect("a configuration").configuration;
    assert!(configuration.sources.is_empty());
    let headers = &configuration.destinations[0].headers;
    assert_eq!(headers["authorization"], "Bearer of-the-crm");
    assert_eq!(setting.secrets.names(), ["crm"]);
    let all = setting.needing(Needs::Everything).current().await;
    assert!(all.is_err(), "one is missing");
}

#[tokio::test]
async fn a_process_that_needs_no_secret_asks_for_none() {
    let setting = Setting::new();
    setting.put(1, &format!("keep_days = 7\n{}", text_with_header()));
    setting.secrets.remove("shop");
    let current = setting.needing(Needs::Nothing).current().await;
    let configuration = current.expect("a configuration").configuration;
    assert_eq!(configuration.keep_days, 7);
    assert_eq!(setting.secrets.names(), [""; 0]);
}
