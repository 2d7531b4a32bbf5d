//! MQTT 3.1.1 and 5 without I/O: packets, and the state of a client.
//!
//! The caller passes received bytes to a [`Client`] and sends the bytes that it writes. The client keeps what the protocol asks of
//! it: packet identifiers, the handshakes of QoS 1 and 2, and the messages of QoS 2 that the server may send again. A packet that
//! is larger than the caller allows is an error, so the memory of a client is bounded.
//!
//! | file | what |
//! |---|---|
//! | `client.rs` | the state of a client |
//! | `framer.rs` | packets in a stream of bytes |
//! | `packet.rs` | the packets of a server |
//! | `request.rs` | the packets of a client |
//! | `properties.rs` | the properties of MQTT 5 |
//! | `wire.rs` | numbers and texts |
//! | `reason.rs` | return and reason codes in words |
//! | `topic.rs` | topics and topic filters |
//! | `stamp.rs` | time and sequence number in front of a payload |

#![warn(missing_docs)]

mod client;
mod framer;
mod packet;
mod properties;
mod reason;
mod request;
mod stamp;
mod topic;
mod wire;

pub use client::{Client, Event, PublishError};
pub use packet::{ConnAck, Packet, PacketError, Publish};
pub use reason::{connect_reason, reason};
pub use request::{Connect, Message, Qos, Version, Will};
pub use stamp::{Sequence, SequenceWatch, TIME_MARK, sequence_of, stamped_ms};
pub use topic::{TopicError, check_filter, check_topic, matches};
