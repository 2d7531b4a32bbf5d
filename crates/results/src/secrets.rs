//! Masks secrets in stored requests and responses.

use std::borrow::Cow;

/// The replacement for a secret.
pub const MASK: &str = "***";

/// Headers whose whole value is a secret.
const HEADERS: [&str; 6] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
];
/// Substrings that identify fields with secrets.
const FIELDS: [&str; 9] = [
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "credential",
];

/// Whether a field of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    FIELDS.iter().any(|part| name.contains(part))
}

/// Returns headers with the values of secret ones masked.
pub fn masked_headers(text: &str) -> Cow<'_, str> {
    let is_masked = |line: &str| {
        line.split_once(':').is_some_and(|(name, _)| {
            let name = name.trim().to_ascii_lowercase();
            HEADERS.contains(&name.as_str()) || is_secret(&name)
        })
    };
    if !text.lines().any(is_masked) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').map(|line| {
        let end = line.len() - line.trim_end_matches(['\r', '\n']).len();
        let (text, end) = line.split_at(line.len() - end);
        match text.split_once(':') {
            Some((name, _)) if is_masked(text) => Cow::Owned(format!("{name}: {MASK}{end}")),
            _ => Cow::Borrowed(line),
        }
    });
    Cow::Owned(lines.collect())
}

/// Returns a text with the values of secret fields masked: in forms and queries (`password=…&`), in JSON (`"password":
/// "…"`) and in XML (`<password>…<`).
pub fn masked_fields(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut done = 0;
    let mut from = 0;
    while let Some(at) = next_field(text, from) {
        let (start, end) = value(text, at);
        if end > start {
            masked.push_str(&text[done..start]);
            masked.push_str(MASK);
            done = end;
        }
        from = end.max(at);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(&text[done..]);
    Cow::Owned(masked)
}

/// End of the next secret field's name at or after `from`.
fn next_field(text: &str, from: usize) -> Option<usize> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if !is_name(bytes[at]) {
            at += 1;
            continue;
        }
        let length = bytes[at..]
            .iter()
            .take_while(|byte| is_name(**byte))
            .count();
        if is_secret(&text[at..at + length]) {
            return Some(at + length);
        }
        at += length;
    }
    None
}

/// Range of the value of the field whose name ends at `name_end`: after `=`, `:` in JSON, or `>` in XML.
fn value(text: &str, name_end: usize) -> (usize, usize) {
    let rest = &text[name_end..];
    let nothing = (name_end, name_end);
    let until = |start: usize, ends: &[char]| {
        let length = text[start..].find(ends).unwrap_or(text.len() - start);
        (start, start + length)
    };
    if rest.starts_with('=') {
        return until(name_end + 1, &['&', ' ', '\r', '\n', ';', '"', '<']);
    }
    if rest.starts_with('>') {
        return until(name_end + 1, &['<']);
    }
    let Some(after) = rest.strip_prefix('"') else {
        return nothing;
    };
    let Some(after) = after.trim_start().strip_prefix(':') else {
        return nothing;
    };
    let after = after.trim_start();
    let start = text.len() - after.len();
    match after.strip_prefix('"') {
        Some(quoted) => {
            let mut is_escaped = false;
            let end = quoted.find(|character| {
                let is_end = character == '"' && !is_escaped;
                is_escaped = character == '\\' && !is_escaped;
                is_end
            });
            (start + 1, start + 1 + end.unwrap_or(quoted.len()))
        }
        None => until(start, &[',', '}', ']', ' ', '\r', '\n']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_headers_are_masked_and_others_stay() {
        let text =
            "Host: a\r\nAuthorization: Bearer abc\r\nX-Api-Key: 7\r\nAccept: */*\r\ncookie: s=1";
        assert_eq!(
            masked_headers(text),
            "Host: a\r\nAuthorization: ***\r\nX-Api-Key: ***\r\nAccept: */*\r\ncookie: ***"
        );
        assert!(matches!(masked_headers("Host: a"), Cow::Borrowed(_)));
    }

    #[test]
    fn secret_fields_are_masked_in_forms_json_and_xml() {
        let cases = [
            ("user=a&password=b%20c&x=1", "user=a&password=***&x=1"),
            (
                "http://h/?access_token=77 next",
                "http://h/?access_token=*** next",
            ),
            (
                r#"{"user":"a","userPassword" : "b\"c","n":1}"#,
                r#"{"user":"a","userPassword" : "***","n":1}"#,
            ),
            (r#"{"token":12,"n":1}"#, r#"{"token":***,"n":1}"#),
            ("<pwd>x</pwd><b>y</b>", "<pwd>***</pwd><b>y</b>"),
            ("the password is wrong", "the password is wrong"),
            ("password=", "password="),
            ("ü token: ü", "ü token: ü"),
            ("token=ü", "token=***"),
        ];
        for (text, masked) in cases {
            assert_eq!(masked_fields(text), masked);
        }
    }
}
