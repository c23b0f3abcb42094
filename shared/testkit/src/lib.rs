//! What tests share: a clock that is moved by hand, a configuration and its secrets in memory, signed vectors, the conformance
//! suite of each port, and the start and stop of an AWS emulator.

pub mod clock;
pub mod configuration;
pub mod emulator;
pub mod suite;
pub mod vectors;
