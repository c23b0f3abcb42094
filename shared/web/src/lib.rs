//! HTTP both ways: the routers that senders and operators reach, the server that runs them, and the transport that
//! delivers.

pub mod client;
pub mod deployed;
pub mod ingress;
pub mod server;
pub mod status;
pub mod transport;
