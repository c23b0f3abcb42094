//! `POST /admin/test`: one attempt at a destination, made at once, marked as a test; in no ledger and in no total.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::State;
use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use switchboard_core::attempt::Performer;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Verdict};
use switchboard_core::endpoint::Settings;
use switchboard_core::names::{DestinationName, SenderId};
use switchboard_core::ports::{Backend, Transport};
use switchboard_core::time::Timestamp;

use super::Status;
use super::access::Admin;
use super::admin::HoldBody;
use super::answer::Failure;
use super::asked::{Body, destination};
use super::overview::settings;

/// What a test delivery comes to; nothing was sent where there is nowhere to send it to.
pub type Tested<'a> = Pin<Box<dyn Future<Output = Result<AttemptRecord, DeathReason>> + Send + 'a>>;

/// Makes test deliveries.
pub trait Tester: Send + Sync + 'static {
    /// Makes one attempt; `id` tells it from others.
    fn test<'a>(
        &'a self,
        destination: &'a DestinationName,
        id: &'a SenderId,
        settings: &'a Settings,
    ) -> Tested<'a>;
}

impl<T: Transport> Tester for Performer<T> {
    fn test<'a>(
        &'a self,
        destination: &'a DestinationName,
        id: &'a SenderId,
        settings: &'a Settings,
    ) -> Tested<'a> {
        Box::pin(Self::test(self, destination, id, settings))
    }
}

/// What came of it.
#[derive(Serialize)]
pub(super) struct TestAnswer {
    destination: DestinationName,
    outcome: Verdict,
    /// None where there was no answer.
    status: Option<u16>,
    /// Why there was no answer, or a piece of the answer.
    detail: String,
    duration_ms: u64,
    at: Timestamp,
}

/// `POST /admin/test`
pub(super) async fn test<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
    Body(body): Body<HoldBody>,
) -> Result<Json<TestAnswer>, Failure> {
    let name = destination(&body.destination)?;
    let settings = settings(&status).await?;
    let _under_way = status.tests.begin(&name).ok_or(Failure::UnderWay(
        "a test delivery to this destination is under way",
    ))?;
    let id = format!("test-{}", BASE64URL_NOPAD.encode(&status.random()));
    let id = SenderId::new(&id).ok_or_else(|| Failure::Ours("no id could be made".to_owned()))?;
    let made = status.tester.test(&name, &id, &settings).await;
    let made = made.map_err(|reason| nowhere(&name, reason))?;
    Ok(Json(TestAnswer {
        destination: name,
        outcome: made.outcome,
        status: made.status,
        detail: made.detail,
        duration_ms: made.duration_ms,
        at: made.at,
    }))
}

/// There is nowhere to send it to.
fn nowhere(name: &DestinationName, reason: DeathReason) -> Failure {
    match reason {
        DeathReason::EndpointCleared => Failure::NotSet("your endpoint is not set".to_owned()),
        DeathReason::NoDestination
        | DeathReason::AttemptsUsedUp
        | DeathReason::ReturnedTooOften => {
            Failure::NotFound(format!("there is no destination named {:?}", name.as_str()))
        }
    }
}

/// The destinations that a test is under way to: one at a time each, so that nobody is flooded through here.
#[derive(Default)]
pub(super) struct Tests(Mutex<BTreeSet<DestinationName>>);

impl Tests {
    /// Begins one, until what comes back is dropped; `None` while another is under way.
    fn begin(&self, name: &DestinationName) -> Option<UnderWay<'_>> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Made only where it is new: what is made takes its name away again.
        let name = name.clone();
        names
            .insert(name.clone())
            .then(|| UnderWay { of: self, name })
    }
}

struct UnderWay<'a> {
    of: &'a Tests,
    name: DestinationName,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut names = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.remove(&self.name);
    }
}
