//! Character classes of Java's `Character`, spelled for the `regex` family.

/// `Character.isLetterOrDigit`, or `_`: ORO's `\w`. Items of a class, without brackets.
pub(super) const UNICODE_WORD: &str = r"\p{L}\p{Nd}_";
/// `Character.isDigit`.
pub(super) const UNICODE_DIGIT: &str = r"\p{Nd}";
/// `Character.isWhitespace`: excludes no-break spaces, but includes the four separators of ASCII.
pub(super) const UNICODE_SPACE: &str =
    r"\t-\r\x1C-\x20\u{1680}\u{2000}-\u{2006}\u{2008}-\u{200A}\u{2028}\u{2029}\u{205F}\u{3000}";

/// The POSIX classes that ORO's `Perl5Compiler` knows, as items of a class.
pub(super) fn oro_posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => r"\p{L}\p{Nd}",
        "word" => UNICODE_WORD,
        "alpha" => r"\p{L}",
        "blank" => r"\p{Z}",
        "cntrl" => r"\p{Cc}",
        "digit" => UNICODE_DIGIT,
        "graph" => r"\p{L}\p{Nd}\p{Pd}\p{Ps}\p{Pe}\p{Pc}\p{Po}\p{Sm}\p{Sc}\p{Sk}",
        "lower" => r"\p{Lowercase}",
        "print" => r"\p{Z}\p{L}\p{Nd}\p{Pd}\p{Ps}\p{Pe}\p{Pc}\p{Po}\p{Sm}\p{Sc}\p{Sk}",
        "punct" => r"\p{Pd}\p{Ps}\p{Pe}\p{Pc}\p{Po}\p{Sm}\p{Sc}\p{Sk}",
        "space" => UNICODE_SPACE,
        "upper" => r"\p{Uppercase}",
        "xdigit" => "0-9a-fA-F",
        "ascii" => r"\x00-\x7F",
        _ => return None,
    })
}

/// Writes a character so that it is literal inside and outside a class, with and without `(?x)`.
pub(super) fn push_literal(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || c == '_' {
        out.push(c);
    } else if r".\[](){}|^$*+?/".contains(c) {
        out.push('\\');
        out.push(c);
    } else if c.is_ascii() {
        // By code: `\<` is a word boundary, `[:` and `&&` are special in a class, and `#` and blanks with `(?x)`.
        push_code(out, c);
    } else {
        out.push(c);
    }
}

/// Writes a character by its code.
pub(super) fn push_code(out: &mut String, c: char) {
    use std::fmt::Write;
    write!(out, "\\x{{{:X}}}", u32::from(c)).expect("writing to a String cannot fail");
}
