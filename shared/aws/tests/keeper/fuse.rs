//! A process that dies between two of its calls: the first calls of its clients are made, all further ones are not. Or one
//! that lives on behind a call that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aws_sdk_dynamodb::config::interceptors::BeforeSerializationInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept};
use aws_sdk_dynamodb::error::BoxError;
use switchboard_aws::client::Clients;

/// It.
#[derive(Clone, Debug)]
pub(crate) struct Fuse {
    asked: Arc<AtomicU32>,
    made: u32,
    then: Then,
}

/// What follows the first call that is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// No further one is.
    Death,
    /// All others are.
    Life,
}

impl Fuse {
    /// Lets `made` calls through; nothing more after that.
    pub(crate) fn behind(made: u32) -> Self {
        Self::at(made, Then::Death)
    }

    /// Lets `made` calls through, and fails the next one.
    pub(crate) fn at(made: u32, then: Then) -> Self {
        Self {
            asked: Arc::default(),
            made,
            then,
        }
    }

    /// Whether a call was not made.
    pub(crate) fn is_blown(&self) -> bool {
        self.asked.load(Ordering::SeqCst) > self.made
    }

    /// Clients that share it.
    pub(crate) fn over(&self, clients: &Clients) -> Clients {
        with(clients, self)
    }

    /// Clients whose queues share it.
    pub(crate) fn over_queues(&self, clients: &Clients) -> Clients {
        Clients {
            sqs: with(clients, self).sqs,
            ..clients.clone()
        }
    }
}

impl Intercept for Fuse {
    fn name(&self) -> &'static str {
        "fuse"
    }

    fn read_before_execution(
        &self,
        _: &BeforeSerializationInterceptorContextRef<'_>,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        match self.then {
            _ if asked < self.made => Ok(()),
            Then::Life if asked > self.made => Ok(()),
            Then::Life => Err("the call fails".into()),
            Then::Death => Err("the process is dead".into()),
        }
    }
}

/// The clients with something that looks at their calls.
pub(crate) fn with(clients: &Clients, intercept: &(impl Intercept + Clone + 'static)) -> Clients {
    let dynamodb = clients.dynamodb.config().to_builder();
    let sqs = clients.sqs.config().to_builder();
    let streams = clients.streams.config().to_builder();
    Clients {
        dynamodb: aws_sdk_dynamodb::Client::from_conf(
            dynamodb.interceptor(intercept.clone()).build(),
        ),
        sqs: aws_sdk_sqs::Client::from_conf(sqs.interceptor(intercept.clone()).build()),
        streams: aws_sdk_dynamodbstreams::Client::from_conf(
            streams.interceptor(intercept.clone()).build(),
        ),
        ..clients.clone()
    }
}
