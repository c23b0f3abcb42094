//! What never stands in the log, whatever its level: secrets, signatures, tokens, bodies, and the parts of an address
//! that may be secret.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::story::tell;

/// Every form that a text may be written in.
fn forms(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    vec![
        text.to_owned(),
        HEXLOWER.encode(bytes),
        HEXUPPER.encode(bytes),
        BASE64.encode(bytes).trim_end_matches('=').to_owned(),
        BASE64_NOPAD.encode(bytes),
        BASE64URL_NOPAD.encode(bytes),
        utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
        // As the bytes of a list are written for debugging.
        format!("{bytes:?}").trim_matches(['[', ']']).to_owned(),
        text.escape_debug().to_string(),
    ]
}

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
        for hidden in told.hidden.iter().flat_map(|text| forms(text)) {
            let line = log.lines().find(|line| line.contains(&*hidden));
            assert_eq!(line, None, "{hidden} is logged");
            let line = told.printed.lines().find(|line| line.contains(&*hidden));
            assert_eq!(line, None, "{hidden} is printed");
        }
    }
}
