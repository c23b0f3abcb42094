//! The store's writer breaks off by a fault of ours: half a Switchboard would answer 503 for ever.

use switchboard_tests::run::Run;

#[tokio::test]
async fn a_writer_that_breaks_off_ends_the_process_for_whoever_starts_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--receivers", "off"];
    let ended = Run::of(
        folder.path(),
        &[&arguments[..], &["--data", "data"]].concat(),
    )
    .set("SWITCHBOARD_FAIL", "before-telling=panic")
    .ended()
    .await;
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(
        ended.err.contains("the store's writer broke off"),
        "{}",
        ended.err
    );
}
