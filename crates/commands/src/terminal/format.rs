//! Formats numbers, times and texts for the columns of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Digits in groups of three: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

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

/// Formats a time in milliseconds with at most three significant digits: `7.3`, `123`. Times below a millisecond are in
/// microseconds, with the unit: `42µs`.
pub fn ms(value: f64) -> String {
    match value {
        value if value < 0.0005 => "0".to_owned(),
        value if value < 0.9995 => format!("{:.0}µs", value * 1000.0),
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// The same, always with a unit: `424µs`, `1.20 ms`.
pub fn ms_with_unit(value: f64) -> String {
    let text = ms(value);
    if text.ends_with('s') {
        text
    } else {
        text + " ms"
    }
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
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
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

/// Fits the text to exactly this many columns: cuts it with `…` or pads it with spaces. Control characters become spaces,
/// because labels and messages come from plans and servers.
pub fn fit(text: &str, columns: usize) -> String {
    let mut fitted = cut(text, columns);
    let filled = columns.saturating_sub(fitted.width());
    fitted.extend(std::iter::repeat_n(' ', filled));
    fitted
}

/// The same, but cuts in the middle: labels of one plan often differ only at their ends.
pub fn fit_middle(text: &str, columns: usize) -> String {
    let mut fitted = cut_middle(text, columns);
    let filled = columns.saturating_sub(fitted.width());
    fitted.extend(std::iter::repeat_n(' ', filled));
    fitted
}

/// Cuts the text with `…` to at most this many columns, without control characters.
pub fn cut(text: &str, columns: usize) -> String {
    if let Some(clean) = short_enough(text, columns) {
        return clean;
    }
    let mut kept = within(text.chars(), columns.saturating_sub(1));
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// Cuts the text in the middle with `…` to at most this many columns, without control characters.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if let Some(clean) = short_enough(text, columns) {
        return clean;
    }
    let room = columns.saturating_sub(1);
    let end = within(text.chars().rev(), room / 2);
    let mut kept = within(text.chars(), room - room / 2);
    if columns > 0 {
        kept.push('…');
    }
    kept.extend(end.chars().rev());
    kept
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
    let mut kept = String::new();
    let mut width = 0;
    for found in characters.map(printable) {
        width += found.width().unwrap_or(0);
        if width > columns {
            break;
        }
        kept.push(found);
    }
    kept
}

fn printable(found: char) -> char {
    let turns = matches!(found, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match found.is_control() || turns {
        true => ' ',
        false => found,
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
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0, 61_999, 36_000_000].map(clock),
            ["00:00:00", "00:01:01", "10:00:00"]
        );
        assert_eq!(
            [0.0, 0.0424, 0.424, 0.9996, 9.99, 10.0, 99.94, 99.96, 1234.4].map(ms),
            [
                "0", "42µs", "424µs", "1.00", "9.99", "10.0", "99.9", "100", "1234"
            ]
        );
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
        assert_eq!(fit_middle("ab", 4), "ab  ");
        assert_eq!(cut_middle("日本語日本語", 7), "日…語");
        assert_eq!(cut_middle("abc", 0), "");
        let long = "x".repeat(50 << 20) + "end";
        assert_eq!(cut_middle(&long, 9), "xxxx…xend");
        assert_eq!(cut(&long, 4), "xxx…");
    }

    #[test]
    fn control_sequences_of_a_server_do_not_reach_the_terminal() {
        assert_eq!(cut("a\x1b[2Jb\r\nc", 20), "a [2Jb  c");
    }
}
