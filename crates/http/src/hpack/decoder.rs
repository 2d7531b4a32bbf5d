//! Reads the header blocks of a server.

use super::huffman;
use super::parts::{BrokenBlock, END_OF_LINE, END_OF_NAME, TABLE_BYTES, take_integer};
use super::table::{STATIC, Table};

/// Takes the lines of a block.
pub(crate) trait LineSink {
    /// Whether lines are still wanted. The block is read to its end in any case, since it changes the table.
    fn is_open(&self) -> bool;

    /// The lines so far.
    fn lines(&mut self) -> &mut Vec<u8>;

    /// Judges the line that begins at `start` and ends the lines.
    fn judge(&mut self, start: usize, name_bytes: usize);
}

/// The state of the header blocks that were received.
pub(crate) struct Decoder {
    table: Table,
    /// The line of a field that no one wants, but the table.
    unwanted: Vec<u8>,
}

impl Decoder {
    pub fn new() -> Self {
        Self {
            table: Table::new(TABLE_BYTES),
            unwanted: Vec::new(),
        }
    }

    /// Reads a block.
    ///
    /// # Errors
    /// It breaks the rules, or a name or value has bytes that are not allowed.
    pub fn decode(&mut self, mut block: &[u8], sink: &mut dyn LineSink) -> Result<(), BrokenBlock> {
        let mut may_resize = true;
        while let Some(first) = block.first() {
            match first {
                0x80.. => self.indexed(&mut block, sink)?,
                0x40.. => self.literal(&mut block, 6, true, sink)?,
                0x20.. => {
                    let bytes = take_integer(&mut block, 5)?;
                    if !may_resize || bytes > TABLE_BYTES {
                        return Err(BrokenBlock);
                    }
                    self.table.resize(bytes);
                    continue;
                }
                _ => self.literal(&mut block, 4, false, sink)?,
            }
            may_resize = false;
        }
        Ok(())
    }

    fn indexed(&mut self, block: &mut &[u8], sink: &mut dyn LineSink) -> Result<(), BrokenBlock> {
        let index = take_integer(block, 7)?.checked_sub(1).ok_or(BrokenBlock)?;
        let is_open = sink.is_open();
        let (start, name_bytes) = match STATIC.get(index) {
            Some((name, value)) if is_open => {
                let lines = sink.lines();
                let start = lines.len();
                for part in [name.as_bytes(), END_OF_NAME, value.as_bytes(), END_OF_LINE] {
                    lines.extend_from_slice(part);
                }
                (start, name.len())
            }
            Some(_) => return Ok(()),
            None => {
                let entry = self.table.get(index - STATIC.len());
                let (line, name_bytes) = entry.ok_or(BrokenBlock)?;
                if !is_open {
                    return Ok(());
                }
                let lines = sink.lines();
                let start = lines.len();
                lines.extend_from_slice(line);
                (start, name_bytes)
            }
        };
        sink.judge(start, name_bytes);
        Ok(())
    }

    fn literal(
        &mut self,
        block: &mut &[u8],
        prefix_bits: u32,
        is_indexed: bool,
        sink: &mut dyn LineSink,
    ) -> Result<(), BrokenBlock> {
        let is_open = sink.is_open();
        let mut unwanted = std::mem::take(&mut self.unwanted);
        unwanted.clear();
        let lines = if is_open { sink.lines() } else { &mut unwanted };
        let start = lines.len();
        self.take_name(block, prefix_bits, lines)?;
        let name_bytes = lines.len() - start;
        lines.extend_from_slice(END_OF_NAME);
        let value_at = lines.len();
        take_string(block, lines)?;
        if !is_value(&lines[value_at..]) {
            return Err(BrokenBlock);
        }
        lines.extend_from_slice(END_OF_LINE);
        if is_indexed {
            self.table.add(&lines[start..], name_bytes);
        }
        self.unwanted = unwanted;
        if is_open {
            sink.judge(start, name_bytes);
        }
        Ok(())
    }

    fn take_name(
        &self,
        block: &mut &[u8],
        prefix_bits: u32,
        lines: &mut Vec<u8>,
    ) -> Result<(), BrokenBlock> {
        let Some(index) = take_integer(block, prefix_bits)?.checked_sub(1) else {
            let start = lines.len();
            take_string(block, lines)?;
            return if is_name(&lines[start..]) {
                Ok(())
            } else {
                Err(BrokenBlock)
            };
        };
        match STATIC.get(index) {
            Some((name, _)) => lines.extend_from_slice(name.as_bytes()),
            None => {
                let entry = self.table.get(index - STATIC.len());
                let (line, name_bytes) = entry.ok_or(BrokenBlock)?;
                lines.extend_from_slice(&line[..name_bytes]);
            }
        }
        Ok(())
    }
}

/// Takes a string (section 5.2) from the front of the block.
fn take_string(block: &mut &[u8], out: &mut Vec<u8>) -> Result<(), BrokenBlock> {
    let is_huffman = block.first().is_some_and(|first| first & 0x80 != 0);
    let length = take_integer(block, 7)?;
    let (text, rest) = block.split_at_checked(length).ok_or(BrokenBlock)?;
    *block = rest;
    if is_huffman {
        return huffman::decode(text, out);
    }
    out.extend_from_slice(text);
    Ok(())
}

/// Whether a name is one of RFC 9113 section 8.2.1: a token in lower case, which a colon may precede.
fn is_name(name: &[u8]) -> bool {
    let token = name.strip_prefix(b":").unwrap_or(name);
    let is_allowed = |byte: &u8| {
        matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.')
            || matches!(
                byte,
                b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'^' | b'`' | b'|' | b'~'
            )
    };
    !token.is_empty() && token.iter().all(is_allowed)
}

/// Whether a value has no byte that could end its line. Without a branch in between, the compiler compares several bytes at once.
fn is_value(value: &[u8]) -> bool {
    let ends = |byte: u8| (byte == 0) | (byte == b'\r') | (byte == b'\n');
    !value.iter().fold(false, |any, byte| any | ends(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps as many bytes as it has room for.
    struct Lines {
        lines: Vec<u8>,
        most: usize,
        judged: Vec<usize>,
    }

    impl LineSink for Lines {
        fn is_open(&self) -> bool {
            self.lines.len() < self.most
        }

        fn lines(&mut self) -> &mut Vec<u8> {
            &mut self.lines
        }

        fn judge(&mut self, start: usize, name_bytes: usize) {
            assert_eq!(&self.lines[start + name_bytes..][..2], b": ");
            self.judged.push(start);
        }
    }

    fn decoded(decoder: &mut Decoder, block: &[u8], most: usize) -> Result<String, BrokenBlock> {
        let mut sink = Lines {
            lines: Vec::new(),
            most,
            judged: Vec::new(),
        };
        decoder.decode(block, &mut sink)?;
        Ok(String::from_utf8_lossy(&sink.lines).replace("\r\n", ";"))
    }

    /// The first two responses of RFC 7541, section C.6, with a table of 256 bytes.
    #[test]
    fn blocks_of_the_standard() {
        let mut decoder = Decoder::new();
        let first = b"\x3f\xe1\x01\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\
            \xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff\x6e\x91\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\
            \xc8\xe9\xae\x82\xae\x43\xd3";
        let text = ":status: 302;cache-control: private;date: Mon, 21 Oct 2013 20:13:21 GMT;\
            location: https://www.example.com;";
        assert_eq!(decoded(&mut decoder, first, 1000).as_deref(), Ok(text));
        // `:status: 307` evicts `:status: 302`.
        let second = b"\x48\x83\x64\x0e\xff\xc1\xc0\xbf";
        let text = text.replace("302", "307");
        assert_eq!(decoded(&mut decoder, second, 1000), Ok(text));
    }

    #[test]
    fn fields_that_nobody_wants_still_enter_the_table() {
        let mut decoder = Decoder::new();
        let block = b"\x40\x01a\x011\x40\x01b\x012\xbe\x88";
        assert_eq!(decoded(&mut decoder, block, 1).as_deref(), Ok("a: 1;"));
        let both = decoded(&mut decoder, b"\xbf\xbe", 100);
        assert_eq!(both.as_deref(), Ok("a: 1;b: 2;"));
    }

    #[test]
    fn broken_blocks_are_refused() {
        for block in [
            // No field has the index 0, or 62 in an empty table.
            &b"\x80"[..],
            b"\xbe",
            b"\x7e\x00",
            // A new size after a field, and one above what was agreed.
            b"\x88\x20",
            b"\x3f\xe2\x1f",
            // Strings that end too early.
            b"\x40",
            b"\x40\x01a",
            b"\x40\x01a\x05b",
            // Names in upper case, empty or with a blank; values with a line end.
            b"\x40\x01A\x00",
            b"\x40\x00\x00",
            b"\x40\x02a b\x00",
            b"\x40\x01a\x03b\r\n",
        ] {
            let found = decoded(&mut Decoder::new(), block, 1000);
            assert_eq!(found, Err(BrokenBlock), "{block:?}");
        }
    }
}
