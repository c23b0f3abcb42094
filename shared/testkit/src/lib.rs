//! What tests share: a clock that is moved by hand, signed vectors, the conformance suite of each port, and the start and
//! stop of an AWS emulator.

pub mod clock;
pub mod emulator;
pub mod suite;
pub mod vectors;
