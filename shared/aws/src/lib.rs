//! The ports over DynamoDB and SQS: the table is the truth, a queue message is a hint.

mod accept;
mod alerts;
mod backend;
mod begin;
mod candidates;
mod change;
pub mod client;
pub mod configuration;
pub mod environment;
mod expire;
pub mod failure;
mod family;
mod find;
mod fold;
mod item;
mod journal;
pub mod keeper;
mod keys;
mod life;
mod memory;
pub mod message;
mod moves;
mod prolong;
mod queue;
mod read;
pub mod received;
mod record;
mod release;
mod repeat;
mod replay;
pub mod schema;
pub mod secrets;
mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod ticket;
mod token;
mod unrecorded;
mod view;
mod views;

pub use backend::{Aws, Pace, Place};
pub use fold::{Behind, Folded};
pub use token::Token;
