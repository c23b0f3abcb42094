//! Requests and answers as far as they have to be read to be passed on.

use std::io::{BufRead, BufReader, Error, Result, Write};
use std::net::{SocketAddr, TcpStream};

/// The lines before a body.
pub(super) struct Head(Vec<u8>);

impl Head {
    fn header(&self, wanted: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0);
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let found = name.eq_ignore_ascii_case(wanted);
            found.then(|| value.trim().to_owned())
        })
    }

    /// What the request wants to be done; empty where that stands elsewhere.
    pub(super) fn operation(&self) -> String {
        let target = self.header("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next();
        operation.unwrap_or_default().to_owned()
    }

    /// The service, by the name that it has in the same header.
    pub(super) fn service(&self) -> String {
        let target = self.header("x-amz-target").unwrap_or_default();
        let service = target.split('.').next();
        service.unwrap_or_default().to_owned()
    }

    /// The client's own name for a call.
    pub(super) fn call(&self) -> String {
        self.header("amz-sdk-invocation-id").unwrap_or_default()
    }

    fn length(&self) -> Result<usize> {
        match self.header("content-length") {
            Some(value) => value.parse().map_err(Error::other),
            None => Ok(0),
        }
    }

    /// The same before a body of that length.
    fn before(&self, length: usize) -> Vec<u8> {
        let text = String::from_utf8_lossy(&self.0);
        let lines = text.trim_end().lines().map(|line| {
            let is_length = line.to_ascii_lowercase().starts_with("content-length:");
            if is_length {
                format!("content-length: {length}\r\n")
            } else {
                format!("{line}\r\n")
            }
        });
        lines.chain(["\r\n".to_owned()]).collect::<String>().into()
    }
}

/// A request that is to be answered by a service.
pub(super) struct Exchange<'a> {
    pub(super) head: &'a Head,
    pub(super) body: &'a [u8],
}

impl Exchange<'_> {
    /// The whole answer, over the connection that is there or another one.
    pub(super) fn with(
        &self,
        service: SocketAddr,
        kept: &mut Option<TcpStream>,
    ) -> Result<Vec<u8>> {
        let mut whole = self.head.before(self.body.len());
        whole.extend(self.body);
        let exchanged = match kept.take() {
            // It may have been closed meanwhile; then nothing of this was carried out.
            Some(stream) => exchange(stream, &whole).unwrap_or_default(),
            None => None,
        };
        let exchanged = match exchanged {
            Some(exchanged) => Some(exchanged),
            None => exchange(TcpStream::connect(service)?, &whole)?,
        };
        let Some((stream, head, body)) = exchanged else {
            return Err(Error::other("the service ends before its answer"));
        };
        let closes = head.header("connection");
        if closes.is_none_or(|value| !value.eq_ignore_ascii_case("close")) {
            *kept = Some(stream);
        }
        let mut answer = head.0;
        answer.extend(body);
        Ok(answer)
    }
}

/// Sends a request and reads its answer; `None` where the connection ends before that.
fn exchange(mut stream: TcpStream, whole: &[u8]) -> Result<Option<(TcpStream, Head, Vec<u8>)>> {
    stream.write_all(whole)?;
    let answer = message(&mut BufReader::new(&stream))?;
    Ok(answer.map(|(head, body)| (stream, head, body)))
}

/// An answer in JSON.
pub(super) fn answer(status: u16, json: &str) -> Vec<u8> {
    let length = json.len();
    let kind = "content-type: application/x-amz-json-1.0";
    format!("HTTP/1.1 {status} Status\r\n{kind}\r\ncontent-length: {length}\r\n\r\n{json}").into()
}

/// The body of a whole answer.
pub(super) fn body_of(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let body = end.and_then(|end| answer.get(end.saturating_add(4)..));
    body.unwrap_or_default()
}

/// Head and body of what comes next; `None` at the end of the connection.
pub(super) fn message(reader: &mut impl BufRead) -> Result<Option<(Head, Vec<u8>)>> {
    let mut head = Vec::new();
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        head.extend_from_slice(&line);
        if line.trim_ascii().is_empty() {
            break;
        }
    }
    let head = Head(head);
    let mut body = vec![0; head.length()?];
    reader.read_exact(&mut body)?;
    Ok(Some((head, body)))
}
