//! The tables of fields (RFC 7541 section 2.3).

use std::collections::VecDeque;

use super::parts::{END_OF_LINE, END_OF_NAME};

/// The bytes that a table counts for a field beside its name and value (section 4.1).
const ENTRY_BYTES: usize = 32;
/// The unused start of the buffer is cut off when it is this long, in bytes.
const MOST_UNUSED_BYTES: usize = 2048;

/// The static table (appendix A). The index of the first field is 1.
#[rustfmt::skip]
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"), (":scheme", "http"),
    (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""), ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""), ("accept-ranges", ""), ("accept", ""), ("access-control-allow-origin", ""), ("age", ""),
    ("allow", ""), ("authorization", ""), ("cache-control", ""), ("content-disposition", ""), ("content-encoding", ""),
    ("content-language", ""), ("content-length", ""), ("content-location", ""), ("content-range", ""), ("content-type", ""),
    ("cookie", ""), ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
    ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""),
    ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""),
    ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];

/// The dynamic table of one direction.
pub(super) struct Table {
    /// The lines of the entries, the oldest first, after some that were evicted.
    lines: Vec<u8>,
    /// The newest entry comes first.
    entries: VecDeque<Entry>,
    /// The size of the entries as the standard counts it, in bytes.
    bytes: usize,
    max_bytes: usize,
    /// The number of changes, by which an encoder knows whether a block is still valid.
    changes: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    /// Where the line begins.
    at: usize,
    line_bytes: usize,
    name_bytes: usize,
}

impl Entry {
    fn table_bytes(self) -> usize {
        self.line_bytes - END_OF_NAME.len() - END_OF_LINE.len() + ENTRY_BYTES
    }
}

impl Table {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            lines: Vec::new(),
            entries: VecDeque::new(),
            bytes: 0,
            max_bytes,
            changes: 0,
        }
    }

    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The line of an entry and the length of its name. The index of the newest entry is 0.
    pub fn get(&self, index: usize) -> Option<(&[u8], usize)> {
        let entry = self.entries.get(index)?;
        let line = &self.lines[entry.at..entry.at + entry.line_bytes];
        Some((line, entry.name_bytes))
    }

    /// The index of the newest entry with this line.
    pub fn find(&self, line: &[u8]) -> Option<usize> {
        let is_same = |entry: &Entry| {
            entry.line_bytes == line.len()
                && self.lines[entry.at..entry.at + entry.line_bytes] == *line
        };
        self.entries.iter().position(is_same)
    }

    /// Adds an entry, for which old ones are evicted. One that is larger than the table only empties it (section 4.4).
    pub fn add(&mut self, line: &[u8], name_bytes: usize) {
        let mut entry = Entry {
            at: 0,
            line_bytes: line.len(),
            name_bytes,
        };
        self.changes += 1;
        self.evict(self.max_bytes.saturating_sub(entry.table_bytes()));
        if entry.table_bytes() > self.max_bytes {
            return;
        }
        entry.at = self.lines.len();
        self.lines.extend_from_slice(line);
        self.bytes += entry.table_bytes();
        self.entries.push_front(entry);
    }

    pub fn resize(&mut self, max_bytes: usize) {
        self.changes += 1;
        self.max_bytes = max_bytes;
        self.evict(max_bytes);
    }

    /// Removes the oldest entries until the others take no more than this.
    fn evict(&mut self, most_bytes: usize) {
        while self.bytes > most_bytes
            && let Some(oldest) = self.entries.pop_back()
        {
            self.bytes -= oldest.table_bytes();
        }
        let unused = self
            .entries
            .back()
            .map_or(self.lines.len(), |oldest| oldest.at);
        if unused > MOST_UNUSED_BYTES {
            self.lines.drain(..unused);
            self.entries.iter_mut().for_each(|entry| entry.at -= unused);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_make_room() {
        let mut table = Table::new(100);
        for line in [&b"a: 1\r\n"[..], b"b: 2\r\n", b"c: 3\r\n"] {
            table.add(line, 1);
        }
        assert_eq!(table.get(0), Some((&b"c: 3\r\n"[..], 1)));
        assert_eq!(table.find(b"b: 2\r\n"), Some(1));
        assert_eq!((table.get(2), table.find(b"a: 1\r\n")), (None, None));
        table.resize(34);
        assert_eq!((table.find(b"c: 3\r\n"), table.get(1)), (Some(0), None));
        table.add(&[b'x'; 39], 1);
        assert_eq!(table.get(0), None);
    }

    #[test]
    fn the_buffer_stays_small() {
        let mut table = Table::new(4096);
        for number in 0..10_000 {
            let line = format!("name: {number}\r\n");
            table.add(line.as_bytes(), 4);
            assert_eq!(table.get(0), Some((line.as_bytes(), 4)));
        }
        assert!(table.lines.len() < 4096 + MOST_UNUSED_BYTES);
    }
}
