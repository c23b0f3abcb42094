//! The page in a real browser.

use switchboard_tests::browser::Browser;
use switchboard_tests::switchboard::{Start, Switchboard};

#[tokio::test]
async fn the_page() {
    let s = Switchboard::start(Start::sample()).await;
    let mut b = Browser::start().await;
    b.open(&s.sign_in).await;
    b.wait(
        "live",
        "document.querySelector('#state').innerText === 'Live'",
    )
    .await;
    println!("{}", b.text("body").await);
    println!("{:?}", b.misbehaviour().await);
    b.close().await;
}
