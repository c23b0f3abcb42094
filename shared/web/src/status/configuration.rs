//! `/admin/configuration`: what was applied to a deployed Switchboard, and its replacement. On one machine there is none.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use switchboard_core::deployed::{Applied, ApplyError, Deployed};
use switchboard_core::ports::{Backend, Version};
use switchboard_core::time::Timestamp;

use super::Status;
use super::access::Admin;
use super::answer::Failure;
use super::asked::{Body, Shape, not_of_shape};
use super::whole::Whole;

/// Longest body of an application, in bytes: the text as JSON has it. A store holds it in one piece.
pub(super) const LONGEST: usize = 256 * 1024;

/// What is stored; nothing in any field before the first was applied.
#[derive(Serialize)]
pub(super) struct StoredAnswer {
    configuration: Option<String>,
    version: Option<Version>,
    at: Option<Timestamp>,
}

/// `GET /admin/configuration`
pub(super) async fn stored<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
) -> Result<Json<StoredAnswer>, Failure> {
    let stored = deployed(&status)?.stored().await;
    let stored = stored.map_err(|error| Failure::store("read the configuration", &error))?;
    let (version, at) = stored
        .as_ref()
        .map(|stored| (stored.version, stored.at))
        .unzip();
    Ok(Json(StoredAnswer {
        configuration: stored.map(|stored| stored.text),
        version,
        at,
    }))
}

/// A text, and the version that it is to replace: the one that was seen, or none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyBody {
    configuration: String,
    version: Option<Whole>,
}

impl Shape for ApplyBody {
    const SHAPE: &'static str =
        r#"{"configuration":"…","version":n}, n the version that was seen, or null"#;
    const LONGEST: usize = LONGEST;
}

/// What was applied.
#[derive(Serialize)]
pub(super) struct AppliedAnswer {
    version: Version,
    /// What is allowed but unwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// `PUT /admin/configuration`
pub(super) async fn apply<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
    Body(body): Body<ApplyBody>,
) -> Result<Json<AppliedAnswer>, Failure> {
    let deployed = deployed(&status)?;
    let seen = body.version.map(|number| {
        let seen = Version::new(number.get());
        seen.ok_or_else(not_of_shape::<ApplyBody>)
    });
    let applied = deployed.apply(&body.configuration, seen.transpose()?);
    let applied = applied.await?;
    Ok(Json(AppliedAnswer {
        version: applied.version,
        warnings: applied.warnings,
    }))
}

fn deployed<B>(status: &Status<B>) -> Result<&Deployed, Failure> {
    status.deployed.as_deref().ok_or_else(|| {
        Failure::NotFound(
            "the configuration of this Switchboard is a file on its machine: change that and start it again"
                .to_owned(),
        )
    })
}

impl From<ApplyError> for Failure {
    fn from(error: ApplyError) -> Self {
        let what = error.to_string();
        match error {
            ApplyError::Unusable(faults) => {
                Self::Unusable(faults.iter().map(ToString::to_string).collect())
            }
            ApplyError::Other(stands) => Self::OtherVersion { what, stands },
            ApplyError::Store(cause) => Self::store("apply a configuration", &cause),
        }
    }
}

/// Which configuration the routes are of; nothing in either field before the first was applied.
#[derive(Serialize)]
pub(super) struct InUse {
    version: Option<Version>,
    at: Option<Timestamp>,
}

/// Which configuration is in use, where it was applied and is no file.
pub(super) fn in_use<B>(status: &Status<B>) -> Option<InUse> {
    let applied = status.deployed.as_ref()?.applied();
    let (version, at) = applied.map(|Applied { version, at }| (version, at)).unzip();
    Some(InUse { version, at })
}
