//! The text of an open file, with positions as the protocol counts them: lines, and UTF-16 units within a
//! line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use drumfire_jmx::{Diagnostic, Span, TextEdit};
use drumfire_refactor::PlanFile;

use crate::protocol::{ContentChange, Position, Range};

/// A text and the offsets of its lines.
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

    /// The line of a byte, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The position of a byte. An offset past the end is the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.line(offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        let units: usize = before.chars().map(char::len_utf16).sum();
        Position::new(small(line), small(units))
    }

    /// The byte at a position. A position past the end of a line is the end of the line.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.starts.get(line).copied() else {
            return self.text.len();
        };
        let end = self
            .starts
            .get(line + 1)
            .map(|next| next - 1)
            .unwrap_or(self.text.len());
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

    /// Applies a change from the editor and returns which bytes it replaced.
    fn change(&mut self, change: ContentChange) -> TextEdit {
        let (span, new) = match change.range {
            Some(range) => (self.span(range), change.text.as_str()),
            // The editor sent the whole text, most of which is unchanged.
            None => difference(&self.text, &change.text).unwrap_or_default(),
        };
        self.replace(span, new);
        TextEdit {
            replaced: span,
            inserted: new.len(),
        }
    }

    fn replace(&mut self, span: Span, new: &str) {
        self.text.replace_range(span.start..span.end, new);
        let first = self.starts.partition_point(|start| *start <= span.start);
        let behind = self.starts.partition_point(|start| *start <= span.end);
        for start in &mut self.starts[behind..] {
            *start = *start - span.end + span.start + new.len();
        }
        let lines = new.match_indices('\n').map(|(at, _)| span.start + at + 1);
        self.starts.splice(first..behind, lines);
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The range in which two texts differ, and its content in the second.
pub fn difference<'t>(old: &str, new: &'t str) -> Option<(Span, &'t str)> {
    if old == new {
        return None;
    }
    let mut start = equal(&mut old.bytes().zip(new.bytes()));
    while !(old.is_char_boundary(start) && new.is_char_boundary(start)) {
        start -= 1;
    }
    let ends = old[start..].bytes().rev().zip(new[start..].bytes().rev());
    let mut end = equal(&mut { ends });
    while !(old.is_char_boundary(old.len() - end) && new.is_char_boundary(new.len() - end)) {
        end -= 1;
    }
    let span = Span::new(start, old.len() - end);
    Some((span, &new[start..new.len() - end]))
}

fn equal(pairs: &mut dyn Iterator<Item = (u8, u8)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

/// A file that is open in the editor.
#[derive(Debug)]
pub struct OpenDocument {
    pub path: PathBuf,
    pub version: i32,
    pub lines: Arc<Lines>,
    /// The plan when it was last readable, and the lines that its positions refer to.
    pub plan: Option<(PlanFile, Arc<Lines>)>,
    /// The warnings from reading the plan.
    pub warnings: Vec<Diagnostic>,
    /// Errors of the current text.
    pub faults: Vec<Diagnostic>,
    /// Whether errors have been published.
    pub had_faults: bool,
    /// Whether the text has changed since it was last checked.
    pub is_stale: bool,
    /// The changes since the plan was read, joined.
    edit: Option<TextEdit>,
}

impl OpenDocument {
    pub fn new(path: PathBuf, version: i32, text: String) -> OpenDocument {
        let mut document = OpenDocument {
            path,
            version,
            lines: Arc::new(Lines::new(text)),
            plan: None,
            warnings: Vec::new(),
            faults: Vec::new(),
            had_faults: false,
            is_stale: true,
            edit: None,
        };
        document.read();
        document
    }

    pub fn change(&mut self, version: i32, changes: Vec<ContentChange>) {
        let lines = Arc::make_mut(&mut self.lines);
        for change in changes {
            let edit = lines.change(change);
            self.edit = Some(self.edit.map(|all| all.then(edit)).unwrap_or(edit));
        }
        self.version = version;
        self.is_stale = true;
        self.faults.clear();
    }

    pub fn is_plan(&self) -> bool {
        is_plan(&self.path)
    }

    /// Reads the plan again after changes. While the text is not a plan, the last one stays.
    pub fn read(&mut self) {
        if !self.is_plan() || !self.is_stale {
            return;
        }
        self.is_stale = false;
        if self.read_change() {
            return;
        }
        match drumfire_jmx::read(self.lines.text.as_bytes(), &self.path) {
            Ok(read) => {
                let tree = read.tree;
                let lines = if tree.source.text == self.lines.text {
                    self.lines.clone()
                } else {
                    // The tree's text has no byte order mark.
                    Arc::new(Lines::new(tree.source.text.clone()))
                };
                self.plan = Some((PlanFile::new(self.path.clone(), tree), lines));
                self.warnings = read.warnings;
                self.faults = Vec::new();
                self.edit = None;
            }
            Err(faults) => self.faults = faults,
        }
    }

    /// Reads only the element that contains all changes since the plan was read, if there is one.
    fn read_change(&mut self) -> bool {
        let Some(((plan, lines), edit)) = self.plan.as_mut().zip(self.edit) else {
            return false;
        };
        let was_read_so = lines.text.len() + edit.inserted
            == self.lines.text.len() + edit.replaced.end - edit.replaced.start;
        if !was_read_so
            || !self.warnings.is_empty()
            || plan.tree.source.text.len() != lines.text.len()
        {
            return false;
        }
        let start = edit.replaced.start;
        let inserted = &self.lines.text[start..start + edit.inserted];
        if drumfire_jmx::reread(&mut plan.tree, edit.replaced, inserted).is_none()
            && !drumfire_jmx::reread_siblings(&mut plan.tree, edit.replaced, inserted)
        {
            return false;
        }
        *plan = PlanFile::new(self.path.clone(), plan.tree.clone());
        *lines = self.lines.clone();
        self.faults = Vec::new();
        self.edit = None;
        true
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
        let change = |start: (u32, u32), end: (u32, u32), text: &str| ContentChange {
            range: Some(Range::new(
                Position::new(start.0, start.1),
                Position::new(end.0, end.1),
            )),
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
        let whole = ContentChange {
            range: None,
            text: "one 2\nthree\n\nend".to_owned(),
        };
        let edit = lines.change(whole.clone());
        assert_eq!(lines.starts, Lines::new(whole.text).starts);
        assert_eq!((edit.replaced, edit.inserted), (Span::new(6, 14), 6));
    }

    #[test]
    fn changes_are_read_as_the_whole_text_is() {
        let plan = |head: &str, name: &str| {
            format!(
                r#"{head}<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="G" testclass="TestPlan" testname="{name}"/><hashTree/></hashTree></jmeterTestPlan>"#
            )
        };
        let whole = |text: String| ContentChange { range: None, text };
        for head in ["", "\u{feff}", "<?xml version=\"1.0\"?>\n"] {
            let path = PathBuf::from("p.jmx");
            let mut document = OpenDocument::new(path.clone(), 0, plan(head, "one"));
            for name in ["two", "", "a \" b", "a \" b=\"", "thr\u{e9}e"] {
                let text = plan(head, name);
                document.change(1, vec![whole(text.clone())]);
                document.read();
                let anew = OpenDocument::new(path.clone(), 1, text);
                assert_eq!(
                    format!("{:?}", document.faults),
                    format!("{:?}", anew.faults)
                );
                if let (Some((plan, lines)), Some((other, others))) = (&document.plan, &anew.plan) {
                    assert_eq!(format!("{:?}", plan.tree), format!("{:?}", other.tree));
                    assert_eq!((&lines.text, &lines.starts), (&others.text, &others.starts));
                }
                assert!(document.plan.is_some());
            }
        }
    }
}
