//! Findings about a plan or a property file, with their position.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use drumfire_platform::causes::unreadable;
use drumfire_platform::colour::painted;
use drumfire_platform::palette;
use drumfire_platform::spelling::absent;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
    /// The property of the element that the finding is about, if it is one.
    pub property: Option<String>,
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
            property: None,
            help: None,
        }
    }

    /// Names the property that the finding is about.
    pub fn about(mut self, property: impl Into<String>) -> Self {
        self.property = Some(property.into());
        self
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
        let message = unreadable(path, error);
        match error.kind() {
            ErrorKind::NotFound => Self::error("file-not-found", message).help(absent(path)),
            ErrorKind::PermissionDenied => Self::error("file-unreadable", message).help(
                "give the user that runs Drumfire read permission on the file and its directories",
            ),
            ErrorKind::IsADirectory => {
                Self::error("file-is-directory", message).help("name the file inside it")
            }
            _ => Self::error("file-io", message),
        }
    }

    /// Renders the finding as several lines in the style of rustc, without a line end after the last one.
    pub fn render(&self, color: bool) -> String {
        self.render_within(color, None)
    }

    /// The same for a terminal of this many columns, on which the source and the marks below it do not wrap.
    pub fn render_within(&self, color: bool, columns: Option<usize>) -> String {
        let paint = |code: &str, text: &str| {
            if color {
                painted(code, text)
            } else {
                text.to_string()
            }
        };
        const BOLD: &str = "1";
        let blue = format!("1;{}", palette::BLUE);
        let colour = format!("1;{}", self.severity.colour());
        let head = format!("{}[{}]", self.severity.as_str(), self.code);
        let mut out = paint(&colour, &head);
        out.push_str(&paint(BOLD, &format!(": {}", self.message)));
        let mut gutter = 1;
        if let Some(source) = &self.source {
            let path = source.path.display();
            if let Some(span) = self.span {
                let (line, column) = source.line_column(span.start);
                gutter = line.to_string().len();
                let arrow = paint(&blue, "-->");
                let _ = write!(out, "\n{:gutter$}{arrow} {path}:{line}:{column}", "");
                // The line's number, the bar, the blanks around it, and an ellipsis at either end.
                let taken = gutter + 3 + 2;
                let window = columns
                    .map(|columns| columns.saturating_sub(taken).clamp(1, SNIPPET_WIDTH))
                    .unwrap_or(SNIPPET_WIDTH);
                let (text, marks) = snippet(source, span, line, window);
                let bar = paint(&blue, "|");
                let number = paint(&blue, &line.to_string());
                let marks = paint(&colour, &marks);
                let _ = write!(out, "\n{:gutter$} {bar}\n{number} {bar} {text}", "");
                let _ = write!(out, "\n{:gutter$} {bar} {marks}", "");
            } else {
                let _ = write!(out, "\n{:gutter$}{} {path}", "", paint(&blue, "-->"));
            }
        }
        let equals = paint(&blue, "=");
        if !self.path.is_empty() {
            let path = shown_path(&self.path);
            let _ = write!(out, "\n{:gutter$} {equals} in: {path}", "");
        }
        if let Some(help) = &self.help {
            let _ = write!(out, "\n{:gutter$} {equals} hint: {help}", "");
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

/// How many columns of a line are shown at most. Some plans have lines of a megabyte.
const SNIPPET_WIDTH: usize = 100;
/// The share of the window that is before the marked position if the line has to be cut.
const SNIPPET_LEAD: f64 = 0.3;

/// The line around the position, cut to a window of this many columns, and the marks to print below it.
fn snippet(source: &SourceFile, span: Span, line: usize, window: usize) -> (String, String) {
    let (text, line_start) = source.line(line);
    let from = text.floor_char_boundary(span.start.saturating_sub(line_start).min(text.len()));
    let to = text.ceil_char_boundary(span.end.saturating_sub(line_start).min(text.len()));
    let indent = text.len() - text.trim_start().len();
    let (before, after) = (&text[indent.min(from)..from], &text[from..]);
    let room = (window as f64 * SNIPPET_LEAD) as usize;
    let fits = within(text[indent..].chars(), window).len() == shown(&text[indent..]).len();
    let (lead, mut line) = if !fits && shown(before).width() > room {
        let last_signs: Vec<char> = within(before.chars().rev(), room).chars().collect();
        ("…", last_signs.into_iter().rev().collect())
    } else {
        ("", within(before.chars(), window))
    };
    let offset = lead.width() + line.width();
    let rest = within(after.chars(), window.saturating_sub(line.width()));
    line.push_str(&rest);
    let marked = shown(&text[from..to.max(from)]).width().max(1);
    let marked = if rest.len() < shown(after).len() {
        line.push('…');
        marked.min(rest.width() + 1)
    } else {
        marked
    };
    let marks = " ".repeat(offset) + &"^".repeat(marked);
    (format!("{lead}{line}"), marks)
}

/// The text as a terminal shows it.
fn shown(text: &str) -> String {
    text.chars().map(printable).collect()
}

/// The leading characters that fit into this many columns.
fn within(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut fitting = String::new();
    let mut width = 0;
    for sign in characters.map(printable) {
        width += sign.width().unwrap_or(0);
        if width > columns {
            break;
        }
        fitting.push(sign);
    }
    fitting
}

/// Replaces control characters, which would move the terminal's cursor.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
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
  = hint: write digits";
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
        let expected = painted("1;38;5;160", "error[e]") + &painted("1", ": m");
        assert_eq!(shown, expected);
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

    /// The source and the marks of a finding at the only `X` of a line.
    fn at_the_x(line: &str, columns: Option<usize>) -> (String, String) {
        let start = line.find('X').expect("it is there");
        let text = Diagnostic::error("e", "m")
            .at(&source(line), Span::new(start, start + 1))
            .render_within(false, columns);
        let mut lines = text.lines().skip(3);
        let next = lines.next().zip(lines.next()).expect("source and marks");
        (next.0.to_owned(), next.1.to_owned())
    }

    #[test]
    fn marks_stand_below_their_source_whatever_its_width() {
        let lines = [
            "<a>X</a>".to_owned(),
            "\t\t<a>\tX</a>".to_owned(),
            "名前の日本語X日本語".to_owned(),
            "e\u{301}e\u{301}X".to_owned(),
            "👍🏽 👩‍👩‍👧 X".to_owned(),
            format!("{}X{}", "日".repeat(300), "本".repeat(300)),
            format!("{}X{}", "a\t".repeat(300), "é".repeat(300)),
            format!("   {}X", "日".repeat(30)),
        ];
        for line in &lines {
            for columns in [None, Some(20), Some(40), Some(80), Some(200)] {
                let (shown, marks) = at_the_x(line, columns);
                let before = shown.find('X').expect("it is shown");
                assert_eq!(
                    marks.find('^').map(|at| marks[..at].width()),
                    Some(shown[..before].width()),
                    "{columns:?}\n{shown}\n{marks}"
                );
                assert_eq!(marks.matches('^').count(), 1, "{shown}\n{marks}");
                for line in [&shown, &marks] {
                    assert!(line.width() <= columns.unwrap_or(106), "{columns:?} {line}");
                }
            }
        }
    }

    #[test]
    fn a_wide_character_has_two_marks() {
        let text = Diagnostic::error("e", "m")
            .at(&source("ab日本c"), Span::new(2, 8))
            .render(false);
        assert!(text.ends_with("| ab日本c\n  |   ^^^^"), "{text}");
    }
}
