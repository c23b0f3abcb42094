//! The admin token: a secret of the deployment, read again each minute, so that a new one counts without a deployment.

use std::time::Duration;

use switchboard_aws::secrets::StoredSecrets;
use switchboard_core::ports::Answer;
use switchboard_core::secret::Secret;
use switchboard_core::time::Clock;
use tokio::sync::Mutex;

/// Its name under the deployment's prefix.
const NAME: &str = "admin-token";
/// How long it counts before it is read again.
const GOOD_FOR: Duration = Duration::from_mins(1);

/// The token as it was read last, and when, in ticks.
#[derive(Default)]
pub(crate) struct AdminToken(Mutex<Option<(Duration, Secret)>>);

impl AdminToken {
    /// The token; the last one where it cannot be read again.
    pub(crate) async fn current(
        &self,
        secrets: &StoredSecrets,
        clock: &dyn Clock,
    ) -> Answer<Secret> {
        let mut last = self.0.lock().await;
        let now = clock.ticks();
        if let Some((at, token)) = &*last
            && now.saturating_sub(*at) < GOOD_FOR
        {
            return Ok(token.clone());
        }
        match (secrets.secret(NAME).await, &mut *last) {
            (Ok(token), last) => {
                *last = Some((now, token.clone()));
                Ok(token)
            }
            (Err(error), Some((at, token))) => {
                tracing::error!(error = %error.line(), "the admin token cannot be read again; the last one stays");
                *at = now;
                Ok(token.clone())
            }
            (Err(error), None) => Err(error),
        }
    }
}
