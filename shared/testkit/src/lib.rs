//! What tests share: a clock that is moved by hand, a configuration and its secrets in memory, signed vectors, and the conformance suite of each port.

pub mod clock;
pub mod configuration;
pub mod suite;
pub mod vectors;
