//! The piece of an answer's body that is kept: little, and not waited for long. Success never hangs on it.

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_ENCODING;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use switchboard_core::piece::Piece;
use tokio::time::timeout;

use super::TransportLimits;

/// Reads the piece. A body that ends within it leaves its connection fit for the next attempt; any other is dropped,
/// and its connection with it.
pub(super) async fn of(answer: Response<Incoming>, limits: &TransportLimits) -> Piece {
    let is_text = !answer.headers().contains_key(CONTENT_ENCODING);
    let mut body = answer.into_body();
    let mut kept = Vec::new();
    let read = async {
        while !body.is_end_stream() && kept.len() < limits.piece_bytes {
            let Some(Ok(frame)) = body.frame().await else {
                return;
            };
            let data = frame.into_data().unwrap_or_else(|_| Bytes::new());
            let room = limits.piece_bytes.saturating_sub(kept.len());
            kept.extend(data.into_iter().take(room));
        }
    };
    // Whatever was read by then is the piece.
    let _ = timeout(limits.piece_time, read).await;
    if is_text {
        Piece::clean(&kept)
    } else {
        Piece::default()
    }
}
