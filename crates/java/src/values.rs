//! Numbers and booleans as Java reads and prints them: `java.lang.Integer`, `Long`, `Double`, `Float`, `Boolean`, and the
//! getters of JMeter's `AbstractProperty`.

mod hex_float;

use crate::text::trim;

/// `Integer.parseInt`: an optional sign and digits without surrounding characters; `None` if Java throws.
#[must_use]
pub fn parse_int(text: &str) -> Option<i32> {
    i32::try_from(parse_long(text)?).ok()
}

/// `Long.parseLong`: an optional sign and digits without surrounding characters; `None` if Java throws.
#[must_use]
pub fn parse_long(text: &str) -> Option<i64> {
    match text.parse() {
        Ok(number) => Some(number),
        // Java also accepts decimal digits of other scripts.
        Err(_) if !text.is_ascii() => to_ascii_digits(text)?.parse().ok(),
        Err(_) => None,
    }
}

fn to_ascii_digits(text: &str) -> Option<String> {
    text.chars()
        .map(|c| match c {
            '+' | '-' => Some(c),
            _ => digit_value(c).and_then(|value| char::from_digit(value, 10)),
        })
        .collect()
}

/// The zeros of the decimal digit ranges (Unicode category Nd) of the Basic Multilingual Plane.
const DIGIT_ZEROS: [u32; 37] = [
    0x0030, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
    0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80,
    0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0,
    0xFF10,
];

/// `Character.digit(c, 10)` in the Basic Multilingual Plane.
fn digit_value(c: char) -> Option<u32> {
    let code = u32::from(c);
    let after = DIGIT_ZEROS.partition_point(|zero| *zero <= code);
    let value = code - DIGIT_ZEROS.get(after.checked_sub(1)?)?;
    (value < 10).then_some(value)
}

/// `Character.digit(c, radix)`: Latin letters also in full width.
fn digit_in(c: char, radix: u32) -> Option<u32> {
    let letter = match c {
        '\u{FF21}'..='\u{FF3A}' => char::from_u32(u32::from(c) - 0xFF21 + u32::from('a'))?,
        '\u{FF41}'..='\u{FF5A}' => char::from_u32(u32::from(c) - 0xFF41 + u32::from('a'))?,
        _ => c,
    };
    let value = digit_value(c).or_else(|| letter.to_digit(36))?;
    (value < radix).then_some(value)
}

/// `Integer.parseInt(CharSequence, begin, end, radix)`.
///
/// # Errors
/// The message of its `NumberFormatException`, which differs from that of [`parse_int`].
pub fn parse_int_range(text: &str, radix: u32) -> Result<i32, String> {
    let (negative, digits, mut index) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..], 1),
        Some(b'+') => (false, &text[1..], 1),
        _ => (false, text, 0),
    };
    if digits.is_empty() {
        return Err(error_at(index, text));
    }
    // Accumulates negative numbers, as Java does, so that overflow happens at the same digit.
    let limit = if negative {
        i64::from(i32::MIN)
    } else {
        -i64::from(i32::MAX)
    };
    let mut value: i64 = 0;
    for c in digits.chars() {
        let digit = digit_in(c, radix).ok_or_else(|| error_at(index, text))?;
        let next = value * i64::from(radix) - i64::from(digit);
        if next < limit {
            return Err(error_at(index, text));
        }
        value = next;
        index += c.len_utf16();
    }
    let value = if negative { value } else { -value };
    Ok(i32::try_from(value).expect("the limit keeps the value in 32 bits"))
}

fn error_at(index: usize, text: &str) -> String {
    format!("Error at index {index} in: \"{text}\"")
}

/// `Double.parseDouble`: allows surrounding white space, `NaN`, `Infinity`, a suffix `d` or `f` and hexadecimal floats; `None`
/// if Java throws.
#[must_use]
pub fn parse_double(text: &str) -> Option<f64> {
    match literal(text)? {
        FloatLiteral::Decimal(text) => text.parse().ok(),
        FloatLiteral::Hexadecimal { negative, text } => {
            let value = hex_float::parse_double(text)?;
            Some(if negative { -value } else { value })
        }
    }
}

/// `Float.parseFloat`, with the rules of [`parse_double`].
#[must_use]
pub fn parse_float(text: &str) -> Option<f32> {
    match literal(text)? {
        FloatLiteral::Decimal(text) => text.parse().ok(),
        FloatLiteral::Hexadecimal { negative, text } => {
            let value = hex_float::parse_float(text)?;
            Some(if negative { -value } else { value })
        }
    }
}

enum FloatLiteral<'t> {
    /// A text that Rust parses as Java does.
    Decimal(&'t str),
    /// The digits and the exponent after `0x`.
    Hexadecimal { negative: bool, text: &'t str },
}

/// A literal without white space and without the suffix of its type.
fn literal(text: &str) -> Option<FloatLiteral<'_>> {
    let text = trim(text);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "NaN" {
        return Some(FloatLiteral::Decimal(unsigned));
    }
    if unsigned == "Infinity" {
        return Some(FloatLiteral::Decimal(text));
    }
    let suffix = ['d', 'D', 'f', 'F'];
    if let Some(hexadecimal) = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"))
    {
        return Some(FloatLiteral::Hexadecimal {
            negative: text.starts_with('-'),
            text: hexadecimal.strip_suffix(suffix).unwrap_or(hexadecimal),
        });
    }
    let decimal = text.strip_suffix(suffix).unwrap_or(text);
    let is_plain = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && decimal
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    is_plain.then_some(FloatLiteral::Decimal(decimal))
}

/// `Double.toString`: at least one digit after the point, and an exponent from 10^7 and below 10^-3. Java before 19 printed a
/// superfluous digit for a few numbers; this prints the shortest text that parses to the same number.
#[must_use]
pub fn double_to_string(number: f64) -> String {
    if number.abs() == f64::from_bits(1) {
        return if number > 0.0 {
            "4.9E-324"
        } else {
            "-4.9E-324"
        }
        .to_owned();
    }
    in_javas_notation(number, &format!("{number:?}"), &format!("{number:e}"))
}

/// `Float.toString`, with the rules of [`double_to_string`].
#[must_use]
pub fn float_to_string(number: f32) -> String {
    let wide = f64::from(number);
    in_javas_notation(wide, &format!("{number:?}"), &format!("{number:e}"))
}

/// The number in Java's notation, from the shortest notations that Rust has for it.
fn in_javas_notation(number: f64, plain: &str, scientific: &str) -> String {
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    if number == 0.0 || number.is_nan() || (1e-3..1e7).contains(&number.abs()) {
        return plain.to_owned();
    }
    let (digits, exponent) = scientific
        .split_once('e')
        .expect("the format always has an exponent");
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

/// `Boolean.parseBoolean`: true only for `true` in any case, without white space.
#[must_use]
pub fn parse_bool(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

/// `AbstractProperty.getIntValue`: 0 for anything that is not an integer.
#[must_use]
pub fn property_int(text: &str) -> i32 {
    parse_int(text).unwrap_or(0)
}

/// `AbstractProperty.getLongValue`: 0 for anything that is not an integer.
#[must_use]
pub fn property_long(text: &str) -> i64 {
    parse_long(text).unwrap_or(0)
}

/// `AbstractProperty.getDoubleValue`: 0 for anything that is not a number.
#[must_use]
pub fn property_double(text: &str) -> f64 {
    parse_double(text).unwrap_or(0.0)
}

/// `AbstractProperty.getBooleanValue`.
#[must_use]
pub fn property_bool(text: &str) -> bool {
    parse_bool(text)
}

/// `Long.decode`: decimal, `0x`/`0X`/`#` hexadecimal or `0` octal, with an optional sign; `None` if Java throws.
#[must_use]
pub fn decode_long(text: &str) -> Option<i64> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = ["0x", "0X", "#"]
        .iter()
        .find_map(|prefix| unsigned.strip_prefix(prefix));
    let (radix, digits) = match (hexadecimal, unsigned.strip_prefix('0')) {
        (Some(digits), _) => (16, digits),
        (None, Some(digits)) if !digits.is_empty() => (8, digits),
        _ => (10, unsigned),
    };
    if digits.is_empty() {
        return None;
    }
    let mut magnitude: i128 = 0;
    for c in digits.chars() {
        magnitude = magnitude * i128::from(radix) + i128::from(digit_in(c, radix)?);
        if magnitude > 1 << 64 {
            return None;
        }
    }
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}
