//! One HTTP exchange at the cost of its system calls.
//!
//! A [`Worker`] holds what the users of one thread share, a [`Session`] holds one user's
//! connections and TLS sessions, and [`exchange`] sends one request and receives its response:
//!
//! ```no_run
//! # async fn get() -> Result<(), Box<dyn std::error::Error>> {
//! use drumfire_http::{Limits, Outgoing, Session, Target, WantedParts, Worker, exchange};
//!
//! let session = Session::new(Worker::with_defaults()?);
//! let target = Target::new("localhost", 8080, false);
//! let request = Outgoing::new(b"GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n");
//! let response = exchange(&session, &target, request, WantedParts::ALL, Limits::default()).await?;
//! assert_eq!(response.status, 200);
//! # Ok(())
//! # }
//! ```
//!
//! The caller controls the request's head byte for byte, and how the response is processed: the
//! kernel can even drop an unwanted body ([`Keep::Nothing`]). If servers violate the rules of HTTP,
//! this crate behaves like the Java client that the target names ([`ClientRules`]).
//!
//! Everything here belongs to one thread, except [`Target`], [`Tls`] and [`Identity`], which are
//! shared.

#![warn(missing_docs)]

mod arrivals;
mod binary_head;
mod carriers;
mod collector;
mod connect;
mod connection;
mod decode;
mod dialogue;
mod duplex;
mod errno;
mod exchange;
mod failure;
mod framing;
#[cfg(fuzzing)]
pub mod fuzzing;
mod head;
mod headers;
mod hpack;
mod http1;
mod http2;
#[cfg(feature = "http3")]
mod http3;
mod known_heads;
mod md5;
mod message;
mod multiplex;
mod outcome;
mod pace;
mod proxy;
mod receive;
mod records;
mod resolve;
mod session;
mod socket;
mod source;
mod spare;
mod stamped;
mod target;
mod timer;
mod tls;
mod transport;
mod turns;
mod url_connection;
mod version;
mod watch;
mod websocket;
mod worker;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;
#[cfg(target_os = "linux")]
use linux as sys;
#[cfg(not(target_os = "linux"))]
use portable as sys;

pub use dialogue::Dialogue;
pub use duplex::Duplex;
pub use exchange::exchange;
pub use failure::{
    BadChunk, Coded, DecodeFailure, Failure, FailureKind, Http2Failure, Http3Failure, Phase,
    StatusLinePart, TlsFailure,
};
pub use headers::Headers;
pub use message::{
    Body, ClientRules, Decode, Handshake, Incoming, Keep, Limits, Outgoing, Part, RelaxedDecoding,
    SizeLimits, Times, Tunnel, WantedParts, WireBytes, own_part,
};
pub use resolve::{AddressOrder, NameRules, Resolver, Resolving, SystemResolver};
pub use session::Session;
pub use spare::{Placed, SparePool, place_in};
pub use stamped::{StampedReads, StampedStream, stamp_arrivals};
pub use sys::{KernelTimer, take_short_turns};
pub use target::{Proxy, SourceAddresses, Target};
pub use tls::{Identity, Tls, TlsOptions, TlsSessions, Trust, certificates};
pub use version::HttpVersion;
pub use watch::{BodyWatch, Watched};
pub use websocket::{Frame, FrameFailure, Opcode, WebSocket};
pub use worker::{PoolOptions, Statistics, Worker};
