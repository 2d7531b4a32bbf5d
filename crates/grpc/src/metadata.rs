//! Metadata of calls: the plan's text, and the texts of headers.

use std::borrow::Cow;

use drumfire_java::charset::Charset;
use drumfire_java::url_coding::url_decode;
use drumfire_platform::message_error;

use crate::json::Json;

message_error! {
    /// Why a text is no metadata.
    pub struct MetadataError;
}

/// Metadata in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata(Vec<(String, String)>);

impl Metadata {
    /// Reads a JSON object of strings, or a list like `key1:value1,key2:value2` with values in URL encoding
    /// (`ClientCaller#buildHashMetadata`).
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self, MetadataError> {
        let mut metadata = Self::default();
        if text.is_empty() {
            return Ok(metadata);
        }
        let wrong = || {
            let forms = "JSON with strings as values, or of the form `key1:value1,key2:value2`";
            MetadataError::from(format!("metadata must be {forms}"))
        };
        if text.starts_with('{') && text.ends_with('}') {
            let Ok(Json::Object(entries)) = Json::read(text) else {
                return Err(wrong());
            };
            for (name, value) in entries {
                let Json::Text(value) = value else {
                    return Err(wrong());
                };
                metadata.put(name.into_owned(), value.into_owned());
            }
            return Ok(metadata);
        }
        let utf8 = Charset::find("UTF-8").ok_or("this program has no UTF-8")?;
        for part in text.trim_end_matches(',').split(',') {
            let (name, value) = part.split_once(':').ok_or_else(wrong)?;
            let value: Cow<'_, str> = url_decode(value, &utf8).map_err(|_| {
                MetadataError::from(format!("the value of `{name}` is no URL encoding"))
            })?;
            metadata.put(name.to_owned(), value.into_owned());
        }
        Ok(metadata)
    }

    fn put(&mut self, name: String, value: String) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    /// A line for each, as samples show them.
    pub fn shown(&self) -> String {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        lines.join("\n")
    }

    /// The names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Whether `Metadata.Key` accepts the name for a text.
pub(crate) fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.bytes().all(is_allowed) && !name.to_ascii_lowercase().ends_with("-bin")
}

/// Decodes the percent-encoding of `grpc-message`; a damaged escape stays as it is.
pub(crate) fn decode_message(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut at = 0;
    while at < value.len() {
        let escaped = value.get(at + 1..at + 3).filter(|_| value[at] == b'%');
        let byte = escaped
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(value[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Option<String> {
        Metadata::parse(text).ok().map(|metadata| metadata.shown())
    }

    #[test]
    fn metadata_are_json_or_a_list() {
        for (text, shown) in [
            ("", Some("")),
            (r#"{"a": "1", "b": "x y"}"#, Some("a: 1\nb: x y")),
            ("a:1,b:x%20y+z", Some("a: 1\nb: x y z")),
            ("a:1:2,a:3,", Some("a: 3")),
            ("a", None),
            (r#"{"a": 1}"#, None),
            ("{a}", None),
            ("a:%zz", None),
        ] {
            assert_eq!(pairs(text).as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn messages_of_statuses_are_percent_encoded() {
        for (value, message) in [
            ("caf%C3%A9", "café"),
            ("50%", "50%"),
            ("%zz", "%zz"),
            ("", ""),
        ] {
            assert_eq!(decode_message(value.as_bytes()), message);
        }
        assert!(is_name("X-Token") && !is_name("a b") && !is_name("trace-bin"));
    }
}
