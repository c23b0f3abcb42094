//! Delivers over HTTP.
