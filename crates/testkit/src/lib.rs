//! Test utilities: a server that misbehaves on request, a folder to run the program in, a NATS server and bad links to it,
//! databases, plans, and output without times and ports.

#![warn(missing_docs)]

pub mod compat;
pub mod databases;
pub mod dovecot;
pub mod grpc;
#[cfg(feature = "http3")]
pub mod http3;
pub mod mosquitto;
pub mod mutation;
pub mod nats;
pub mod plans;
pub mod ports;
pub mod program;
pub mod redact;
pub mod server;
pub mod slow_link;
pub mod smtp;
pub mod vsftpd;
pub mod websocket;
