//! The ports over DynamoDB and SQS.

pub mod client;
pub mod environment;
pub mod failure;
pub mod schema;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
