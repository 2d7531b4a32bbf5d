//! The packets of a client.

use crate::wire::{length_bytes, put_binary, put_length};

/// The version of the protocol.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// MQTT 3.1.1.
    #[default]
    V311,
    /// MQTT 5.
    V5,
}

/// How surely a message is delivered.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Qos {
    /// QoS 0.
    #[default]
    AtMostOnce = 0,
    /// QoS 1.
    AtLeastOnce = 1,
    /// QoS 2.
    ExactlyOnce = 2,
}

impl Qos {
    /// The quality of service of a number from 0 to 2.
    pub fn of(number: u8) -> Option<Qos> {
        match number {
            0 => Some(Qos::AtMostOnce),
            1 => Some(Qos::AtLeastOnce),
            2 => Some(Qos::ExactlyOnce),
            _ => None,
        }
    }
}

/// The content of CONNECT.
#[derive(Debug, Default, Clone)]
pub struct Connect {
    /// The version.
    pub version: Version,
    /// The client identifier.
    pub client_id: String,
    /// Whether the server is to forget earlier sessions of the client.
    pub clean: bool,
    /// The longest pause between two packets of the client, in seconds; 0 for any.
    pub keep_alive_s: u16,
    /// User name and password, of which the password may be missing.
    pub account: Option<(String, Option<String>)>,
    /// The message that the server sends when the connection is lost.
    pub will: Option<Will>,
}

/// A message that the server sends when the connection is lost.
#[derive(Debug, Default, Clone)]
pub struct Will {
    /// Its topic.
    pub topic: String,
    /// Its payload.
    pub payload: Vec<u8>,
    /// How surely it is delivered.
    pub qos: Qos,
    /// Whether the server stores it.
    pub retain: bool,
}

/// A message that a client sends.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// Its topic, which [`check_topic`](crate::check_topic) has accepted.
    pub topic: &'a str,
    /// Its payload.
    pub payload: &'a [u8],
    /// How surely it is delivered.
    pub qos: Qos,
    /// Whether the server stores it for later subscribers.
    pub retain: bool,
}

/// The first byte of an acknowledgement: PUBACK, PUBREC, PUBREL, PUBCOMP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ack {
    Arrived = 0x40,
    Received = 0x50,
    Released = 0x62,
    Completed = 0x70,
}

impl Connect {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(64);
        put_binary(b"MQTT", &mut body);
        let mut flags = u8::from(self.clean) << 1;
        if let Some(will) = &self.will {
            flags |= 4 | (will.qos as u8) << 3 | u8::from(will.retain) << 5;
        }
        if let Some((_, password)) = &self.account {
            flags |= 0x80 | u8::from(password.is_some()) << 6;
        }
        let is_new = self.version == Version::V5;
        body.extend_from_slice(&[if is_new { 5 } else { 4 }, flags]);
        body.extend_from_slice(&self.keep_alive_s.to_be_bytes());
        if is_new && !self.clean {
            // MQTT 3.1.1 keeps such a session until the client asks for a clean one.
            body.extend_from_slice(&[5, 0x11, 0xff, 0xff, 0xff, 0xff]);
        } else if is_new {
            body.push(0);
        }
        put_binary(self.client_id.as_bytes(), &mut body);
        if let Some(will) = &self.will {
            if is_new {
                body.push(0);
            }
            put_binary(will.topic.as_bytes(), &mut body);
            put_binary(&will.payload, &mut body);
        }
        if let Some((user, password)) = &self.account {
            put_binary(user.as_bytes(), &mut body);
            if let Some(password) = password {
                put_binary(password.as_bytes(), &mut body);
            }
        }
        put_packet(0x10, &body, out);
    }
}

impl Message<'_> {
    /// The bytes after the packet's length.
    pub(crate) fn body_bytes(&self, version: Version) -> usize {
        let id = if self.qos == Qos::AtMostOnce { 0 } else { 2 };
        2 + self.topic.len() + id + usize::from(version == Version::V5) + self.payload.len()
    }

    /// The bytes of the whole packet.
    pub(crate) fn packet_bytes(&self, version: Version) -> usize {
        let body = self.body_bytes(version);
        1 + length_bytes(body) + body
    }

    pub(crate) fn write(&self, version: Version, id: u16, out: &mut Vec<u8>) {
        out.reserve(self.packet_bytes(version));
        out.push(0x30 | (self.qos as u8) << 1 | u8::from(self.retain));
        put_length(self.body_bytes(version), out);
        put_binary(self.topic.as_bytes(), out);
        if self.qos != Qos::AtMostOnce {
            out.extend_from_slice(&id.to_be_bytes());
        }
        if version == Version::V5 {
            out.push(0);
        }
        out.extend_from_slice(self.payload);
    }
}

pub(crate) fn subscribe(version: Version, id: u16, filters: &[&str], qos: Qos, out: &mut Vec<u8>) {
    let mut body = id.to_be_bytes().to_vec();
    if version == Version::V5 {
        body.push(0);
    }
    for filter in filters {
        put_binary(filter.as_bytes(), &mut body);
        body.push(qos as u8);
    }
    put_packet(0x82, &body, out);
}

pub(crate) fn acknowledge(ack: Ack, id: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&[ack as u8, 2]);
    out.extend_from_slice(&id.to_be_bytes());
}

pub(crate) fn ping(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0xc0, 0]);
}

pub(crate) fn disconnect(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0xe0, 0]);
}

fn put_packet(first: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(first);
    put_length(body.len(), out);
    out.extend_from_slice(body);
}
