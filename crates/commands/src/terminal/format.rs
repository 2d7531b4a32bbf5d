//! Formats numbers, times and texts for the columns of a terminal.

pub use drumfire_platform::words::{count, counted, ms};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Formats a time as `hh:mm:ss`, like JMeter's summary lines.
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// A time in milliseconds with its unit: `0.424 ms`, `1.20 ms`.
pub fn ms_with_unit(value: f64) -> String {
    format!("{} ms", ms(value))
}

/// Formats a rate per second, with one decimal below 10,000.
pub fn rate(value: f64) -> String {
    if value >= 10_000.0 {
        count(value.round() as u64)
    } else {
        format!("{value:.1}")
    }
}

/// Wraps sentences to the columns of a terminal, at word boundaries. Continuation lines are indented.
pub fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len() + 2;
        let mut width = 0;
        for word in line.split_inclusive(' ') {
            let wide = shown_width(word.trim_end());
            if width > indent && width + wide > columns {
                out.truncate(out.trim_end().len());
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                width = indent;
            }
            out.push_str(word);
            width += wide + word.len() - word.trim_end().len();
        }
        out.push('\n');
    }
    out
}

/// The width of a text that may contain colour sequences.
pub fn shown_width(text: &str) -> usize {
    let mut parts = text.split("\x1b[");
    let first = parts.next().map(UnicodeWidthStr::width).unwrap_or(0);
    let coloured = parts.filter_map(|part| part.split_once('m'));
    first + coloured.map(|(_, text)| text.width()).sum::<usize>()
}

/// Formats bytes in the unit that keeps the number short.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.1} {}", UNITS[unit])
}

/// Wraps the text at blanks into lines of at most this many columns, each after `indent`. A longer word gets a line of its own.
pub fn wrap(text: &str, indent: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}

/// What JMeter puts before the code and the message of a failure that is not a response of a server.
const NON_HTTP: [&str; 2] = ["Non HTTP response code: ", "Non HTTP response message: "];

/// A failure's code and message in at most this many columns. If they do not fit, JMeter's `Non HTTP response …` is left out
/// first; then the middle is cut, because causes stand at the end.
pub fn failure(code: &str, message: &str, columns: usize) -> String {
    let whole = format!("{code} {message}");
    if let Some(clean) = short_enough(whole.trim(), columns) {
        return clean;
    }
    let [code, message] = [code, message].map(|text| {
        let prefix = NON_HTTP.iter().find(|prefix| text.starts_with(**prefix));
        &text[prefix.map(|prefix| prefix.len()).unwrap_or(0)..]
    });
    cut_middle(format!("{code} {message}").trim(), columns)
}

/// Fits the text to exactly this many columns: cuts it with `…` or pads it with spaces. Control characters become spaces,
/// because labels and messages come from plans and servers.
pub fn fit(text: &str, columns: usize) -> String {
    let mut fitted = cut(text, columns);
    let filled = columns.saturating_sub(fitted.width());
    fitted.extend(std::iter::repeat_n(' ', filled));
    fitted
}

/// Cuts the text with `…` to at most this many columns, without control characters.
pub fn cut(text: &str, columns: usize) -> String {
    if let Some(clean) = short_enough(text, columns) {
        return clean;
    }
    let mut shortened = within(text.chars(), columns.saturating_sub(1));
    if columns > 0 {
        shortened.push('…');
    }
    shortened
}

/// The same, but cuts in the middle: labels of one plan often differ only at their ends.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if let Some(clean) = short_enough(text, columns) {
        return clean;
    }
    let room = columns.saturating_sub(1);
    let end = within(text.chars().rev(), room / 2);
    let mut cut = within(text.chars(), room - room / 2);
    if columns > 0 {
        cut.push('…');
    }
    cut.extend(end.chars().rev());
    cut
}

/// The text without control characters, if it fits. A label may have megabytes, so no more of it is read than could fit.
fn short_enough(text: &str, columns: usize) -> Option<String> {
    const LONGEST_CLUSTER: usize = 32;
    if text.len() > columns.saturating_add(1).saturating_mul(LONGEST_CLUSTER) {
        return None;
    }
    let clean: String = text.chars().map(printable).collect();
    (clean.width() <= columns).then_some(clean)
}

/// The leading characters that fit.
fn within(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut fitting = String::new();
    let mut width = 0;
    for found in characters.map(printable) {
        width += found.width().unwrap_or(0);
        if width > columns {
            break;
        }
        fitting.push(found);
    }
    fitting
}

fn printable(found: char) -> char {
    let turns = matches!(found, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if found.is_control() || turns {
        ' '
    } else {
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_where_a_word_begins() {
        let text = "short\n  one two three four\n";
        assert_eq!(wrapped(text, 80), text);
        assert_eq!(wrapped(text, 12), "short\n  one two\n    three\n    four\n");
        assert_eq!(
            wrapped("averyverylongword it\n", 8),
            "averyverylongword\n  it\n"
        );
        let coloured = "\x1b[2mone two\x1b[0m\n";
        assert_eq!(wrapped(coloured, 7), coloured);
        assert_eq!(wrapped(coloured, 6), "\x1b[2mone\n  two\x1b[0m\n");
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(
            wrap("one two three four", "  ", 10),
            ["  one two", "  three", "  four"]
        );
        assert_eq!(wrap("one two", "", usize::MAX), ["one two"]);
        assert!(wrap("", "  ", 9).is_empty());
    }

    #[test]
    fn numbers() {
        assert_eq!(
            [0, 61_999, 36_000_000].map(clock),
            ["00:00:00", "00:01:01", "10:00:00"]
        );
        assert_eq!([0.424, 99.94].map(ms_with_unit), ["0.424 ms", "99.9 ms"]);
        assert_eq!(
            [0.04, 999.95, 12_345.6].map(rate),
            ["0.0", "1000.0", "12,346"]
        );
        assert_eq!(
            [1023, 1024, 1_572_864].map(bytes),
            ["1023 B", "1.0 KiB", "1.5 MiB"]
        );
    }

    #[test]
    fn texts_are_cut_by_columns_not_by_bytes() {
        assert_eq!(fit("héllo", 7), "héllo  ");
        assert_eq!(fit("a long label", 6), "a lon…");
        assert_eq!(
            fit("日本語", 4),
            "日… ",
            "each of these is two columns wide"
        );
        assert_eq!(cut("anything", 0), "");
    }

    #[test]
    fn labels_are_cut_in_the_middle() {
        assert_eq!(cut_middle("short", 5), "short");
        assert_eq!(cut_middle("GET /api/orders/17/items", 11), "GET /…items");
        assert_eq!(cut_middle("日本語日本語", 7), "日…語");
        assert_eq!(cut_middle("abc", 0), "");
        let long = "x".repeat(50 << 20) + "end";
        assert_eq!(cut_middle(&long, 9), "xxxx…xend");
        assert_eq!(cut(&long, 4), "xxx…");
    }

    #[test]
    fn the_common_beginning_of_failures_is_cut_first() {
        let (code, message) = (
            "Non HTTP response code: java.net.ConnectException",
            "Non HTTP response message: Connection refused",
        );
        let whole = format!("{code} {message}");
        assert_eq!(failure(code, message, usize::MAX), whole);
        assert_eq!(failure(code, message, whole.len()), whole);
        assert_eq!(
            failure(code, message, whole.len() - 1),
            "java.net.ConnectException Connection refused"
        );
        assert_eq!(failure(code, message, 21), "java.net.C…on refused");
        assert_eq!(failure("500", "", 9), "500");
    }

    #[test]
    fn control_sequences_of_a_server_do_not_reach_the_terminal() {
        assert_eq!(cut("a\x1b[2Jb\r\nc", 20), "a [2Jb  c");
    }
}
