//! The page of a run that is under way, and the HTTP API beside it.
//!
//! A [`Server`] has a thread of its own. The runner of the load, or the coordinator that adds up several machines, tells its [`Live`]
//! what happens: increments, marks, how the run stands. Browsers get the sum so far and then each second as a server-sent
//! event. [`Order`]s from the page and from other programs go to a [`Steering`]. The crate knows no engine.
//!
//! Each request needs the token of the URL, a `Host` that is this machine, and an `Origin` that is this page, if any.

#![warn(missing_docs)]

mod access;
mod live;
mod orders;
mod registry;
mod server;
mod viewers;

pub use access::{Address, AddressError};
pub use live::{Facts, GroupStanding, Live, LiveOptions, Phase, RunStanding, Status};
pub use orders::{Order, Refused, Steering};
pub use registry::{KnownRun, RegisteredRun, runs};
pub use server::{Extension, Server};
