//! Numbers with their units and nouns, written the same way in every output.

use std::borrow::Cow;

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

/// Bytes as hexadecimal digits, two for each, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number with its noun, which is given in the singular: `1 sample`, `1,200 samples`, `0 bodies`, `2 classes`.
pub fn counted(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{} {}", count(number), plural(noun)),
    }
}

fn plural(noun: &str) -> String {
    let ends_in = |endings: &[&str]| endings.iter().any(|ending| noun.ends_with(ending));
    match noun.strip_suffix('y') {
        Some(stem) if !ends_in(&["ay", "ey", "oy"]) => format!("{stem}ies"),
        _ if ends_in(&["s", "x", "ch", "sh"]) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// A time in milliseconds, without its unit: three significant digits, but no digit finer than a microsecond. All times of
/// all tables are in this unit, so that the numbers of a column can be compared at a glance.
pub fn ms(value: f64) -> String {
    match value {
        value if value < 0.0005 => "0".to_owned(),
        value if value < 0.9995 => format!("{value:.3}"),
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// The text in one line of at most this many characters. It is cut in the middle, because names of one plan often differ only at
/// their ends.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let is_short = text.len() <= most || text.char_indices().nth(most).is_none();
    if is_short && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let tail = if is_short {
        0
    } else {
        most.saturating_sub(1) / 2
    };
    let head = most - tail - usize::from(!is_short);
    let mut kept: String = text.chars().take(head).collect();
    if !is_short {
        kept.push('…');
        let tail = tail
            .checked_sub(1)
            .and_then(|last| text.char_indices().nth_back(last));
        kept.push_str(tail.map(|(at, _)| &text[at..]).unwrap_or_default());
    }
    Cow::Owned(kept.replace(char::is_control, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_in_the_middle() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("GET /api/orders/17/items", 11), "GET /…items");
        assert_eq!(shortened("two\nlines\u{1b}[2J", 30), "two lines [2J");
        assert_eq!(shortened("abc", 1), "…");
        assert_eq!(shortened("abc", 2), "a…");
        let long = "x".repeat(50 << 20) + "end";
        assert_eq!(shortened(&long, 9), "xxxx…xend");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn one_is_singular_and_every_other_number_plural() {
        assert_eq!(counted(0, "sample"), "0 samples");
        assert_eq!(counted(1, "sample"), "1 sample");
        assert_eq!(counted(12_000, "sample"), "12,000 samples");
        assert_eq!(
            ["body", "key", "class", "box", "match", "hash"].map(|noun| counted(2, noun)),
            [
                "2 bodies",
                "2 keys",
                "2 classes",
                "2 boxes",
                "2 matches",
                "2 hashes"
            ]
        );
    }

    #[test]
    fn times_below_a_millisecond_have_the_unit_of_the_others() {
        assert_eq!(
            [
                0.0, 0.0004, 0.0424, 0.424, 0.9996, 9.99, 10.0, 99.94, 99.96, 1234.4
            ]
            .map(ms),
            [
                "0", "0", "0.042", "0.424", "1.00", "9.99", "10.0", "99.9", "100", "1234"
            ]
        );
    }
}
