//! The page of a run that is under way, and its HTTP API.
//!
//! A [`Server`] runs on a separate thread. The generator, or the coordinator of several machines, feeds its [`Live`] with
//! increments, marks and the state of the run. Browsers receive the sum so far and then each second as a server-sent event.
//! [`Order`]s from the page and from other programs go to a [`Steering`]. The crate does not depend on the engine.
//!
//! An [`EditorServer`] serves the page in which plans are edited, behind the same guards.
//!
//! Each request needs the token of the URL and a `Host` that is this machine. If it has an `Origin`, that must be this page.

#![warn(missing_docs)]

mod access;
mod editor;
mod front;
mod live;
mod orders;
mod registry;
mod server;
mod viewers;

pub use access::{AddressError, ListenAddress};
pub use editor::{Answerer, EDITOR_PING, EditorServer};
pub use live::{
    Facts, GroupOrders, GroupStanding, Live, LiveOptions, RunPhase, RunStanding, Status,
};
pub use orders::{Order, Refused, Steering};
pub use registry::{KnownRun, RegisteredRun, runs};
pub use server::Server;

/// The page of the editor, built from `web/` by `cargo xtask web`.
pub const EDIT_PAGE: &str = include_str!("../assets/edit.html");
