//! The state of a client on one connection.

use std::collections::BTreeSet;
use std::fmt;

use crate::framer::Framer;
use crate::packet::{ConnAck, Packet, PacketError, Publish};
use crate::request::{self, Ack, Connect, Message, Qos, Version};
use crate::wire::MAX_LENGTH;

/// A client on one connection.
pub struct Client {
    version: Version,
    framer: Framer,
    is_connected: bool,
    last_id: u16,
    /// The identifiers of this client's packets whose handshake has not ended.
    open: BTreeSet<u16>,
    /// The identifiers of messages of QoS 2 that the server may send again.
    received: BTreeSet<u16>,
    /// The largest packet that the server takes.
    max_sent_bytes: usize,
}

/// Something that a server has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The answer to CONNECT.
    Connected(ConnAck<'a>),
    /// A message, each of QoS 2 once.
    Message(Publish<'a>),
    /// The handshake of a message has ended, with the code of the server.
    Published(u16, u8),
    /// The answer to a subscription, with a code for each filter.
    Subscribed(u16, &'a [u8]),
    /// The answer to a ping.
    Pong,
    /// The server ends the connection, with its reason code and its own words.
    Ended(u8, Option<&'a str>),
}

/// Why a message is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishError {
    /// The packet is larger than the server, or the protocol, allows.
    TooLarge {
        /// Its bytes.
        bytes: usize,
        /// The bytes that it may have.
        limit: usize,
    },
    /// All 65,535 packet identifiers belong to messages that the server has not acknowledged.
    NoIdentifier,
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PublishError::TooLarge { bytes, limit } => {
                write!(f, "the packet has {bytes} bytes; the server takes {limit}")
            }
            PublishError::NoIdentifier => {
                f.write_str("the server has not acknowledged 65535 messages")
            }
        }
    }
}

impl std::error::Error for PublishError {}

impl Client {
    /// A client that refuses packets with more than `max_bytes` after their length.
    pub fn new(version: Version, max_bytes: usize) -> Client {
        Client {
            version,
            framer: Framer::new(max_bytes),
            is_connected: false,
            last_id: 0,
            open: BTreeSet::new(),
            received: BTreeSet::new(),
            max_sent_bytes: MAX_LENGTH,
        }
    }

    /// Writes CONNECT.
    pub fn connect(&mut self, connect: &Connect, out: &mut Vec<u8>) {
        connect.write(out);
    }

    /// Writes a message and returns its packet identifier, which is 0 for QoS 0.
    ///
    /// # Errors
    /// The message is too large, or no identifier is free; nothing is written then.
    pub fn publish(
        &mut self,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<u16, PublishError> {
        let bytes = message.packet_bytes(self.version);
        if bytes > self.max_sent_bytes {
            return Err(PublishError::TooLarge {
                bytes,
                limit: self.max_sent_bytes,
            });
        }
        let id = match message.qos {
            Qos::AtMostOnce => 0,
            Qos::AtLeastOnce | Qos::ExactlyOnce => self.next_id()?,
        };
        message.write(self.version, id, out);
        Ok(id)
    }

    /// Writes a subscription to these filters and returns its packet identifier.
    ///
    /// # Errors
    /// No identifier is free.
    pub fn subscribe(
        &mut self,
        filters: &[&str],
        qos: Qos,
        out: &mut Vec<u8>,
    ) -> Result<u16, PublishError> {
        let id = self.next_id()?;
        request::subscribe(self.version, id, filters, qos, out);
        Ok(id)
    }

    /// Writes a ping, which tells the server that the client is there.
    pub fn ping(&self, out: &mut Vec<u8>) {
        request::ping(out);
    }

    /// Writes DISCONNECT, after which the server does not send the will.
    pub fn disconnect(&self, out: &mut Vec<u8>) {
        request::disconnect(out);
    }

    /// Takes bytes of the server, writes the acknowledgements that they ask for, and passes on what they say.
    ///
    /// # Errors
    /// The server breaks the protocol, after which the connection is of no use.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), PacketError> {
        let mut framer = std::mem::take(&mut self.framer);
        let taken = framer.push(bytes, &mut |frame| {
            let packet = Packet::read(frame, self.version)?;
            self.take(packet, out, on)
        });
        self.framer = framer;
        taken
    }

    fn take(
        &mut self,
        packet: Packet<'_>,
        out: &mut Vec<u8>,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), PacketError> {
        if self.is_connected == matches!(packet, Packet::ConnAck(_)) {
            let kind = if self.is_connected { 2 } else { 0 };
            return Err(PacketError::Unexpected(kind));
        }
        match packet {
            Packet::ConnAck(answer) => {
                self.is_connected = true;
                if let Some(limit) = answer.max_packet_bytes {
                    self.max_sent_bytes = self.max_sent_bytes.min(limit as usize);
                }
                on(Event::Connected(answer));
            }
            Packet::Publish(message) => self.accept(message, out, on),
            Packet::PubRel(id) => {
                self.received.remove(&id);
                request::acknowledge(Ack::Completed, id, out);
            }
            Packet::PubRec(id, code) if code < 128 => {
                request::acknowledge(Ack::Released, id, out);
            }
            Packet::PubAck(id, code) | Packet::PubRec(id, code) | Packet::PubComp(id, code) => {
                if self.open.remove(&id) {
                    on(Event::Published(id, code));
                }
            }
            Packet::SubAck(id, codes) => {
                if self.open.remove(&id) {
                    on(Event::Subscribed(id, codes));
                }
            }
            Packet::PingResp => on(Event::Pong),
            Packet::Disconnect(code, reason) => on(Event::Ended(code, reason)),
        }
        Ok(())
    }

    fn accept(&mut self, message: Publish<'_>, out: &mut Vec<u8>, on: &mut dyn FnMut(Event<'_>)) {
        match message.qos {
            Qos::AtMostOnce => {}
            Qos::AtLeastOnce => request::acknowledge(Ack::Arrived, message.id, out),
            Qos::ExactlyOnce => {
                request::acknowledge(Ack::Received, message.id, out);
                if !self.received.insert(message.id) {
                    return;
                }
            }
        }
        on(Event::Message(message));
    }

    /// The next identifier that no open handshake has.
    fn next_id(&mut self) -> Result<u16, PublishError> {
        if self.open.len() == usize::from(u16::MAX) {
            return Err(PublishError::NoIdentifier);
        }
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            if self.open.insert(self.last_id) {
                return Ok(self.last_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONNACK: [u8; 4] = [0x20, 2, 0, 0];

    fn connected(version: Version) -> Client {
        let mut client = Client::new(version, 1000);
        let answer: &[u8] = match version {
            Version::V311 => &CONNACK,
            Version::V5 => &[0x20, 3, 0, 0, 0],
        };
        client
            .receive(answer, &mut Vec::new(), &mut |_| {})
            .expect("it is accepted");
        client
    }

    /// The events of some bytes in words, and what the client answers.
    fn told(client: &mut Client, bytes: &[u8]) -> (Vec<String>, Vec<u8>) {
        let mut told = Vec::new();
        let mut out = Vec::new();
        let mut on = |event: Event<'_>| told.push(format!("{event:?}"));
        client
            .receive(bytes, &mut out, &mut on)
            .expect("it is sound");
        (told, out)
    }

    fn message(qos: Qos) -> Message<'static> {
        Message {
            topic: "a/b",
            payload: b"hi",
            qos,
            retain: false,
        }
    }

    #[test]
    fn messages_of_each_qos_in_both_versions() {
        let mut client = connected(Version::V311);
        let mut out = Vec::new();
        assert_eq!(client.publish(&message(Qos::AtMostOnce), &mut out), Ok(0));
        assert_eq!(out, b"\x30\x07\0\x03a/bhi");
        out.clear();
        assert_eq!(client.publish(&message(Qos::AtLeastOnce), &mut out), Ok(1));
        assert_eq!(out, b"\x32\x09\0\x03a/b\0\x01hi");
        let answer = told(&mut client, &[0x40, 2, 0, 1]);
        assert_eq!(answer, (vec!["Published(1, 0)".to_owned()], vec![]));
        let mut client = connected(Version::V5);
        out.clear();
        assert_eq!(client.publish(&message(Qos::ExactlyOnce), &mut out), Ok(1));
        assert_eq!(out, b"\x34\x0a\0\x03a/b\0\x01\0hi");
        let answer = told(&mut client, &[0x50, 2, 0, 1]);
        assert_eq!(answer, (vec![], vec![0x62, 2, 0, 1]));
        let answer = told(&mut client, &[0x70, 3, 0, 1, 0]);
        assert_eq!(answer, (vec!["Published(1, 0)".to_owned()], vec![]));
        out.clear();
        assert_eq!(client.publish(&message(Qos::ExactlyOnce), &mut out), Ok(2));
        let answer = told(&mut client, &[0x50, 3, 0, 2, 0x87]);
        assert_eq!(answer, (vec!["Published(2, 135)".to_owned()], vec![]));
    }

    #[test]
    fn a_message_of_qos_2_that_comes_again_is_told_once() {
        let mut client = connected(Version::V311);
        let publish = b"\x34\x06\0\x01t\0\x07x";
        let (events, out) = told(&mut client, publish);
        assert_eq!((events.len(), out), (1, vec![0x50, 2, 0, 7]));
        let (events, out) = told(&mut client, b"\x3c\x06\0\x01t\0\x07x");
        assert_eq!((events.len(), out), (0, vec![0x50, 2, 0, 7]));
        let (_, out) = told(&mut client, &[0x62, 2, 0, 7]);
        assert_eq!(out, [0x70, 2, 0, 7]);
        assert_eq!(told(&mut client, publish).0.len(), 1);
    }

    #[test]
    fn open_identifiers_are_left_out() {
        let mut client = connected(Version::V311);
        client.last_id = u16::MAX - 1;
        client.open.insert(1);
        let mut out = Vec::new();
        let ids: Vec<_> = (0..3)
            .map(|_| client.subscribe(&["a"], Qos::AtMostOnce, &mut out))
            .collect();
        assert_eq!(ids, [Ok(u16::MAX), Ok(2), Ok(3)]);
        client.open.extend(1..=u16::MAX);
        let refused = client.publish(&message(Qos::AtLeastOnce), &mut out);
        assert_eq!(refused, Err(PublishError::NoIdentifier));
    }

    #[test]
    fn properties_of_mqtt_5_are_read_or_left_out() {
        let mut client = Client::new(Version::V5, 1000);
        let properties = b"\x21\x00\x0a\x27\x00\x00\x00\x0a\x12\x00\x01c\x13\x00\x1e\x26\x00\x01k\x00\x01v\x25\x01";
        let mut packet = vec![
            0x20,
            properties.len() as u8 + 3,
            1,
            0,
            properties.len() as u8,
        ];
        packet.extend_from_slice(properties);
        let mut seen = None;
        let mut on = |event: Event<'_>| {
            if let Event::Connected(answer) = event {
                let id = answer.client_id.map(str::to_owned);
                seen = Some((answer.session_present, id, answer.keep_alive_s));
            }
        };
        client
            .receive(&packet, &mut Vec::new(), &mut on)
            .expect("it is sound");
        assert_eq!(seen, Some((true, Some("c".to_owned()), Some(30))));
        let taken = client.publish(&message(Qos::AtMostOnce), &mut Vec::new());
        assert_eq!(taken, Ok(0));
        let refused = client.publish(&message(Qos::AtLeastOnce), &mut Vec::new());
        let expected = PublishError::TooLarge {
            bytes: 12,
            limit: 10,
        };
        assert_eq!(refused, Err(expected));
    }

    #[test]
    fn a_server_that_breaks_the_protocol_is_refused() {
        for (bytes, error) in [
            (&[0x90, 1, 0][..], PacketError::Short),
            (&[0x36, 4, 0, 0, 0, 1], PacketError::Qos),
            (&[0x30, 3, 0, 1, 0xff], PacketError::Text),
            (&CONNACK, PacketError::Unexpected(2)),
            (&[0x10, 0], PacketError::Unexpected(1)),
        ] {
            let mut client = connected(Version::V311);
            let received = client.receive(bytes, &mut Vec::new(), &mut |_| {});
            assert_eq!(received, Err(error), "{bytes:?}");
        }
        let mut early = Client::new(Version::V311, 1000);
        let received = early.receive(&[0xd0, 0], &mut Vec::new(), &mut |_| {});
        assert_eq!(received, Err(PacketError::Unexpected(0)));
    }

    #[test]
    fn connect_has_will_account_and_the_session_of_both_versions() {
        use crate::request::Will;
        let mut connect = Connect {
            client_id: "c".to_owned(),
            keep_alive_s: 60,
            account: Some(("u".to_owned(), Some("p".to_owned()))),
            will: Some(Will {
                topic: "w".to_owned(),
                payload: b"x".to_vec(),
                qos: Qos::AtLeastOnce,
                retain: true,
            }),
            ..Connect::default()
        };
        let mut out = Vec::new();
        let mut client = Client::new(Version::V311, 1000);
        client.connect(&connect, &mut out);
        assert_eq!(
            out,
            b"\x10\x19\0\x04MQTT\x04\xec\0\x3c\0\x01c\0\x01w\0\x01x\0\x01u\0\x01p"
        );
        connect.version = Version::V5;
        (connect.will, connect.account) = (None, None);
        out.clear();
        client.connect(&connect, &mut out);
        assert_eq!(
            out,
            b"\x10\x13\0\x04MQTT\x05\x00\0\x3c\x05\x11\xff\xff\xff\xff\0\x01c"
        );
    }
}
