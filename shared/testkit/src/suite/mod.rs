//! One conformance suite for each port, run by every backend.
