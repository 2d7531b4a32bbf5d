//! Formats values as Java's `toString` does.

/// `Double.toString`.
pub fn double(value: f64) -> String {
    floating(value, format!("{value:e}"))
}

/// `Float.toString`.
pub fn float(value: f32) -> String {
    floating(value.into(), format!("{value:e}"))
}

/// Formats a number. `scientific` is its shortest notation of the form `d.ddde±n`.
fn floating(value: f64, scientific: String) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    if !(-3..7).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        return format!("{sign}{first}.{rest}E{exponent}");
    }
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() > whole {
        format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
    } else {
        format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()))
    }
}

/// `BigDecimal.toString` of a plain decimal text. Small numbers with many zeros get an exponent.
pub fn decimal(text: &str) -> String {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let Some((whole, fraction)) = unsigned.split_once('.') else {
        return text.to_owned();
    };
    let all = format!("{whole}{fraction}");
    let digits = match all.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let scale = fraction.len() as i64;
    let adjusted = digits.len() as i64 - 1 - scale;
    if adjusted >= -6 {
        return text.to_owned();
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{adjusted}")
}

/// `java.sql.Timestamp.toString` of `yyyy-mm-dd hh:mm:ss[.fraction]`.
pub fn timestamp(text: &str) -> String {
    match text.split_once('.') {
        None => format!("{text}.0"),
        Some((whole, fraction)) => match fraction.trim_end_matches('0') {
            "" => format!("{whole}.0"),
            fraction => format!("{whole}.{fraction}"),
        },
    }
}

/// `java.time.LocalDateTime.toString` of `yyyy-mm-dd hh:mm:ss[.fraction]`. Seconds are omitted if they are 0, and fractions have
/// a multiple of three digits.
#[cfg(feature = "mysql")]
pub fn local_date_time(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.replacen(' ', "T", 1);
    let mut fraction = fraction.trim_end_matches('0').to_owned();
    if fraction.is_empty() {
        return whole
            .strip_suffix(":00")
            .filter(|short| short.len() == 16)
            .unwrap_or(&whole)
            .to_owned();
    }
    while fraction.len() % 3 != 0 {
        fraction.push('0');
    }
    format!("{whole}.{fraction}")
}

#[cfg(all(test, feature = "mysql"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_javas() {
        // Recorded from OpenJDK 17.
        let doubles = [
            0.1,
            1e10,
            123_456_789.0,
            1e-5,
            1e20,
            0.001,
            100.0,
            -1234567.5,
            12.5,
            -0.0,
            1e7,
        ];
        assert_eq!(
            doubles.map(double),
            [
                "0.1",
                "1.0E10",
                "1.23456789E8",
                "1.0E-5",
                "1.0E20",
                "0.001",
                "100.0",
                "-1234567.5",
                "12.5",
                "-0.0",
                "1.0E7"
            ]
        );
        assert_eq!(float(1.1), "1.1");
        assert_eq!(double(f64::NEG_INFINITY), "-Infinity");
        let decimals = [
            "1.50",
            "0.0000001",
            "0.000001",
            "0.00000000",
            "100",
            "-0.00000012",
        ];
        assert_eq!(
            decimals.map(decimal),
            ["1.50", "1E-7", "0.000001", "0E-8", "100", "-1.2E-7"]
        );
    }

    #[test]
    fn times_have_a_fraction() {
        let locals = [
            "2024-01-02 03:04:05",
            "2024-01-02 03:04:00",
            "2024-01-02 03:04:05.678000",
            "2024-01-02 03:04:00.1234",
        ]
        .map(local_date_time);
        assert_eq!(
            locals,
            [
                "2024-01-02T03:04:05",
                "2024-01-02T03:04",
                "2024-01-02T03:04:05.678",
                "2024-01-02T03:04:00.123400"
            ]
        );
        assert_eq!(timestamp("2024-01-02 03:04:00"), "2024-01-02 03:04:00.0");
        assert_eq!(
            timestamp("2024-01-02 03:04:05.678000"),
            "2024-01-02 03:04:05.678"
        );
    }
}
