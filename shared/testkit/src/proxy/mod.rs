//! Something between the clients and the services that reads every request, and may answer in their place, hold a request
//! up, pass it on twice, or lose it or its answer.

use std::io::{BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use self::http::{Exchange, Head};

mod http;
mod refusal;

/// A request as it went by.
#[derive(Clone, Debug)]
pub struct Request {
    /// The operation, such as `PutItem`.
    pub operation: String,
    /// The JSON text.
    pub body: String,
    /// The call that it belongs to: the same for all attempts that a client makes of one.
    pub call: String,
}

/// What becomes of a request.
pub enum Fate {
    /// It is passed on, and its answer back.
    Passed,
    /// It is lost with the connection.
    Lost,
    /// It is passed on, and its answer lost with the connection.
    AnswerLost,
    /// It is passed on, and its answer lost with the connection; this is done in between.
    Behind(Box<dyn FnOnce() + Send>),
    /// Nothing is ever answered, until the client goes.
    Unanswered,
    /// This JSON text is the answer, and nothing is passed on.
    Answered(String),
    /// This JSON text is the answer that the request is refused with, and nothing is passed on.
    Refused(String),
    /// It is passed on, and once more behind that; the first answer goes back.
    Doubled,
    /// It is passed on only after this time, whether anybody still waits for the answer or not.
    Late(Duration),
    /// The service says that it failed inside, and nothing is passed on.
    Broken,
    /// The service says that there is too much of it now, and nothing is passed on.
    Throttled,
    /// The last entry of a batch is not passed on, and the answer says that it failed.
    EntryFailed,
    /// Only the last key of a batch is passed on, and the answer says that the service did not come to the others.
    KeysUnprocessed,
}

type Rule = dyn FnMut(&Request) -> Fate + Send;

/// What all connections share.
struct Shared {
    upstream: SocketAddr,
    requests: Mutex<Vec<Request>>,
    rule: Mutex<Box<Rule>>,
    under_way: AtomicUsize,
    answered: AtomicUsize,
    ended: AtomicBool,
}

/// It, listening, whether anybody keeps this or not.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Starts one before `upstream`; `rule` decides for each request in the order in which they come.
    ///
    /// # Panics
    ///
    /// Where it gets no port.
    #[expect(clippy::expect_used, reason = "a test fails by panicking")]
    pub fn start(
        upstream: SocketAddr,
        rule: impl FnMut(&Request) -> Fate + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            upstream,
            requests: Mutex::default(),
            rule: Mutex::new(Box::new(rule)),
            under_way: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                if own.ended.load(Ordering::Acquire) {
                    return;
                }
                let shared = Arc::clone(&own);
                // A connection that ends half-way is the client's to handle.
                thread::spawn(move || client.map(|client| drop(shared.serve(&client))));
            }
        });
        Self { address, shared }
    }

    /// As an endpoint URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// How many bytes all answers had, with their heads.
    pub fn answered(&self) -> usize {
        self.shared.answered.load(Ordering::Acquire)
    }

    /// Their operations.
    pub fn operations(&self) -> Vec<String> {
        self.requests().into_iter().map(|r| r.operation).collect()
    }

    /// How many requests are on their way, those among them that nobody waits for any more.
    pub fn under_way(&self) -> usize {
        self.shared.under_way.load(Ordering::Acquire)
    }

    /// Takes no more connections; without this it listens as long as the process lives.
    pub fn end(&self) {
        self.shared.ended.store(true, Ordering::Release);
        // Whoever listens sees it with the next connection.
        drop(TcpStream::connect(self.address));
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a connection goes on.
enum Served {
    On,
    Lost,
    /// Nothing comes back on it any more.
    Silent,
}

impl Shared {
    /// Serves one connection until it ends or loses an answer.
    fn serve(&self, client: &TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(client);
        let mut service = None;
        while let Some((head, body)) = http::message(&mut reader)? {
            self.under_way.fetch_add(1, Ordering::AcqRel);
            let served = self.one(&head, &body, client, &mut service);
            self.under_way.fetch_sub(1, Ordering::AcqRel);
            match served? {
                Served::On => {}
                Served::Lost => return client.shutdown(Shutdown::Both),
                Served::Silent => return http::message(&mut reader).map(drop),
            }
        }
        Ok(())
    }

    fn one(
        &self,
        head: &Head,
        body: &[u8],
        mut client: &TcpStream,
        service: &mut Option<TcpStream>,
    ) -> std::io::Result<Served> {
        let request = Request {
            operation: head.operation(),
            body: String::from_utf8_lossy(body).into_owned(),
            call: head.call(),
        };
        lock(&self.requests).push(request.clone());
        let fate = (lock(&self.rule))(&request);
        let mut pass = |body: &[u8]| Exchange { head, body }.with(self.upstream, service);
        let answer = match fate {
            Fate::Passed => pass(body)?,
            Fate::Lost => return Ok(Served::Lost),
            Fate::AnswerLost => {
                pass(body)?;
                return Ok(Served::Lost);
            }
            Fate::Behind(what) => {
                pass(body)?;
                what();
                return Ok(Served::Lost);
            }
            Fate::Unanswered => return Ok(Served::Silent),
            Fate::Answered(json) => http::answer(200, &json),
            Fate::Refused(json) => http::answer(400, &json),
            Fate::Doubled => {
                let first = pass(body)?;
                pass(body)?;
                first
            }
            Fate::Late(pause) => {
                thread::sleep(pause);
                pass(body)?
            }
            Fate::Broken => refusal::broken(head),
            Fate::Throttled => refusal::throttled(head),
            Fate::EntryFailed => refusal::without_last_entry(body, pass)?,
            Fate::KeysUnprocessed => refusal::with_last_key_alone(body, pass)?,
        };
        self.answered.fetch_add(answer.len(), Ordering::AcqRel);
        client.write_all(&answer)?;
        Ok(Served::On)
    }
}
