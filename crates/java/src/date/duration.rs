//! Amounts of time as `java.time.Duration` reads them.

use jiff::SignedDuration;

/// `Duration.parse`: days, hours, minutes and seconds, such as `P1DT2H`, `-PT90S` or `PT-1.5S`.
#[must_use]
pub fn parse_duration(text: &str) -> Option<SignedDuration> {
    let upper = text.to_ascii_uppercase();
    let (negative, rest) = match upper.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, upper.strip_prefix('+').unwrap_or(&upper)),
    };
    let rest = rest.strip_prefix('P')?;
    let (days, times) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some((days, times)) => (days, times),
        None => (rest, ""),
    };
    if days.is_empty() && times.is_empty() {
        return None;
    }
    let mut total = SignedDuration::ZERO;
    if !days.is_empty() {
        total = hours(days.strip_suffix('D')?, 24)?;
    }
    let mut rest = times;
    for (unit, seconds) in [('H', 3600), ('M', 60)] {
        if let Some((number, after)) = rest.split_once(unit) {
            total = total.checked_add(scaled(number, seconds)?)?;
            rest = after;
        }
    }
    if !rest.is_empty() {
        total = total.checked_add(seconds(rest.strip_suffix('S')?)?)?;
    }
    if negative {
        total.checked_neg()
    } else {
        Some(total)
    }
}

fn hours(number: &str, factor: i64) -> Option<SignedDuration> {
    scaled(number, factor * 3600)
}

fn scaled(number: &str, seconds: i64) -> Option<SignedDuration> {
    let number: i64 = number.parse().ok()?;
    Some(SignedDuration::from_secs(number.checked_mul(seconds)?))
}

fn seconds(number: &str) -> Option<SignedDuration> {
    let Some((whole, fraction)) = number.split_once(['.', ',']) else {
        return scaled(number, 1);
    };
    if fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nanos: i64 = format!("{fraction:0<9}").parse().ok()?;
    let nanos = if whole.starts_with('-') {
        -nanos
    } else {
        nanos
    };
    scaled(whole, 1)?.checked_add(SignedDuration::from_nanos(nanos))
}
