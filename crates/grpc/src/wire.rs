//! The binary form of messages: tags, varints and the fields that they frame.

use drumfire_platform::message_error;

message_error! {
    /// Why bytes are no message.
    pub struct MalformedMessage;
}

/// How deep messages may be nested, as in `CodedInputStream` and `JsonFormat`.
pub(crate) const MAX_DEPTH: usize = 100;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const GROUP: u64 = 3;
const END_GROUP: u64 = 4;
const FIXED32: u64 = 5;

/// The value of one field on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireValue<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
    /// The fields between a group's two tags.
    Group(&'a [u8]),
}

/// The fields of a message in the order of the wire.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn read(&mut self, depth: usize) -> Result<(u32, WireValue<'a>), MalformedMessage> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        if number == 0 {
            return Err("a field has an invalid number".into());
        }
        let value = match tag & 7 {
            VARINT => WireValue::Varint(self.varint()?),
            FIXED64 => WireValue::Fixed64(u64::from_le_bytes(self.array()?)),
            FIXED32 => WireValue::Fixed32(u32::from_le_bytes(self.array()?)),
            BYTES => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                WireValue::Bytes(self.take(length)?)
            }
            GROUP => WireValue::Group(self.group(number, depth)?),
            _ => return Err(format!("field {number} has an invalid wire type").into()),
        };
        Ok((number, value))
    }

    /// The bytes up to the group's end tag, which is consumed.
    fn group(&mut self, number: u32, depth: usize) -> Result<&'a [u8], MalformedMessage> {
        if depth >= MAX_DEPTH {
            return Err("groups are nested too deep".into());
        }
        let start = self.rest;
        loop {
            let before = self.rest.len();
            let mut ahead = Fields { rest: self.rest };
            let tag = ahead.varint()?;
            if tag & 7 == END_GROUP {
                self.rest = ahead.rest;
                return if tag >> 3 == u64::from(number) {
                    Ok(&start[..start.len() - before])
                } else {
                    Err("a group has the end of another one".into())
                };
            }
            self.read(depth + 1)?;
        }
    }

    fn varint(&mut self) -> Result<u64, MalformedMessage> {
        let (value, rest) = varint(self.rest)?;
        self.rest = rest;
        Ok(value)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedMessage> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("exactly N bytes were taken"))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedMessage> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(truncated)?;
        self.rest = rest;
        Ok(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, WireValue<'a>), MalformedMessage>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| {
            let field = self.read(0);
            if field.is_err() {
                self.rest = &[];
            }
            field
        })
    }
}

fn truncated() -> MalformedMessage {
    "the message ends within a field".into()
}

/// A varint at the start of the bytes, and the bytes after it.
pub(crate) fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), MalformedMessage> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    match bytes.len() {
        0..10 => Err(truncated()),
        _ => Err("a number has more than 10 bytes".into()),
    }
}

pub(crate) fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

pub(crate) fn to_zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Appends a varint.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_tag(out: &mut Vec<u8>, number: u32, wire_type: u64) {
    put_varint(out, u64::from(number) << 3 | wire_type);
}

/// Appends a field.
pub(crate) fn put_field(out: &mut Vec<u8>, number: u32, value: WireValue<'_>) {
    match value {
        WireValue::Varint(_) => put_tag(out, number, VARINT),
        WireValue::Fixed64(_) => put_tag(out, number, FIXED64),
        WireValue::Fixed32(_) => put_tag(out, number, FIXED32),
        WireValue::Bytes(bytes) => {
            put_tag(out, number, BYTES);
            put_varint(out, bytes.len() as u64);
        }
        WireValue::Group(_) => put_tag(out, number, GROUP),
    }
    put_payload(out, value);
    if let WireValue::Group(_) = value {
        put_tag(out, number, END_GROUP);
    }
}

/// Appends a value without its tag, as in a packed field.
pub(crate) fn put_payload(out: &mut Vec<u8>, value: WireValue<'_>) {
    match value {
        WireValue::Varint(value) => put_varint(out, value),
        WireValue::Fixed64(value) => out.extend_from_slice(&value.to_le_bytes()),
        WireValue::Fixed32(value) => out.extend_from_slice(&value.to_le_bytes()),
        WireValue::Bytes(bytes) | WireValue::Group(bytes) => out.extend_from_slice(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<(u32, WireValue<'_>)>, MalformedMessage> {
        Fields::new(bytes).collect()
    }

    #[test]
    fn fields_of_every_wire_type_survive() {
        let inner = [0x08, 0x01];
        let fields = [
            (1, WireValue::Varint(u64::MAX)),
            (2, WireValue::Fixed64(7)),
            (3, WireValue::Fixed32(9)),
            (4, WireValue::Bytes(b"abc")),
            (1000, WireValue::Group(&inner)),
        ];
        let mut bytes = Vec::new();
        for (number, value) in fields {
            put_field(&mut bytes, number, value);
        }
        assert_eq!(read(&bytes).expect("fields"), fields);
    }

    #[test]
    fn damaged_messages_are_errors() {
        for bytes in [
            &[0x08][..],
            &[0x0A, 0x05, 1],
            &[0x00, 0x01],
            &[0x0B, 0x08, 0x01],
            &[0x0B, 0x14],
            &[0x0F],
            &[0xFF; 11],
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert!(read(&[0x0B; 300]).is_err());
    }

    #[test]
    fn signs_are_folded_into_the_lowest_bit() {
        for (value, folded) in [(0, 0), (-1, 1), (1, 2), (i64::MIN, u64::MAX)] {
            assert_eq!((to_zigzag(value), zigzag(folded)), (folded, value));
        }
    }
}
