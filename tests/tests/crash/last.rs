//! The last write of an end in order.

use http::StatusCode;
use switchboard_tests::setting::{running, sender};
use switchboard_tests::strace::Strace;
use switchboard_tests::switchboard::{Start, Switchboard};

#[tokio::test]
async fn what_could_only_be_counted_in_memory_is_written_at_the_end() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    shop.send("before", "other", "{}").await;
    // From here on nothing is written by itself.
    switchboard.wait_total("delivered", 1).await;
    let trace = switchboard.folder().join("trace");
    let full = ["-e", "inject=pwrite64:error=ENOSPC"];
    let strace = Strace::attach(switchboard.id(), &trace, &full).await;
    let declined = shop.send("while", "other", "{}").await;
    assert_eq!(declined.status, StatusCode::SERVICE_UNAVAILABLE);
    strace.detach().await;
    // There is room again, and nothing is written until the end is asked for.
    let (ended, folder) = switchboard.stop().await;
    assert!(ended.success(), "{ended}");
    let switchboard = Switchboard::start_in(folder, Start::sample()).await;
    assert_eq!(switchboard.total("declined").await, 1);
}
