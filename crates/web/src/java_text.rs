//! Small text rules of the Java library that several modules need.

/// Tests of `java.lang.Character.isSpaceChar`: the Unicode categories Zs, Zl and Zp.
pub(crate) fn is_space_char(c: char) -> bool {
    matches!(
        c,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Converts the byte offset `at` to Java's index in UTF-16 units.
pub(crate) fn utf16_index(text: &str, at: usize) -> usize {
    text[..at].chars().map(char::len_utf16).sum()
}

/// `Integer.parseInt(CharSequence, begin, end, radix)`, with the message of its `NumberFormatException`.
pub(crate) fn parse_int(text: &str, radix: u32) -> Result<i32, String> {
    let fail = |index: usize| format!("Error at index {index} in: \"{text}\"");
    let (negative, digits, mut index) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..], 1),
        Some(b'+') => (false, &text[1..], 1),
        _ => (false, text, 0),
    };
    if digits.is_empty() {
        return Err(fail(index));
    }
    // Accumulates negative numbers, as Java does, so that overflow happens at the same digit.
    let limit: i64 = if negative {
        i64::from(i32::MIN)
    } else {
        -i64::from(i32::MAX)
    };
    let mut value: i64 = 0;
    for c in digits.chars() {
        let digit = i64::from(c.to_digit(radix).ok_or_else(|| fail(index))?);
        let next = value * i64::from(radix) - digit;
        if next < limit {
            return Err(fail(index));
        }
        value = next;
        index += c.len_utf16();
    }
    let value = if negative { value } else { -value };
    Ok(i32::try_from(value).expect("the limit keeps the value in 32 bits"))
}

/// `String.trim()`: cuts characters up to U+0020 from both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// `JOrphanUtils.isBlank` / `TextUtils.isBlank`: empty or only white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_int_fails_where_java_fails() {
        assert_eq!(parse_int("80", 10), Ok(80));
        assert_eq!(parse_int("+80", 10), Ok(80));
        assert_eq!(parse_int("-1", 10), Ok(-1));
        assert_eq!(
            parse_int("80a", 10),
            Err("Error at index 2 in: \"80a\"".into())
        );
        assert_eq!(
            parse_int("99999999999", 10),
            Err("Error at index 9 in: \"99999999999\"".into())
        );
        assert_eq!(
            parse_int("zz", 16),
            Err("Error at index 0 in: \"zz\"".into())
        );
    }

    #[test]
    fn indexes_count_utf16_units() {
        assert_eq!(utf16_index("a\u{1f600}b", 5), 3);
    }
}
