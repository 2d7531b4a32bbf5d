//! The text of a file, and spans in it.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A file as text, stored to render diagnostics.
#[derive(Clone, Default)]
pub struct SourceFile {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The decoded text, without a byte order mark.
    pub text: String,
    line_starts: OnceLock<Vec<usize>>,
    has_references: OnceLock<bool>,
}

/// Without what is worked out when it is asked for.
impl fmt::Debug for SourceFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SourceFile")
            .field("path", &self.path)
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

impl SourceFile {
    /// A file by its path and its text.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        SourceFile {
            path: path.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
            has_references: OnceLock::new(),
        }
    }

    /// Line and column, both from 1, of a byte offset. The column counts characters. An offset past the end is the end.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let starts = self.line_starts();
        let line = starts.partition_point(|&start| start <= offset);
        let column = self.text[starts[line - 1]..offset].chars().count() + 1;
        (line, column)
    }

    /// The line (from 1) without its end, and the offset at which it starts.
    pub fn line(&self, line: usize) -> (&str, usize) {
        let starts = self.line_starts();
        let start = starts[(line - 1).min(starts.len() - 1)];
        let end = starts.get(line).copied().unwrap_or(self.text.len());
        (self.text[start..end].trim_end_matches(['\n', '\r']), start)
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let mut starts = vec![0];
            starts.extend(starts_within(&self.text, 0..self.text.len()));
            starts
        })
    }

    /// Whether a value in the plan may stand for another (XStream's `reference`).
    pub fn has_references(&self) -> bool {
        *self
            .has_references
            .get_or_init(|| has_references(&self.text))
    }

    /// Replaces a range of a text without references by a text that makes none. Lines that are known stay known.
    pub(crate) fn replace(&mut self, replaced: Span, inserted: &str) {
        let moved = MovedOffsets {
            from: replaced.end,
            to: replaced.start + inserted.len(),
        };
        self.text
            .replace_range(replaced.start..replaced.end, inserted);
        if let Some(starts) = self.line_starts.get_mut() {
            // The byte before the range may be a carriage return, whose meaning depends on the next byte.
            let first = starts
                .partition_point(|start| *start < replaced.start)
                .max(1);
            let behind = starts
                .partition_point(|start| *start <= replaced.end)
                .max(first);
            for start in &mut starts[behind..] {
                *start = moved.offset(*start);
            }
            let changed = replaced.start.saturating_sub(1)..moved.to;
            starts.splice(first..behind, starts_within(&self.text, changed));
        }
    }
}

/// Whether a value in the text of a plan may stand for another (XStream's `reference`).
pub fn has_references(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, "reference").any(|at| {
        let after = bytes[at + "reference".len()..].trim_ascii_start();
        after.first() == Some(&b'=') && at > 0 && bytes[at - 1].is_ascii_whitespace()
    })
}

/// The starts of lines behind the line ends in a range.
fn starts_within(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let ends = range.filter(|at| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    ends.map(|at| at + 1)
}

/// Byte offsets into [`SourceFile::text`], the end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }
}

/// Moves all offsets from `from` on, so that they start at `to`.
#[derive(Clone, Copy)]
pub(crate) struct MovedOffsets {
    pub from: usize,
    pub to: usize,
}

impl MovedOffsets {
    /// The offset after the move.
    pub fn offset(self, offset: usize) -> usize {
        if offset >= self.from {
            offset - self.from + self.to
        } else {
            offset
        }
    }

    /// The span after the move.
    pub fn span(self, span: Span) -> Span {
        Span::new(self.offset(span.start), self.offset(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let file = SourceFile::new("p", "ab\nçd\r\ne\rf");
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line_column(2), (1, 3));
        assert_eq!(file.line_column(3), (2, 1));
        assert_eq!(file.line_column(5), (2, 2), "ç is one column");
        assert_eq!(file.line_column(8), (3, 1));
        assert_eq!(file.line_column(10), (4, 1), "a lone CR ends a line");
        assert_eq!(file.line_column(999), (4, 2));
    }

    #[test]
    fn lines_stay_known_when_a_range_is_replaced() {
        let pieces = ["", "a", "\n", "\r", "\r\n", "b\nc", "\n\r"];
        let mut random = fastrand::Rng::with_seed(46);
        for _ in 0..5_000 {
            let text: String = (0..random.usize(..8))
                .map(|_| pieces[random.usize(..pieces.len())])
                .collect();
            let mut file = SourceFile::new("p", text);
            file.line_starts();
            let start = random.usize(..=file.text.len());
            let end = random.usize(start..=file.text.len());
            let before = file.text.clone();
            file.replace(Span::new(start, end), pieces[random.usize(..pieces.len())]);
            let anew = SourceFile::new("p", file.text.clone());
            assert_eq!(
                file.line_starts(),
                anew.line_starts(),
                "{before:?} {start} {end} {anew:?}"
            );
        }
    }

    #[test]
    fn a_line_comes_without_its_end() {
        let file = SourceFile::new("p", "ab\r\ncd");
        assert_eq!(file.line(1), ("ab", 0));
        assert_eq!(file.line(2), ("cd", 4));
        assert_eq!(file.line(9), ("cd", 4));
    }

    #[test]
    fn an_empty_file_has_one_empty_line() {
        let file = SourceFile::new("p", "");
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line(1), ("", 0));
    }
}
