//! Characters and texts: `java.lang.Character` and `java.lang.String`.

/// Tests of `java.lang.Character.isSpaceChar`: the Unicode categories Zs, Zl and Zp.
#[must_use]
pub fn is_space_char(c: char) -> bool {
    matches!(
        c,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Converts the byte offset `at` to Java's index in UTF-16 units.
#[must_use]
pub fn utf16_index(text: &str, at: usize) -> usize {
    text[..at].chars().map(char::len_utf16).sum()
}

/// `String.trim()`: cuts characters up to U+0020 from both ends.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// `Character.isWhitespace`.
#[must_use]
pub fn is_whitespace(c: char) -> bool {
    match c {
        '\t'..='\r' | '\x1C'..='\x20' => true,
        '\u{A0}' | '\u{2007}' | '\u{202F}' | '\u{85}' => false,
        c => c.is_whitespace(),
    }
}

/// `String.isBlank`, and `isBlank` of commons-lang's `StringUtils`, `JOrphanUtils` and HttpClient's `TextUtils`: empty or only
/// white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_whitespace)
}

/// `String.hashCode()`.
#[must_use]
pub fn hash_code(text: &str) -> i32 {
    let hash = text.encode_utf16().fold(0_u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    });
    hash.cast_signed()
}

/// `HashMap.hash` of a text: its lowest bits are the number of its bucket.
#[must_use]
pub fn spread_hash(text: &str) -> u32 {
    let hash = hash_code(text).cast_unsigned();
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_count_utf16_units() {
        assert_eq!(utf16_index("a\u{1f600}b", 5), 3);
    }

    /// Recorded from Java.
    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(hash_code("hello"), 99_162_322);
        assert_eq!(hash_code("a\u{1f600}"), 1_866_116);
        assert_eq!(spread_hash("hello"), 99_162_322 ^ 1_513);
    }
}
