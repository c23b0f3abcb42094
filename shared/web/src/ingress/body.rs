//! Reads a sender's body: whole, within the limits of length, time and memory, or not at all.

use std::sync::Arc;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use switchboard_core::refusal::{Cause, Unreadable};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::{IngressLimits, declared};

/// What a request counts for besides its body: its headers and what it takes to serve it.
pub(super) const HEAD_BYTES: usize = 16 * 1024;
/// The unit that memory is counted in.
const UNIT: usize = 1024;
/// Most room that is made for a body before any of it is there, in bytes.
const FIRST_ROOM: usize = 64 * 1024;

/// Memory for all bodies at once, counted in KiB. It is taken as a body grows and not when it is announced, so that
/// announcing costs nobody anything.
#[derive(Clone)]
pub(super) struct Budget(Arc<Semaphore>);

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        let units = (bytes / UNIT).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(units)))
    }

    fn take(&self, units: usize) -> Result<OwnedSemaphorePermit, Cause> {
        let units = u32::try_from(units).map_err(|_| Cause::Overloaded)?;
        Arc::clone(&self.0)
            .try_acquire_many_owned(units)
            .map_err(|_| Cause::Overloaded)
    }
}

/// What broke off or stood still did not arrive whole.
const NOT_WHOLE: Cause = Cause::Unreadable(Unreadable::BodyNotWhole);

/// The whole body, and the memory it holds.
pub(super) async fn whole(
    body: &mut Body,
    headers: &HeaderMap,
    max_body: usize,
    budget: &Budget,
    limits: &IngressLimits,
) -> Result<(Bytes, OwnedSemaphorePermit), Cause> {
    let mut memory = budget.take(HEAD_BYTES / UNIT)?;
    // Memory that is reserved and not written to yet is not in use yet.
    let room = declared(headers).unwrap_or(0).min(max_body);
    let mut bytes = BytesMut::with_capacity(room.min(FIRST_ROOM));
    let read = async {
        while let Some(frame) = timeout(limits.body_pause, body.frame())
            .await
            .map_err(|_| NOT_WHOLE)?
        {
            let Ok(data) = frame.map_err(|_| NOT_WHOLE)?.into_data() else {
                continue; // trailers
            };
            let length = bytes.len().saturating_add(data.len());
            if length > max_body {
                return Err(Cause::TooLarge);
            }
            let due = length.saturating_add(HEAD_BYTES).div_ceil(UNIT);
            if let Some(missing) = due.checked_sub(memory.num_permits()).filter(|n| *n > 0) {
                // A growing part ahead, so that a long body asks seldom and a first byte costs what it is.
                let ahead = memory.num_permits() / 4;
                let more = budget
                    .take(missing.max(ahead))
                    .or_else(|_| budget.take(missing))?;
                memory.merge(more);
            }
            bytes.extend_from_slice(&data);
        }
        Ok(())
    };
    timeout(limits.body_time, read)
        .await
        .map_err(|_| NOT_WHOLE)??;
    Ok((bytes.freeze(), memory))
}

/// Reads a body that nobody wants and forgets it.
pub(super) async fn pass_over(mut body: Body, limits: IngressLimits) {
    let mut left = limits.unwanted_bytes;
    let read = async {
        while !body.is_end_stream() {
            let Some(Ok(frame)) = body.frame().await else {
                return;
            };
            let length = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(length) else {
                return;
            };
            left = rest;
        }
    };
    // Past the time limit the body is dropped, and with it the connection: that is all there is to do.
    let _ = timeout(limits.unwanted_time, read).await;
}
