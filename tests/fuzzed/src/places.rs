//! What clients give back: places in lists, and how far a replay came. A check goes with each, bound to what it is a place in:
//! whatever else comes is wrong, and never the end of a list.

use data_encoding::BASE32_NOPAD;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use switchboard_core::operate::Progress;
use switchboard_core::views::Cursor;
use url::form_urlencoded;

use crate::door::{Door, TOKEN};
use crate::request;

thread_local! {
    static DOOR: Door = Door::of_operators();
}

/// The lists, and what their checks are bound to.
const LISTS: [(&str, &str); 4] = [
    ("/api/events", "events"),
    ("/api/dead-letters", "dead letters"),
    ("/api/refusals", "refusals"),
    ("/api/declined", "declined"),
];

/// The check behind a place, made here once more.
fn check(text: &str, of: &str) -> String {
    let digest = Sha256::digest(format!("{of}\0{text}"));
    BASE32_NOPAD.encode(&digest[..5]).to_ascii_lowercase()
}

/// The first line is a number that says which list is meant, the rest a place in it. With its check it is read from there, and
/// what is answered leads there again; in another list, without the check or with more it is told as wrong.
pub fn cursors(input: &[u8]) {
    let (number, rest) = numbered(input);
    let Ok(place) = std::str::from_utf8(rest) else {
        return;
    };
    let (path, own) = LISTS[number % LISTS.len()];
    let (_, other) = LISTS[(number + 1) % LISTS.len()];
    let right = format!("{place}.{}", check(place, own));
    let is_place = Cursor::new(place).is_some();
    DOOR.with(|door| {
        for (text, holds) in [
            (right.clone(), is_place),
            (format!("{place}.{}", check(place, other)), false),
            (format!("{right}a"), false),
            (format!("a{right}"), false),
            (place.to_owned(), itself_checked(place, own)),
        ] {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("after", &text)
                .finish();
            let path = format!("{path}?{query}");
            door.store.take();
            let answer = door.ask(b"GET", path.as_bytes(), &headers(), b"");
            let answer = answer.expect("a path");
            let asked = door.store.take().asked;
            assert_eq!(answer.status, if holds { 200 } else { 400 }, "{text:?}");
            assert_eq!(asked.len(), usize::from(holds), "{text:?} was read");
            for ask in asked {
                let after = ask.after.expect("a place");
                assert!(text.starts_with(after.as_str()), "{text:?}: {after:?}");
                let told: Value = serde_json::from_slice(&answer.body).expect("JSON");
                assert_eq!(told["next"], text, "the store ends where it began");
            }
        }
    });
}

/// Whether a text is a place with its check already.
fn itself_checked(text: &str, of: &str) -> bool {
    text.rsplit_once('.')
        .is_some_and(|(place, told)| told == check(place, of) && Cursor::new(place).is_some())
}

/// A text as the progress of a replay. What is read means the same when it is written and read again; and without the check
/// of a replay it is told as wrong, and nothing is looked at.
pub fn progress(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Some(read) = Progress::parse(text) {
        let written = read.to_string();
        let again = Progress::parse(&written);
        assert_eq!(again.as_ref(), Some(&read), "{written}");
        assert!(read.run().0 > 0, "run 0 is no replay's");
        assert!(written.len() <= text.len(), "{written}");
    }
    let mut headers = headers();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    DOOR.with(|door| {
        let ask = |search: &Value, progress: &str| {
            let mut body = search.clone();
            body["progress"] = json!(progress);
            door.store.take();
            let body = body.to_string();
            let answer = door.ask(b"POST", b"/admin/replay", &headers, body.as_bytes());
            (answer.expect("a path").status, door.store.take().asked)
        };
        let search = json!({ "sender_id": "1" });
        let (status, asked) = ask(&search, text);
        assert_eq!((status.as_u16(), asked.len()), (400, 0), "{text:?}");
        // The same behind a check that is right for another replay, whatever that is.
        let begun = door.ask(
            b"POST",
            b"/admin/replay",
            &headers,
            search.to_string().as_bytes(),
        );
        let begun: Value = serde_json::from_slice(&begun.expect("a path").body).expect("JSON");
        let own = begun["progress"].as_str().expect("it began");
        let (status, _) = ask(&search, own);
        assert_eq!(status, 200, "{own}");
        let (_, end) = own.rsplit_once('.').expect("a check");
        let forged = format!("{text}.{end}");
        let (status, asked) = ask(&search, &forged);
        let is_own = forged == own;
        assert_eq!(status == 200, is_own, "{forged:?}");
        assert!(is_own || asked.is_empty(), "{forged:?} was looked for");
        let (status, asked) = ask(&json!({ "sender_id": "2" }), own);
        assert_eq!((status.as_u16(), asked.len()), (400, 0), "another replay");
    });
}

/// The number in the first line, and what follows it.
fn numbered(input: &[u8]) -> (usize, &[u8]) {
    let told = request::read(input, 1);
    let number = request::text(told.first[0]).parse().unwrap_or_default();
    (number, &input[(told.first[0].len() + 1).min(input.len())..])
}

fn headers() -> HeaderMap {
    let bearer = HeaderValue::from_str(&format!("Bearer {TOKEN}")).expect("a value");
    HeaderMap::from_iter([
        (HOST, HeaderValue::from_static("localhost")),
        (AUTHORIZATION, bearer),
    ])
}
