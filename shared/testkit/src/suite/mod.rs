//! One conformance suite for each port, run by every backend.
//!
//! A backend implements [`Fixture`](fixture::Fixture) in a few lines and runs every check as a test of its own with
//! [`conformance!`](crate::conformance). What keeps a configuration is no part of every backend and has a list of its own,
//! [`configuration_conformance!`](crate::configuration_conformance). The modules are named by the port and what they are about; each names what a
//! port's words were taken to mean where they leave it open. What the checks ask is what the ports' docs promise, and
//! no more: a bug that a backend had becomes a line in here.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a check fails by panicking"
)]
#![expect(missing_docs, reason = "the name of a check is its sentence")]

pub mod alerts;
pub mod configuration;
pub mod fixture;
pub mod journal;
pub mod ledger_accept;
pub mod ledger_begin;
pub mod ledger_bury;
pub mod ledger_bytes;
pub mod ledger_delivered;
pub mod ledger_expire;
pub mod ledger_hold;
pub mod ledger_life;
pub mod ledger_record;
pub mod ledger_redrive;
pub mod ledger_replay;
pub mod ledger_stopped;
mod list;
pub mod model;
pub mod reopening;
pub mod replays;
mod sample;
pub mod settings;
mod stage;
pub mod views_dead;
pub mod views_events;
pub mod views_overview;
pub mod views_pages;
pub mod views_recent;
pub mod views_search;
