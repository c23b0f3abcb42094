//! What tests share: a clock that is moved by hand, a configuration and its secrets in memory, signed vectors, the conformance
//! suite of each port, the start and stop of an AWS emulator, and what fails between it and its callers.

pub mod clock;
pub mod configuration;
pub mod emulator;
pub mod proxy;
pub mod suite;
pub mod vectors;
