//! Times and rates on the command line.

use crate::refusal::UsageError;

/// Parses `500ms`, `30s`, `5m` or `1h` into milliseconds. A number without a unit is in seconds.
///
/// # Errors
/// How to write it instead.
pub fn duration_ms(text: &str) -> Result<u64, UsageError> {
    milliseconds(text).ok_or_else(|| "write a time such as `30s`, with ms, s, m or h".into())
}

/// Parses a time as [`duration_ms`] does, which is above 0.
///
/// # Errors
/// How to write it instead.
pub fn length_ms(text: &str) -> Result<u64, UsageError> {
    let above_zero = milliseconds(text).filter(|ms| *ms > 0);
    above_zero.ok_or_else(|| "write a time above 0 such as `30s`, with ms, s, m or h".into())
}

fn milliseconds(text: &str) -> Option<u64> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 1.0,
        "s" | "" | "sec" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some((number * factor).round() as u64)
}

/// Parses `200`, `200/s`, `600/m` or `36000/h` into a rate per second.
///
/// # Errors
/// How to write it instead.
pub fn per_second(text: &str) -> Result<f64, UsageError> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit {
        "s" | "sec" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let number = number
        .trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && *number > 0.0);
    match (number, seconds) {
        (Some(number), Some(seconds)) => Ok(number / seconds),
        _ => Err("write a rate above 0 such as `200/s`, with /s, /m or /h".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates() {
        assert_eq!(duration_ms("30s"), Ok(30_000));
        assert_eq!(duration_ms("1.5m"), Ok(90_000));
        assert_eq!(duration_ms("250ms"), Ok(250));
        assert_eq!(duration_ms("7"), Ok(7_000));
        assert!(duration_ms("x").is_err() && duration_ms("3 days").is_err());
        assert!(duration_ms("0").is_ok() && length_ms("0").is_err());
        assert_eq!(per_second("600/m"), Ok(10.0));
        assert!(
            per_second("0").is_err() && per_second("-1").is_err() && per_second("1/x").is_err()
        );
    }
}
