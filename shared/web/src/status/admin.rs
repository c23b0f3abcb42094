//! The admin interface: what operators change.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use switchboard_core::identity::DeliveryId;
use switchboard_core::names::DestinationName;
use switchboard_core::operate::{PER_SECOND, Redrive};
use switchboard_core::ports::Backend;

use super::Status;
use super::access::Admin;
use super::answer::Failure;
use super::asked::{Body, Shape, destination, not_of_shape};
use super::rate::Rate;
use super::whole::Whole;

type Done<T> = Result<Json<T>, Failure>;

/// Exactly one of the first three.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RedriveBody {
    all: Option<bool>,
    destination: Option<String>,
    deliveries: Option<Vec<String>>,
    per_second: Option<Rate>,
}

impl Shape for RedriveBody {
    const SHAPE: &'static str = r#"{"all":true}, {"destination":"…"} or {"deliveries":["dlv_…"]}, with per_second (1 to 1000) or without"#;
}

impl RedriveBody {
    fn read(self) -> Result<Redrive, Failure> {
        match (self.all, self.destination, self.deliveries) {
            (Some(true), None, None) => Ok(Redrive::All),
            (None, Some(name), None) => destination(&name).map(Redrive::Destination),
            (None, None, Some(ids)) => ids
                .iter()
                .enumerate()
                .map(|(n, id)| {
                    DeliveryId::parse(id).ok_or_else(|| {
                        Failure::Unreadable(format!("deliveries: number {} is no id", n + 1))
                    })
                })
                .collect::<Result<_, _>>()
                .map(Redrive::Deliveries),
            (Some(_), _, _) | (_, Some(_), Some(_)) | (None, None, None) => {
                Err(not_of_shape::<Self>())
            }
        }
    }
}

/// What a redrive did.
#[derive(Serialize)]
pub(super) struct Redriven {
    redriven: u32,
    left: u32,
}

/// `POST /admin/redrive`
pub(super) async fn redrive<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
    Body(body): Body<RedriveBody>,
) -> Done<Redriven> {
    let per_second = body.per_second.map_or(PER_SECOND, Rate::get);
    let moved = status.operator.redrive(body.read()?, per_second).await?;
    Ok(Json(Redriven {
        redriven: moved.done,
        left: moved.left,
    }))
}

/// Which destination.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HoldBody {
    pub(super) destination: String,
}

impl Shape for HoldBody {
    const SHAPE: &'static str = r#"{"destination":"…"}"#;
}

/// What stands after a hold.
#[derive(Serialize)]
pub(super) struct Held {
    held: DestinationName,
    /// Within how many seconds it counts in every process, where there are several: each goes by what it read last.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts_within_s: Option<u64>,
}

/// How long a process of a deployed Switchboard goes by the settings that it has read, in seconds.
const COUNTS_WITHIN_S: u64 = 5;

/// `POST /admin/hold`
pub(super) async fn hold<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
    Body(body): Body<HoldBody>,
) -> Done<Held> {
    let held = destination(&body.destination)?;
    status.operator.hold(held.clone()).await?;
    let counts_within_s = status.deployed.is_some().then_some(COUNTS_WITHIN_S);
    Ok(Json(Held {
        held,
        counts_within_s,
    }))
}

/// Which destination, and how fast.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReleaseBody {
    destination: String,
    per_second: Option<Whole>,
}

impl Shape for ReleaseBody {
    const SHAPE: &'static str =
        r#"{"destination":"…"} or {"destination":"…","per_second":n}, n from 1 on"#;
}

/// What a release did.
#[derive(Serialize)]
pub(super) struct Released {
    released: u32,
    left: u32,
}

/// `POST /admin/release`
pub(super) async fn release<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
    Body(body): Body<ReleaseBody>,
) -> Done<Released> {
    let name = destination(&body.destination)?;
    let per_second = body.per_second.map_or(Ok(PER_SECOND), |asked| {
        let starts = u32::try_from(asked.get()).ok();
        starts
            .and_then(NonZeroU32::new)
            .map(NonZeroU32::get)
            .ok_or_else(not_of_shape::<ReleaseBody>)
    })?;
    let moved = status.operator.release(name, per_second).await?;
    Ok(Json(Released {
        released: moved.done,
        left: moved.left,
    }))
}

/// Where the copies go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndpointBody {
    url: String,
}

impl Shape for EndpointBody {
    const SHAPE: &'static str = r#"{"url":"…"}"#;
}

/// Your endpoint as it was set.
#[derive(Serialize)]
pub(super) struct EndpointIsSet {
    url: String,
    /// Shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// `PUT /admin/endpoint`
pub(super) async fn set_endpoint<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
    Body(body): Body<EndpointBody>,
) -> Done<EndpointIsSet> {
    let random = status.random();
    let set = status.operator.set_endpoint(&body.url, &random).await?;
    Ok(Json(EndpointIsSet {
        url: set.address.shown(),
        secret: set.secret.map(|secret| secret.expose().to_owned()),
    }))
}

/// The new secret of your endpoint.
#[derive(Serialize)]
pub(super) struct Rotated {
    /// Shown this once.
    secret: String,
}

/// `POST /admin/endpoint/rotate`
pub(super) async fn rotate_endpoint<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
) -> Done<Rotated> {
    let random = status.random();
    let secret = status.operator.rotate_endpoint(&random).await?;
    Ok(Json(Rotated {
        secret: secret.expose().to_owned(),
    }))
}

/// What clearing your endpoint left.
#[derive(Serialize)]
pub(super) struct Cleared {
    /// Copies that were open and are dead letters now.
    dead: u32,
    /// Copies that die when they fall due.
    left: u32,
}

/// `DELETE /admin/endpoint`
pub(super) async fn clear_endpoint<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
) -> Done<Cleared> {
    let moved = status.operator.clear_endpoint().await?;
    Ok(Json(Cleared {
        dead: moved.done,
        left: moved.left,
    }))
}
