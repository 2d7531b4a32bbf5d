//! Messages as JSON (`JsonFormat.Printer`): each field in the order of its number, two spaces for each level.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use drumfire_java::values::{double_to_string, float_to_string};

use super::known::{self, Seconds};
use crate::schema::{Field, FieldLabel, Kind, KnownType, MessageId, Schema};
use crate::wire::{Fields, MAX_DEPTH, MalformedMessage, WireValue, varint, zigzag};

/// How messages are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintStyle {
    /// Print fields without a value, too (`includingDefaultValueFields`).
    pub defaults: bool,
    /// Print the fields' own names instead of those for JSON (`preservingProtoFieldNames`).
    pub own_names: bool,
}

/// Why a message has no JSON form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// The bytes are no message of this type.
    #[error("the message is damaged: {0}")]
    Malformed(#[from] MalformedMessage),
    /// An `Any` has a type that the schema does not know, or a time is out of range.
    #[error("{0}")]
    Unprintable(String),
}

impl Schema {
    /// Appends the JSON form of a message.
    ///
    /// # Errors
    /// The bytes are no message of this type, or have no JSON form.
    pub fn print(
        &self,
        bytes: &[u8],
        message: MessageId,
        style: PrintStyle,
        out: &mut String,
    ) -> Result<(), PrintError> {
        // Texts are about as long as on the wire.
        out.reserve(bytes.len() + bytes.len() / 8);
        let mut printer = Printer {
            schema: self,
            style,
            out,
            level: 0,
        };
        printer.message(&[bytes], message, 0)
    }
}

struct Printer<'s, 'o> {
    schema: &'s Schema,
    style: PrintStyle,
    out: &'o mut String,
    level: usize,
}

/// The value of a field, with the field's index.
type Occurrence<'a> = (usize, WireValue<'a>);

impl Printer<'_, '_> {
    /// Prints a message, whose parts may stand in several places: the fields of all count, and of single ones the last.
    fn message(&mut self, parts: &[&[u8]], id: MessageId, depth: usize) -> Result<(), PrintError> {
        if depth > MAX_DEPTH {
            return Err(MalformedMessage::from("messages are nested too deep").into());
        }
        let known = self.schema.message(id).known;
        let found = self.occurrences(parts, id)?;
        match known {
            None => self.fields(&found, id, None, depth),
            Some(KnownType::Any) => self.any(&found, depth),
            Some(KnownType::Wrapper | KnownType::Struct | KnownType::ListValue) => {
                let field = self.schema.message(id).fields.first();
                let field = field.ok_or_else(|| unprintable("a well-known type has no field"))?;
                self.field_value(field, &found, depth)
            }
            Some(KnownType::Value) => match found.last() {
                Some((index, value)) => {
                    let field = &self.schema.message(id).fields[*index];
                    self.field_value(field, &[(*index, *value)], depth)
                }
                None => {
                    self.out.push_str("null");
                    Ok(())
                }
            },
            Some(KnownType::Timestamp) => self.quoted(known::print_time(seconds(&found)), "time"),
            Some(KnownType::Duration) => {
                self.quoted(known::print_duration(seconds(&found)), "duration")
            }
            Some(KnownType::FieldMask) => {
                let paths = found.iter().filter_map(|(_, value)| match value {
                    WireValue::Bytes(path) => std::str::from_utf8(path).ok(),
                    _ => None,
                });
                let mask = known::print_mask(paths);
                self.quoted(Some(mask), "field mask")
            }
        }
    }

    /// The values of all fields that the schema knows, in the order of the fields.
    fn occurrences<'a>(
        &self,
        parts: &[&'a [u8]],
        id: MessageId,
    ) -> Result<Vec<Occurrence<'a>>, PrintError> {
        let message = self.schema.message(id);
        let mut found = Vec::with_capacity(message.fields.len());
        let mut chosen = vec![None; message.oneofs];
        for part in parts {
            for field in Fields::new(part) {
                let (number, value) = field?;
                let Some(index) = message.numbered(number) else {
                    continue;
                };
                let field = &message.fields[index];
                if !fits(field, value) || self.is_unknown_name(field, value) {
                    continue;
                }
                if let Some(chosen) = field.oneof.and_then(|at| chosen.get_mut(at)) {
                    *chosen = Some(index);
                }
                found.push((index, value));
            }
        }
        // The last field of a oneof clears the others.
        found.retain(|(index, _)| {
            let oneof = message.fields[*index].oneof.and_then(|at| chosen.get(at));
            oneof.is_none_or(|chosen| *chosen == Some(*index))
        });
        if !found.is_sorted_by_key(|(index, _)| *index) {
            found.sort_by_key(|(index, _)| *index);
        }
        Ok(found)
    }

    /// Whether the value is a number that a proto2 enum has no name for, which makes it an unknown field.
    fn is_unknown_name(&self, field: &Field, value: WireValue<'_>) -> bool {
        match (field.kind, value) {
            (Kind::Enum(id), WireValue::Varint(number)) => {
                let known = &self.schema.enums[id.0];
                known.is_closed && known.name(number as i32).is_none()
            }
            _ => false,
        }
    }

    fn fields(
        &mut self,
        found: &[Occurrence<'_>],
        id: MessageId,
        type_url: Option<&str>,
        depth: usize,
    ) -> Result<(), PrintError> {
        self.open('{');
        let mut is_first = true;
        if let Some(url) = type_url {
            is_first = false;
            self.line();
            self.out.push_str("\"@type\": ");
            append_text(url, self.out);
        }
        let message = self.schema.message(id);
        let mut rest = found;
        for (index, field) in message.fields.iter().enumerate() {
            let count = rest.iter().take_while(|(own, _)| *own == index).count();
            let (own, others) = rest.split_at(count);
            rest = others;
            if !self.is_printed(field, own) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.out.push(',');
            }
            self.line();
            let name = match self.style.own_names {
                true => &field.name,
                false => &field.json_name,
            };
            self.out.push('"');
            self.out.push_str(name);
            self.out.push_str("\": ");
            self.field_value(field, own, depth)?;
        }
        self.close('}');
        Ok(())
    }

    fn is_printed(&self, field: &Field, own: &[Occurrence<'_>]) -> bool {
        match field.label {
            FieldLabel::Repeated | FieldLabel::Map => self.style.defaults || !own.is_empty(),
            _ if own.is_empty() => {
                self.style.defaults && field.oneof.is_none() && field.kind.message().is_none()
            }
            _ => self.style.defaults || field.has_presence || !own.last().is_some_and(is_zero),
        }
    }

    /// Prints the value of a field, `found`: all its occurrences.
    fn field_value(
        &mut self,
        field: &Field,
        found: &[Occurrence<'_>],
        depth: usize,
    ) -> Result<(), PrintError> {
        match field.label {
            FieldLabel::Map => return self.map(field, found, depth),
            FieldLabel::Repeated => return self.list(field, found, depth),
            FieldLabel::Optional | FieldLabel::Required => {}
        }
        if let Some(message) = field.kind.message() {
            let mut parts = found.iter().filter_map(|(_, value)| bytes_of(*value));
            // One part is the rule.
            return match (parts.next(), parts.next()) {
                (Some(only), None) => self.message(&[only], message, depth + 1),
                (first, second) => {
                    let parts: Vec<&[u8]> = first.into_iter().chain(second).chain(parts).collect();
                    self.message(&parts, message, depth + 1)
                }
            };
        }
        match (found.last(), &field.default) {
            (Some((_, value)), _) => self.value(field.kind, *value, depth),
            (None, Some(default)) => {
                self.default(field.kind, default);
                Ok(())
            }
            (None, None) => self.value(field.kind, self.zero(field.kind), depth),
        }
    }

    fn list(
        &mut self,
        field: &Field,
        found: &[Occurrence<'_>],
        depth: usize,
    ) -> Result<(), PrintError> {
        self.out.push('[');
        let mut is_first = true;
        for (_, value) in found {
            each_value(field.kind, *value, &mut |value| {
                if !std::mem::take(&mut is_first) {
                    self.out.push_str(", ");
                }
                self.value(field.kind, value, depth)
            })?;
        }
        self.out.push(']');
        Ok(())
    }

    fn map(
        &mut self,
        field: &Field,
        found: &[Occurrence<'_>],
        depth: usize,
    ) -> Result<(), PrintError> {
        let id = field.kind.message().expect("maps are messages of entries");
        let [key_field, value_field] = self.schema.message(id).fields.as_slice() else {
            return Err(unprintable(
                "the entries of a map are not a key and a value",
            ));
        };
        self.open('{');
        let mut is_first = true;
        for (_, value) in found {
            let Some(bytes) = bytes_of(*value) else {
                continue;
            };
            let entry = self.occurrences(&[bytes], id)?;
            let (keys, values) =
                entry.split_at(entry.iter().take_while(|(own, _)| *own == 0).count());
            if !std::mem::take(&mut is_first) {
                self.out.push(',');
            }
            self.line();
            let key = keys
                .last()
                .map_or(self.zero(key_field.kind), |(_, key)| *key);
            self.key(key_field.kind, key, depth)?;
            self.out.push_str(": ");
            self.field_value(value_field, values, depth)?;
        }
        self.close('}');
        Ok(())
    }

    /// Prints a key, which is a string in JSON.
    fn key(&mut self, kind: Kind, key: WireValue<'_>, depth: usize) -> Result<(), PrintError> {
        let start = self.out.len();
        self.value(kind, key, depth)?;
        if !self.out[start..].starts_with('"') {
            self.out.insert(start, '"');
            self.out.push('"');
        }
        Ok(())
    }

    fn value(&mut self, kind: Kind, value: WireValue<'_>, depth: usize) -> Result<(), PrintError> {
        let bits = match value {
            WireValue::Varint(bits) | WireValue::Fixed64(bits) => bits,
            WireValue::Fixed32(bits) => bits.into(),
            WireValue::Bytes(_) | WireValue::Group(_) => 0,
        };
        // Writing to a string cannot fail.
        let _ = match (kind, value) {
            (Kind::Int32 | Kind::Sfixed32, _) => write!(self.out, "{}", bits as i32),
            (Kind::Sint32, _) => write!(self.out, "{}", zigzag(bits) as i32),
            (Kind::Uint32 | Kind::Fixed32, _) => write!(self.out, "{}", bits as u32),
            (Kind::Int64 | Kind::Sfixed64, _) => write!(self.out, "\"{}\"", bits as i64),
            (Kind::Sint64, _) => write!(self.out, "\"{}\"", zigzag(bits)),
            (Kind::Uint64 | Kind::Fixed64, _) => write!(self.out, "\"{bits}\""),
            (Kind::Bool, _) => write!(self.out, "{}", bits != 0),
            (Kind::Float, _) => {
                let number = f32::from_bits(bits as u32);
                self.number(number.is_finite(), float_to_string(number))
            }
            (Kind::Double, _) => {
                let number = f64::from_bits(bits);
                self.number(number.is_finite(), double_to_string(number))
            }
            (Kind::Enum(id), _) => {
                let known = &self.schema.enums[id.0];
                match known.name(bits as i32) {
                    _ if known.is_null => write!(self.out, "null"),
                    Some(name) => write!(self.out, "\"{name}\""),
                    None => write!(self.out, "{}", bits as i32),
                }
            }
            (Kind::String, WireValue::Bytes(text)) => {
                let text = std::str::from_utf8(text);
                let text = text.map_err(|_| MalformedMessage::from("a string is not UTF-8"))?;
                append_text(text, self.out);
                Ok(())
            }
            (Kind::Bytes, WireValue::Bytes(bytes)) => {
                self.out.push('"');
                BASE64_STANDARD.encode_string(bytes, self.out);
                self.out.push('"');
                Ok(())
            }
            (Kind::Message(id) | Kind::Group(id), value) => {
                return match bytes_of(value) {
                    Some(bytes) => self.message(&[bytes], id, depth + 1),
                    None => Ok(()),
                };
            }
            _ => Ok(()),
        };
        Ok(())
    }

    fn number(&mut self, is_finite: bool, text: String) -> std::fmt::Result {
        match is_finite {
            true => write!(self.out, "{text}"),
            false => write!(self.out, "\"{text}\""),
        }
    }

    /// The value of a field that is not set.
    fn zero(&self, kind: Kind) -> WireValue<'static> {
        match kind {
            Kind::String | Kind::Bytes | Kind::Message(_) => WireValue::Bytes(&[]),
            Kind::Group(_) => WireValue::Group(&[]),
            Kind::Enum(id) => {
                let known = &self.schema.enums[id.0];
                let first = known.values.first().map_or(0, |(_, number)| *number);
                WireValue::Varint(i64::from(first) as u64)
            }
            _ => WireValue::Varint(0),
        }
    }

    /// Prints a default as the file of a proto2 message has it.
    fn default(&mut self, kind: Kind, text: &str) {
        let is_bare = matches!(
            kind,
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 | Kind::Uint32 | Kind::Fixed32 | Kind::Bool
        );
        match kind {
            _ if is_bare => self.out.push_str(text),
            Kind::Float => {
                let number = drumfire_java::values::parse_float(text).unwrap_or(f32::NAN);
                let _ = self.number(number.is_finite(), float_to_string(number));
            }
            Kind::Double => {
                let number = drumfire_java::values::parse_double(text).unwrap_or(f64::NAN);
                let _ = self.number(number.is_finite(), double_to_string(number));
            }
            Kind::Bytes => {
                self.out.push('"');
                BASE64_STANDARD.encode_string(text, self.out);
                self.out.push('"');
            }
            _ => append_text(text, self.out),
        }
    }

    fn any(&mut self, found: &[Occurrence<'_>], depth: usize) -> Result<(), PrintError> {
        let field = |index| {
            let mut own = found.iter().rev().filter(|(own, _)| *own == index);
            own.find_map(|(_, value)| bytes_of(*value))
                .unwrap_or_default()
        };
        let (url, content) = (field(0), field(1));
        let url = String::from_utf8_lossy(url);
        let name = url.rsplit('/').next().filter(|_| url.contains('/'));
        let id = name.and_then(|name| self.schema.message_named(name));
        let id = id.ok_or_else(|| unprintable(&format!("Cannot find type for url: {url}")))?;
        if self.schema.message(id).known.is_none() {
            let inner = self.occurrences(&[content], id)?;
            return self.fields(&inner, id, Some(&url), depth + 1);
        }
        self.open('{');
        self.line();
        self.out.push_str("\"@type\": ");
        append_text(&url, self.out);
        self.out.push(',');
        self.line();
        self.out.push_str("\"value\": ");
        self.message(&[content], id, depth + 1)?;
        self.close('}');
        Ok(())
    }

    fn quoted(&mut self, text: Option<String>, what: &str) -> Result<(), PrintError> {
        let text = text.ok_or_else(|| unprintable(&format!("a {what} is out of range")))?;
        let _ = write!(self.out, "\"{text}\"");
        Ok(())
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.level += 1;
    }

    fn close(&mut self, bracket: char) {
        self.level -= 1;
        self.line();
        self.out.push(bracket);
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.level));
    }
}

fn unprintable(why: &str) -> PrintError {
    PrintError::Unprintable(why.to_owned())
}

/// Whether a value has the wire type of its field.
fn fits(field: &Field, value: WireValue<'_>) -> bool {
    let is_packed = matches!(field.label, FieldLabel::Repeated) && field.kind.is_packable();
    match value {
        WireValue::Bytes(_) => {
            is_packed || !field.kind.is_packable() && !matches!(field.kind, Kind::Group(_))
        }
        WireValue::Group(_) => matches!(field.kind, Kind::Group(_)),
        WireValue::Fixed64(_) => {
            matches!(field.kind, Kind::Fixed64 | Kind::Sfixed64 | Kind::Double)
        }
        WireValue::Fixed32(_) => matches!(field.kind, Kind::Fixed32 | Kind::Sfixed32 | Kind::Float),
        WireValue::Varint(_) => {
            let is_fixed = matches!(
                field.kind,
                Kind::Fixed64
                    | Kind::Sfixed64
                    | Kind::Double
                    | Kind::Fixed32
                    | Kind::Sfixed32
                    | Kind::Float
            );
            field.kind.is_packable() && !is_fixed
        }
    }
}

/// Passes on a value of a list, or each one of a packed field.
fn each_value<'a>(
    kind: Kind,
    value: WireValue<'a>,
    take: &mut dyn FnMut(WireValue<'a>) -> Result<(), PrintError>,
) -> Result<(), PrintError> {
    let WireValue::Bytes(mut rest) = value else {
        return take(value);
    };
    if !kind.is_packable() {
        return take(value);
    }
    let truncated = || MalformedMessage::from("a packed field ends within a number");
    while !rest.is_empty() {
        let value = match kind {
            Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => {
                let (bytes, after) = rest.split_first_chunk().ok_or_else(truncated)?;
                rest = after;
                WireValue::Fixed64(u64::from_le_bytes(*bytes))
            }
            Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => {
                let (bytes, after) = rest.split_first_chunk().ok_or_else(truncated)?;
                rest = after;
                WireValue::Fixed32(u32::from_le_bytes(*bytes))
            }
            _ => {
                let (number, after) = varint(rest)?;
                rest = after;
                WireValue::Varint(number)
            }
        };
        take(value)?;
    }
    Ok(())
}

fn bytes_of(value: WireValue<'_>) -> Option<&[u8]> {
    match value {
        WireValue::Bytes(bytes) | WireValue::Group(bytes) => Some(bytes),
        _ => None,
    }
}

fn is_zero((_, value): &Occurrence<'_>) -> bool {
    match value {
        WireValue::Varint(bits) | WireValue::Fixed64(bits) => *bits == 0,
        WireValue::Fixed32(bits) => *bits == 0,
        WireValue::Bytes(bytes) => bytes.is_empty(),
        WireValue::Group(_) => false,
    }
}

fn seconds(found: &[Occurrence<'_>]) -> Seconds {
    let mut time = Seconds::default();
    for (index, value) in found {
        if let WireValue::Varint(bits) = value {
            match index {
                0 => time.seconds = *bits as i64,
                _ => time.nanos = *bits as i32,
            }
        }
    }
    time
}

/// Appends a text as a JSON string. Gson also escapes what HTML reads specially.
fn append_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let Some(letter) = special.chars().next() else {
            break;
        };
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{C}' => out.push_str("\\f"),
            other => {
                let _ = write!(out, "\\u{:04x}", u32::from(other));
            }
        }
        rest = &special[letter.len_utf8()..];
    }
    out.push_str(rest);
    out.push('"');
}

/// The offset of the first character that [`append_text`] escapes.
fn first_escaped(text: &str) -> Option<usize> {
    const BLOCK_BYTES: usize = 32;
    // U+2028 and U+2029 begin with this byte, as other characters do.
    const LINE_SEPARATOR: u8 = 0xE2;
    // Without a branch in between, the compiler compares the bytes of a block at once.
    let is_suspect = |byte: u8| {
        (byte < b' ')
            | (byte == b'"')
            | (byte == b'\\')
            | (byte == b'<')
            | (byte == b'>')
            | (byte == b'&')
            | (byte == b'=')
            | (byte == b'\'')
            | (byte == LINE_SEPARATOR)
    };
    let blocks = text.as_bytes().chunks_exact(BLOCK_BYTES);
    let plain = blocks
        .take_while(|block| {
            !block
                .iter()
                .fold(false, |any, byte| any | is_suspect(*byte))
        })
        .count()
        * BLOCK_BYTES;
    let bytes = text.as_bytes();
    (plain..bytes.len()).find(|at| {
        is_suspect(bytes[*at])
            && (bytes[*at] != LINE_SEPARATOR || matches!(bytes[at + 1..], [0x80, 0xA8 | 0xA9, ..]))
    })
}
