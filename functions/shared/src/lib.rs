//! What the four functions on AWS share: how they start, what they read from their environment, and their log.

pub mod board;
pub mod clock;
pub mod environment;
mod fail;
pub mod http;
pub mod log;
pub mod start;
