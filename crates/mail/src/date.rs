//! Dates in headers (RFC 5322 section 3.3), read as leniently as `MailDateFormat` does.

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The milliseconds since 1970 of a date; `None` if it is malformed.
pub fn millis(text: &str) -> Option<i64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let mut words = text[start..]
        .split([' ', '\t', '\r', '\n', '-'])
        .filter(|word| !word.is_empty());
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next()?.get(..3)?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|known| *known == month)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let year = match year {
        0..50 => year + 2000,
        50..100 => year + 1900,
        _ => year,
    };
    // The sign of a zone would be lost among the hyphens.
    let (_, rest) = text[start..].split_once(':')?;
    let time_start = text.len() - rest.len();
    let hours: i64 = text[..time_start - 1]
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()?;
    let minutes: i64 = rest.get(..2)?.parse().ok()?;
    let mut rest = &rest[2..];
    let mut seconds = 0;
    if let Some(after) = rest.strip_prefix(':') {
        seconds = after.get(..2)?.parse().ok()?;
        rest = &after[2..];
    }
    let offset_min = zone(rest.trim());
    let days = days_since_1970(year, month, day);
    Some((((days * 24 + hours) * 60 + minutes - offset_min) * 60 + seconds) * 1000)
}

/// The offset of a zone in minutes; one that is not known is none.
fn zone(text: &str) -> i64 {
    let word = text.split([' ', '(']).next().unwrap_or_default();
    let signed = |digits: &str, sign: i64| {
        let number: i64 = digits.get(..4).and_then(|digits| digits.parse().ok())?;
        Some(sign * (number / 100 * 60 + number % 100))
    };
    if let Some(digits) = word.strip_prefix('+') {
        return signed(digits, 1).unwrap_or(0);
    }
    if let Some(digits) = word.strip_prefix('-') {
        return signed(digits, -1).unwrap_or(0);
    }
    60 * match word.to_ascii_uppercase().as_str() {
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        _ => 0,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read() {
        for (text, expected) in [
            ("Thu, 1 Jan 1970 00:00:00 +0000", Some(0)),
            ("Fri, 27 Nov 2026 10:00:00 +0100", Some(1_795_770_000_000)),
            ("27 Nov 26 10:00 EST", Some(1_795_791_600_000)),
            (
                "Fri, 27 Nov 2026 10:00:00 -0130 (x)",
                Some(1_795_779_000_000),
            ),
            ("Sat, 29 Feb 2020 23:59:59 GMT", Some(1_583_020_799_000)),
            ("no date", None),
            ("", None),
            ("1 Foo 2000 00:00", None),
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }
}
