//! Reads YAML as PyYAML does: `yes`, `no`, `on` and `off` are booleans, while `y` and `n` are
//! texts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::Spanned;

use crate::value::Table;

/// The documents of a text. An error is the end of a sentence.
pub(crate) fn documents(text: &str) -> Result<Vec<Value>, String> {
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        legacy_octal_numbers: true,
    };
    let read = serde_saphyr::from_multiple_with_options::<Located>(text, options)
        .map_err(|error| position_text(&error))?;
    let lines: Vec<&str> = text.lines().collect();
    Ok(read.into_iter().map(|one| one.value(&lines)).collect())
}

/// The place of an error and its kind, as the end of a sentence.
fn position_text(error: &serde_saphyr::Error) -> String {
    let words = error.without_snippet().to_string();
    // The library writes `line 1 column 12: unclosed bracket '['`, and a picture behind that.
    let first = words.lines().next().unwrap_or_default();
    let why = first
        .rsplit(": ")
        .next()
        .unwrap_or_default()
        .replace('\'', "`");
    match error.location() {
        Some(at) => format!(" at line {}, column {}: {why}", at.line(), at.column()),
        None => format!(": {why}"),
    }
}

/// A value with its line and column, from 1.
struct Located {
    raw: Raw,
    line: u64,
    column: u64,
}

enum Raw {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Located>),
    Table(Vec<(String, Located)>),
}

impl Located {
    fn value(self, lines: &[&str]) -> Value {
        let own_letter = || {
            let line = lines.get(usize::try_from(self.line).ok()?.checked_sub(1)?)?;
            let mut rest = line
                .chars()
                .skip(usize::try_from(self.column).ok()?.saturating_sub(1));
            let first = rest
                .next()
                .filter(|sign| matches!(sign, 'y' | 'n' | 'Y' | 'N'))?;
            let ends = rest.next().is_none_or(|sign| !sign.is_alphanumeric());
            ends.then(|| first.to_string())
        };
        match self.raw {
            Raw::Null => Value::Null,
            Raw::Bool(value) => own_letter()
                .map(Value::String)
                .unwrap_or(Value::Bool(value)),
            Raw::Number(number) => Value::Number(number),
            Raw::Text(text) => Value::String(text),
            Raw::List(items) => items.into_iter().map(|item| item.value(lines)).collect(),
            Raw::Table(entries) => {
                let table: Table = entries
                    .into_iter()
                    .map(|(key, value)| (key, value.value(lines)))
                    .collect();
                Value::Object(table)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Located, D::Error> {
        let spanned = Spanned::<Raw>::deserialize(deserializer)?;
        Ok(Located {
            line: spanned.defined.line(),
            column: spanned.defined.column(),
            raw: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(YamlReader)
    }
}

struct YamlReader;

impl<'de> Visitor<'de> for YamlReader {
    type Value = Raw;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        // JSON has no number for infinity and NaN.
        Ok(match Number::from_f64(value) {
            Some(number) => Raw::Number(number),
            None => Raw::Text(value.to_string()),
        })
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = entries.next_entry::<String, Located>()? {
            table.push(entry);
        }
        Ok(Raw::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_pyyaml_reads_them() {
        let read =
            documents("a: yes\nb: n\nc: [Y, off, 'yes', ~]\nd: &x {e: 1.5}\nf: *x\ng: 0x10\n");
        let expected = serde_json::json!({"a": true, "b": "n", "c": ["Y", false, "yes", null],
            "d": {"e": 1.5}, "f": {"e": 1.5}, "g": 16});
        assert_eq!(read, Ok(vec![expected]));
        assert!(documents("a: [").is_err());
    }
}
