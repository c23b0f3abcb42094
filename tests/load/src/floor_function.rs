//! The floor of a function: a bare one on the same HTTP stack, which takes invocations and answers each at once. It reads no
//! configuration, asks no service, and keeps no log.

use std::io;

use bytes::Bytes;
use clap::Args;
use http::Uri;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// A bare function.
#[derive(Args)]
pub(crate) struct FloorFunction {
    /// Host and port of the platform.
    #[arg(long, env = "AWS_LAMBDA_RUNTIME_API")]
    platform: String,
}

impl FloorFunction {
    pub(crate) async fn play(self) -> io::Result<()> {
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        let at = |path: &str| -> io::Result<Uri> {
            let uri = format!(
                "http://{}/2018-06-01/runtime/invocation/{path}",
                self.platform
            );
            uri.parse().map_err(io::Error::other)
        };
        let next = at("next")?;
        loop {
            let given = client.get(next.clone()).await.map_err(io::Error::other)?;
            let id = given.headers().get("lambda-runtime-aws-request-id");
            let id = id.and_then(|id| id.to_str().ok()).unwrap_or_default();
            let answer = http::Request::post(at(&format!("{id}/response"))?)
                .body(Full::new(Bytes::from_static(b"{\"statusCode\":200}")));
            let event = given.into_body().collect().await;
            drop(event.map_err(io::Error::other)?);
            let answered = client.request(answer.map_err(io::Error::other)?).await;
            let answered = answered.map_err(io::Error::other)?.into_body();
            drop(answered.collect().await.map_err(io::Error::other)?);
        }
    }
}
