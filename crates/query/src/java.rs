//! Rules of Java's library that several modules share.

/// `Character.isWhitespace`.
pub(crate) fn is_whitespace(c: char) -> bool {
    match c {
        '\t'..='\r' | '\x1C'..='\x20' => true,
        '\u{A0}' | '\u{2007}' | '\u{202F}' | '\u{85}' => false,
        c => c.is_whitespace(),
    }
}

/// `StringUtils.isBlank`.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_whitespace)
}
