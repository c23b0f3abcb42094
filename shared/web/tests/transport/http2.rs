//! A destination that speaks HTTP/2, frame by frame.

use switchboard_core::delivery::{Outcome, Unanswered, Verdict};
use switchboard_core::ports::{Outgoing, Transport};
use switchboard_web::transport::HttpTransport;
use tokio::io::AsyncReadExt;

use crate::destination::{Connection, Destination};
use crate::tls::{Authority, trusting};
use crate::{SHORT, answered, post, soon, to, unanswered};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status 200`, as the table of HPACK has it.
const STATUS_200: &[u8] = &[0x88];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).expect("short").to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// "No request after `last` was or will be looked at; no error."
fn goaway(last: u32) -> Vec<u8> {
    let mut payload = last.to_be_bytes().to_vec();
    payload.extend([0; 4]);
    frame(GOAWAY, 0, 0, &payload)
}

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

async fn next(connection: &mut Connection) -> Option<Frame> {
    let mut head = [0; 9];
    connection.stream.read_exact(&mut head).await.ok()?;
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    let mut payload = vec![0; length];
    connection.stream.read_exact(&mut payload).await.ok()?;
    Some(Frame {
        kind: head[3],
        flags: head[4],
        stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]),
        payload,
    })
}

/// Opens the connection.
async fn open(connection: &mut Connection) -> Option<()> {
    let mut preface = [0; 24];
    connection.stream.read_exact(&mut preface).await.ok()?;
    assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    connection.say(frame(SETTINGS, 0, 0, &[])).await
}

/// Reads until a request is whole and gives its stream.
async fn request(connection: &mut Connection) -> Option<u32> {
    loop {
        let came = next(connection).await?;
        match came.kind {
            SETTINGS if came.flags & ACK == 0 => {
                connection.say(frame(SETTINGS, ACK, 0, &[])).await?;
            }
            PING if came.flags & ACK == 0 => {
                connection.say(frame(PING, ACK, 0, &came.payload)).await?;
            }
            HEADERS | DATA if came.flags & END_STREAM != 0 => return Some(came.stream),
            _ => {}
        }
    }
}

fn ok(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_200)
}

async fn talking<F, T>(talk: F) -> (HttpTransport, Destination, String)
where
    F: Fn(Connection) -> T + Send + 'static,
    T: Future<Output = Option<()>> + Send + 'static,
{
    let authority = Authority::new();
    let destination = authority.destination("hooks.test", &["h2"], talk).await;
    let mut setting = trusting(authority.pem());
    setting.limits.silence = SHORT;
    setting.limits.sign_of_life = SHORT;
    let url = destination.url("https", "hooks.test");
    (setting.transport(), destination, url)
}

#[tokio::test]
async fn a_destination_that_speaks_http2_is_delivered_to_on_one_connection() {
    let (transport, destination, url) = talking(|mut connection| async move {
        open(&mut connection).await?;
        loop {
            let stream = request(&mut connection).await?;
            connection.say(ok(stream)).await?;
        }
    })
    .await;
    for _ in 0..3 {
        assert_eq!(answered(&post(&transport, &url).await), (200, ""));
    }
    assert_eq!(destination.connections(), 1);
}

#[tokio::test]
async fn after_a_goaway_between_two_events_the_second_is_delivered_on_a_new_connection() {
    let (transport, destination, url) = talking(|mut connection| async move {
        open(&mut connection).await?;
        let stream = request(&mut connection).await?;
        connection
            .say([ok(stream), goaway(stream)].concat())
            .await?;
        connection.closed().await;
        Some(())
    })
    .await;
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
    let mut second = post(&transport, &url).await;
    if second == unanswered(Unanswered::Closed) {
        second = post(&transport, &url).await; // it crossed the goodbye: a failed attempt at worst
    }
    assert_eq!(answered(&second), (200, ""));
    assert_eq!(destination.connections(), 2);
}

#[tokio::test]
async fn a_goaway_during_an_attempt_fails_it_at_worst_and_the_next_has_a_new_connection() {
    let (transport, _destination, url) = talking(|mut connection| async move {
        open(&mut connection).await?;
        let stream = request(&mut connection).await?;
        if connection.number == 1 {
            return connection.say(goaway(0)).await;
        }
        connection.say(ok(stream)).await?;
        connection.closed().await;
        Some(())
    })
    .await;
    let first = post(&transport, &url).await;
    assert!(
        first == unanswered(Unanswered::Closed) || first.verdict() == Verdict::Delivered,
        "{first:?}"
    );
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
}

#[tokio::test]
async fn a_connection_that_went_dead_without_a_word_does_not_take_the_next_attempt_down() {
    let (transport, _destination, url) = talking(|mut connection| async move {
        open(&mut connection).await?;
        let stream = request(&mut connection).await?;
        connection.say(ok(stream)).await?;
        if connection.number > 1 {
            loop {
                let stream = request(&mut connection).await?;
                connection.say(ok(stream)).await?;
            }
        }
        connection.closed().await; // reads, and says nothing any more
        Some(())
    })
    .await;
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
    let into_the_void = Outgoing {
        time_limit: SHORT * 10,
        ..to(&url)
    };
    let outcome = soon(transport.post(into_the_void)).await;
    assert!(matches!(outcome, Outcome::Unanswered(_)), "{outcome:?}");
    assert_eq!(answered(&post(&transport, &url).await), (200, ""));
}

#[tokio::test]
async fn frames_that_are_nonsense_are_no_answer() {
    let (transport, _destination, url) = talking(|mut connection| async move {
        open(&mut connection).await?;
        let stream = request(&mut connection).await?;
        // An index far beyond every table.
        let nonsense = frame(
            HEADERS,
            END_HEADERS | END_STREAM,
            stream,
            &[0xff, 0xff, 0x7f],
        );
        connection.say(nonsense).await?;
        connection.closed().await;
        Some(())
    })
    .await;
    let outcome = post(&transport, &url).await;
    assert_eq!(outcome, unanswered(Unanswered::Closed));
}
