//! Parses the attributes of a tag.

use super::TextSpan;
use super::quick::Builder;
use crate::bytes::first_of;

impl Builder<'_> {
    /// Reads past the end of the tag; returns whether a slash precedes it.
    pub(super) fn attributes(&mut self) -> Option<bool> {
        let first = self.page.attributes.len();
        loop {
            match self.byte(0)? {
                b'>' => {
                    self.at += 1;
                    return Some(false);
                }
                b'/' if self.byte(1) == Some(b'>') => {
                    self.at += 2;
                    return Some(true);
                }
                b' ' | b'\n' | b'\t' | b'\x0C' | b'/' => self.at += 1,
                _ => self.attribute(first)?,
            }
        }
    }

    fn attribute(&mut self, first: usize) -> Option<()> {
        let name = self.name_in_lower_case(true)?;
        self.skip_white();
        let value = match self.byte(0)? {
            b'=' => {
                self.at += 1;
                self.skip_white();
                self.value()?
            }
            _ => TextSpan::new(self.at, self.at),
        };
        self.add_attribute(first, name, value);
        Some(())
    }

    fn skip_white(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\x0C') = self.byte(0) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Option<TextSpan> {
        match self.byte(0)? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let start = self.at;
                let length = first_of(self.rest(), quote, b'&')?;
                let (value, end) = match self.rest()[length] {
                    b'&' => {
                        let end = start + memchr::memchr(quote, self.rest())?;
                        (self.decoded_value(start, end)?, end)
                    }
                    _ => (TextSpan::new(start, start + length), start + length),
                };
                self.at = end + 1;
                Some(value)
            }
            b'>' => Some(TextSpan::new(self.at, self.at)),
            _ => {
                let start = self.at;
                let end = start + self.rest().iter().position(ends)?;
                let value = self.decoded_value(start, end)?;
                self.at = end;
                Some(value)
            }
        }
    }

    fn decoded_value(&mut self, start: usize, end: usize) -> Option<TextSpan> {
        let plain = |from: usize| memchr::memchr(b'&', &self.html.as_bytes()[from..end]);
        let Some(mut plain_length) = plain(start) else {
            return Some(TextSpan::new(start, end));
        };
        let decoded_start = self.page.text.len();
        let mut from = start;
        loop {
            self.at = from + plain_length;
            self.page.text.push_str(&self.html[from..self.at]);
            match self.reference(true)? {
                Some(characters) => characters.push_to(&mut self.page.text),
                None => self.page.text.push('&'),
            }
            from = self.at;
            let rest = &self.html.as_bytes()[from..end];
            match memchr::memchr(b'&', rest) {
                Some(next) => plain_length = next,
                None => break,
            }
        }
        self.page.text.push_str(&self.html[from..end]);
        Some(TextSpan::new(decoded_start, self.page.text.len()))
    }
}

fn ends(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\x0C' | b'>')
}
