//! Replaces the parts of the output that vary between runs, so that tests can compare it as a whole.

/// Replaces times of the day, epoch milliseconds, dates, ports of 127.0.0.1 and given texts.
///
/// - `2026-11-21 01:33:43,104` becomes `[DATE]`
/// - `2026 Nov 21 01:33:43 UTC` becomes `[DATE]`
/// - thirteen digits (milliseconds since 1970) become `[MS]`
/// - the port behind `127.0.0.1:` becomes `[PORT]`
///
/// `paths` are replaced first; each pair is a text and its placeholder.
pub fn redact(text: &str, paths: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (path, name) in paths {
        text = text.replace(path, name);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let starts_word = !clean.ends_with(|last: char| last.is_ascii_alphanumeric());
        let found = if starts_word { volatile(rest) } else { None };
        match found {
            Some((length, name)) => {
                clean.push_str(name);
                rest = &rest[length..];
            }
            None => {
                clean.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    clean
}

/// If the text starts with something variable: its length, and the placeholder. In a shape, `9` is a digit
/// and `A` a letter.
fn volatile(text: &str) -> Option<(usize, &'static str)> {
    const SHAPES: [(&str, &str); 6] = [
        ("9999-99-99 99:99:99,999", "[DATE]"),
        ("9999 AAA 99 99:99:99 AAAA", "[DATE]"),
        ("9999 AAA 99 99:99:99 AAA", "[DATE]"),
        ("9999 AAA 9 99:99:99 AAAA", "[DATE]"),
        ("9999 AAA 9 99:99:99 AAA", "[DATE]"),
        ("9999999999999", "[MS]"),
    ];
    if let Some(port) = text.strip_prefix("127.0.0.1:") {
        let digits = port.bytes().take_while(u8::is_ascii_digit).count();
        return (digits > 0).then_some(("127.0.0.1:".len() + digits, "127.0.0.1:[PORT]"));
    }
    SHAPES
        .into_iter()
        .find(|(shape, _)| has_shape(text, shape))
        .map(|(shape, name)| (shape.len(), name))
}

fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(found, wanted): (u8, u8)| match wanted {
        b'9' => found.is_ascii_digit(),
        b'A' => found.is_ascii_alphabetic(),
        _ => found == wanted,
    };
    let goes_on = |next: &u8| next.is_ascii_digit() && shape.ends_with('9');
    text.len() >= shape.len()
        && text.bytes().zip(shape.bytes()).all(fits)
        && !text.as_bytes().get(shape.len()).is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_per_run_are_replaced() {
        for (text, expected) in [
            ("2026-11-21 01:33:43,104 INFO x", "[DATE] INFO x"),
            (
                "test @ 2026 Nov 21 01:33:43 UTC (1795224823104)",
                "test @ [DATE] ([MS])",
            ),
            ("@ 2024 Jun 1 08:13:20 CEST.", "@ [DATE]."),
            ("http://127.0.0.1:43210/a", "http://127.0.0.1:[PORT]/a"),
            (
                "id 12345678901234 and 127.0.0.1",
                "id 12345678901234 and 127.0.0.1",
            ),
            ("in /tmp/abc/out.jtl", "in [FOLDER]/out.jtl"),
            ("é 日本", "é 日本"),
        ] {
            assert_eq!(redact(text, &[("/tmp/abc", "[FOLDER]")]), expected);
        }
    }
}
