//! Makes text from plans, servers and other machines harmless before it leaves the program: terminals obey escape
//! sequences, and CI systems obey lines that look like their commands.

use std::borrow::Cow;

/// Escapes a text of several lines for a terminal or a CI system's log. Of the control sequences, only colours
/// remain.
pub fn text(text: &str) -> Cow<'_, str> {
    let is_harmless = !text.chars().any(is_control) && !text.contains("::") && !text.contains("##");
    if is_harmless {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| commands(&controls(line)));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Escapes a text that must be one line: line ends become blanks.
pub fn line(line: &str) -> Cow<'_, str> {
    match line.contains(['\n', '\r']) {
        true => Cow::Owned(text(&line.replace(['\n', '\r'], " ")).into_owned()),
        false => text(line),
    }
}

/// Whether a terminal may obey the character. Line ends are up to the caller; tabs are harmless.
fn is_control(c: char) -> bool {
    // Bidirectional controls reorder the text that is shown.
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !matches!(c, '\n' | '\t')) || turns
}

/// Replaces control characters other than those of colours.
fn controls(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(is_control) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match colour(rest) {
            Some(length) => {
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            None => {
                out.push('\u{fffd}');
                rest = &rest[rest.chars().next().map_or(1, char::len_utf8)..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The length of the colour sequence that a text begins with: `ESC [`, digits and semicolons, `m`.
fn colour(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\x1b[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    inside[end..].starts_with('m').then_some(end + 3)
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
    fn colours_stay_and_all_other_sequences_go() {
        assert_eq!(text("\x1b[1;31mred\x1b[0m"), "\x1b[1;31mred\x1b[0m");
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
    fn a_line_stays_one() {
        assert_eq!(line("label\n::error::x"), "label ::error::x");
        assert!(matches!(text("plain"), Cow::Borrowed("plain")));
    }
}
