//! How an answer goes back through the platform, which carries one JSON text of at most 6 MB: as text where it is some and that
//! fits, else as base64. So a body that came in as text goes out as text, and what came in goes out. What fits in neither form
//! is a problem.

use std::pin::Pin;

use axum::body::to_bytes;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue};
use lambda_http::{Body, IntoResponse};
use switchboard_web::status::{too_long, try_again};

/// The longest answer, in bytes of its JSON text.
const LONGEST: usize = 6 * 1024 * 1024;
/// What that text has beside headers and body, at most.
const FRAME: usize = 512;
/// The same for each header beside its name and its value: quotes, a colon and a comma.
const OF_HEADER: usize = 8;

/// An answer on its way back.
pub(crate) struct Carried(pub(crate) Response);

impl IntoResponse for Carried {
    fn into_response(self) -> Pin<Box<dyn Future<Output = http::Response<Body>> + Send>> {
        Box::pin(async {
            let (parts, body) = self.0.into_parts();
            let Ok(bytes) = to_bytes(body, usize::MAX).await else {
                tracing::error!("an answer broke off");
                return short(try_again()).await;
            };
            let room = LONGEST.saturating_sub(head(&parts.headers));
            match form(&bytes, room) {
                Some(body) => http::Response::from_parts(parts, body),
                None => short(too_long()).await,
            }
        })
    }
}

/// An answer of our own, which is short.
async fn short(response: Response) -> http::Response<Body> {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, LONGEST).await.unwrap_or_default();
    http::Response::from_parts(parts, form(&bytes, LONGEST).unwrap_or_default())
}

/// The form in which a body takes no more than `room` bytes of JSON.
fn form(bytes: &[u8], room: usize) -> Option<Body> {
    if bytes.is_empty() {
        return Some(Body::Empty);
    }
    let text = std::str::from_utf8(bytes).ok();
    if let Some(text) = text.filter(|text| escaped(text) <= room) {
        return Some(Body::Text(text.to_owned()));
    }
    let in_base64 = bytes.len().div_ceil(3).saturating_mul(4);
    (in_base64 <= room).then(|| Body::Binary(bytes.to_vec()))
}

/// How many bytes a text takes in JSON.
fn escaped(text: &str) -> usize {
    let of = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(of).sum()
}

fn head(headers: &HeaderMap) -> usize {
    let of = |(name, value): (&HeaderName, &HeaderValue)| {
        let length = name.as_str().len().saturating_add(value.len());
        length.saturating_add(OF_HEADER)
    };
    let all = headers.iter().map(of).sum::<usize>();
    all.saturating_add(FRAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_text_goes_as_text_unless_it_is_shorter_otherwise_and_has_to_be() {
        assert_eq!(form(b"", 0), Some(Body::Empty));
        let text = |text: &str| Some(Body::Text(text.to_owned()));
        assert_eq!(form(b"[\"a\"]", 7), text("[\"a\"]"));
        assert_eq!(form("\u{e9}".as_bytes(), 2), text("\u{e9}"));
        let zeros = [0; 6];
        let binary = Some(Body::Binary(zeros.to_vec()));
        assert_eq!(form(&zeros, 36), text("\0\0\0\0\0\0"));
        assert_eq!(form(&zeros, 35), binary);
        assert_eq!(form(&zeros, 7), None);
        assert_eq!(form(&[0xff; 4], 8), Some(Body::Binary(vec![0xff; 4])));
        assert_eq!(form(&[0xff; 4], 7), None);
    }

    #[test]
    fn a_text_is_as_long_as_json_makes_it() {
        let every: String = (0..0x250).filter_map(char::from_u32).collect();
        let json = serde_json::to_string(&every).expect("text");
        assert_eq!(escaped(&every) + 2, json.len());
    }
}
