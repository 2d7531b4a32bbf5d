//! Java's rules for parsing and printing numbers and booleans, which JMeter applies everywhere.

pub use drumfire_query::json::double_text as double_to_string;

/// `String.trim`: removes characters up to and including U+0020 at both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// `Integer.parseInt`: an optional sign and digits without surrounding characters; `None` if Java
/// throws.
pub fn parse_int(text: &str) -> Option<i32> {
    i32::try_from(parse_long(text)?).ok()
}

/// `Long.parseLong`: an optional sign and digits without surrounding characters; `None` if Java
/// throws.
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

/// `Double.parseDouble`: allows surrounding white space, `NaN`, `Infinity`, a suffix `d` or `f`
/// and hexadecimal floats; `None` if Java throws.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = trim(text);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        return parse_hex_double(&unsigned[2..]).map(|value| sign * value);
    }
    let digits = unsigned
        .strip_suffix(['d', 'D', 'f', 'F'])
        .unwrap_or(unsigned);
    let plausible = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !plausible {
        return None;
    }
    digits.parse::<f64>().ok().map(|value| sign * value)
}

/// Parses a hexadecimal float after `0x`; the exponent is mandatory.
fn parse_hex_double(text: &str) -> Option<f64> {
    let text = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent = parse_int(exponent)? - 4 * i32::try_from(fraction.len()).ok()?;
    Some(value * 2f64.powi(exponent))
}

/// `Float.parseFloat`: like [`parse_double`], rounded to single precision.
pub fn parse_float(text: &str) -> Option<f32> {
    let trimmed = trim(text);
    match trimmed.parse::<f32>() {
        Ok(value) if trimmed.bytes().all(|b| !b.is_ascii_alphabetic()) => Some(value),
        _ => parse_double(text).map(|value| value as f32),
    }
}

/// `Boolean.parseBoolean`: true only for `true` in any case, without white space.
pub fn parse_bool(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

/// `AbstractProperty.getIntValue`: 0 for anything that is not an integer.
pub fn property_int(text: &str) -> i32 {
    parse_int(text).unwrap_or(0)
}

/// `AbstractProperty.getLongValue`: 0 for anything that is not an integer.
pub fn property_long(text: &str) -> i64 {
    parse_long(text).unwrap_or(0)
}

/// `AbstractProperty.getDoubleValue`: 0 for anything that is not a number.
pub fn property_double(text: &str) -> f64 {
    parse_double(text).unwrap_or(0.0)
}

/// `AbstractProperty.getBooleanValue`.
pub fn property_bool(text: &str) -> bool {
    parse_bool(text)
}

/// `Long.decode`: decimal, `0x`/`0X`/`#` hexadecimal or `0` octal, with an optional sign.
pub fn decode_long(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
        .or_else(|| digits.strip_prefix('#'))
    {
        (16, hex)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_allow_a_sign_and_nothing_else() {
        assert_eq!(parse_int("+7"), Some(7));
        assert_eq!(parse_int("-2147483648"), Some(i32::MIN));
        assert_eq!(parse_int("2147483648"), None);
        for text in ["", " 7", "7 ", "7.0", "0x7", "+", "1_000", "--1"] {
            assert_eq!(parse_int(text), None, "{text:?}");
        }
        assert_eq!(parse_long("٣٤"), Some(34));
        assert_eq!(parse_long("-９"), Some(-9));
        assert_eq!(parse_long("é"), None);
    }

    #[test]
    fn doubles_follow_java() {
        for (text, expected) in [
            (" 1.5 ", 1.5),
            ("1.5f", 1.5),
            ("1e3D", 1000.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-Infinity", f64::NEG_INFINITY),
            ("0x1.8p1", 3.0),
            ("0x.8p0", 0.5),
            ("+2", 2.0),
        ] {
            assert_eq!(parse_double(text), Some(expected), "{text:?}");
        }
        assert!(parse_double("NaN").is_some_and(f64::is_nan));
        for text in [
            "", " ", "inf", "infinity", "nan", "1,5", "0x10", "1e", "--1", "abc", "d",
        ] {
            assert_eq!(parse_double(text), None, "{text:?}");
        }
        assert_eq!(parse_float("0.1"), Some(0.1));
        assert_eq!(parse_float("0.1d"), Some(0.1));
    }

    #[test]
    fn booleans_are_true_only_when_they_say_so() {
        assert!(parse_bool("TrUe"));
        assert!(!parse_bool(" true") && !parse_bool("1") && !parse_bool("yes"));
    }

    #[test]
    fn properties_fall_back_to_zero() {
        assert_eq!(property_int("1.0"), 0);
        assert_eq!(property_int("12"), 12);
        assert_eq!(property_long(""), 0);
        assert_eq!(property_double("x"), 0.0);
        assert!(property_bool("true"));
    }

    #[test]
    fn decode_knows_three_radixes() {
        for (text, expected) in [
            ("0x41", Some(0x41)),
            ("-#10", Some(-16)),
            ("0X1f", Some(31)),
            ("010", Some(8)),
            ("0", Some(0)),
            ("65", Some(65)),
            ("08", None),
            ("", None),
            ("0x-1", None),
        ] {
            assert_eq!(decode_long(text), expected, "{text:?}");
        }
    }
}
