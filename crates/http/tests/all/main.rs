//! The integration tests of this crate, in one program: they are linked once, and run side by side.

mod arrivals;
mod connections;
mod decoding;
mod differential;
mod framing;
mod http2;
mod limits;
mod mutated;
mod peer;
mod proxy;
mod tls;
mod transfer;
mod url_connection;
mod watch;
