//! The clients of the services: how long a call may take, how often it is made again, and whom TLS trusts. They are made
//! once in a process and share their connections.

use std::time::Duration;

use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::config::{BehaviorVersion, StalledStreamProtectionConfig};
use aws_sdk_dynamodb::config::{retry::RetryConfig, timeout::TimeoutConfig};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_types::SdkConfig;

use crate::environment::Environment;

/// How long a call may take with all its attempts, unless its caller wants another end: below the 5 seconds after which
/// senders give up, with room for what comes before and behind it.
pub const OPERATION: Duration = Duration::from_millis(3_500);
/// How long recording an attempt takes at most where nothing else happens to its event, by calls one after the other: a death
/// makes its destination known, looks how long its event stays and what belongs to that, makes those stay longer, then it,
/// and writes its record. The ticket that it owes is the keeper's where the time is over. Where the delivery waits, the next
/// hint is sent, and sent again since the queue refused it, in the place of more calls than these two.
pub const RECORDING: Duration = OPERATION.saturating_mul(6);
/// Attempts of one call.
const ATTEMPTS: u32 = 3;
/// Between the attempts of a call: at random up to the first, then up to twice that, never more than the last.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// For a connection, TLS included.
const CONNECT: Duration = Duration::from_secs(1);

/// One client for each service that a function talks to.
#[derive(Clone, Debug)]
pub struct Clients {
    /// The table.
    pub dynamodb: aws_sdk_dynamodb::Client,
    /// The queues.
    pub sqs: aws_sdk_sqs::Client,
    /// The table's stream.
    pub streams: aws_sdk_dynamodbstreams::Client,
    /// The secrets of sources, destinations and operators.
    pub secrets: aws_sdk_secretsmanager::Client,
}

/// The clients, for calls that end within [`OPERATION`]. Nothing is connected or asked for yet.
pub fn clients(environment: &Environment) -> Clients {
    clients_within(environment, OPERATION)
}

/// The clients, for calls that end within `operation`, by an answer or an error.
pub fn clients_within(environment: &Environment, operation: Duration) -> Clients {
    let config = config(environment, operation);
    Clients {
        dynamodb: aws_sdk_dynamodb::Client::new(&config),
        sqs: aws_sdk_sqs::Client::new(&config),
        streams: aws_sdk_dynamodbstreams::Client::new(&config),
        secrets: aws_sdk_secretsmanager::Client::new(&config),
    }
}

fn config(environment: &Environment, operation: Duration) -> SdkConfig {
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::rustls(CryptoMode::Ring))
        .build_https();
    let credentials = SharedCredentialsProvider::new(environment.credentials.clone());
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(environment.region.clone())
        .credentials_provider(credentials)
        .http_client(http)
        .timeout_config(limits(operation))
        .retry_config(
            RetryConfig::standard()
                .with_max_attempts(ATTEMPTS)
                .with_initial_backoff(FIRST_PAUSE)
                .with_max_backoff(LONGEST_PAUSE),
        )
        // Bodies are small and an attempt has its own limit: an answer that comes slowly is no failure before that.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    config.set_endpoint_url(environment.endpoint.clone());
    config.build()
}

/// Two attempts that get no answer, the pause between them included, leave room within the whole: an attempt that could
/// take half of it or more would take the second one's turn.
fn limits(operation: Duration) -> TimeoutConfig {
    let attempt = operation.saturating_mul(3) / 7;
    TimeoutConfig::builder()
        .connect_timeout(CONNECT.min(attempt.saturating_mul(2) / 3))
        .operation_attempt_timeout(attempt)
        .operation_timeout(operation)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_attempts_and_the_pause_between_them_fit_into_a_call() {
        for millis in [700, 3_500, 20_000] {
            let operation = Duration::from_millis(millis);
            let limits = limits(operation);
            let attempt = limits.operation_attempt_timeout().expect("a limit");
            let connect = limits.connect_timeout().expect("a limit");
            assert_eq!(limits.operation_timeout(), Some(operation));
            assert!(attempt * 2 + FIRST_PAUSE <= operation, "{operation:?}");
            assert!(connect < attempt && connect <= CONNECT, "{operation:?}");
        }
        let usual = limits(OPERATION);
        assert_eq!(usual.connect_timeout(), Some(CONNECT));
        let attempt = Duration::from_millis(1_500);
        assert_eq!(usual.operation_attempt_timeout(), Some(attempt));
    }
}
