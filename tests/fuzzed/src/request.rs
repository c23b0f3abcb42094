//! A request as a corpus holds it: some lines of text, an empty line, and a body of any bytes.

use http::{HeaderMap, HeaderName, HeaderValue};

/// What an input says.
pub struct Told<'a> {
    /// The lines before the headers, as many as were asked for; empty where there are none.
    pub first: Vec<&'a [u8]>,
    /// The lines that can be headers; what cannot be sent as one is passed over.
    pub headers: HeaderMap,
    /// All that follows the first empty line.
    pub body: &'a [u8],
}

/// Reads an input with that many lines before its headers.
pub fn read(input: &[u8], lines_before: usize) -> Told<'_> {
    let (mut first, mut headers, mut rest) = (Vec::new(), HeaderMap::new(), input);
    while first.len() < lines_before {
        first.push(line(&mut rest));
    }
    while !rest.is_empty() {
        let header = line(&mut rest);
        if header.is_empty() {
            break;
        }
        // A map holds 32,768 names at most; a server reads far fewer.
        if headers.len() < 200
            && let Some((name, value)) = pair(header)
        {
            headers.append(name, value);
        }
    }
    Told {
        first,
        headers,
        body: rest,
    }
}

/// The next line, without its end.
fn line<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let (line, left) = match rest.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (*rest, &rest[rest.len()..]),
    };
    *rest = left;
    line
}

/// A header as a server would hand it on: without outer white space.
fn pair(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = HeaderName::from_bytes(&line[..colon]).ok()?;
    let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
    Some((name, value))
}

/// Bytes as text, with what is not text replaced.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
