//! The packets of a server.

use std::fmt;

use crate::framer::Frame;
use crate::properties::Properties;
use crate::request::{Qos, Version};
use crate::wire::Input;

/// The answer to CONNECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnAck<'a> {
    /// The return code (MQTT 3.1.1) or reason code (MQTT 5); 0 accepts the connection.
    pub code: u8,
    /// Whether the server still had the client's session.
    pub session_present: bool,
    /// The server's own words, if it has some.
    pub reason: Option<&'a str>,
    /// The client identifier that the server has chosen.
    pub client_id: Option<&'a str>,
    /// The keep-alive that the server wants instead of the client's, in seconds.
    pub keep_alive_s: Option<u16>,
    /// The largest packet that the server takes.
    pub max_packet_bytes: Option<u32>,
}

/// A message from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Publish<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The payload.
    pub payload: &'a [u8],
    /// How surely it is delivered.
    pub qos: Qos,
    /// Whether the server had stored the message.
    pub retain: bool,
    /// Whether the server has sent it before.
    pub is_again: bool,
    /// The packet identifier; 0 for QoS 0.
    pub id: u16,
}

/// A packet of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet<'a> {
    /// CONNACK.
    ConnAck(ConnAck<'a>),
    /// PUBLISH.
    Publish(Publish<'a>),
    /// PUBACK: a message of QoS 1 has arrived, if the code is below 128.
    PubAck(u16, u8),
    /// PUBREC: a message of QoS 2 has arrived, if the code is below 128.
    PubRec(u16, u8),
    /// PUBREL: the client may forget the identifier of a message of QoS 2.
    PubRel(u16),
    /// PUBCOMP: the end of a message of QoS 2.
    PubComp(u16, u8),
    /// SUBACK with a code for each filter.
    SubAck(u16, &'a [u8]),
    /// PINGRESP.
    PingResp,
    /// DISCONNECT with its reason code and the server's own words (MQTT 5).
    Disconnect(u8, Option<&'a str>),
}

/// Why the bytes of a server are no packet for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketError {
    /// A packet ends before its fields do.
    Short,
    /// A length has more than four bytes.
    Length,
    /// A text is not in UTF-8.
    Text,
    /// A property of MQTT 5 is unknown.
    Property,
    /// Both bits of the QoS are set.
    Qos,
    /// A packet of this type is not for a client, or comes at the wrong time.
    Unexpected(u8),
    /// A packet is larger than the client takes.
    TooLarge {
        /// Its bytes.
        bytes: usize,
        /// The bytes that it may have.
        limit: usize,
    },
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::Short => f.write_str("a packet is too short for its fields"),
            PacketError::Length => f.write_str("the length of a packet has more than four bytes"),
            PacketError::Text => f.write_str("a text is not in UTF-8"),
            PacketError::Property => f.write_str("a property is unknown"),
            PacketError::Qos => f.write_str("a message has the QoS 3"),
            PacketError::Unexpected(kind) => write!(f, "a packet of the type {kind} is unexpected"),
            PacketError::TooLarge { bytes, limit } => {
                write!(f, "a packet has {bytes} bytes; the limit is {limit}")
            }
        }
    }
}

impl std::error::Error for PacketError {}

impl<'a> Packet<'a> {
    /// Reads a packet.
    ///
    /// # Errors
    /// The packet is malformed, or no packet for a client.
    pub(crate) fn read((first, body): Frame<'a>, version: Version) -> Result<Self, PacketError> {
        let mut input = Input(body);
        let is_new = version == Version::V5;
        Ok(match first >> 4 {
            2 => Packet::ConnAck(connack(&mut input, is_new)?),
            3 => Packet::Publish(publish(first, input, is_new)?),
            4 => acknowledged(&mut input).map(|(id, code)| Packet::PubAck(id, code))?,
            5 => acknowledged(&mut input).map(|(id, code)| Packet::PubRec(id, code))?,
            6 => Packet::PubRel(acknowledged(&mut input)?.0),
            7 => acknowledged(&mut input).map(|(id, code)| Packet::PubComp(id, code))?,
            9 => {
                let id = input.u16()?;
                if is_new {
                    Properties::read(&mut input)?;
                }
                Packet::SubAck(id, input.0)
            }
            13 => Packet::PingResp,
            14 if is_new && body.is_empty() => Packet::Disconnect(0, None),
            14 if is_new => {
                let code = input.byte()?;
                let properties = match input.is_empty() {
                    true => Properties::default(),
                    false => Properties::read(&mut input)?,
                };
                Packet::Disconnect(code, properties.reason)
            }
            kind => return Err(PacketError::Unexpected(kind)),
        })
    }
}

fn connack<'a>(input: &mut Input<'a>, is_new: bool) -> Result<ConnAck<'a>, PacketError> {
    let flags = input.byte()?;
    let code = input.byte()?;
    let properties = match is_new && !input.is_empty() {
        true => Properties::read(input)?,
        false => Properties::default(),
    };
    Ok(ConnAck {
        code,
        session_present: flags & 1 != 0,
        reason: properties.reason,
        client_id: properties.client_id,
        keep_alive_s: properties.server_keep_alive_s,
        max_packet_bytes: properties.max_packet_bytes,
    })
}

fn publish(first: u8, mut input: Input<'_>, is_new: bool) -> Result<Publish<'_>, PacketError> {
    let qos = Qos::of(first >> 1 & 3).ok_or(PacketError::Qos)?;
    let topic = input.text()?;
    let id = match qos {
        Qos::AtMostOnce => 0,
        Qos::AtLeastOnce | Qos::ExactlyOnce => input.u16()?,
    };
    // This client allows no topic aliases, so a server that uses one breaks the protocol.
    if is_new && Properties::read(&mut input)?.topic_alias.is_some() {
        return Err(PacketError::Property);
    }
    Ok(Publish {
        topic,
        payload: input.0,
        qos,
        retain: first & 1 != 0,
        is_again: first & 8 != 0,
        id,
    })
}

/// Identifier and reason code; the code is left out if it is 0, and in MQTT 3.1.1.
fn acknowledged(input: &mut Input<'_>) -> Result<(u16, u8), PacketError> {
    let id = input.u16()?;
    let code = match input.is_empty() {
        true => 0,
        false => input.byte()?,
    };
    Ok((id, code))
}
