//! Functions that transform a text: `ChangeCase`, `CharFunction`, `EscapeHtml`,
//! `EscapeOroRegexpChars`, `EscapeXml`, `UnEscape`, `UnEscapeHtml`, and the case and Base64
//! functions of jmeter-plugins.

use std::borrow::Cow;
use std::fmt::Write;

use drumfire_java::Exception;
use drumfire_java::values::decode_long;

use super::entities;
use crate::call::{Args, CallResult};
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

/// `ChangeCase`: ignores the case of the mode; an unknown mode leaves the text unchanged.
pub(super) fn change_case<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mode = args.text(1, scope)?;
    let result = match mode.to_uppercase().as_str() {
        "" | "UPPER" => text.to_uppercase(),
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => capitalize(&text),
        _ => {
            let message = format!("Unknown mode {mode}, returning {text} unchanged");
            scope.log_failure(Level::Error, &message);
            text.into_string()
        }
    };
    args.store(2, &result, scope)?;
    Ok(Text::Owned(result))
}

/// `StringUtils.capitalize`: only the first character, and never to two characters (`ß` stays).
fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let mut upper = first.to_uppercase();
    let first = match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => first,
    };
    format!("{first}{}", chars.as_str())
}

/// `LowerCase` of jmeter-plugins.
pub(super) fn lowercase<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let result = args.text(0, scope)?.to_lowercase();
    args.store(1, &result, scope)?;
    Ok(Text::Owned(result))
}

/// `UpperCase` of jmeter-plugins.
pub(super) fn uppercase<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let result = args.text(0, scope)?.to_uppercase();
    args.store(1, &result, scope)?;
    Ok(Text::Owned(result))
}

/// `Base64Encode` of jmeter-plugins.
pub(super) fn base64_encode<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    use base64::Engine;
    let text = args.text(0, scope)?;
    let result = base64::engine::general_purpose::STANDARD.encode(text.as_bytes());
    args.store(1, &result, scope)?;
    Ok(Text::Owned(result))
}

/// `Base64Decode` of jmeter-plugins: like Commons Codec it skips characters that are not Base64,
/// accepts both alphabets and does not require padding.
pub(super) fn base64_decode<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    let result = String::from_utf8_lossy(&bytes).into_owned();
    args.store(1, &result, scope)?;
    Ok(Text::Owned(result))
}

/// `CharFunction`: every number becomes a 16-bit `char`; anything else is logged and skipped.
pub(super) fn char_codes<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let mut units = Vec::with_capacity(args.len());
    for index in 0..args.len() {
        let text = args.trimmed(index, scope)?;
        match decode_long(&text) {
            Some(code) => units.push(code as u16),
            None => {
                let message = format!(
                    "Could not parse {text} : java.lang.NumberFormatException: For input string: \"{text}\""
                );
                scope.log_failure(Level::Warn, &message);
            }
        }
    }
    Ok(Text::Owned(String::from_utf16_lossy(&units)))
}

/// `StringEscapeUtils.escapeHtml4`.
pub(super) fn escape_html<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match entities::name(c) {
            Some(name) => {
                out.push('&');
                out.push_str(name);
                out.push(';');
            }
            None => out.push(c),
        }
    }
    Ok(Text::Owned(out))
}

/// `StringEscapeUtils.escapeXml10`: drops characters that XML 1.0 does not allow.
pub(super) fn escape_xml<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' => {
                write!(out, "&#{};", u32::from(c)).expect("writing to a string cannot fail");
            }
            _ => out.push(c),
        }
    }
    Ok(Text::Owned(out))
}

/// `Perl5Compiler.quotemeta`: a backslash before everything but letters, digits and `_`.
pub(super) fn escape_oro<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mut out = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if !(c.is_alphanumeric() || c == '_') {
            out.push('\\');
        }
        out.push(c);
    }
    args.store(1, &out, scope)?;
    Ok(Text::Owned(out))
}

pub(super) fn unescape_html<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    Ok(Text::Owned(unescape_html4(&text)?.into_owned()))
}

/// `StringEscapeUtils.unescapeHtml4`: entities require a semicolon; unknown ones stay.
///
/// # Errors
/// [`Raised::Exception`] for a number that is not a code point.
pub fn unescape_html4(text: &str) -> Result<Cow<'_, str>, Raised> {
    if !text.contains('&') {
        return Ok(Cow::Borrowed(text));
    }
    let mut units = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        units.push_str(&rest[..at]);
        rest = &rest[at..];
        match entity(rest)? {
            Some((c, len)) => {
                units.push(c);
                rest = &rest[len..];
            }
            None => {
                units.push('&');
                rest = &rest[1..];
            }
        }
    }
    units.push_str(rest);
    Ok(Cow::Owned(units))
}

/// The character that an entity at the start of `text` stands for, and the entity's length.
fn entity(text: &str) -> Result<Option<(char, usize)>, Raised> {
    let Some(end) = text.find(';') else {
        return Ok(None);
    };
    let Some(number) = text[1..end].strip_prefix('#') else {
        return Ok(entities::character(&text[1..end]).map(|c| (c, end + 1)));
    };
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(hex) => (hex, 16),
        None => (number, 10),
    };
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let Ok(code) = i32::from_str_radix(digits, radix) else {
        return Ok(None);
    };
    match char::from_u32(code as u32) {
        Some(c) => Ok(Some((c, end + 1))),
        None if code < 0x1_0000 => Ok(Some(('\u{fffd}', end + 1))),
        None => Err(Raised::exception(format!(
            "java.lang.IllegalArgumentException: Not a valid Unicode code point: 0x{code:X}"
        ))),
    }
}

/// `StringEscapeUtils.unescapeJava`: octal and Unicode escapes, `\b \n \t \f \r \\ \" \'`; any other
/// backslash is dropped.
pub(super) fn unescape_java<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    if !text.contains('\\') {
        return Ok(text);
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut out = Vec::with_capacity(units.len());
    let mut at = 0;
    while at < units.len() {
        if units[at] != u16::from(b'\\') {
            out.push(units[at]);
            at += 1;
            continue;
        }
        let (unit, len) = java_escape(&units[at..])?;
        out.extend(unit);
        at += len;
    }
    Ok(Text::Owned(String::from_utf16_lossy(&out)))
}

/// The result of an escape at the start of `units`, and its length.
fn java_escape(units: &[u16]) -> Result<(Option<u16>, usize), Raised> {
    let Some(kind) = units.get(1).map(|unit| ascii(*unit)) else {
        return Ok((None, 1));
    };
    let simple = match kind {
        b'0'..=b'7' => return Ok(octal_escape(units)),
        b'u' => return unicode_escape(units),
        b'b' => 8,
        b'n' => b'\n',
        b't' => b'\t',
        b'f' => 12,
        b'r' => b'\r',
        b'\\' | b'"' | b'\'' => kind,
        _ => return Ok((None, 1)),
    };
    Ok((Some(u16::from(simple)), 2))
}

fn ascii(unit: u16) -> u8 {
    u8::try_from(unit).unwrap_or(0)
}

fn octal_escape(units: &[u16]) -> (Option<u16>, usize) {
    let longest = if ascii(units[1]) <= b'3' { 3 } else { 2 };
    let digits = units[1..]
        .iter()
        .take(longest)
        .map(|unit| ascii(*unit))
        .take_while(|digit| (b'0'..=b'7').contains(digit));
    let (value, len) = digits.fold((0, 1), |(value, len), digit| {
        (value * 8 + u16::from(digit - b'0'), len + 1)
    });
    (Some(value), len)
}

/// `UnicodeUnescaper`: any number of `u`, an optional `+`, four hexadecimal digits.
fn unicode_escape(units: &[u16]) -> Result<(Option<u16>, usize), Raised> {
    let mut at = 1 + units[1..]
        .iter()
        .take_while(|unit| **unit == u16::from(b'u'))
        .count();
    if units.get(at) == Some(&u16::from(b'+')) {
        at += 1;
    }
    let Some(digits) = units.get(at..at + 4) else {
        return Err(too_few_digits(&String::from_utf16_lossy(units)).into());
    };
    let shown = String::from_utf16_lossy(digits);
    match u16::from_str_radix(&shown, 16) {
        Ok(value) => Ok((Some(value), at + 4)),
        Err(_) => Err(Raised::exception(format!(
            "java.lang.IllegalArgumentException: Unable to parse unicode value: {shown}"
        ))),
    }
}

fn too_few_digits(rest: &str) -> Exception {
    let message =
        format!("Less than 4 hex digits in unicode value: '{rest}' due to end of CharSequence");
    Exception::new("java.lang.IllegalArgumentException", message)
}
