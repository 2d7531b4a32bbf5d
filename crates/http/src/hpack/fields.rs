//! The fields of a request.

use super::parts::{END_OF_LINE, END_OF_NAME};

/// The fields of a request, those of the pseudo-header first.
#[derive(Default)]
pub(crate) struct RequestFields(Vec<Field>);

pub(super) struct Field {
    /// As a line of HTTP/1.1.
    pub line: Box<[u8]>,
    pub name_bytes: usize,
}

impl Field {
    pub fn name(&self) -> &[u8] {
        &self.line[..self.name_bytes]
    }

    pub fn value(&self) -> &[u8] {
        let start = self.name_bytes + END_OF_NAME.len();
        &self.line[start..self.line.len() - END_OF_LINE.len()]
    }

    /// Whether the dynamic table takes the field. Values that differ from request to request would only evict others.
    pub fn is_indexed(&self) -> bool {
        !matches!(
            self.name(),
            b":path"
                | b"age"
                | b"authorization"
                | b"content-length"
                | b"cookie"
                | b"etag"
                | b"if-modified-since"
                | b"if-none-match"
                | b"location"
        )
    }
}

impl RequestFields {
    /// Adds a field, whose name is in lower case.
    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        self.0.push(Field {
            line: [name, END_OF_NAME, value, END_OF_LINE].concat().into(),
            name_bytes: name.len(),
        });
    }

    pub(super) fn all(&self) -> &[Field] {
        &self.0
    }
}
