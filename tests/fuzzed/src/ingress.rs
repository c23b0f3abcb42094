//! Requests to a source's address, through the real router: the first line is the method and the path, with `signed`
//! in front of them when the request is to be signed rightly; then headers and body.

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use switchboard_core::configuration::Source;
use switchboard_core::scheme::{Draft, verify};

use crate::door::{Door, MAX_BODY, NOW, SECRET};
use crate::request;

thread_local! {
    static DOOR: Door = Door::of_senders();
}

/// Any request is answered with one of the statuses there are. What is answered 200 is stored, byte for byte, and its
/// signature holds; what is not is counted once, or is no POST. No answer quotes anything.
pub fn posted(input: &[u8]) {
    DOOR.with(|door| through(door, input));
}

fn through(door: &Door, input: &[u8]) {
    let told = request::read(input, 1);
    let (signed, line) = match told.first[0].strip_prefix(b"signed ") {
        Some(line) => (true, line),
        None => (false, told.first[0]),
    };
    let mut words = line.splitn(2, |byte| *byte == b' ');
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let Ok(uri) = Uri::try_from(path) else {
        return;
    };
    let sources = &door.configuration.sources;
    let name = uri.path().strip_prefix("/in/");
    let source = name.and_then(|name| sources.iter().find(|one| one.name.as_str() == name));
    let mut headers = told.headers;
    if let Some(source) = source.filter(|_| signed) {
        sign(source, &mut headers, told.body);
    }
    door.store.take();
    let Some(answer) = door.ask(method, path, &headers, told.body) else {
        return;
    };
    let kept = door.store.take();
    let text = String::from_utf8_lossy(&answer.body);
    assert!(
        !text.contains(SECRET) && text.len() < 100,
        "answered {text}"
    );
    match answer.status.as_u16() {
        200 => {
            let source = source.expect("only a source takes events");
            assert_eq!(kept.events.len(), 1, "accepted once");
            assert!(kept.notes.is_empty(), "accepted and counted besides");
            let event = &kept.events[0];
            assert_eq!(&event.body[..], told.body, "stored as it came");
            assert_eq!(event.source, source.name);
            assert!(told.body.len() <= MAX_BODY, "longer than the limit");
            let held = verify(source.scheme, source.keys(), &headers, told.body, NOW);
            assert!(held.is_ok(), "accepted without a signature that holds");
        }
        404 if name.is_none() => assert!(kept.notes.is_empty(), "{uri} is nobody's address"),
        status @ (400 | 401 | 404 | 413) => {
            assert!(kept.events.is_empty(), "{status}, and stored");
            assert_eq!(kept.notes.len(), 1, "{status} is counted once");
        }
        405 => assert!(
            kept.events.is_empty() && method != b"POST",
            "a POST is no 405"
        ),
        status => panic!("answered {status}: {text}"),
    }
}

fn sign(source: &Source, headers: &mut HeaderMap, body: &[u8]) {
    let draft = Draft {
        id: "id-1",
        kind: "some.kind",
        now: NOW,
        body,
    };
    for (name, value) in (source.scheme.sign)(&source.keys()[0], &draft) {
        let name = HeaderName::from_static(name);
        headers.insert(name, HeaderValue::from_str(&value).expect("a value"));
    }
}
