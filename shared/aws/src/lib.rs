//! The ports over DynamoDB and SQS: the table is the truth, a queue message is a hint.
#![cfg_attr(
    not(test),
    expect(dead_code, reason = "the steps that read and write these items follow")
)]

pub mod client;
pub mod environment;
pub mod failure;
mod item;
mod keys;
mod life;
pub mod schema;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod token;
