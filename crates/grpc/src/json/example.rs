//! Messages to start from: JSON with a value for each field.

use crate::schema::{Field, FieldLabel, Kind, KnownType, MessageId, Schema};

/// How deep messages within messages are shown. A message that contains itself would never end.
const DEEPEST: usize = 3;

impl Schema {
    /// A message as JSON, with a value for each field and with one field of each `oneof`.
    pub fn example(&self, message: MessageId) -> String {
        let mut out = String::new();
        self.put_example(message, 0, &mut out);
        out
    }

    fn put_example(&self, id: MessageId, level: usize, out: &mut String) {
        let message = self.message(id);
        match message.known {
            None => {}
            Some(KnownType::Wrapper) => {
                return self.put_value_example(&message.fields[0], level, out);
            }
            Some(known) => {
                out.push_str(match known {
                    KnownType::Timestamp => "\"2026-01-31T12:00:00Z\"",
                    KnownType::Duration => "\"1.5s\"",
                    KnownType::FieldMask => "\"\"",
                    KnownType::ListValue => "[]",
                    KnownType::Value | KnownType::Wrapper | KnownType::Any => "null",
                    KnownType::Struct => "{}",
                });
                return;
            }
        }
        let mut shown: Vec<&Field> = Vec::new();
        for field in &message.fields {
            let is_taken = |other: &&&Field| other.oneof.is_some() && other.oneof == field.oneof;
            if !shown.iter().any(|other| is_taken(&other)) {
                shown.push(field);
            }
        }
        if shown.is_empty() || level == DEEPEST {
            out.push_str("{}");
            return;
        }
        let indent = "  ".repeat(level + 1);
        out.push('{');
        for (index, field) in shown.into_iter().enumerate() {
            out.push_str(if index == 0 { "\n" } else { ",\n" });
            out.push_str(&format!("{indent}\"{}\": ", field.json_name));
            match field.label {
                FieldLabel::Map => out.push_str("{}"),
                FieldLabel::Repeated => {
                    out.push('[');
                    self.put_value_example(field, level, out);
                    out.push(']');
                }
                FieldLabel::Optional | FieldLabel::Required => {
                    self.put_value_example(field, level, out)
                }
            }
        }
        out.push_str(&format!("\n{}}}", "  ".repeat(level)));
    }

    fn put_value_example(&self, field: &Field, level: usize, out: &mut String) {
        match field.kind {
            Kind::Message(id) | Kind::Group(id) => self.put_example(id, level + 1, out),
            Kind::String | Kind::Bytes => out.push_str("\"\""),
            Kind::Bool => out.push_str("false"),
            Kind::Enum(id) => {
                let known = &self.enums[id.0];
                match known.values.first() {
                    Some((name, _)) if !known.is_null => out.push_str(&format!("\"{name}\"")),
                    _ => out.push_str("null"),
                }
            }
            _ => out.push('0'),
        }
    }
}
