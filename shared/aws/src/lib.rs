//! The ports over DynamoDB and SQS.

pub mod client;
pub mod environment;
pub mod failure;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
