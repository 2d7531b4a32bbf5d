//! Numbers in JSON, which may be strings and have fractions of zero, as `BigDecimal` reads them.

use super::JsonError;
use super::read::Json;

/// A decimal number with so large an exponent fits into no type.
const LARGEST_EXPONENT: i64 = 40;

/// The exact whole number that a text stands for, such as `12`, `1.0` or `2e3`. `None` if it has a fraction, is no number, or
/// does not fit.
pub(super) fn whole(text: &str) -> Option<i128> {
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || before.bytes().chain(after.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant: String = before.chars().chain(after.chars()).collect();
    let significant = significant.trim_start_matches('0');
    let bare = significant.trim_end_matches('0');
    if bare.is_empty() {
        return Some(0);
    }
    let zeros = (significant.len() - bare.len()) as i64;
    let scale = exponent.checked_add(zeros - after.len() as i64)?;
    if !(0..=LARGEST_EXPONENT).contains(&scale) {
        return None;
    }
    let value: i128 = bare.parse().ok()?;
    let value = value.checked_mul(10_i128.checked_pow(scale as u32)?)?;
    Some(if is_negative { -value } else { value })
}

/// A whole number of a type.
pub(super) fn whole_within<T: TryFrom<i128>>(json: &Json<'_>, name: &str) -> Result<T, JsonError> {
    let number = json.as_text().and_then(whole);
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| wrong(json, name))
}

/// A floating-point number.
pub(super) fn double(json: &Json<'_>, name: &str) -> Result<f64, JsonError> {
    let value = match json.as_text() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(text) => drumfire_java::values::parse_double(text).filter(|value| value.is_finite()),
        None => None,
    };
    value.ok_or_else(|| wrong(json, name))
}

/// A number of 32 bits, which rounds one of 64.
pub(super) fn float(json: &Json<'_>) -> Result<f32, JsonError> {
    let wide = double(json, "float")?;
    let value = wide as f32;
    if wide.is_finite() && wide.abs() > f64::from(f32::MAX) * (1.0 + 1e-6) {
        return Err(wrong(json, "float"));
    }
    Ok(value)
}

/// The error of a value that its type does not have.
pub(super) fn wrong(json: &Json<'_>, name: &str) -> JsonError {
    let shown = match json.as_text() {
        Some(text) => format!("`{text}`"),
        None => json.kind().to_owned(),
    };
    format!("{shown} is not of the type `{name}`").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_be_written_as_decimals() {
        for (text, value) in [
            ("12", Some(12)),
            ("-3", Some(-3)),
            ("+4", Some(4)),
            ("1.0", Some(1)),
            ("2e3", Some(2000)),
            ("2.5E1", Some(25)),
            ("1200e-2", Some(12)),
            ("0e999999999", Some(0)),
            ("18446744073709551615", Some(u64::MAX.into())),
            ("1.5", None),
            ("1e99", None),
            ("", None),
            ("x", None),
            ("1e", None),
            (".", None),
        ] {
            assert_eq!(whole(text), value, "{text}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_named_with_their_type() {
        let json = Json::Number("4294967296");
        let fault = whole_within::<u32>(&json, "uint32")
            .unwrap_err()
            .to_string();
        assert_eq!(fault, "`4294967296` is not of the type `uint32`");
        assert_eq!(whole_within::<u64>(&json, "uint64"), Ok(1 << 32));
        assert_eq!(float(&Json::Text("1e39".into())).ok(), None);
        assert_eq!(float(&Json::Number("0.5")), Ok(0.5));
        assert_eq!(
            double(&Json::Text("-Infinity".into()), "double"),
            Ok(f64::NEG_INFINITY)
        );
        assert!(double(&Json::Bool(true), "double").is_err());
    }
}
