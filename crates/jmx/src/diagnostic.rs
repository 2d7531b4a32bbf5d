//! Findings about a plan or a property file, with their position.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::palette;
use crate::source::{SourceFile, Span};

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The plan cannot run.
    Error,
    /// The plan runs, but perhaps not as its author intended.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word in front of the message.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Severity::Error => palette::RED,
            Severity::Warning => palette::AMBER,
            Severity::Note => palette::BLUE,
        }
    }
}

/// One finding, to be shown with [`Diagnostic::render`].
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// A stable name to search for, such as `jmx-bad-int`.
    pub code: &'static str,
    /// How serious the finding is.
    pub severity: Severity,
    /// One sentence about what is wrong.
    pub message: String,
    /// The file that the finding is in.
    pub source: Option<Arc<SourceFile>>,
    /// The position in the file.
    pub span: Option<Span>,
    /// Element names from the Test Plan down, as in JMeter's tree; empty if the finding is not inside an element.
    pub path: Vec<String>,
    /// The remedy.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding without a position.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            source: None,
            span: None,
            path: Vec::new(),
            help: None,
        }
    }

    /// A finding that prevents the plan from running.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A finding that the user should act on.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A finding that is good to know.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    /// Adds the file and the position.
    #[must_use]
    pub fn at(mut self, source: &Arc<SourceFile>, span: Span) -> Self {
        self.source = Some(Arc::clone(source));
        self.span = Some(span);
        self
    }

    /// Names the file without a position in it.
    #[must_use]
    pub fn in_file(mut self, source: &Arc<SourceFile>) -> Self {
        self.source = Some(Arc::clone(source));
        self
    }

    /// Adds the names of the elements around the position, from the Test Plan down.
    #[must_use]
    pub fn within(mut self, path: Vec<String>) -> Self {
        self.path = path;
        self
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Whether the finding prevents the plan from running.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Describes a file that could not be opened or read, from the operating system's error.
    pub fn from_io(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let shown = path.display();
        match error.kind() {
            ErrorKind::NotFound => Self::error("file-not-found", format!("{shown} does not exist"))
                .help("check the path; it is relative to the directory the program was started in"),
            ErrorKind::PermissionDenied => Self::error(
                "file-unreadable",
                format!("no permission to read {shown}"),
            )
            .help(
                "give the user that runs Drumfire read permission on the file and its directories",
            ),
            ErrorKind::IsADirectory => Self::error(
                "file-is-directory",
                format!("{shown} is a directory, not a file"),
            )
            .help("name the file inside it"),
            _ => Self::error("file-io", format!("{shown} could not be read: {error}")),
        }
    }

    /// Renders the finding as several lines in the style of rustc, without a line end after the last one.
    pub fn render(&self, color: bool) -> String {
        let paint = |code: &str, text: &str| {
            if color {
                format!("\x1b[{code}m{text}\x1b[0m")
            } else {
                text.to_string()
            }
        };
        const BOLD: &str = "1";
        let blue = format!("1;{}", palette::BLUE);
        let own = format!("1;{}", self.severity.colour());
        let head = format!("{}[{}]", self.severity.as_str(), self.code);
        let mut out = paint(&own, &head);
        out.push_str(&paint(BOLD, &format!(": {}", self.message)));
        let mut gutter = 1;
        if let Some(source) = &self.source {
            let path = source.path.display();
            if let Some(span) = self.span {
                let (line, column) = source.line_column(span.start);
                gutter = line.to_string().len();
                let arrow = paint(&blue, "-->");
                let _ = write!(out, "\n{:gutter$}{arrow} {path}:{line}:{column}", "");
                let (text, marks) = snippet(source, span, line);
                let bar = paint(&blue, "|");
                let number = paint(&blue, &line.to_string());
                let marks = paint(&own, &marks);
                let _ = write!(out, "\n{:gutter$} {bar}\n{number} {bar} {text}", "");
                let _ = write!(out, "\n{:gutter$} {bar} {marks}", "");
            } else {
                let _ = write!(out, "\n{:gutter$}{} {path}", "", paint(&blue, "-->"));
            }
        }
        let equals = paint(&blue, "=");
        if !self.path.is_empty() {
            let place = shown_path(&self.path);
            let _ = write!(out, "\n{:gutter$} {equals} in: {place}", "");
        }
        if let Some(help) = &self.help {
            let _ = write!(out, "\n{:gutter$} {equals} help: {help}", "");
        }
        out
    }
}

/// The path, with its middle elided if it is too deep to read.
fn shown_path(path: &[String]) -> String {
    /// Names shown at either end.
    const ENDS: usize = 8;
    const SEPARATOR: &str = " > ";
    if path.len() <= 2 * ENDS {
        return path.join(SEPARATOR);
    }
    let (first, last) = (&path[..ENDS], &path[path.len() - ENDS..]);
    [&first.join(SEPARATOR), "…", &last.join(SEPARATOR)].join(SEPARATOR)
}

/// How many characters of a line are shown. Some plans have lines of a megabyte.
const SNIPPET_WIDTH: usize = 100;
/// How many characters are shown before the marked position if the line has to be cut.
const SNIPPET_LEAD: usize = 30;

/// The line around the position, cut to a window, and the marks to print below it.
fn snippet(source: &SourceFile, span: Span, line: usize) -> (String, String) {
    let (text, line_start) = source.line(line);
    let from = text.floor_char_boundary(span.start.saturating_sub(line_start).min(text.len()));
    let to = text.ceil_char_boundary(span.end.saturating_sub(line_start).min(text.len()));
    let before = text[..from].chars().count();
    let marked = text[from..to.max(from)].chars().count().max(1);
    let total = before + text[from..].chars().take(SNIPPET_WIDTH + 1).count();
    let indent = text
        .chars()
        .take(before)
        .take_while(|c| c.is_whitespace())
        .count();
    let mut first = indent;
    if total - indent > SNIPPET_WIDTH && before - indent > SNIPPET_LEAD {
        first = before - SNIPPET_LEAD;
    }
    let lead = if first > indent { "…" } else { "" };
    let mut shown = String::from(lead);
    let mut rest = text.chars().skip(first);
    shown.extend(rest.by_ref().take(SNIPPET_WIDTH).map(printable));
    let cut = rest.next().is_some();
    if cut {
        shown.push('…');
    }
    let offset = before - first;
    let room = (SNIPPET_WIDTH + 1).saturating_sub(offset).max(1);
    let marks = " ".repeat(offset + lead.chars().count()) + &"^".repeat(marked.min(room));
    (shown, marks)
}

/// Replaces control characters, which would move the terminal's cursor.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// The candidate that a misspelt word probably means: at most one edit away for every three characters.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    /// No name is longer, and the time of the search grows with the square of the length.
    const LONGEST: usize = 100;
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let near = |candidate: &'a str| {
        let limit = (length / 3).max(1);
        if length.abs_diff(candidate.chars().count()) > limit || candidate == word {
            return None;
        }
        let distance = edits(word, candidate);
        (distance <= limit).then_some((distance, candidate))
    };
    // Among equally near candidates take the first by name, so that the result is deterministic.
    let nearest = candidates.into_iter().filter_map(near).min();
    nearest.map(|(_, candidate)| candidate)
}

/// The edit distance. A change of case is free, and swapping two adjacent letters counts as one edit.
fn edits(a: &str, b: &str) -> usize {
    let letters = |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).collect() };
    let (a, b) = (letters(a), letters(b));
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Arc<SourceFile> {
        Arc::new(SourceFile::new("a.jmx", text))
    }

    #[test]
    fn renders_place_snippet_path_and_help() {
        let file = source("one\n    <intProp name=\"a\">x</intProp>\n");
        let shown = Diagnostic::error("jmx-bad-int", "not a number")
            .at(&file, Span::new(26, 27))
            .within(vec!["Test Plan".into(), "Users".into()])
            .help("write digits")
            .render(false);
        let expected = "\
error[jmx-bad-int]: not a number
 --> a.jmx:2:23
  |
2 | <intProp name=\"a\">x</intProp>
  |                   ^
  = in: Test Plan > Users
  = help: write digits";
        assert_eq!(shown, expected);
    }

    #[test]
    fn renders_without_a_place() {
        let shown = Diagnostic::warning("w", "m")
            .in_file(&source(""))
            .render(false);
        assert_eq!(shown, "warning[w]: m\n --> a.jmx");
        assert_eq!(Diagnostic::note("n", "m").render(false), "note[n]: m");
    }

    #[test]
    fn colour_wraps_and_resets() {
        let shown = Diagnostic::error("e", "m").render(true);
        assert_eq!(shown, "\x1b[1;38;5;160merror[e]\x1b[0m\x1b[1m: m\x1b[0m");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}X{}", "a".repeat(5000), "b".repeat(5000));
        let shown = Diagnostic::error("e", "m")
            .at(&source(&text), Span::new(5000, 5001))
            .render(false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines[3],
            format!("1 | …{}X{}…", "a".repeat(30), "b".repeat(69))
        );
        assert_eq!(lines[4], format!("  | {}^", " ".repeat(31)));
    }

    #[test]
    fn marks_stop_at_the_end_of_the_line_and_control_characters_are_hidden() {
        let shown = Diagnostic::error("e", "m")
            .at(&source("\ta\u{1b}[2J\nnext"), Span::new(1, 9))
            .render(false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[3], "1 | a\u{fffd}[2J");
        assert_eq!(lines[4], "  | ^^^^^");
    }

    #[test]
    fn suggestions_are_near_or_absent() {
        let known = ["stringProp", "boolProp", "intProp"];
        assert_eq!(did_you_mean("strngProp", known), Some("stringProp"));
        assert_eq!(did_you_mean("stringprop", known), Some("stringProp"));
        assert_eq!(did_you_mean("banana", known), None);
        assert_eq!(
            did_you_mean("intProp", known),
            None,
            "the same word is no suggestion"
        );
    }
}
