//! For tests only: a server that misbehaves on request, the program run in a folder of its own, a NATS server and bad ways to it,
//! databases, output without times and ports.

#![warn(missing_docs)]

pub mod compat;
pub mod databases;
#[cfg(feature = "http3")]
pub mod http3;
pub mod mutation;
pub mod nats;
pub mod program;
pub mod redact;
pub mod server;
pub mod slow_link;
pub mod websocket;
