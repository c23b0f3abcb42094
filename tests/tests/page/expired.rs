//! A sign-in that ends while the page is open, by a clock that is moved by hand: the page leads back to where it was.

use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use switchboard_core::configuration::{self, Origin};
use switchboard_core::endpoint::Settings;
use switchboard_core::names::{DestinationName, SenderId};
use switchboard_core::secret::{Reference, Secret, SecretReader};
use switchboard_core::time::Timestamp;
use switchboard_embedded::Store;
use switchboard_testkit::clock::HandClock;
use switchboard_tests::browser::Browser;
use switchboard_tests::page::sign_in;
use switchboard_tests::setting::{SOURCES, configuration_to};
use switchboard_tests::switchboard::TOKEN;
use switchboard_web::status::{Setup, Status, Tested, Tester, router};
use tempfile::TempDir;
use tokio::net::TcpListener;
use url::Url;

use crate::setting::{reads, view};

struct Known;

impl SecretReader for Known {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        let name = reference.to_string();
        let known = SOURCES
            .iter()
            .find(|(_, _, variable, _)| name.ends_with(variable));
        let (.., secret) = known.ok_or("not set")?;
        Ok((*secret).to_owned())
    }
}

/// Nobody asks for a test delivery here.
struct Untested;

impl Tester for Untested {
    fn test<'a>(&'a self, _: &'a DestinationName, _: &'a SenderId, _: &'a Settings) -> Tested<'a> {
        unreachable!("nothing is tested")
    }
}

/// The routes of operators over a real store and a real socket, at the time that a clock says.
async fn served(clock: &Arc<HandClock>) -> (Url, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let address: Url = format!("http://{address}").parse().expect("an address");
    let text = configuration_to("http://127.0.0.1:9/");
    let read = configuration::read(&text, Origin::File, &Known).expect("a configuration");
    let status = Status::new(Setup {
        configuration: Arc::new(read.configuration),
        backend: Arc::new(Store::open(folder.path()).expect("a store")),
        clock: Arc::<HandClock>::clone(clock),
        rng: Box::new(ChaCha20Rng::seed_from_u64(7)),
        admin_token: Secret::new(TOKEN).expect("a token"),
        address: address.clone(),
        tester: Box::new(Untested),
    });
    let serving = axum::serve(listener, router(Arc::new(status)));
    tokio::spawn(async move { serving.await.expect("it serves") });
    (address, folder)
}

#[tokio::test]
async fn a_sign_in_that_ends_leads_back_to_the_view_that_was_open() {
    const PLACE: &str = "#/events?source=shop&kind=orders%2Fcreate";
    let clock = Arc::new(HandClock::at(Timestamp::from_seconds(1_764_446_400)));
    let (address, _folder) = served(&clock).await;
    let mut browser = Browser::start().await;
    browser.open(&address).await;
    sign_in(&mut browser, TOKEN).await;
    view(&mut browser, PLACE).await;
    // A second before its end it is still good, as a reading that was asked for shows.
    clock.advance(Duration::from_secs(12 * 3600 - 1));
    let answered = "fetch('/api/overview').then((answer) => answer.status)";
    assert_eq!(browser.evaluate(answered).await, 200);
    clock.advance(Duration::from_secs(1));
    reads(&mut browser, "body.sign-in", "Admin token").await;
    assert_eq!(browser.evaluate("location.hash").await, PLACE);
    sign_in(&mut browser, TOKEN).await;
    assert_eq!(browser.evaluate("location.hash").await, PLACE);
    reads(&mut browser, "#head", "Events").await;
    let searched = "document.querySelector('[name=kind]')?.value === 'orders/create' && \
        document.querySelector('[name=source]').value === 'shop'";
    browser.wait("the search is filled in", searched).await;
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}
