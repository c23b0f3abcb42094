//! What operators do: redrive dead letters, hold and release destinations, set your endpoint. Each use case is a few
//! whole steps of the ports; its doc says what stands when it is cut between two of them, and what finishes it.

use std::sync::{Arc, Mutex};

use crate::address::{Address, AddressFault};
use crate::configuration::Configuration;
use crate::delivery::DeathReason;
use crate::endpoint::{Change, KEY_BYTES, OVERLAP, fresh_secret};
use crate::fail::{self, FailPoint};
use crate::identity::{DeliveryId, Run};
use crate::names::DestinationName;
use crate::ports::{Answer, BackendError, Ledger, Moved, Selection, SettingsStore, Spread};
use crate::secret::Secret;
use crate::time::Clock;

mod replay;

pub use replay::{EVENTS, Progress, Replay, Replayed};

/// Most deliveries that one step of the ledger moves: a transaction of that size does not hold up live events.
pub const STEP: u32 = 500;
/// Most deliveries that one call of an operator moves; what is left is told, and moved by the next call.
pub const BUDGET: u32 = 10_000;
/// Starts per second of what is put back, unless the operator asks for another number.
pub const PER_SECOND: u32 = 50;

/// Why an operator's wish was not carried out, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    /// Neither configured nor your endpoint.
    #[error("there is no destination named {:?}", .0.as_str())]
    UnknownDestination(DestinationName),
    /// The address cannot be delivered to. The text quotes nothing of it.
    #[error("the address {0}")]
    Address(AddressFault),
    /// There is nothing to rotate.
    #[error("your endpoint is not set")]
    EndpointNotSet,
    /// The random bytes made no secret: our own fault, and nothing changed.
    #[error("no secret could be made")]
    NoSecret,
    /// The store failed after some deliveries were moved: at least `done`, perhaps part of one step more. The same
    /// call made again moves the rest.
    #[error("the store failed after {done} deliveries were moved")]
    Interrupted {
        /// Moved for certain.
        done: u32,
        /// The failure.
        #[source]
        cause: BackendError,
    },
    /// The store failed before anything is known to have changed.
    #[error("the store failed")]
    Backend(#[source] BackendError),
}

/// Which dead letters an operator puts back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redrive {
    /// All of them.
    All,
    /// Those of one destination.
    Destination(DestinationName),
    /// These; what is no dead letter among them stays as it is.
    Deliveries(Vec<DeliveryId>),
}

/// Your endpoint as it was just set.
#[derive(Debug, PartialEq, Eq)]
pub struct EndpointSet {
    /// Where the copies go.
    pub address: Address,
    /// Its secret, only when it had none before: from then on nobody is shown it again.
    pub secret: Option<Secret>,
}

/// Carries out what operators ask for.
pub struct Operator<B> {
    configuration: Arc<Configuration>,
    backend: Arc<B>,
    clock: Arc<dyn Clock>,
    /// The run of the replay that began last.
    last_run: Mutex<Option<Run>>,
}

impl<B: Ledger + SettingsStore> Operator<B> {
    /// An operator over `backend`.
    pub fn new(configuration: Arc<Configuration>, backend: Arc<B>, clock: Arc<dyn Clock>) -> Self {
        Self {
            configuration,
            backend,
            clock,
            last_run: Mutex::default(),
        }
    }

    /// Puts dead letters back to waiting with a new round of attempts, `per_second` starts each second.
    ///
    /// Cut anywhere: what a step moved is waiting and will be attempted, the rest is still a dead letter. The same
    /// call again moves that rest only, since what was moved is no dead letter any more.
    pub async fn redrive(&self, redrive: Redrive, per_second: u32) -> Result<Moved, OperateError> {
        let (of, selection) = match redrive {
            Redrive::All => ("all".to_owned(), Selection::AllDead),
            Redrive::Destination(name) => (name.to_string(), Selection::DeadOf(self.known(name)?)),
            Redrive::Deliveries(deliveries) => (
                format!("{} named deliveries", deliveries.len()),
                Selection::Dead(deliveries),
            ),
        };
        fail::reach(FailPoint::BeforeRedrive);
        let moved = self.requeue(&selection, per_second).await?;
        fail::reach(FailPoint::AfterRedrive);
        tracing::info!(of, redriven = moved.done, left = moved.left, "redrive");
        Ok(moved)
    }

    /// Holds a destination: its deliveries wait, none is lost.
    ///
    /// One step, and the same twice is once. An attempt that is under way ends as it ends.
    pub async fn hold(&self, name: DestinationName) -> Result<(), OperateError> {
        let name = self.known(name)?;
        self.backend
            .change(Change::Hold(name.clone()))
            .await
            .map_err(OperateError::Backend)?;
        tracing::info!(destination = %name, "hold");
        Ok(())
    }

    /// Releases a destination and puts what is held of it back to waiting, `per_second` starts each second. One that is held
    /// and stands in the configuration no more can be released too: what was held of it then ends as a dead letter.
    ///
    /// The settings change first: in the other order what is put back would be held again at once. With them is stored
    /// how fast it goes. Cut after that, or at the budget, what is still held belongs to a destination that is not
    /// held, and [`Ledger::recover`] puts it back as fast, or the same call made again does.
    pub async fn release(
        &self,
        name: DestinationName,
        per_second: u32,
    ) -> Result<Moved, OperateError> {
        let name = self.known_or_held(name).await?;
        self.backend
            .change(Change::Release(name.clone(), self.spread(per_second)))
            .await
            .map_err(OperateError::Backend)?;
        fail::reach(FailPoint::InRelease);
        let now = self.clock.now();
        let moved = in_steps(|_, limit| self.backend.release(&name, now, limit)).await?;
        tracing::info!(destination = %name, released = moved.done, left = moved.left, "release");
        Ok(moved)
    }

    /// Sets where the copies of every event go; `random` becomes the secret of an endpoint that has none.
    ///
    /// One step. When its answer is lost the secret may stand without anyone having seen it, and setting the address
    /// again does not show it: a rotation makes one that is seen.
    pub async fn set_endpoint(
        &self,
        address: &str,
        random: &[u8; KEY_BYTES],
    ) -> Result<EndpointSet, OperateError> {
        let address =
            Address::parse(address, self.configuration.networks).map_err(OperateError::Address)?;
        let fresh = fresh_secret(random).ok_or(OperateError::NoSecret)?;
        let change = Change::SetEndpoint {
            address: address.clone(),
            fresh: fresh.clone(),
        };
        let settings = self
            .backend
            .change(change)
            .await
            .map_err(OperateError::Backend)?;
        let taken = settings
            .endpoint
            .as_ref()
            .is_some_and(|endpoint| endpoint.secret == fresh);
        tracing::info!(address = %address.shown(), new_secret = taken, "your endpoint set");
        Ok(EndpointSet {
            address,
            secret: taken.then_some(fresh),
        })
    }

    /// Gives your endpoint a new secret and returns it; the one before goes on signing for [`OVERLAP`].
    ///
    /// One step. When its answer is lost the new secret may stand unseen; a further rotation makes one that is seen,
    /// but the secret in use before both then signs no longer.
    pub async fn rotate_endpoint(&self, random: &[u8; KEY_BYTES]) -> Result<Secret, OperateError> {
        let fresh = fresh_secret(random).ok_or(OperateError::NoSecret)?;
        let change = Change::RotateEndpoint {
            fresh,
            overlap_until: self.clock.now().plus(OVERLAP),
        };
        let settings = self
            .backend
            .change(change)
            .await
            .map_err(OperateError::Backend)?;
        let endpoint = settings
            .endpoint
            .as_ref()
            .ok_or(OperateError::EndpointNotSet)?;
        tracing::info!("secret of your endpoint rotated");
        Ok(endpoint.secret.clone())
    }

    /// Clears your endpoint; its open deliveries become dead letters with that reason.
    ///
    /// The settings change first, so that no new copy is planned. Cut after that, the copies still open die with the
    /// same reason when they fall due, or by the same call made again.
    pub async fn clear_endpoint(&self) -> Result<Moved, OperateError> {
        self.backend
            .change(Change::ClearEndpoint)
            .await
            .map_err(OperateError::Backend)?;
        fail::reach(FailPoint::InClearing);
        let name = DestinationName::your_endpoint();
        let (now, keep) = (self.clock.now(), self.configuration.keep());
        let moved = in_steps(|_, limit| {
            self.backend
                .bury(&name, DeathReason::EndpointCleared, now, keep, limit)
        })
        .await?;
        tracing::info!(
            dead = moved.done,
            left = moved.left,
            "your endpoint cleared"
        );
        Ok(moved)
    }

    async fn requeue(&self, selection: &Selection, per_second: u32) -> Result<Moved, OperateError> {
        let whole = self.spread(per_second);
        in_steps(|done, limit| {
            // Each step starts where the one before ended, so that the starts run on evenly.
            let spread = Spread {
                start: whole.due(done),
                ..whole
            };
            self.backend.requeue(selection, spread, limit)
        })
        .await
    }

    /// A destination that there is, or that is held.
    async fn known_or_held(&self, name: DestinationName) -> Result<DestinationName, OperateError> {
        match self.known(name) {
            Err(OperateError::UnknownDestination(name)) => {
                let settings = self.backend.settings().await;
                let settings = settings.map_err(OperateError::Backend)?;
                if settings.held.contains(&name) {
                    return Ok(name);
                }
                Err(OperateError::UnknownDestination(name))
            }
            other => other,
        }
    }

    fn spread(&self, per_second: u32) -> Spread {
        Spread {
            start: self.clock.now(),
            per_second,
        }
    }

    /// A destination that there is: a slip in a name must not look like a success.
    fn known(&self, name: DestinationName) -> Result<DestinationName, OperateError> {
        if name.is_your_endpoint() || self.configuration.destination(&name).is_some() {
            Ok(name)
        } else {
            Err(OperateError::UnknownDestination(name))
        }
    }
}

/// Calls `step(done so far, limit)` until what was there at the first step has moved, nothing moves, or the budget is
/// used. What comes to the selection meanwhile, such as what died again at once, is not moved a second time.
async fn in_steps<F>(step: impl Fn(u32, u32) -> F) -> Result<Moved, OperateError>
where
    F: Future<Output = Answer<Moved>>,
{
    let mut total = Moved::default();
    let mut goal = BUDGET;
    while total.done < goal {
        let limit = STEP.min(goal.saturating_sub(total.done));
        let moved = step(total.done, limit)
            .await
            .map_err(|cause| OperateError::Interrupted {
                done: total.done,
                cause,
            })?;
        if total.done == 0 {
            goal = goal.min(moved.done.saturating_add(moved.left));
        }
        total = Moved {
            done: total.done.saturating_add(moved.done),
            left: moved.left,
        };
        if moved.left == 0 || moved.done == 0 {
            break;
        }
        fail::reach(FailPoint::BetweenSteps);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn what_dies_again_at_once_is_not_moved_a_second_time() {
        let step = |_, limit| {
            std::future::ready(Ok(Moved {
                done: limit,
                left: 700,
            }))
        };
        let moving = pin!(in_steps(step));
        let Poll::Ready(moved) = moving.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("every step is ready");
        };
        assert_eq!(
            moved.expect("moved").done,
            STEP + 700,
            "those that were there at first"
        );
    }
}
