//! What never stands in the log, whatever its level: secrets, signatures, tokens, bodies, and the parts of an address
//! that may be secret.

use crate::story::tell;

#[tokio::test]
async fn no_secret_signature_token_body_or_query_is_logged_at_the_most_detailed_level() {
    for flags in [&["--log", "json"][..], &["--log", "text"]] {
        let told = tell(flags).await;
        let (ended, folder) = told.switchboard.stop().await;
        assert_eq!(ended.code(), Some(0));
        let log = std::fs::read_to_string(folder.path().join("log")).expect("a log");
        assert!(log.contains("attempt") && log.contains("refused"), "{log}");
        // Long enough that none of them stands in the log by chance.
        assert!(
            told.hidden.len() > 30 && told.hidden.iter().all(|text| text.len() >= 9),
            "{:?}",
            told.hidden
        );
        for hidden in &told.hidden {
            let line = log.lines().find(|line| line.contains(&**hidden));
            assert_eq!(line, None, "{hidden} is logged");
        }
    }
}
