//! The byte format between Rust and Java: little endian, texts as length and UTF-8, a missing text as length -1. Java's side
//! is `Wire.java`.

/// Writes values one after the other.
#[derive(Default)]
pub struct WireWriter(Vec<u8>);

impl WireWriter {
    /// Allocates room for a usual result.
    pub fn with_room() -> WireWriter {
        WireWriter(Vec::with_capacity(1024))
    }

    pub fn flag(&mut self, flag: bool) -> &mut WireWriter {
        self.0.push(u8::from(flag));
        self
    }

    pub fn number(&mut self, number: i32) -> &mut WireWriter {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub fn large(&mut self, number: i64) -> &mut WireWriter {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub fn bytes(&mut self, bytes: Option<&[u8]>) -> &mut WireWriter {
        match bytes {
            // Text longer than a Java array is truncated.
            Some(bytes) => {
                let bytes = &bytes[..bytes.len().min(i32::MAX as usize)];
                self.number(bytes.len() as i32);
                self.0.extend(bytes);
            }
            None => {
                self.number(-1);
            }
        }
        self
    }

    pub fn text(&mut self, text: Option<&str>) -> &mut WireWriter {
        self.bytes(text.map(str::as_bytes))
    }

    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a message from Java. Missing fields at the end read as empty.
pub struct WireReader<'a>(&'a [u8]);

impl<'a> WireReader<'a> {
    pub fn new(bytes: &'a [u8]) -> WireReader<'a> {
        WireReader(bytes)
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub fn flag(&mut self) -> bool {
        self.take(1) == [1]
    }

    pub fn number(&mut self) -> i32 {
        self.take(4).try_into().map(i32::from_le_bytes).unwrap_or(0)
    }

    pub fn large(&mut self) -> i64 {
        self.take(8).try_into().map(i64::from_le_bytes).unwrap_or(0)
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()).ok()?;
        Some(self.take(length))
    }

    /// Java turns lone surrogates, which its texts may have, into question marks.
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let mut out = WireWriter::default();
        out.flag(true)
            .number(-7)
            .large(1 << 40)
            .text(Some("é"))
            .text(None);
        out.bytes(Some(&[1, 2]));
        let bytes = out.done();
        let mut reader = WireReader::new(&bytes);
        assert!(reader.flag());
        assert_eq!((reader.number(), reader.large()), (-7, 1 << 40));
        assert_eq!((reader.text(), reader.text()), (Some("é"), None));
        assert_eq!(reader.bytes(), Some(&[1u8, 2][..]));
        assert_eq!((reader.number(), reader.text()), (0, Some("")));
    }
}
