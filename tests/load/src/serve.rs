//! A server's side: a listener whose connections are all served alike, kept alive.

use std::convert::Infallible;
use std::future::Future;
use std::io;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// An answer.
pub(crate) type Answer = Response<Full<Bytes>>;

/// An answer of a status and a text.
pub(crate) fn answer(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()));
    *answer.status_mut() = status;
    answer
}

/// Says where it listens, then serves for ever.
pub(crate) async fn serve<F, A>(listen: &str, with: F) -> io::Result<()>
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let listener = TcpListener::bind(listen).await?;
    println!("listening on {}", listener.local_addr()?);
    serve_on(listener, with).await
}

/// Serves a listener for ever.
pub(crate) async fn serve_on<F, A>(listener: TcpListener, with: F) -> io::Result<()>
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let with = with.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = with(request);
                async move { Ok::<_, Infallible>(answer.await) }
            });
            // A client that goes away is no business of ours.
            drop(
                http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await,
            );
        });
    }
}
