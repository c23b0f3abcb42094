//! The ports over DynamoDB and SQS: the table is the truth, a queue message is a hint.
#![expect(dead_code, reason = "the views that read the rest follow")]

mod accept;
mod backend;
mod begin;
mod change;
pub mod client;
pub mod environment;
mod expire;
pub mod failure;
mod family;
mod find;
mod item;
mod keys;
mod life;
mod memory;
pub mod message;
mod moves;
mod queue;
mod read;
mod record;
mod release;
mod repeat;
mod replay;
pub mod schema;
mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod token;
mod unrecorded;
mod view;

pub use backend::{Aws, Pace, Place};
pub use token::Token;
