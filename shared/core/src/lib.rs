//! What Switchboard decides, apart from where its state lives and how bytes travel.
//!
//! Nothing here waits on a clock, draws a random number, reads the environment or opens a socket:
//! time, randomness and every effect come in as arguments or through the ports in [`ports`].

pub mod address;
pub mod alert;
pub mod attempt;
pub mod configuration;
pub mod delivery;
pub mod deployed;
pub mod endpoint;
pub mod event;
pub mod fail;
pub mod failure;
pub mod forward;
pub mod identity;
pub mod ingress;
pub mod names;
pub mod operate;
pub mod piece;
pub mod ports;
pub mod refusal;
pub mod release;
pub mod retry;
pub mod route;
pub mod scheme;
pub mod secret;
pub mod sign_in;
pub mod stood;
pub mod time;
pub mod views;
