//! Runs a router on a listener.
