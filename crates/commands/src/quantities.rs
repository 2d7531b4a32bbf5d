//! Times and rates on the command line.

/// Parses `500ms`, `30s`, `5m` or `1h` into milliseconds. A number without a unit is in seconds.
///
/// # Errors
/// How to write it instead.
pub fn duration_ms(text: &str) -> Result<u64, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 1.0,
        "s" | "" | "sec" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return Err(format!("`{unit}` is not a unit: write ms, s, m or h")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "write a time such as 30s".to_owned())?;
    Ok((number * factor).round() as u64)
}

/// Parses `200`, `200/s`, `600/m` or `36000/h` into a rate per second.
///
/// # Errors
/// How to write it instead.
pub fn per_second(text: &str) -> Result<f64, String> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit {
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is not a unit: write s, m or h")),
    };
    let number: f64 = number
        .trim()
        .parse()
        .map_err(|_| "write a rate such as 200/s".to_owned())?;
    match number.is_finite() && number > 0.0 {
        true => Ok(number / seconds),
        false => Err("a rate is above 0".to_owned()),
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
        assert_eq!(per_second("600/m"), Ok(10.0));
        assert!(
            per_second("0").is_err() && per_second("-1").is_err() && per_second("1/x").is_err()
        );
    }
}
