//! Parameter markers: JDBC's `?` in a statement.

/// A statement in the server's syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    pub text: String,
    /// How many `?` it had.
    pub markers: usize,
    /// Whether more text follows a `;`.
    pub is_compound: bool,
}

/// Numbers the markers of a PostgreSQL statement (`$1`, `$2` …); `??` is the operator `?`. Texts, names and comments are left
/// unchanged (`org.postgresql.core.Parser`).
pub fn number(sql: &str, has_markers: bool) -> Numbered {
    let bytes = sql.as_bytes();
    let mut text = String::with_capacity(sql.len() + 8);
    let (mut markers, mut is_compound, mut after_end) = (0, false, false);
    let mut at = 0;
    while at < bytes.len() {
        let length = match bytes[at] {
            b'\'' if is_escape_text(bytes, at) => quoted(bytes, at, true),
            b'\'' | b'"' => quoted(bytes, at, false),
            b'-' if bytes[at + 1..].first() == Some(&b'-') => line(bytes, at),
            b'/' if bytes[at + 1..].first() == Some(&b'*') => comment(bytes, at),
            b'$' => dollars(bytes, at),
            b'?' if has_markers && bytes.get(at + 1) == Some(&b'?') => {
                text.push('?');
                at += 2;
                continue;
            }
            b'?' if has_markers => {
                markers += 1;
                text.push_str(&format!("${markers}"));
                at += 1;
                continue;
            }
            b';' => {
                after_end = true;
                1
            }
            byte => {
                is_compound |= after_end && !byte.is_ascii_whitespace();
                1
            }
        };
        // Move to the next character boundary, so that no character is cut.
        let mut end = (at + length).min(bytes.len());
        while !sql.is_char_boundary(end) {
            end += 1;
        }
        text.push_str(&sql[at..end]);
        at = end;
    }
    Numbered {
        text,
        markers,
        is_compound,
    }
}

/// Whether the quote begins an `E'…'` text, in which `\` is an escape.
fn is_escape_text(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let further = at.checked_sub(2).map(|further| bytes[further]);
    matches!(before, Some(b'e' | b'E'))
        && !further.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn quoted(bytes: &[u8], at: usize, escapes: bool) -> usize {
    let quote = bytes[at];
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' if escapes => end += 1,
            byte if byte == quote => return end + 1 - at,
            _ => {}
        }
        end += 1;
    }
    bytes.len() - at
}

fn line(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    rest.iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len())
}

/// The end of a comment. Comments nest.
fn comment(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut end) = (0, at);
    while end < bytes.len() {
        match &bytes[end..] {
            [b'/', b'*', ..] => {
                depth += 1;
                end += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                end += 2;
                if depth == 0 {
                    return end - at;
                }
            }
            _ => end += 1,
        }
    }
    bytes.len() - at
}

/// The end of a `$tag$…$tag$` text, or just of the `$`.
fn dollars(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at + 1..];
    let Some(tag) = rest.iter().position(|byte| !is_tag(byte)) else {
        return 1;
    };
    let inside_name = at > 0 && is_tag(&bytes[at - 1]);
    if rest[tag] != b'$' || rest.first().is_some_and(u8::is_ascii_digit) || inside_name {
        return 1;
    }
    let mark = &bytes[at..at + tag + 2];
    let from = at + mark.len();
    let end = bytes[from..]
        .windows(mark.len())
        .position(|window| window == mark);
    end.map_or(bytes.len() - at, |end| from + end + mark.len() - at)
}

fn is_tag(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_numbered_outside_of_texts_and_comments() {
        let sql = "select '?' a, \"?\" b -- ?\n, c /* ? /* ? */ ? */ ,$$?$$ d, $x$ ? $ $x$, E'\\'?', ?::int e, f ?? 'ü', ?";
        let numbered = number(sql, true);
        assert_eq!(
            numbered.text,
            "select '?' a, \"?\" b -- ?\n, c /* ? /* ? */ ? */ ,$$?$$ d, $x$ ? $ $x$, E'\\'?', $1::int e, f ? 'ü', $2"
        );
        assert_eq!((numbered.markers, numbered.is_compound), (2, false));
        assert_eq!(number("select a ? 'b'", false).text, "select a ? 'b'");
    }

    #[test]
    fn several_statements_are_told_from_one() {
        assert!(number("select 1; select 2", false).is_compound);
        assert!(!number("select ';x';\n ", false).is_compound);
    }
}
