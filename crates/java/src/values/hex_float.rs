//! Hexadecimal floating-point literals (Java Language Specification 3.10.2), rounded to the nearest number.

/// Digits beyond these bits only decide how the number is rounded.
const KEPT_BITS: u32 = 60;

/// The value of the literal after `0x` in double precision; `None` if it is not one. The exponent is mandatory.
pub fn parse_double(text: &str) -> Option<f64> {
    let (mantissa, exponent) = parts(text)?;
    let (mantissa, exponent) = rounded(mantissa, exponent, f64::MANTISSA_DIGITS, -1074);
    // Two factors, because 2^-1074 is representable and 2^1074 is not.
    let half = exponent / 2;
    Some(mantissa as f64 * 2f64.powi(half) * 2f64.powi(exponent - half))
}

/// The value of the literal after `0x` in single precision.
pub fn parse_float(text: &str) -> Option<f32> {
    let (mantissa, exponent) = parts(text)?;
    let (mantissa, exponent) = rounded(mantissa, exponent, f32::MANTISSA_DIGITS, -149);
    let half = exponent / 2;
    Some(mantissa as f32 * 2f32.powi(half) * 2f32.powi(exponent - half))
}

/// The number as a mantissa, whose lowest bit is set if lower digits were cut off, times a power of two.
fn parts(text: &str) -> Option<(u64, i32)> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut mantissa: u64 = 0;
    let mut cut_digits: i32 = 0;
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        if mantissa >> (KEPT_BITS - 4) == 0 {
            mantissa = mantissa * 16 + digit;
        } else {
            mantissa |= u64::from(digit != 0);
            cut_digits += 1;
        }
    }
    let fraction_digits = i32::try_from(fraction.len()).ok()?;
    let exponent = exponent_of(exponent)?
        .saturating_add(4 * cut_digits)
        .saturating_sub(4 * fraction_digits);
    Some((mantissa, exponent))
}

/// An exponent of any length, saturated.
fn exponent_of(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let limit = 1_000_000;
    let size = digits
        .parse::<i32>()
        .map(|size| size.min(limit))
        .unwrap_or(limit);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Rounds half to even, to `bits` bits and to multiples of two to the power of `least`.
fn rounded(mantissa: u64, exponent: i32, bits: u32, least: i32) -> (u64, i32) {
    let size = u64::BITS - mantissa.leading_zeros();
    let surplus = i64::from(size.saturating_sub(bits)).max(i64::from(least) - i64::from(exponent));
    if surplus <= 0 {
        return (mantissa, exponent);
    }
    if surplus > i64::from(size) {
        return (0, 0);
    }
    let mut rounded = mantissa.checked_shr(surplus as u32).unwrap_or(0);
    let rest = mantissa - rounded.checked_shl(surplus as u32).unwrap_or(0);
    let half = 1u64 << (surplus - 1);
    if rest > half || (rest == half && rounded % 2 == 1) {
        rounded += 1;
    }
    (rounded, exponent.saturating_add(surplus as i32))
}
