//! Floor (a): what a durable ingress cannot do without. A bare server on the same HTTP stack and threads; it checks the
//! HMAC and appends the body to a file, many bodies to one `fdatasync`, and answers after that.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use bytes::Bytes;
use clap::Args;
use data_encoding::HEXLOWER;
use hmac::Mac;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::{mpsc, oneshot};

use crate::event;
use crate::serve::{Answer, answer, serve};

/// Most bodies in one write; as many as there are steps in a transaction.
const MOST: usize = 256;

/// A bare server.
#[derive(Args)]
pub(crate) struct FloorServer {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// What it appends to.
    #[arg(long)]
    file: PathBuf,
    /// What it checks with.
    #[arg(long)]
    secret: String,
}

/// A body that waits for the disk.
type Waiting = (Bytes, oneshot::Sender<bool>);

impl FloorServer {
    pub(crate) async fn play(self) -> io::Result<()> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)?;
        let (bodies, waiting) = mpsc::channel(4096);
        std::thread::spawn(move || write(file, waiting));
        let secret: &'static str = self.secret.leak();
        serve(&self.listen, move |request| {
            receive(request, secret, bodies.clone())
        })
        .await
    }
}

fn write(mut file: File, mut waiting: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::with_capacity(MOST);
    let mut bytes = Vec::new();
    while waiting.blocking_recv_many(&mut batch, MOST) > 0 {
        bytes.clear();
        for (body, _) in &batch {
            bytes.extend_from_slice(body);
        }
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        for (_, answer) in batch.drain(..) {
            // Nobody waits any more when the client has gone.
            let _ = answer.send(written.is_ok());
        }
    }
}

async fn receive(
    request: Request<Incoming>,
    secret: &'static str,
    bodies: mpsc::Sender<Waiting>,
) -> Answer {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return answer(StatusCode::BAD_REQUEST, "");
    };
    let body = body.to_bytes();
    let signature = head
        .headers
        .get("x-hub-signature-256")
        .and_then(|value| value.as_bytes().strip_prefix(b"sha256="))
        .and_then(|hex| HEXLOWER.decode(hex).ok())
        .unwrap_or_default();
    let right = event::mac(secret, &body).is_some_and(|mac| mac.verify_slice(&signature).is_ok());
    if !right {
        return answer(StatusCode::UNAUTHORIZED, "");
    }
    let (reply, written) = oneshot::channel();
    let kept = bodies.send((body, reply)).await.is_ok() && written.await == Ok(true);
    if kept {
        answer(StatusCode::OK, r#"{"status":"accepted"}"#)
    } else {
        answer(StatusCode::SERVICE_UNAVAILABLE, "")
    }
}
