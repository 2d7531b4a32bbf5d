//! The text of an open file, with places as the protocol counts them: lines, and UTF-16 units within them.

use std::path::{Path, PathBuf};

use drumfire_jmx::{Diagnostic, Span};
use drumfire_refactor::{Index, PlanFile};
use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

/// Text with the places of its lines.
#[derive(Debug, Clone)]
pub struct Lines {
    pub text: String,
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(text: String) -> Lines {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Lines { text, starts }
    }

    /// The place of a byte; behind the end it is the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        let units: usize = before.chars().map(char::len_utf16).sum();
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Position::new(small(line), small(units))
    }

    /// The byte at a place; behind the end of a line it is the end of the line.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.starts.get(line).copied() else {
            return self.text.len();
        };
        let end = self
            .starts
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        let mut units = position.character as usize;
        for (at, sign) in self.text[start..end].char_indices() {
            if units < sign.len_utf16() {
                return start + at;
            }
            units -= sign.len_utf16();
        }
        end
    }

    pub fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    pub fn span(&self, range: Range) -> Span {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        Span::new(start, end.max(start))
    }

    fn change(&mut self, change: TextDocumentContentChangeEvent) {
        let Some(range) = change.range else {
            *self = Lines::new(change.text);
            return;
        };
        let span = self.span(range);
        self.text.replace_range(span.start..span.end, &change.text);
        // lines before the change stay
        let first = self.starts.partition_point(|start| *start <= span.start);
        self.starts.truncate(first);
        let behind = self.text[span.start..].match_indices('\n');
        self.starts
            .extend(behind.map(|(at, _)| span.start + at + 1));
    }
}

/// A file that is open in the editor.
#[derive(Debug)]
pub struct Document {
    pub path: PathBuf,
    pub version: i32,
    pub lines: Lines,
    /// The plan as it was when it could last be read, and the lines that its places belong to.
    pub plan: Option<(PlanFile, Lines)>,
    /// The findings of reading the plan, besides faults.
    pub warnings: Vec<Diagnostic>,
    /// Faults of the text as it is now.
    pub faults: Vec<Diagnostic>,
    /// Faults have been published.
    pub had_faults: bool,
    /// The text has changed since it was looked at.
    pub is_stale: bool,
}

impl Document {
    pub fn new(path: PathBuf, version: i32, text: String) -> Document {
        let mut document = Document {
            path,
            version,
            lines: Lines::new(text),
            plan: None,
            warnings: Vec::new(),
            faults: Vec::new(),
            had_faults: false,
            is_stale: true,
        };
        document.read();
        document
    }

    pub fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            self.lines.change(change);
        }
        self.version = version;
        self.is_stale = true;
        self.faults.clear();
    }

    pub fn is_plan(&self) -> bool {
        is_plan(&self.path)
    }

    /// Reads the plan anew after changes; while the text is no plan the last one stays.
    pub fn read(&mut self) {
        if !self.is_plan() || !self.is_stale {
            return;
        }
        self.is_stale = false;
        match drumfire_jmx::read(self.lines.text.as_bytes(), &self.path) {
            Ok(read) => {
                let index = Index::of(&read.tree);
                let path = self.path.clone();
                let tree = read.tree;
                let lines = Lines::new(tree.source.text.clone());
                self.plan = Some((PlanFile { path, tree, index }, lines));
                self.warnings = read.warnings;
                self.faults = Vec::new();
            }
            Err(faults) => self.faults = faults,
        }
    }
}

pub fn is_plan(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_utf16_units() {
        let lines = Lines::new("a\nç😀x\r\n\nend".to_owned());
        for (offset, line, character) in [(0, 0, 0), (2, 1, 0), (4, 1, 1), (8, 1, 3), (12, 3, 0)] {
            let position = Position::new(line, character);
            assert_eq!(lines.position(offset), position, "{offset}");
            assert_eq!(lines.offset(position), offset, "{offset}");
        }
        assert_eq!(lines.offset(Position::new(0, 99)), 1);
        assert_eq!(lines.offset(Position::new(99, 0)), lines.text.len());
    }

    #[test]
    fn changes_keep_the_lines_right() {
        let mut lines = Lines::new("one\ntwo\nthree\n".to_owned());
        let change =
            |start: (u32, u32), end: (u32, u32), text: &str| TextDocumentContentChangeEvent {
                range: Some(Range::new(
                    Position::new(start.0, start.1),
                    Position::new(end.0, end.1),
                )),
                range_length: None,
                text: text.to_owned(),
            };
        for step in [
            change((1, 0), (1, 3), "2\n2b"),
            change((0, 3), (1, 0), " "),
            change((9, 9), (9, 9), "end"),
        ] {
            lines.change(step);
            let anew = Lines::new(lines.text.clone());
            assert_eq!(lines.starts, anew.starts, "{:?}", lines.text);
        }
        assert_eq!(lines.text, "one 2\n2b\nthree\nend");
    }
}
