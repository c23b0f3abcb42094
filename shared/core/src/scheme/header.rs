//! Reading one header of a request: present once, as text, without outer spaces.

use http::HeaderMap;

use crate::names::{Kind, SenderId};
use crate::refusal::{Reason, Unreadable};

/// What a header holds.
enum Found<'a> {
    Nothing,
    Text(&'a str),
    Twice,
    NotText,
}

fn find<'a>(headers: &'a HeaderMap, name: &str) -> Found<'a> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return if headers.contains_key(name) {
            Found::Twice
        } else {
            Found::Nothing
        };
    };
    match std::str::from_utf8(value.as_bytes()) {
        // Only what HTTP itself calls outer white space (RFC 9110 section 5.5): two ids must not meet by being trimmed.
        Ok(text) if text.trim().is_empty() => Found::Nothing,
        Ok(text) => Found::Text(text.trim_matches([' ', '\t'])),
        Err(_) => Found::NotText,
    }
}

/// A header that the signature check needs: missing or empty, repeated, or not text is a refusal.
pub fn signed(headers: &HeaderMap, name: &'static str) -> Result<String, Reason> {
    match find(headers, name) {
        Found::Text(text) => Ok(text.to_owned()),
        Found::Nothing => Err(Reason::MissingHeader { header: name }),
        Found::Twice => Err(Reason::RepeatedHeader { header: name }),
        Found::NotText => Err(Reason::MalformedHeader {
            header: name,
            why: "it is not text",
        }),
    }
}

/// A header that names or identifies an event; `None` when it is not there.
pub fn naming(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Unreadable> {
    match find(headers, name) {
        Found::Text(text) => Ok(Some(text.to_owned())),
        Found::Nothing => Ok(None),
        Found::Twice => Err(Unreadable::RepeatedHeader { header: name }),
        Found::NotText => Err(Unreadable::HeaderNotText { header: name }),
    }
}

/// A header that identifies an event though no signature covers it; `None` when it is not there. A gateway may have
/// joined repeated headers with a comma, which no such id holds: two ids never become one.
pub fn unsigned_id(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Unreadable> {
    match naming(headers, name)? {
        Some(text) if text.contains(',') => Err(Unreadable::RepeatedHeader { header: name }),
        found => Ok(found),
    }
}

/// Takes a text as the sender's id.
pub fn sender_id(text: &str) -> Result<SenderId, Unreadable> {
    SenderId::new(text).ok_or(Unreadable::IdLength)
}

/// Takes a text as a kind.
pub fn kind(text: &str) -> Result<Kind, Unreadable> {
    Kind::new(text).ok_or(Unreadable::KindTooLong)
}

/// Reads a signed time: plain decimal digits only, so that nothing falls back to 0 or to the present.
pub fn time(text: &str, header: &'static str) -> Result<i64, Reason> {
    let malformed = Reason::MalformedHeader {
        header,
        why: "the time is not plain decimal digits",
    };
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(malformed);
    }
    text.parse().map_err(|_| malformed)
}
