//! Something between the clients and the services that reads every request, and may answer in their place or lose an answer.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A request as it went by.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The operation, such as `PutItem`.
    pub(crate) operation: String,
    /// The JSON text.
    pub(crate) body: String,
}

/// What becomes of a request.
pub(crate) enum Fate {
    /// It is passed on, and its answer back.
    Passed,
    /// It is lost with the connection.
    Lost,
    /// It is passed on, and its answer lost with the connection.
    AnswerLost,
    /// Nothing is ever answered, until the client goes.
    Unanswered,
    /// This JSON text is the answer, and nothing is passed on.
    Answered(String),
    /// This JSON text is the answer that the request is refused with, and nothing is passed on.
    Refused(String),
}

type Rule = dyn FnMut(&Request) -> Fate + Send;

/// It, listening.
pub(crate) struct Proxy {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    answered: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts one before `upstream`; `rule` decides for each request in the order in which they come.
    pub(crate) fn start(
        upstream: SocketAddr,
        rule: impl FnMut(&Request) -> Fate + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let answered = Arc::new(AtomicUsize::new(0));
        let bytes = Arc::clone(&answered);
        let rule: Arc<Mutex<Box<Rule>>> = Arc::new(Mutex::new(Box::new(rule)));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, seen, rule) = (client.expect("a client"), seen.clone(), rule.clone());
                let bytes = Arc::clone(&bytes);
                // A connection that ends half-way is the client's to handle.
                thread::spawn(move || drop(serve(&client, upstream, (&seen, &bytes), &rule)));
            }
        });
        Self {
            address,
            requests,
            answered,
        }
    }

    /// As an endpoint URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.requests).clone()
    }

    /// How many bytes all answers had, with their heads.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::SeqCst)
    }

    /// Their operations.
    pub(crate) fn operations(&self) -> Vec<String> {
        self.requests().into_iter().map(|r| r.operation).collect()
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves one connection until it ends or loses an answer.
fn serve(
    client: &TcpStream,
    upstream: SocketAddr,
    (seen, answered): (&Mutex<Vec<Request>>, &AtomicUsize),
    rule: &Mutex<Box<Rule>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(client);
    while let Some((head, body)) = message(&mut reader)? {
        let request = Request {
            operation: operation(&head),
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        lock(seen).push(request.clone());
        let fate = (lock(rule))(&request);
        let answer = match &fate {
            Fate::Lost => return client.shutdown(std::net::Shutdown::Both),
            Fate::Unanswered => return message(&mut reader).map(drop),
            Fate::Answered(json) => made("200 OK", json),
            Fate::Refused(json) => made("400 Bad Request", json),
            Fate::Passed | Fate::AnswerLost => {
                let mut service = TcpStream::connect(upstream)?;
                service.write_all(&head)?;
                service.write_all(&body)?;
                let answer = message(&mut BufReader::new(&service))?;
                let (mut head, body) = answer.unwrap_or_default();
                head.extend(body);
                head
            }
        };
        if matches!(fate, Fate::AnswerLost) {
            return client.shutdown(std::net::Shutdown::Both);
        }
        answered.fetch_add(answer.len(), Ordering::SeqCst);
        let mut writer = client;
        writer.write_all(&answer)?;
    }
    Ok(())
}

/// An answer that no service gave.
fn made(status: &str, json: &str) -> Vec<u8> {
    let length = json.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/x-amz-json-1.0\r\n");
    format!("{head}content-length: {length}\r\n\r\n{json}").into_bytes()
}

/// The operation that a request's head names.
fn operation(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(head);
    let target = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("x-amz-target").then_some(value)
    });
    let operation = target.and_then(|target| target.rsplit('.').next());
    operation.unwrap_or_default().trim().to_owned()
}

/// Head and body of what comes next; `None` at the end of the connection.
fn message(reader: &mut impl BufRead) -> std::io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut head = Vec::new();
    let mut length = 0;
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        head.extend_from_slice(&line);
        let line = String::from_utf8_lossy(&line).trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((head, body)))
}
