//! Numbers and booleans as Java reads and writes them.

/// The first of the ten digits of every decimal script in the Basic Multilingual Plane; `Integer.parseInt` accepts all of
/// them.
const ZEROS: [u32; 37] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

fn digit(c: char) -> Option<u32> {
    let code = c as u32;
    let next = ZEROS.partition_point(|&zero| zero <= code);
    let zero = *ZEROS.get(next.checked_sub(1)?)?;
    (code < zero + 10).then_some(code - zero)
}

/// `Boolean.parseBoolean`: `true` in any case, without trimming.
pub fn boolean_from_java(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

/// `Long.parseLong`: an optional sign and digits, no blanks; `None` is Java's `NumberFormatException`.
pub fn long_from_java(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for c in digits.chars() {
        value = value.checked_mul(10)?.checked_sub(i64::from(digit(c)?))?;
    }
    if negative {
        Some(value)
    } else {
        value.checked_neg()
    }
}

/// `Integer.parseInt`; `None` is Java's `NumberFormatException`.
pub fn int_from_java(text: &str) -> Option<i32> {
    long_from_java(text).and_then(|value| i32::try_from(value).ok())
}

/// `Double.parseDouble`: blanks around it, a type suffix (`5d`), hexadecimal (`0x1p3`), `NaN` and `Infinity` are allowed;
/// `None` is Java's `NumberFormatException`.
pub fn double_from_java(text: &str) -> Option<f64> {
    let (body, hexadecimal) = float_literal(text)?;
    if hexadecimal {
        hexadecimal_float(body)
    } else {
        body.parse().ok()
    }
}

/// `Float.parseFloat`, with the rules of [`double_from_java`].
pub fn float_from_java(text: &str) -> Option<f32> {
    let (body, hexadecimal) = float_literal(text)?;
    if hexadecimal {
        hexadecimal_float(body).map(|value| value as f32)
    } else {
        body.parse().ok()
    }
}

/// The rest of a Java float literal after its sign, and whether it is hexadecimal.
fn float_literal(text: &str) -> Option<(&str, bool)> {
    let text = text.trim_matches(|c| c <= ' ');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, "NaN" | "Infinity") {
        // Rust parses both words, with either sign.
        return Some((text, false));
    }
    let body = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        // A hexadecimal literal needs an exponent, so a final 'd' or 'f' is a suffix here too.
        return Some((body, true));
    }
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    (!body.is_empty() && body.chars().all(plain)).then_some((body, false))
}

/// `0x1.8p3`: hexadecimal digits and a mandatory binary exponent.
fn hexadecimal_float(text: &str) -> Option<f64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent) = text.get(2..)?.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0_f64;
    for c in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    let shift = exponent.saturating_sub(4 * i32::try_from(fraction.len()).ok()?);
    value *= 2.0_f64.powi(shift);
    Some(if negative { -value } else { value })
}

/// `Double.toString`.
pub fn double_to_java(value: f64) -> String {
    number_to_java(value, &format!("{value:?}"), &format!("{value:e}"))
}

/// `Float.toString`.
pub fn float_to_java(value: f32) -> String {
    let wide = f64::from(value);
    number_to_java(wide, &format!("{value:?}"), &format!("{value:e}"))
}

/// The number in Java's notation, derived from the shortest notations that Rust has for it.
fn number_to_java(value: f64, plain: &str, scientific: &str) -> String {
    if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    if value == 0.0 || value.is_nan() || (1.0e-3..1.0e7).contains(&value.abs()) {
        return plain.to_owned();
    }
    with_exponent(scientific)
}

/// Turns Rust's `1e10` into Java's `1.0E10`.
fn with_exponent(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_as_java_parses_them() {
        assert_eq!(int_from_java("+5"), Some(5));
        assert_eq!(int_from_java("-0"), Some(0));
        assert_eq!(int_from_java("٣"), Some(3), "digits of every script");
        assert_eq!(int_from_java("１２"), Some(12));
        assert_eq!(int_from_java("2147483647"), Some(i32::MAX));
        assert_eq!(int_from_java("-2147483648"), Some(i32::MIN));
        assert_eq!(long_from_java("-9223372036854775808"), Some(i64::MIN));
        for bad in [
            "",
            " 5",
            "5 ",
            "+",
            "-",
            "0x1",
            "1.0",
            "2147483648",
            "1_000",
            "–1",
        ] {
            assert_eq!(int_from_java(bad), None, "{bad:?}");
        }
        assert_eq!(long_from_java("9223372036854775808"), None);
    }

    #[test]
    fn floats_as_java_parses_them() {
        let good = [
            (" 1.5 ", 1.5),
            ("1e3", 1000.0),
            ("0x1p3", 8.0),
            ("0x.8p1", 1.0),
            ("5d", 5.0),
            ("5F", 5.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-1", -1.0),
            ("Infinity", f64::INFINITY),
            ("-0x1.8p1", -3.0),
        ];
        for (text, value) in good {
            assert_eq!(double_from_java(text), Some(value), "{text:?}");
        }
        assert!(double_from_java("NaN").is_some_and(f64::is_nan));
        for bad in [
            "", " ", "x", "inf", "nan", "infinity", "1,5", "d", "0x1", "1e", "1 2", ".",
        ] {
            assert_eq!(double_from_java(bad), None, "{bad:?}");
        }
        assert_eq!(float_from_java("0.1f"), Some(0.1_f32));
    }

    #[test]
    fn floats_as_java_prints_them() {
        let cases = [
            (1.5, "1.5"),
            (1000.0, "1000.0"),
            (1.0e10, "1.0E10"),
            (123_456_789.125, "1.23456789125E8"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (1.0e7, "1.0E7"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (-2.5e-9, "-2.5E-9"),
        ];
        for (value, text) in cases {
            assert_eq!(double_to_java(value), text);
        }
        assert_eq!(double_to_java(f64::NAN), "NaN");
        assert_eq!(double_to_java(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(float_to_java(0.1), "0.1");
        assert_eq!(float_to_java(50.0), "50.0");
    }
}
