//! Answers that are cut, and answers with more behind them than they said.

use switchboard_tests::setting::sender;
use switchboard_tests::sink::Sink;
use tokio::io::AsyncWriteExt;

use crate::destinations::{CLOSED, OK, ended, switchboard};
use crate::hurting::{Hurting, request, say};

#[tokio::test]
async fn an_answer_cut_anywhere_is_a_success_only_when_its_head_was_whole() {
    let sink = Sink::start().await;
    let head = OK.len() - 2;
    let cutting = Hurting::start(|mut stream, number| async move {
        request(&mut stream).await?;
        stream
            .write_all(&OK.as_bytes()[..number.min(OK.len())])
            .await
            .ok()
    })
    .await;
    let urls = [("cutting", format!("http://{}/", cutting.at))];
    let switchboard = switchboard(&sink, &urls).await;
    let shop = sender(&switchboard, "shop");
    let mut number = 0;
    let mut attempts = 0;
    while attempts <= OK.len() {
        let id = format!("id-{number}");
        number += 1;
        let event = shop.send(&id, "orders/create", "{}").await.event();
        let delivery = &ended(&switchboard, &event).await["cutting"];
        for attempt in delivery["log"].as_array().expect("attempts") {
            let due = if attempts < head {
                "unanswered"
            } else {
                "delivered"
            };
            assert_eq!(attempt["outcome"], due, "cut at {attempts}: {delivery}");
            attempts += 1;
        }
    }
}

#[tokio::test]
async fn what_is_behind_an_answer_is_never_taken_for_the_next_one() {
    let sink = Sink::start().await;
    let surplus = Hurting::start(|mut stream, _| async move {
        loop {
            request(&mut stream).await?;
            let more = "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n";
            say(&mut stream, &format!("{OK}{more}{more}")).await?;
        }
    })
    .await;
    let switchboard = switchboard(&sink, &[("surplus", format!("http://{}/", surplus.at))]).await;
    let shop = sender(&switchboard, "shop");
    for number in 0..40 {
        let id = format!("id-{number}");
        let event = shop.send(&id, "orders/create", "{}").await.event();
        let delivery = &ended(&switchboard, &event).await["surplus"];
        let attempts = delivery["log"].as_array().expect("attempts");
        // An attempt may meet the closing of such a connection. It never gets a 500, and never waits for its time limit.
        assert!(
            attempts
                .iter()
                .all(|attempt| attempt["outcome"] == "delivered" || attempt["detail"] == CLOSED.1),
            "{delivery}"
        );
        assert_eq!(delivery["state"], "delivered", "{delivery}");
    }
}
