//! Entity tags: what a client has already is not sent again.

use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

/// Bytes of a digest that are told.
const TOLD: usize = 16;

/// What tells one content from another. A weak tag: two answers of one tag may tell different moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag(String);

impl Tag {
    /// The tag of a content.
    pub(super) fn of(content: &[u8]) -> Self {
        let digest = Sha256::digest(content);
        let told = digest.first_chunk::<TOLD>().copied().unwrap_or_default();
        Self(format!("W/\"{}\"", BASE64URL_NOPAD.encode(&told)))
    }

    /// Whether a client has this content already (RFC 9110 section 13.1.2).
    fn is_had(&self, headers: &HeaderMap) -> bool {
        let bare = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
        let own = bare(&self.0);
        headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .any(|tag| tag == "*" || bare(tag) == own)
    }
}

/// 304 to a client that has the content already, else the answer; both with its tag.
pub(super) fn tagged(
    headers: &HeaderMap,
    tag: &Tag,
    answer: impl FnOnce() -> Response,
) -> Response {
    let mut response = if tag.is_had(headers) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        answer()
    };
    if let Ok(value) = HeaderValue::from_str(&tag.0) {
        response.headers_mut().insert(ETAG, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_again_in_every_spelling_and_no_other_is() {
        let tag = Tag::of(b"one");
        let strong = tag.0.trim_start_matches("W/");
        let other = Tag::of(b"two").0;
        let had = |value: &str| {
            let value = HeaderValue::from_str(value).expect("value");
            tag.is_had(&HeaderMap::from_iter([(IF_NONE_MATCH, value)]))
        };
        for same in [&tag.0, strong, "*", &format!("{other}, {}", tag.0)] {
            assert!(had(same), "{same}");
        }
        for another in [other.as_str(), "", "W/", strong.trim_matches('"')] {
            assert!(!had(another), "{another}");
        }
        assert!(!tag.is_had(&HeaderMap::new()), "nothing is said");
    }
}
