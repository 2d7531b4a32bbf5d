//! `UrlEncode` and `UrlDecode`: `application/x-www-form-urlencoded` in UTF-8.

use crate::call::{Args, CallResult};
use crate::java_exception::JavaException;
use crate::scope::{Raised, Scope};
use crate::text::Text;

/// `URLEncoder.encode`.
pub(super) fn encode<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let text = args.text(0, scope)?;
    let mut out = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    Ok(Text::Owned(out))
}

/// `URLDecoder.decode`, which throws on an incomplete or malformed `%` sequence.
pub(super) fn decode<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    if !text.contains(['%', '+']) {
        return Ok(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = bytes.get(at..at + 2).ok_or_else(incomplete)?;
                out.push(hex_byte(digits)?);
                at += 2;
            }
            _ => out.push(*byte),
        }
    }
    Ok(Text::Owned(String::from_utf8_lossy(&out).into_owned()))
}

fn hex_byte(digits: &[u8]) -> Result<u8, Raised> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    match (value(digits[0]), value(digits[1])) {
        (Some(high), Some(low)) => Ok((high * 16 + low) as u8),
        _ => {
            let message = format!(
                "URLDecoder: Illegal hex characters in escape (%) pattern - Error at index 0 in: \"{}\"",
                String::from_utf8_lossy(digits)
            );
            Err(undecodable(message))
        }
    }
}

fn incomplete() -> Raised {
    let message = "URLDecoder: Incomplete trailing escape (%) pattern";
    undecodable(message.to_owned())
}

fn undecodable(message: String) -> Raised {
    JavaException::new("java.lang.IllegalArgumentException", message).into()
}
