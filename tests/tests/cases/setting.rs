//! The setting of the stories with large numbers: many senders at once, and waiting for what comes of them.

use std::time::Duration;

use http::StatusCode;
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::{configuration, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;
use tokio::task::JoinSet;

/// Far longer than any of it should take, on a busy machine too.
pub(crate) const LONG: Duration = Duration::from_mins(3);
/// Senders at work at once.
const SENDERS: usize = 20;

/// A Switchboard whose deliveries have these pauses.
pub(crate) async fn pausing(sink: &Sink, pauses: &str) -> Switchboard {
    let text = configuration(sink).replace("[\"20ms\", \"40ms\"]", pauses);
    Switchboard::start(start(&text)).await
}

/// Posts events numbered from `from` to `to`, many at once, each answered 200.
pub(crate) async fn post(shop: &Sender, kind: &'static str, from: usize, to: usize, body: String) {
    let mut sending = JoinSet::new();
    for first in 0..SENDERS {
        let (shop, body) = (shop.clone(), body.clone());
        sending.spawn(async move {
            for n in (from + first..to).step_by(SENDERS) {
                let answer = shop.send(&format!("{kind}-{n}"), kind, body.clone()).await;
                assert_eq!(answer.status, StatusCode::OK, "{kind}-{n}");
            }
        });
    }
    sending.join_all().await;
}

/// Waits until a total is what it should be.
pub(crate) async fn wait_total(switchboard: &Switchboard, name: &str, value: u64) {
    wait::within(LONG, &format!("{name} is {value}"), async || {
        (switchboard.total(name).await == value).then_some(())
    })
    .await;
}
