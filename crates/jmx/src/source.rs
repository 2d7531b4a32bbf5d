//! The text of a file, and spans in it.

use std::path::PathBuf;
use std::sync::OnceLock;

/// A file as text, stored to render diagnostics.
#[derive(Debug, Default)]
pub struct SourceFile {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The decoded text, without a byte order mark.
    pub text: String,
    line_starts: OnceLock<Vec<usize>>,
}

impl SourceFile {
    /// A file by its path and its text.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        SourceFile {
            path: path.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
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
            let bytes = self.text.as_bytes();
            let mut starts = vec![0];
            for (i, &byte) in bytes.iter().enumerate() {
                let lone_cr = byte == b'\r' && bytes.get(i + 1) != Some(&b'\n');
                if byte == b'\n' || lone_cr {
                    starts.push(i + 1);
                }
            }
            starts
        })
    }
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
