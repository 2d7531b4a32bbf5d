//! `java.net.URLEncoder` and `java.net.URLDecoder`: `application/x-www-form-urlencoded`.

use std::borrow::Cow;

use crate::charset::Charset;
use crate::exception::Exception;
use crate::uri::append_percent;
use crate::values::parse_int_range;

/// Whether a byte stands for itself.
#[must_use]
pub fn is_form_safe(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'*')
}

/// `java.net.URLEncoder.encode`: runs of other characters are encoded together, every byte of them as `%XX`.
pub fn append_url_encoded(text: &str, charset: &Charset, out: &mut String) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == ' ' {
            out.push('+');
            rest = &rest[1..];
        } else if c.is_ascii() && is_form_safe(c as u8) {
            let end = rest
                .bytes()
                .position(|b| !is_form_safe(b))
                .unwrap_or(rest.len());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else {
            let end = rest
                .bytes()
                .position(|b| is_form_safe(b) || b == b' ')
                .unwrap_or(rest.len());
            for b in charset.encode(&rest[..end]).iter() {
                append_percent(*b, out);
            }
            rest = &rest[end..];
        }
    }
}

/// `java.net.URLDecoder.decode`.
///
/// # Errors
/// `IllegalArgumentException` for a broken escape, with Java's message.
pub fn url_decode<'a>(text: &'a str, charset: &Charset) -> Result<Cow<'a, str>, Exception> {
    if !text.contains(['+', '%']) {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['+', '%']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('+') {
            out.push(' ');
            rest = &rest[1..];
            continue;
        }
        let mut bytes = Vec::new();
        while rest.starts_with('%') {
            let incomplete = || {
                Exception::illegal_argument("URLDecoder: Incomplete trailing escape (%) pattern")
            };
            let mut ends = rest[1..].char_indices().skip(2);
            let end = match ends.next() {
                Some((end, _)) => end + 1,
                None if rest.chars().count() == 3 => rest.len(),
                None => return Err(incomplete()),
            };
            let value = parse_int_range(&rest[1..end], 16).map_err(|message| {
                Exception::illegal_argument(format!(
                    "URLDecoder: Illegal hex characters in escape (%) pattern - {message}"
                ))
            })?;
            bytes.push(u8::try_from(value).map_err(|_| {
                Exception::illegal_argument(
                    "URLDecoder: Illegal hex characters in escape (%) pattern - negative value",
                )
            })?);
            rest = &rest[end..];
        }
        out.push_str(&charset.decode(&bytes));
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url_encoded(text: &str, charset: &Charset) -> String {
        let mut out = String::new();
        append_url_encoded(text, charset, &mut out);
        out
    }

    #[test]
    fn url_encoding_is_javas() {
        assert_eq!(url_encoded("1 2&ü", &Charset::UTF_8), "1+2%26%C3%BC");
        assert_eq!(url_encoded("ü€", &Charset::ISO_8859_1), "%FC%3F");
        assert_eq!(url_encoded("a-_.*~", &Charset::UTF_8), "a-_.*%7E");
        // Java puts a byte order mark before every run.
        assert_eq!(
            url_encoded("é", &Charset::for_name("UTF-16").unwrap()),
            "%FE%FF%00%E9"
        );
    }

    #[test]
    fn url_decoding_is_javas() {
        let decode = |text: &str| url_decode(text, &Charset::UTF_8).map(Cow::into_owned);
        assert_eq!(decode("%20+%C3%A9x").unwrap(), "  éx");
        assert_eq!(
            decode("a%zz").unwrap_err().message.unwrap(),
            "URLDecoder: Illegal hex characters in escape (%) pattern - Error at index 0 in: \"zz\""
        );
        assert_eq!(
            decode("a%2").unwrap_err().message.unwrap(),
            "URLDecoder: Incomplete trailing escape (%) pattern"
        );
    }
}
