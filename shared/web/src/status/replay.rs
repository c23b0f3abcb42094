//! `POST /admin/replay`: stored events delivered again on purpose. The first call only begins it, so that whoever asks has its
//! progress before anything is planned: a call whose answer was lost is made again with the progress it had, and plans the
//! same once. Each further call does a part.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use switchboard_core::operate::{PER_SECOND, Progress, Replay};
use switchboard_core::ports::Backend;
use switchboard_core::time::Timestamp;
use switchboard_core::views::Looked;

use super::Status;
use super::access::Admin;
use super::answer::Failure;
use super::asked::{Body, Shape, destination};
use super::cursor::{checked, with_check};
use super::rate::Rate;
use super::search::SearchTexts;

/// Which events, where to, how fast, and from where on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayBody {
    source: Option<String>,
    kind: Option<String>,
    sender_id: Option<String>,
    state: Option<String>,
    destination: Option<String>,
    from: Option<String>,
    until: Option<String>,
    to: Option<String>,
    per_second: Option<Rate>,
    dry_run: Option<bool>,
    progress: Option<String>,
}

impl Shape for ReplayBody {
    const SHAPE: &'static str = r#"{"from":"2026-01-31T09:00:00Z"} or {"sender_id":"…"}, with any of source, kind, sender_id, state, destination, from, until, to, per_second (1 to 1000), dry_run and progress"#;
}

/// What a call did, or would do.
#[derive(Serialize)]
pub(super) struct ReplayAnswer {
    events: u32,
    deliveries: u32,
    looked: Looked,
    /// Only events received before this moment are meant: a replay that was counted, for real.
    until: Timestamp,
    /// The run that its deliveries belong to.
    run: u32,
    /// What the next call is to say, while there is more.
    progress: Option<String>,
}

/// `POST /admin/replay`
pub(super) async fn replay<B: Backend>(
    _: Admin,
    State(status): State<Arc<Status<B>>>,
    Body(body): Body<ReplayBody>,
) -> Result<Json<ReplayAnswer>, Failure> {
    let progress = body.progress.clone();
    let replay = body.read()?;
    let belongs_to = what_it_is(&replay);
    let progress = match progress {
        None if replay.is_dry => status.operator.begin_replay(&replay).await?,
        None => {
            let begun = status.operator.begin_replay(&replay).await?;
            let until = begun.until(&replay);
            return Ok(Json(ReplayAnswer {
                events: 0,
                deliveries: 0,
                looked: Looked {
                    at: 0,
                    back_to: Some(until),
                },
                until,
                run: begun.run().0,
                progress: Some(with_check(&begun.to_string(), &belongs_to)),
            }));
        }
        Some(text) => checked(&text, &belongs_to)
            .and_then(Progress::parse)
            .ok_or_else(|| {
                Failure::Unreadable(
                    "progress is not what a call of this replay answered".to_owned(),
                )
            })?,
    };
    let until = progress.until(&replay);
    let done = status.operator.replay(&replay, progress).await?;
    Ok(Json(ReplayAnswer {
        events: done.events,
        deliveries: done.deliveries,
        looked: done.looked,
        until,
        run: done.run.0,
        progress: done
            .next
            .map(|next| with_check(&next.to_string(), &belongs_to)),
    }))
}

impl ReplayBody {
    fn read(self) -> Result<Replay, Failure> {
        if self.from.is_none() && self.sender_id.is_none() {
            // Nobody replays everything there is by leaving something out.
            let what = "from is needed, or a sender_id".to_owned();
            return Err(Failure::Unreadable(what));
        }
        let search = SearchTexts {
            source: self.source,
            kind: self.kind,
            sender_id: self.sender_id,
            state: self.state,
            destination: self.destination,
            from: self.from,
            until: self.until,
        };
        Ok(Replay {
            search: search.read()?,
            to: self.to.as_deref().map(destination).transpose()?,
            per_second: self.per_second.map_or(PER_SECOND, Rate::get),
            is_dry: self.dry_run.unwrap_or(false),
        })
    }
}

/// What must be the same from call to call: going on with another search, or for real behind a dry run, would pass events
/// over.
fn what_it_is(replay: &Replay) -> String {
    let Replay {
        search,
        to,
        per_second: _,
        is_dry,
    } = replay;
    format!("replay {search:?} {to:?} {is_dry}")
}
