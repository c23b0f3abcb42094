//! What an open page asks for: what waits is looked for every ten seconds, however often it is read anew.

use switchboard_cost::page::{Open, Seen, open};
use switchboard_testkit::emulator::Emulator;

/// Calls of an operation for all refreshes.
fn calls(page: &Open, operation: &str) -> u32 {
    page.sum.count("dynamodb", operation)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_looks_for_what_waits_every_ten_seconds() {
    let emulator = Emulator::shared();
    let (idle, waiting) =
        tokio::join!(open(emulator, Seen::Nothing), open(emulator, Seen::Waiting));
    // The items of two hours for sixteen names.
    assert_eq!(calls(&idle, "BatchGetItem"), idle.refreshes);
    // The totals, for the fold and behind it.
    assert_eq!(calls(&idle, "Query"), 2 * idle.refreshes);
    let more = calls(&waiting, "Query") - 2 * waiting.refreshes;
    // Four parts of each of four sources and of twelve destinations: in twenty seconds twice, or three times.
    assert!((64 * 2..=64 * 3).contains(&more), "{more}: {waiting:?}");
}
