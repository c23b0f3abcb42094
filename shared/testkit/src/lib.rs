//! What tests share: a clock that is moved by hand, signed vectors, and the conformance suite of each port.

pub mod clock;
pub mod suite;
pub mod vectors;
