//! Values of secret fields in texts whose format is not known: queries, forms, JSON, XML, HTML, options, header lines.

use std::borrow::Cow;
use std::ops::Range;

use super::{MASK, is_secret, tells_nothing};

/// How far from its name a value is looked for, in bytes, so that the work stays proportional to the text.
const NEAR: usize = 1 << 10;
/// Ends of a value without quotes after `=`.
const ENDS: [char; 10] = ['&', ' ', '\t', '\r', '\n', ';', '"', '\'', '<', '`'];

/// A text with the values of secret fields masked.
pub fn fields(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut done = 0;
    let mut from = 0;
    while let Some(name) = next_name(text, from) {
        from = name.end;
        let Some(value) = value(text, &name).filter(|value| value.start >= done) else {
            continue;
        };
        if !tells_nothing(&text[value.clone()]) {
            masked.push_str(&text[done..value.start]);
            masked.push_str(MASK);
            done = value.end;
        }
        from = from.max(value.end);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(&text[done..]);
    Cow::Owned(masked)
}

/// The next secret field's name at or after `from`.
fn next_name(text: &str, from: usize) -> Option<Range<usize>> {
    let mut at = from;
    while let Some(start) = text[at..].find(is_part).map(|start| at + start) {
        let rest = &text[start..];
        let end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if end - start < 100
            && (is_secret(&text[start..end]) || is_password_of_query(text, start..end))
        {
            return Some(start..end);
        }
        at = end;
    }
    None
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether it is the `p` of `u=…&p=…`, with which InfluxDB is asked.
fn is_password_of_query(text: &str, name: Range<usize>) -> bool {
    let before = near_before(&text[..name.start]);
    let query = || {
        before
            .rsplit(|c: char| c.is_whitespace() || c == '"')
            .next()
    };
    &text[name] == "p"
        && before.ends_with(['&', '?'])
        && query().is_some_and(|query| query.contains("&u=") || query.contains("?u="))
}

/// The place of the value that belongs to a field's name.
fn value(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (near_before(&text[..name.start]), &text[name.end..]);
    // `{"key": "…", "value": "…"}` is a pair whose name is the key's value.
    let is_pair = || before.ends_with(['"', '\'', ' ', '{']) && beside(text, name).is_some();
    if text[name.clone()].eq_ignore_ascii_case("key") && is_pair() {
        return None;
    }
    // `user[password]=…`.
    let closed = ["]", "%5D", "%5d"]
        .iter()
        .find_map(|end| after.strip_prefix(end));
    let after = closed.unwrap_or(after);
    let quote = ["\\\"", "\"", "'", "&quot;"]
        .iter()
        .find(|quote| after.starts_with(**quote));
    if let Some(quote) = quote {
        return quoted_name(text, name, quote);
    }
    let trimmed = after.trim_start_matches([' ', '\t']);
    let at = |rest: &str| text.len() - rest.len();
    if let Some(rest) = trimmed.strip_prefix('=') {
        return Some(plain(
            text,
            at(rest.trim_start_matches(['>', ' ', '\t'])),
            &ENDS,
        ));
    }
    if let Some(rest) = ["%3D", "%3d"]
        .iter()
        .find_map(|sign| after.strip_prefix(sign))
    {
        let value = plain(text, at(rest), &ENDS);
        let end = text[value.clone()]
            .find("%26")
            .map_or(value.end, |end| value.start + end);
        return Some(value.start..end);
    }
    if before.ends_with('<') || is_prefixed(before) {
        return element(text, name.end);
    }
    if let Some(rest) = after.strip_prefix(':') {
        return of_line(text, before, &text[name.clone()], at(rest));
    }
    // `${__P(db.password,…)}`: the default.
    if let Some(rest) = after.strip_prefix(',').filter(|_| before.ends_with('(')) {
        return Some(plain(text, at(rest), &[')', ',', '}']));
    }
    let is_option = text[name.clone()].starts_with("--") && trimmed.len() < after.len();
    is_option.then(|| plain(text, at(trimmed), &[' ', '\t', '\r', '\n']))
}

/// Whether the name follows `<prefix:`.
fn is_prefixed(before: &str) -> bool {
    let prefix = before.strip_suffix(':').map(|before| {
        before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    });
    prefix.is_some_and(|before| before.ends_with('<'))
}

/// The value after a name in quotes: `"password": "…"`, `name="password" value="…"`, or a part of a form.
fn quoted_name(text: &str, name: &Range<usize>, quote: &str) -> Option<Range<usize>> {
    let rest = &text[name.end + quote.len()..];
    let trimmed = rest.trim_start();
    let at = |rest: &str| text.len() - rest.len();
    let sign = ["=>", "=", ":"]
        .iter()
        .find_map(|sign| trimmed.strip_prefix(sign));
    if let Some(value) = sign {
        let value = value.trim_start();
        return Some(plain(text, at(value), &[',', '}', ']', ' ', '\r', '\n']));
    }
    let before = near_before(text[..name.start].strip_suffix(quote)?).trim_end();
    let names = [
        "name=",
        "key=",
        "id=",
        "name\":",
        "key\":",
        "name':",
        "key':",
        "name\\\":",
    ];
    if !names.iter().any(|sign| before.ends_with(sign)) {
        return None;
    }
    if before.ends_with("; name=") {
        return part(text, at(rest));
    }
    beside(text, name).or_else(|| {
        // `<stringProp name="password">…<`.
        let near = near_after(rest);
        let end = near.find('>').filter(|end| !near[..*end].ends_with('/'))?;
        (before.rfind('<') > before.rfind('>')).then(|| content(text, at(&rest[end + 1..])))
    })
}

/// The attribute `value` of the tag or the object around a name.
fn beside(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(name.start.saturating_sub(NEAR));
    let start = text[from..name.start].rfind(['<', '{'])? + from;
    let near = near_after(&text[name.end..]);
    let end = name.end + near.find(['>', '}']).unwrap_or(near.len());
    let around = &text[start..end];
    let found = ["value=", "value\":", "value':", "value\\\":"]
        .iter()
        .find_map(|sign| Some(around.find(sign)? + sign.len()))?;
    let value = around[found..].trim_start();
    Some(plain(text, end - value.len(), &[' ', ',', '}', '>', '/']))
}

/// The value of a part of a form (multipart): from the empty line to the next boundary.
fn part(text: &str, from: usize) -> Option<Range<usize>> {
    let near = near_after(&text[from..]);
    let (head, length) = ["\r\n\r\n", "\n\n"]
        .iter()
        .find_map(|empty| Some((near.find(empty)?, empty.len())))?;
    let start = from + head + length;
    let end = text[start..].find("\n--").unwrap_or(text.len() - start);
    Some(start..start + text[start..start + end].trim_end_matches('\r').len())
}

/// The content of the element whose name ends at `name_end`.
fn element(text: &str, name_end: usize) -> Option<Range<usize>> {
    let near = near_after(&text[name_end..]);
    let end = near.find('>').filter(|end| !near[..*end].ends_with('/'))?;
    Some(content(text, name_end + end + 1))
}

fn content(text: &str, start: usize) -> Range<usize> {
    const CDATA: &str = "<![CDATA[";
    let rest = &text[start..];
    let (start, end) = match rest.strip_prefix(CDATA) {
        Some(inner) => (start + CDATA.len(), inner.find("]]>")),
        None => (start, rest.find('<')),
    };
    start..end.map(|end| start + end).unwrap_or(text.len())
}

/// The value after `name:`, which is a field where a line, an object or a list item begins with it.
fn of_line(text: &str, before: &str, name: &str, from: usize) -> Option<Range<usize>> {
    let line = before.rsplit('\n').next().unwrap_or(before);
    let begins = line
        .trim_start_matches([' ', '\t', '-', '>', '<', '*'])
        .is_empty();
    let is_in_object = line.trim_end().ends_with(['{', ',']);
    let value = text[from..].trim_start_matches([' ', '\t']);
    let start = text.len() - value.len();
    match (begins, is_in_object) {
        (true, _) => Some(plain(text, start, &['\r', '\n'])),
        (_, true) => Some(plain(text, start, &[',', '}', '\r', '\n'])),
        // `Authorization: Bearer …` anywhere.
        _ => is_header(name).then(|| plain(text, start, &['\r', '\n'])),
    }
}

/// Whether the value of a header of this name runs to the end of its line, wherever it is told.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("authorization") || name.ends_with("cookie") || name.starts_with("x-")
}

/// A value that begins at `start`: in quotes of any kind, or up to one of `ends`.
fn plain(text: &str, start: usize, ends: &[char]) -> Range<usize> {
    let rest = &text[start..];
    let quote = ["\\\"", "\"", "'", "&quot;"]
        .iter()
        .find(|quote| rest.starts_with(**quote));
    let Some(quote) = quote else {
        let length = rest.find(ends).unwrap_or(rest.len());
        return start..start + length;
    };
    let inner = start + quote.len();
    let mut from = inner;
    while let Some(at) = text[from..].find(quote).map(|at| from + at) {
        let slashes = text[inner..at].len() - text[inner..at].trim_end_matches('\\').len();
        if slashes.is_multiple_of(2) || quote.starts_with('\\') {
            return inner..at;
        }
        from = at + quote.len();
    }
    inner..text.len()
}

fn near_before(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(NEAR))..]
}

fn near_after(text: &str) -> &str {
    &text[..text.floor_char_boundary(text.len().min(NEAR))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_fields_are_masked_in_every_format() {
        let cases = [
            ("user=a&password=b%20c&x=1", "user=a&password=***&x=1"),
            (
                "http://h/write?db=x&u=a&p=b",
                "http://h/write?db=x&u=a&p=***",
            ),
            ("user%5Bpassword%5D=b&x", "user%5Bpassword%5D=***&x"),
            ("user[password]=b&x", "user[password]=***&x"),
            ("u=a%26password%3Db%26c", "u=a%26password%3D***%26c"),
            ("/?access_token=77 next", "/?access_token=*** next"),
            (
                r#"{"user":"a","userPassword" : "b\"c","n":1}"#,
                r#"{"user":"a","userPassword" : "***","n":1}"#,
            ),
            (r#"{"token":12,"n":1}"#, r#"{"token":***,"n":1}"#),
            (
                r#"{"a":"{\"password\":\"b\",\"c\":1}"}"#,
                r#"{"a":"{\"password\":\"***\",\"c\":1}"}"#,
            ),
            ("{'password': 'b', 'c': 1}", "{'password': '***', 'c': 1}"),
            ("{password: 'b', c: 1}", "{password: '***', c: 1}"),
            (
                "user: a\n  password: b c\nhost: h",
                "user: a\n  password: ***\nhost: h",
            ),
            ("db.password = b\r\nx=1", "db.password = ***\r\nx=1"),
            ("<pwd>x</pwd><b>y</b>", "<pwd>***</pwd><b>y</b>"),
            (
                "<a:Password t='s'>x</a:Password>",
                "<a:Password t='s'>***</a:Password>",
            ),
            (
                "<password><![CDATA[x<]]></password>",
                "<password><![CDATA[***]]></password>",
            ),
            (
                "<db user='a' password=\"b\"/>",
                "<db user='a' password=\"***\"/>",
            ),
            (
                "<input name=\"csrf_token\" value=\"b\">",
                "<input name=\"csrf_token\" value=\"***\">",
            ),
            (
                "<input value='b' name='password'>",
                "<input value='***' name='password'>",
            ),
            (
                "<add key=\"password\" value=\"b\"/>",
                "<add key=\"password\" value=\"***\"/>",
            ),
            (
                "<stringProp name=\"password\">b</stringProp>",
                "<stringProp name=\"password\">***</stringProp>",
            ),
            (
                r#"[{"name":"password","value":"b"}]"#,
                r#"[{"name":"password","value":"***"}]"#,
            ),
            (
                "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nb c\r\n--x--",
                "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***\r\n--x--",
            ),
            (
                "curl -H 'Authorization: Bearer x' h",
                "curl -H 'Authorization: ***",
            ),
            ("run --password b --user a", "run --password *** --user a"),
            ("run --token=b", "run --token=***"),
            (
                "/${__P(db.password,b)}/${__P(user,ann)}",
                "/${__P(db.password,***)}/${__P(user,ann)}",
            ),
            (
                "jdbc:sqlserver://h;user=a;password=b;x=1",
                "jdbc:sqlserver://h;user=a;password=***;x=1",
            ),
            ("Server=h;Pwd='b c';x", "Server=h;Pwd='***';x"),
            (
                "java -Dhttp.proxyPass=b -Dkey=c",
                "java -Dhttp.proxyPass=*** -Dkey=***",
            ),
            ("token=ü", "token=***"),
        ];
        for (text, masked) in cases {
            assert_eq!(fields(text), masked);
            assert_eq!(fields(masked), masked);
        }
    }

    #[test]
    fn prose_and_flags_stay() {
        let texts = [
            "",
            "the password is wrong",
            "password=",
            "password=${password}",
            "ü token: ü",
            "save_password=true",
            "<password/>",
            "tokenizer=a",
            r#"{"token":null}"#,
            "key.serializer=x",
            "<input name=\"password\">",
            "token",
            "/?p=1&q=2",
            "\"password\"",
            "name=\"password\"",
            "'",
            "\\\"",
        ];
        for text in texts {
            assert!(
                matches!(fields(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn many_names_take_no_more_than_linear_time() {
        let text = "<input name=\"password\" ".repeat(4_000);
        assert_eq!(fields(&text), text);
        for text in [
            "\"token\": x",
            "token: ",
            "token:a ",
            "<token",
            "token%3D",
            "user[token] ",
            "{key:\"",
        ] {
            let long = text.repeat(4_000);
            assert!(fields(&long).starts_with(&text[..5]), "{text}");
        }
    }
}
