//! Conversions between numbers and strings, as Rhino performs them in language version 0.

/// White space and line ends of JavaScript (`ScriptRuntime.isJSWhitespaceOrLineTerminator`).
pub(super) fn is_space(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t'
            | '\n'
            | '\r'
            | '\u{B}'
            | '\u{C}'
            | '\u{A0}'
            | '\u{FEFF}'
            | '\u{2028}'
            | '\u{2029}'
    ) || matches!(
        c,
        '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
    )
}

/// `ScriptRuntime.toNumber(String)`: hexadecimal numbers may have a sign and trailing characters; octal
/// and binary numbers are not supported.
pub(super) fn from_text(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    if text.is_empty() {
        return 0.0;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if unsigned == "Infinity" {
        return sign * f64::INFINITY;
    }
    if let Some(digits) = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"))
    {
        return from_digits(digits, 16).map_or(f64::NAN, |(value, _)| sign * value);
    }
    if text.bytes().all(is_decimal) {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

fn is_decimal(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')
}

/// `ScriptRuntime.numberToString(d, 10)`: the shortest digits that read back as the same number.
pub(super) fn to_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific
        .split_once('e')
        .expect("the format has an exponent");
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().expect("the format's exponent is a number");
    let sign = if value < 0.0 { "-" } else { "" };
    // Digits before the point.
    let (count, before) = (digits.len() as i32, exponent + 1);
    if (count..=21).contains(&before) {
        format!("{sign}{digits}{}", "0".repeat((before - count) as usize))
    } else if (1..=21).contains(&before) {
        let (whole, fraction) = digits.split_at(before as usize);
        format!("{sign}{whole}.{fraction}")
    } else if (-5..=0).contains(&before) {
        format!("{sign}0.{}{digits}", "0".repeat(-before as usize))
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}e{exponent:+}")
    }
}

/// `NativeGlobal.js_parseInt`: without a radix, a leading 0 makes it octal.
pub(super) fn parse_int(text: &str, radix: i32) -> f64 {
    let text = text.trim_start_matches(is_space);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let mut digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut base = match radix {
        0 => 10,
        2..=36 => radix as u32,
        _ => return f64::NAN,
    };
    let hexadecimal = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    if let Some(rest) = hexadecimal.filter(|_| matches!(radix, 0 | 16)) {
        (digits, base) = (rest, 16);
    } else if radix == 0
        && digits.starts_with('0')
        && digits[1..].starts_with(|c: char| c.is_ascii_digit())
    {
        (digits, base) = (&digits[1..], 8);
    }
    from_digits(digits, base).map_or(f64::NAN, |(value, _)| sign * value)
}

/// Parses the digits at the start; returns the number and how many digits there are, or `None` if there
/// are none.
pub(super) fn from_digits(text: &str, radix: u32) -> Option<(f64, usize)> {
    let is_digit = |c: char| c.is_ascii() && c.is_digit(radix);
    let length = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let digits = &text[..length];
    if digits.is_empty() {
        return None;
    }
    let value = match radix {
        10 => digits.parse().unwrap_or(f64::NAN),
        _ => digits
            .chars()
            .filter_map(|c| c.to_digit(radix))
            .fold(0.0, |value, digit| {
                value * f64::from(radix) + f64::from(digit)
            }),
    };
    Some((value, length))
}

/// `NativeGlobal.js_parseFloat`: the longest prefix that is a decimal number.
pub(super) fn parse_float(text: &str) -> f64 {
    let text = text.trim_start_matches(is_space);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if unsigned.starts_with("Infinity") {
        return sign * f64::INFINITY;
    }
    let length = decimal_length(unsigned);
    unsigned[..length]
        .parse::<f64>()
        .map(|value| sign * value)
        .unwrap_or(f64::NAN)
}

/// The length of the decimal number at the start, including its exponent.
pub(super) fn decimal_length(text: &str) -> usize {
    let digits = |from: usize| {
        text.as_bytes()[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut length = digits(0);
    if text[length..].starts_with('.') && (length > 0 || digits(1) > 0) {
        length += 1 + digits(length + 1);
    }
    if length > 0 && text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
