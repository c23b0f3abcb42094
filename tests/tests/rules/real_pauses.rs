//! Rule 4 in real time: the one story that waits out the real pauses.

use http::StatusCode;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use crate::setting::{shop, start};

#[tokio::test]
async fn six_attempts_come_after_2_4_8_16_and_32_seconds_each_a_fifth_either_way() {
    let sink = Sink::start().await;
    sink.answer(|_, _| StatusCode::FORBIDDEN);
    let short = start(&sink);
    let configuration = short.configuration.clone().map(|text| {
        text.lines()
            .filter(|line| !line.starts_with("pauses"))
            .collect::<Vec<_>>()
            .join("\n")
    });
    let switchboard = Switchboard::start(switchboard_tests::switchboard::Start {
        configuration,
        ..short
    })
    .await;
    for n in 0..10 {
        shop(&switchboard)
            .send(&format!("id-{n}"), "other", "{}")
            .await;
    }
    wait::within(
        std::time::Duration::from_secs(100),
        "all are dead",
        async || (switchboard.total("dead").await == 10).then_some(()),
    )
    .await;
    let received = sink.received();
    let mut ratios = Vec::new();
    let mut by_key = std::collections::BTreeMap::<&str, Vec<i64>>::new();
    for one in &received {
        by_key.entry(one.key()).or_default().push(one.at);
    }
    for times in by_key.values() {
        assert_eq!(times.len(), 6, "six attempts, no more and no less");
        for (pair, base) in times.windows(2).zip([2000, 4000, 8000, 16000, 32000]) {
            let gap = pair[1] - pair[0];
            // Never earlier than the band; later only by what a busy machine adds.
            assert!(
                gap >= base * 8 / 10 - 20 && gap <= base * 12 / 10 + 1500,
                "a pause of {base} ms took {gap} ms"
            );
            ratios.push(gap * 100 / base);
        }
    }
    assert!(
        ratios.iter().any(|ratio| *ratio < 97) && ratios.iter().any(|ratio| *ratio > 103),
        "they moved both ways: {ratios:?}"
    );
}
