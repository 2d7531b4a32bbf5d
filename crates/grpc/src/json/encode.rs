//! JSON as a message (`JsonFormat.Parser`, which ignores unknown fields).

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::JsonError;
use super::known::{self, Seconds};
use super::numbers::{double, float, whole_within, wrong};
use super::read::Json;
use crate::schema::{Enum, EnumId, Field, FieldLabel, Kind, KnownType, MessageId, Schema};
use crate::wire::{MAX_DEPTH, WireValue, put_field, put_payload, to_zigzag};

const ANY_BASE64: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

impl Schema {
    /// Encodes a JSON text as a message. A blank text is an empty message.
    ///
    /// # Errors
    /// The text is no JSON, or does not fit the message type; the error names the field by its path.
    pub fn encode(&self, json: &str, message: MessageId) -> Result<Vec<u8>, JsonError> {
        let mut bytes = Vec::new();
        if drumfire_java::text::is_blank(json) {
            self.check_required(message, &[])?;
        } else {
            let json = Json::read(json)?;
            self.put_message(&json, message, &mut bytes, 0)?;
        }
        Ok(bytes)
    }

    /// Encodes a JSON array as messages; anything else as one message.
    ///
    /// # Errors
    /// See [`Schema::encode`].
    pub fn encode_each(&self, json: &str, message: MessageId) -> Result<Vec<Vec<u8>>, JsonError> {
        match Json::read(json)? {
            Json::List(list) => {
                let one = |(index, item): (usize, &Json<'_>)| {
                    let mut bytes = Vec::new();
                    let put = self.put_message(item, message, &mut bytes, 0);
                    put.map(|()| bytes)
                        .map_err(|error| within(&format!("[{index}]"), error))
                };
                list.iter().enumerate().map(one).collect()
            }
            _ => Ok(vec![self.encode(json, message)?]),
        }
    }

    fn put_message(
        &self,
        json: &Json<'_>,
        id: MessageId,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), JsonError> {
        if depth > MAX_DEPTH {
            return Err("messages are nested too deep".into());
        }
        match self.message(id).known {
            None => self.put_fields(json, id, false, out, depth),
            Some(KnownType::Any) => self.put_any(json, out, depth),
            Some(KnownType::Wrapper) => self.put_values(id, "value", json, out, depth),
            Some(KnownType::Struct) => self.put_values(id, "fields", json, out, depth),
            Some(KnownType::ListValue) => self.put_values(id, "values", json, out, depth),
            Some(KnownType::Value) => self.put_value(json, id, out, depth),
            Some(KnownType::Timestamp) => {
                put_seconds(known::parse_time(&text_of(json, "Timestamp")?)?, out);
                Ok(())
            }
            Some(KnownType::Duration) => {
                put_seconds(known::parse_duration(&text_of(json, "Duration")?)?, out);
                Ok(())
            }
            Some(KnownType::FieldMask) => {
                for path in known::parse_mask(&text_of(json, "FieldMask")?) {
                    put_field(out, 1, WireValue::Bytes(path.as_bytes()));
                }
                Ok(())
            }
        }
    }

    /// The fields of an object in the order of their numbers. `is_any` says that `@type` is among them.
    fn put_fields(
        &self,
        json: &Json<'_>,
        id: MessageId,
        is_any: bool,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let message = self.message(id);
        let Json::Object(entries) = json else {
            let error = format!(
                "expected an object for `{}`, but found {}",
                message.full_name,
                json.kind()
            );
            return Err(error.into());
        };
        let mut found: Vec<(usize, &str, &Json<'_>)> = Vec::with_capacity(entries.len());
        let mut oneofs: Vec<(usize, &str)> = Vec::new();
        for (name, value) in entries {
            if is_any && name == "@type" {
                continue;
            }
            let Some(index) = message.field(name) else {
                continue;
            };
            let field = &message.fields[index];
            if found.iter().any(|(known, ..)| *known == index) {
                return Err(format!("`{}` is set twice", field.name).into());
            }
            if !is_set(self, field, value) {
                continue;
            }
            if let Some(oneof) = field.oneof {
                if let Some((_, other)) = oneofs.iter().find(|(known, _)| *known == oneof) {
                    let error = format!("`{name}` and `{other}` are of one `oneof`; leave one out");
                    return Err(error.into());
                }
                oneofs.push((oneof, name));
            }
            found.push((index, name, value));
        }
        found.sort_by_key(|(index, ..)| *index);
        self.check_required(id, &found)?;
        for (index, name, value) in found {
            let put = self.put_field_value(&message.fields[index], value, out, depth);
            put.map_err(|error| within(name, error))?;
        }
        Ok(())
    }

    /// Fails if a required field of proto2 is missing.
    fn check_required(
        &self,
        id: MessageId,
        found: &[(usize, &str, &Json<'_>)],
    ) -> Result<(), JsonError> {
        let message = self.message(id);
        let mut fields = message.fields.iter().enumerate();
        let missing = fields.find(|(index, field)| {
            field.label == FieldLabel::Required && !found.iter().any(|(set, ..)| set == index)
        });
        match missing {
            Some((_, field)) => {
                Err(format!("the required field `{}` is missing", field.name).into())
            }
            None => Ok(()),
        }
    }

    fn put_field_value(
        &self,
        field: &Field,
        json: &Json<'_>,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), JsonError> {
        match field.label {
            FieldLabel::Map => self.put_map(field, json, out, depth),
            FieldLabel::Repeated => self.put_list(field, json, out, depth),
            FieldLabel::Optional | FieldLabel::Required => {
                let is_kept = |value: &WireValue<'_>| field.has_presence || !is_zero(value);
                self.with_value(field.kind, json, depth, &mut |value| {
                    if is_kept(&value) {
                        put_field(out, field.number, value);
                    }
                })
                .map(drop)
            }
        }
    }

    fn put_list(
        &self,
        field: &Field,
        json: &Json<'_>,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let Json::List(list) = json else {
            return Err(format!("expected an array, but found {}", json.kind()).into());
        };
        let mut packed = Vec::new();
        for (index, item) in list.iter().enumerate() {
            let put = self.with_value(field.kind, item, depth, &mut |value| {
                if field.is_packed {
                    put_payload(&mut packed, value);
                } else {
                    put_field(out, field.number, value);
                }
            });
            let is_put = put.map_err(|error| within(&format!("[{index}]"), error))?;
            if !is_put && !matches!(field.kind, Kind::Enum(_)) {
                return Err(within(&format!("[{index}]"), "null is not allowed".into()));
            }
        }
        if !packed.is_empty() {
            put_field(out, field.number, WireValue::Bytes(&packed));
        }
        Ok(())
    }

    fn put_map(
        &self,
        field: &Field,
        json: &Json<'_>,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let Json::Object(entries) = json else {
            return Err(format!("expected an object, but found {}", json.kind()).into());
        };
        let entry = self.message(field.kind.message().expect("maps are messages of entries"));
        let [key_field, value_field] = entry.fields.as_slice() else {
            return Err("the entries of the map are not a key and a value".into());
        };
        for (key, value) in entries {
            let mut bytes = Vec::new();
            let key_json = Json::Text(Cow::Borrowed(key));
            let mut put = |field: &Field, json: &Json<'_>| {
                self.with_value(field.kind, json, depth, &mut |value| {
                    put_field(&mut bytes, field.number, value);
                })
            };
            put(key_field, &key_json).map_err(|error| within(key, error))?;
            if put(value_field, value).map_err(|error| within(key, error))? {
                put_field(out, field.number, WireValue::Bytes(&bytes));
            } else if !matches!(value_field.kind, Kind::Enum(_)) {
                return Err(within(key, "null is not allowed".into()));
            }
        }
        Ok(())
    }

    /// Passes on a single value. False if it is null, or an enum's unknown name, which count as unset.
    fn with_value(
        &self,
        kind: Kind,
        json: &Json<'_>,
        depth: usize,
        put: &mut dyn FnMut(WireValue<'_>),
    ) -> Result<bool, JsonError> {
        if *json == Json::Null && !takes_null(self, kind) {
            return Ok(false);
        }
        match kind {
            Kind::Message(id) | Kind::Group(id) => {
                let mut bytes = Vec::new();
                self.put_message(json, id, &mut bytes, depth + 1)?;
                put(match kind {
                    Kind::Group(_) => WireValue::Group(&bytes),
                    _ => WireValue::Bytes(&bytes),
                });
            }
            Kind::String => {
                let text = json.as_text().ok_or_else(|| wrong(json, "string"))?;
                put(WireValue::Bytes(text.as_bytes()));
            }
            Kind::Bytes => put(WireValue::Bytes(&base64(json)?)),
            Kind::Enum(id) => match self.enum_number(id, json)? {
                Some(number) => put(WireValue::Varint(i64::from(number) as u64)),
                None => return Ok(false),
            },
            _ => put(number(kind, json)?),
        }
        Ok(true)
    }

    /// The number of an enum's value; `None` if the enum has no such name.
    fn enum_number(&self, id: EnumId, json: &Json<'_>) -> Result<Option<i32>, JsonError> {
        let known: &Enum = &self.enums[id.0];
        if *json == Json::Null {
            return Ok(Some(0));
        }
        let text = json.as_text().ok_or_else(|| wrong(json, "enum"))?;
        if let Some(number) = known.number(text) {
            return Ok(Some(number));
        }
        let number = whole_within::<i32>(json, "enum").ok();
        Ok(number.filter(|number| !known.is_closed || known.name(*number).is_some()))
    }

    fn put_any(&self, json: &Json<'_>, out: &mut Vec<u8>, depth: usize) -> Result<(), JsonError> {
        let Json::Object(entries) = json else {
            return Err(format!("expected an object, but found {}", json.kind()).into());
        };
        let entry = |wanted: &str| {
            let found = entries.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value)
        };
        let url = entry("@type").and_then(Json::as_text);
        let url = url.ok_or("`@type` is missing, which names the message in `Any`")?;
        let name = url.rsplit('/').next().filter(|_| url.contains('/'));
        let id = name.and_then(|name| self.message_named(name));
        let id = id.ok_or_else(|| format!("the type `{url}` in `@type` is unknown"))?;
        let mut content = Vec::new();
        if self.message(id).known.is_some() {
            if let Some(value) = entry("value") {
                self.put_message(value, id, &mut content, depth + 1)?;
            }
        } else {
            self.put_fields(json, id, true, &mut content, depth + 1)?;
        }
        put_field(out, 1, WireValue::Bytes(url.as_bytes()));
        if !content.is_empty() {
            put_field(out, 2, WireValue::Bytes(&content));
        }
        Ok(())
    }

    /// Fills the only field of a well-known message.
    fn put_values(
        &self,
        id: MessageId,
        field: &str,
        json: &Json<'_>,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let message = self.message(id);
        let index = message.field(field);
        let index =
            index.ok_or_else(|| format!("`{}` has no field `{field}`", message.full_name))?;
        self.put_field_value(&message.fields[index], json, out, depth)
    }

    fn put_value(
        &self,
        json: &Json<'_>,
        id: MessageId,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let field = match json {
            Json::Null => "null_value",
            Json::Bool(_) => "bool_value",
            Json::Number(_) => "number_value",
            Json::Text(_) => "string_value",
            Json::Object(_) => "struct_value",
            Json::List(_) => "list_value",
        };
        self.put_values(id, field, json, out, depth)
    }
}

fn number(kind: Kind, json: &Json<'_>) -> Result<WireValue<'static>, JsonError> {
    let signed = |value: i64| WireValue::Varint(value as u64);
    Ok(match kind {
        Kind::Int32 => signed(whole_within::<i32>(json, "int32")?.into()),
        Kind::Int64 => signed(whole_within(json, "int64")?),
        Kind::Uint32 => WireValue::Varint(whole_within::<u32>(json, "uint32")?.into()),
        Kind::Uint64 => WireValue::Varint(whole_within(json, "uint64")?),
        Kind::Sint32 => WireValue::Varint(to_zigzag(whole_within::<i32>(json, "sint32")?.into())),
        Kind::Sint64 => WireValue::Varint(to_zigzag(whole_within(json, "sint64")?)),
        Kind::Fixed32 => WireValue::Fixed32(whole_within(json, "fixed32")?),
        Kind::Fixed64 => WireValue::Fixed64(whole_within(json, "fixed64")?),
        Kind::Sfixed32 => WireValue::Fixed32(whole_within::<i32>(json, "sfixed32")? as u32),
        Kind::Sfixed64 => WireValue::Fixed64(whole_within::<i64>(json, "sfixed64")? as u64),
        Kind::Float => WireValue::Fixed32(float(json)?.to_bits()),
        Kind::Double => WireValue::Fixed64(double(json, "double")?.to_bits()),
        _ => match json.as_text() {
            Some("true") => WireValue::Varint(1),
            Some("false") => WireValue::Varint(0),
            _ => return Err(wrong(json, "bool")),
        },
    })
}

fn base64(json: &Json<'_>) -> Result<Vec<u8>, JsonError> {
    let text = json.as_text().ok_or_else(|| wrong(json, "bytes"))?;
    let decode = |alphabet| GeneralPurpose::new(alphabet, ANY_BASE64).decode(text);
    let decoded = decode(&STANDARD).or_else(|_| decode(&URL_SAFE));
    decoded.map_err(|_| format!("`{text}` is not base64").into())
}

fn put_seconds(time: Seconds, out: &mut Vec<u8>) {
    for (number, value) in [(1, time.seconds), (2, time.nanos.into())] {
        if value != 0 {
            put_field(out, number, WireValue::Varint(value as u64));
        }
    }
}

fn text_of(json: &Json<'_>, name: &str) -> Result<String, JsonError> {
    json.as_text()
        .map(str::to_owned)
        .ok_or_else(|| wrong(json, name))
}

/// Whether a field's value counts as given. A null sets nothing but a `Value` or a `NullValue`.
fn is_set(schema: &Schema, field: &Field, json: &Json<'_>) -> bool {
    let is_single = matches!(field.label, FieldLabel::Optional | FieldLabel::Required);
    *json != Json::Null || is_single && takes_null(schema, field.kind)
}

fn takes_null(schema: &Schema, kind: Kind) -> bool {
    match kind {
        Kind::Message(id) => schema.message(id).known == Some(KnownType::Value),
        Kind::Enum(id) => schema.enums[id.0].is_null,
        _ => false,
    }
}

fn is_zero(value: &WireValue<'_>) -> bool {
    match value {
        WireValue::Varint(value) | WireValue::Fixed64(value) => *value == 0,
        WireValue::Fixed32(value) => *value == 0,
        WireValue::Bytes(bytes) => bytes.is_empty(),
        WireValue::Group(_) => false,
    }
}

/// Puts a step of the path in front of an error.
fn within(step: &str, error: JsonError) -> JsonError {
    let error = String::from(error);
    match error.strip_prefix("in `") {
        Some(rest) if rest.starts_with('[') => format!("in `{step}{rest}").into(),
        Some(rest) => format!("in `{step}.{rest}").into(),
        None => format!("in `{step}`: {error}").into(),
    }
}
