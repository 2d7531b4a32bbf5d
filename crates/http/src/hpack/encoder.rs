//! Writes the header blocks of requests.

use std::rc::Rc;

use super::fields::{Field, RequestFields};
use super::huffman;
use super::parts::{TABLE_BYTES, put_integer};
use super::table::{STATIC, Table};

/// A connection keeps the blocks of this many requests, which a plan repeats.
const MOST_BLOCKS: usize = 4;

/// The state of the header blocks that were sent.
pub(crate) struct Encoder {
    table: Table,
    /// The smallest size that the table had since the last block, if it was changed.
    smallest_bytes: Option<usize>,
    /// Blocks that only refer to the table, as long as it has not changed.
    blocks: Vec<(Rc<RequestFields>, Box<[u8]>)>,
    /// The changes of the table when those were made.
    changes: u64,
}

impl Encoder {
    pub fn new() -> Self {
        Self {
            table: Table::new(TABLE_BYTES),
            smallest_bytes: None,
            blocks: Vec::new(),
            changes: 0,
        }
    }

    /// Takes over the server's SETTINGS_HEADER_TABLE_SIZE, as far as this client uses it.
    pub fn resize(&mut self, bytes: u32) {
        let bytes = usize::try_from(bytes).map_or(TABLE_BYTES, |bytes| bytes.min(TABLE_BYTES));
        if bytes != self.table.max_bytes() {
            self.table.resize(bytes);
            let smallest = self.smallest_bytes.unwrap_or(bytes);
            self.smallest_bytes = Some(smallest.min(bytes));
        }
    }

    /// Appends the block of a request.
    pub fn encode(&mut self, fields: &Rc<RequestFields>, out: &mut Vec<u8>) {
        if self.changes != self.table.changes() {
            self.blocks.clear();
            self.changes = self.table.changes();
        }
        if let Some((_, block)) = self
            .blocks
            .iter()
            .find(|(known, _)| Rc::ptr_eq(known, fields))
        {
            out.extend_from_slice(block);
            return;
        }
        let is_resized = self.put_sizes(out);
        let start = out.len();
        for field in fields.all() {
            self.put_field(field, out);
        }
        // A block that adds entries is different next time.
        if !is_resized && self.changes == self.table.changes() && self.blocks.len() < MOST_BLOCKS {
            self.blocks.push((fields.clone(), out[start..].into()));
        }
    }

    /// Tells new sizes of the table (section 4.2).
    fn put_sizes(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(smallest) = self.smallest_bytes.take() else {
            return false;
        };
        let last = self.table.max_bytes();
        if smallest < last {
            put_integer(out, smallest, 5, 0x20);
        }
        put_integer(out, last, 5, 0x20);
        true
    }

    fn put_field(&mut self, field: &Field, out: &mut Vec<u8>) {
        let (name, value) = (field.name(), field.value());
        let is_same_name = |own: &(usize, &(&str, &str))| own.1.0.as_bytes() == name;
        let mut of_name = STATIC.iter().enumerate().filter(is_same_name).peekable();
        let name_index = of_name.peek().map_or(0, |(index, _)| index + 1);
        if let Some((index, _)) =
            of_name.find(|(_, own)| own.1.as_bytes() == value && !value.is_empty())
        {
            return put_integer(out, index + 1, 7, 0x80);
        }
        if let Some(index) = self.table.find(&field.line) {
            return put_integer(out, STATIC.len() + 1 + index, 7, 0x80);
        }
        if field.is_indexed() {
            put_integer(out, name_index, 6, 0x40);
            self.table.add(&field.line, field.name_bytes);
        } else {
            put_integer(out, name_index, 4, 0);
        }
        if name_index == 0 {
            put_string(name, out);
        }
        put_string(value, out);
    }
}

/// Appends a string (section 5.2) in its shorter form.
fn put_string(text: &[u8], out: &mut Vec<u8>) {
    let bytes = huffman::encoded_bytes(text);
    if bytes < text.len() {
        put_integer(out, bytes, 7, 0x80);
        huffman::encode(text, out);
    } else {
        put_integer(out, text.len(), 7, 0);
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decoder, LineSink};
    use super::*;

    #[derive(Default)]
    struct Lines(Vec<u8>);

    impl LineSink for Lines {
        fn is_open(&self) -> bool {
            true
        }

        fn lines(&mut self) -> &mut Vec<u8> {
            &mut self.0
        }

        fn judge(&mut self, _: usize, _: usize) {}
    }

    fn fields(fields: &[(&str, &str)]) -> Rc<RequestFields> {
        let mut all = RequestFields::default();
        for (name, value) in fields {
            all.add(name.as_bytes(), value.as_bytes());
        }
        Rc::new(all)
    }

    /// The requests of RFC 7541, section C.4.
    #[test]
    fn blocks_of_the_standard() {
        let mut encoder = Encoder::new();
        let of = |path, more: &[(&'static str, &'static str)]| {
            let begin = [
                (":method", "GET"),
                (":scheme", "http"),
                (":path", path),
                (":authority", "www.example.com"),
            ];
            fields(&[&begin, more].concat())
        };
        let request = of("/", &[]);
        let mut first = Vec::new();
        encoder.encode(&request, &mut first);
        let expected = b"\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff";
        assert_eq!(first, expected);
        let mut second = Vec::new();
        encoder.encode(&of("/", &[("cache-control", "no-cache")]), &mut second);
        assert_eq!(second, b"\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf");
        // Made once, and again when the table has changed.
        for block in [&b"\x82\x86\x84\xbf"[..], b"\x82\x86\x84\xbf"] {
            let mut out = Vec::new();
            encoder.encode(&request, &mut out);
            assert_eq!(out, block);
        }
    }

    #[test]
    fn a_decoder_follows_whatever_the_sizes_of_the_table() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        let sizes = [4096, 100, 100, 0, 4096, 60, 1 << 30];
        for (round, size) in sizes.into_iter().cycle().take(100).enumerate() {
            encoder.resize(size);
            if round % 3 == 0 {
                encoder.resize(50);
                encoder.resize(size);
            }
            let varied = format!("value {}", round % 5);
            let all = [
                (":path", "/a"),
                ("x-one", &varied),
                ("cookie", "a=b"),
                ("x-two", "2"),
            ];
            let (request, mut block, mut lines) = (fields(&all), Vec::new(), Lines::default());
            encoder.encode(&request, &mut block);
            decoder.decode(&block, &mut lines).expect("a block");
            let text: String = all
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .collect();
            assert_eq!(String::from_utf8_lossy(&lines.0), text);
        }
    }
}
