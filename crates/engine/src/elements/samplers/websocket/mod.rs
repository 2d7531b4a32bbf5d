//! The WebSocket samplers of Peter Doornbosch (Luminis): six elements that share one connection per user. The sampler of
//! Maciej Zaleski (`zaleski/`) uses their connection, handshake and frames.
//!
//! | file | what |
//! |---|---|
//! | `decode.rs` | the plan's properties |
//! | `call.rs` | the settings of one sample, evaluated and checked |
//! | `client.rs` | a user's connection and its states |
//! | `upgrade.rs` | the opening handshake |
//! | `frames.rs` | frames as the plugin shows them |
//! | `inflater.rs` | compressed messages |
//! | `proxy.rs` | tunnels through an HTTP proxy |
//! | `filter.rs` | filters that discard frames |
//! | `sampler.rs` | one sample (`WebsocketSampler#sample`) |

mod call;
mod client;
mod decode;
mod filter;
mod frames;
mod inflater;
mod proxy;
mod sampler;
pub mod stop;
pub mod upgrade;
mod zaleski;

use drumfire_elements::samplers;

pub use client::WebSocketClient;
pub use decode::decode;
pub use sampler::WebSocketSampler;
pub use zaleski::decode as decode_zaleski;

/// The samplers' classes.
pub const CLASSES: [&str; 6] = [
    samplers::websocket_open::CLASS,
    samplers::websocket_request_response::CLASS,
    samplers::websocket_single_read::CLASS,
    samplers::websocket_single_write::CLASS,
    samplers::websocket_ping_pong::CLASS,
    samplers::websocket_close::CLASS,
];
