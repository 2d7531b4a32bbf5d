//! The properties of MQTT 5 (section 2.2.2). Those that do not concern a client of a load test are read and left out.

use crate::packet::PacketError;
use crate::wire::Input;

/// The properties of a server's packet that change what a client does, or say why.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Properties<'a> {
    pub server_keep_alive_s: Option<u16>,
    pub client_id: Option<&'a str>,
    pub reason: Option<&'a str>,
    pub max_packet_bytes: Option<u32>,
    pub max_qos: Option<u8>,
    pub topic_alias: Option<u16>,
}

impl<'a> Properties<'a> {
    pub fn read(input: &mut Input<'a>) -> Result<Properties<'a>, PacketError> {
        let length = input.length()?;
        let mut input = Input(input.take(length)?);
        let mut read = Properties::default();
        while !input.is_empty() {
            match input.length()? {
                0x24 => read.max_qos = Some(input.byte()?),
                0x01 | 0x17 | 0x19 | 0x25 | 0x28 | 0x29 | 0x2a => drop(input.byte()?),
                0x13 => read.server_keep_alive_s = Some(input.u16()?),
                0x23 => read.topic_alias = Some(input.u16()?),
                0x21 | 0x22 => drop(input.u16()?),
                0x27 => read.max_packet_bytes = Some(input.u32()?),
                0x02 | 0x11 | 0x18 => drop(input.u32()?),
                0x0b => drop(input.length()?),
                0x12 => read.client_id = Some(input.text()?),
                0x1f => read.reason = Some(input.text()?),
                0x03 | 0x08 | 0x15 | 0x1a | 0x1c => drop(input.text()?),
                0x09 | 0x16 => drop(input.binary()?),
                0x26 => {
                    input.text()?;
                    input.text()?;
                }
                _ => return Err(PacketError::Property),
            }
        }
        Ok(read)
    }
}
