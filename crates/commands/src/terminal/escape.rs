//! Makes text from plans, servers and other machines harmless before it leaves the program: terminals obey escape
//! sequences, and CI systems obey lines that look like their commands.

use std::borrow::Cow;

use drumfire_platform::colour;

/// The longest line in bytes. A longer one is cut in the middle: a label may have megabytes.
const LONGEST_LINE: usize = 100_000;

/// Escapes a text of several lines for a terminal or a CI system's log. Of the control sequences, only this program's colours
/// remain.
pub fn text(text: &str) -> Cow<'_, str> {
    let is_harmless = !text.chars().any(is_control)
        && !text.contains("::")
        && !text.contains("##")
        && text.len() <= LONGEST_LINE;
    if is_harmless {
        return Cow::Borrowed(text);
    }
    let lines = text
        .split('\n')
        .map(|line| commands(&controls(&within_bounds(line))));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Escapes a text that must be one line: line ends become blanks.
pub fn line(line: &str) -> Cow<'_, str> {
    if line.contains(['\n', '\r']) {
        Cow::Owned(text(&line.replace(['\n', '\r'], " ")).into_owned())
    } else {
        text(line)
    }
}

/// Escapes the control characters of a text for a file that people read in a terminal, as with `tail -f`: `\u{1b}` becomes
/// `\x1b`. Line ends and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    let text = if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    if !text.chars().any(is_control) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match u32::from(c) {
            code if is_control(c) && code < 0x100 => out.push_str(&format!("\\x{code:02x}")),
            code if is_control(c) => out.push_str(&format!("\\u{{{code:x}}}")),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal may obey the character. Line ends are up to the caller; tabs are harmless.
fn is_control(c: char) -> bool {
    // Bidirectional controls reorder the text that is shown.
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !matches!(c, '\n' | '\t')) || turns
}

fn within_bounds(line: &str) -> Cow<'_, str> {
    if line.len() <= LONGEST_LINE {
        return Cow::Borrowed(line);
    }
    let head = line.floor_char_boundary(LONGEST_LINE / 2);
    let tail = line.ceil_char_boundary(line.len() - LONGEST_LINE / 2);
    Cow::Owned(format!("{}…{}", &line[..head], &line[tail..]))
}

/// Replaces control characters other than those of this program's colours.
fn controls(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(is_control) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match colour::shown(rest) {
            Some((sequence, length)) => {
                out.push_str(&sequence);
                rest = &rest[length..];
            }
            None => {
                out.push('\u{fffd}');
                rest = &rest[rest.chars().next().map(char::len_utf8).unwrap_or(1)..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Breaks up `::name`, `##[name]`, `##vso[` and `##teamcity[`, which GitHub, Azure and TeamCity read as commands.
fn commands(line: &str) -> String {
    let mut out = line.to_owned();
    let start = out.len() - out.trim_start().len();
    if out[start..].starts_with("::") {
        out.insert(start + 1, ' ');
    }
    while let Some(at) = command(&out) {
        out.insert(at + 1, ' ');
    }
    out
}

fn command(line: &str) -> Option<usize> {
    line.match_indices("##").find_map(|(at, _)| {
        let name = &line[at + 2..];
        let end = name.find(|c: char| !c.is_ascii_alphanumeric())?;
        name[end..].starts_with('[').then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_colours_stay_and_all_other_sequences_go() {
        let red = colour::painted("1;31", "red \x1b[32mgreen");
        assert_eq!(text(&red), "\x1b[1;31mred \u{fffd}[32mgreen\x1b[0m");
        assert_eq!(text("\x1b[1;31mred\x1b[0m"), "\u{fffd}[1;31mred\u{fffd}[0m");
        assert_eq!(text("a\x1b]0;title\x07b"), "a\u{fffd}]0;title\u{fffd}b");
        assert_eq!(text("a\x1b[2Jb\rc\x08"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}");
        assert_eq!(text("\u{202e}abc\tä\n"), "\u{fffd}abc\tä\n");
        assert_eq!(text("\u{9b}31m"), "\u{fffd}31m");
    }

    #[test]
    fn no_line_begins_a_command_of_a_ci_system() {
        assert_eq!(text("a\n ::error::x\nb::c"), "a\n : :error::x\nb::c");
        assert_eq!(text("x ##[error]y"), "x # #[error]y");
        assert_eq!(text("##vso[a] ##teamcity[b]"), "# #vso[a] # #teamcity[b]");
        assert_eq!(text("## heading"), "## heading");
    }

    #[test]
    fn a_line_of_megabytes_is_cut() {
        let long = format!("label\n::{}end\nlast", "é".repeat(1 << 20));
        let shown = text(&long);
        assert!(shown.len() < LONGEST_LINE + 100, "{}", shown.len());
        assert!(shown.starts_with("label\n: :ééé") && shown.ends_with("éend\nlast"));
        assert_eq!(text(&"x".repeat(LONGEST_LINE)).len(), LONGEST_LINE);
    }

    #[test]
    fn a_log_has_no_control_characters_but_line_ends_and_tabs() {
        assert_eq!(
            lines("a\x1b[2Jb\rc\x07\u{9b}\u{202e}"),
            "a\\x1b[2Jb\\x0dc\\x07\\x9b\\u{202e}"
        );
        assert_eq!(lines("a\tb\r\n\tc\n"), "a\tb\n\tc\n");
        assert!(matches!(lines("plain\n"), Cow::Borrowed("plain\n")));
    }

    #[test]
    fn a_line_stays_one() {
        assert_eq!(line("label\n::error::x"), "label ::error::x");
        assert!(matches!(text("plain"), Cow::Borrowed("plain")));
    }
}
