//! The MQTT samplers of EMQ's plugin (mqtt-jmeter): six elements that share a user's connections. Packets and the state of a
//! client are the crate `mqtt`'s; bytes move over the connections of the crate `http`.
//!
//! | file | what |
//! |---|---|
//! | `decode.rs` | the plan's properties |
//! | `settings.rs` | what Connect evaluates |
//! | `open.rs` | opens a connection |
//! | `link.rs` | an open connection, and the task that receives its messages |
//! | `inbox.rs` | received messages in batches (`SubBean`) |
//! | `connect.rs`, `publish.rs`, `subscribe.rs`, `disconnect.rs` | one sample of each kind |
//! | `sampler.rs` | what they have in common |
//! | `check.rs` | faults that are known before the run |

mod check;
mod connect;
mod decode;
mod disconnect;
mod inbox;
mod link;
mod open;
mod publish;
mod sampler;
mod settings;
mod subscribe;

use drumfire_elements::samplers;

pub use check::faults;
pub use decode::decode;

/// The samplers' classes.
pub const CLASSES: [&str; 6] = [
    samplers::mqtt_connect::CLASS,
    samplers::mqtt_pub::CLASS,
    samplers::mqtt_sub::CLASS,
    samplers::mqtt_disconnect::CLASS,
    samplers::mqtt_efficient_connect::CLASS,
    samplers::mqtt_efficient_disconnect::CLASS,
];
