//! The JSON forms of times, durations and field masks (`Timestamps`, `Durations`, `FieldMaskUtil`).

use super::JsonError;

const NANOS: i32 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const TIMES: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// 10,000 years.
const DURATIONS: std::ops::RangeInclusive<i64> = -315_576_000_000..=315_576_000_000;

/// Seconds with nanoseconds, of a time since the epoch or of a duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seconds {
    pub seconds: i64,
    pub nanos: i32,
}

/// A time by RFC 3339; `None` if it is not within the years 1 to 9999.
pub(super) fn print_time(time: Seconds) -> Option<String> {
    if !TIMES.contains(&time.seconds) || !(0..NANOS).contains(&time.nanos) {
        return None;
    }
    let (days, second) = (
        time.seconds.div_euclid(DAY_SECONDS),
        time.seconds.rem_euclid(DAY_SECONDS),
    );
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = fraction(time.nanos);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"
    ))
}

pub(super) fn parse_time(text: &str) -> Result<Seconds, JsonError> {
    let wrong = || {
        JsonError::from(format!(
            "`{text}` is not a time such as `2026-01-31T12:00:00Z`"
        ))
    };
    read_time(text).ok_or_else(wrong)
}

fn read_time(text: &str) -> Option<Seconds> {
    let (date, rest) = text.split_once('T')?;
    let zone = rest.find(['Z', '+', '-'])?;
    let (clock, zone) = rest.split_at(zone);
    let (clock, nanos) = match clock.split_once('.') {
        Some((clock, nanos)) => (clock, parse_nanos(nanos)?),
        None => (clock, 0),
    };
    let mut date = date.splitn(3, '-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut clock = clock.splitn(3, ':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range =
        (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let local = days_of(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second;
    let offset = match zone.split_at(1) {
        ("Z", "") => 0,
        (sign @ ("+" | "-"), zone) => {
            let (hours, minutes) = zone.split_once(':')?;
            let offset = number(hours)? * 3600 + number(minutes)? * 60;
            if sign == "+" { offset } else { -offset }
        }
        _ => return None,
    };
    let seconds = local - offset;
    TIMES
        .contains(&seconds)
        .then_some(Seconds { seconds, nanos })
}

/// A duration in seconds, such as `1.500s`; `None` if it is out of range.
pub(super) fn print_duration(duration: Seconds) -> Option<String> {
    let Seconds { seconds, nanos } = duration;
    let same_sign = seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0);
    if !DURATIONS.contains(&seconds) || nanos.unsigned_abs() >= NANOS as u32 || !same_sign {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    Some(format!("{sign}{}{}s", seconds.abs(), fraction(nanos.abs())))
}

pub(super) fn parse_duration(text: &str) -> Result<Seconds, JsonError> {
    let read = || {
        let unsigned = text.strip_suffix('s')?;
        let (sign, unsigned) = match unsigned.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, unsigned),
        };
        let (seconds, nanos) = match unsigned.split_once('.') {
            Some((seconds, nanos)) => (seconds, parse_nanos(nanos)?),
            None => (unsigned, 0),
        };
        let seconds = sign * number(seconds)?;
        let nanos = sign as i32 * nanos;
        DURATIONS
            .contains(&seconds)
            .then_some(Seconds { seconds, nanos })
    };
    read().ok_or_else(|| format!("`{text}` is not a duration such as `1.5s`").into())
}

/// The paths of a field mask, separated by commas, with names in the form of JSON.
pub(super) fn print_mask<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    let mut out = String::new();
    for path in paths.filter(|path| !path.is_empty()) {
        if !out.is_empty() {
            out.push(',');
        }
        let mut raised = false;
        for letter in path.chars() {
            match letter {
                '_' => raised = true,
                _ if std::mem::take(&mut raised) => out.push(letter.to_ascii_uppercase()),
                _ => out.push(letter),
            }
        }
    }
    out
}

pub(super) fn parse_mask(text: &str) -> Vec<String> {
    let paths = text.split(',').filter(|path| !path.is_empty());
    let snake = |path: &str| {
        let mut out = String::with_capacity(path.len());
        for letter in path.chars() {
            if letter.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(letter.to_ascii_lowercase());
        }
        out
    };
    paths.map(snake).collect()
}

/// A fraction of 3, 6 or 9 digits with its point; nothing if there is none.
fn fraction(nanos: i32) -> String {
    match nanos {
        0 => String::new(),
        _ if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
        _ if nanos % 1000 == 0 => format!(".{:06}", nanos / 1000),
        _ => format!(".{nanos:09}"),
    }
}

fn parse_nanos(digits: &str) -> Option<i32> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let number = i32::try_from(number(digits)?).ok()?;
    Some(number * 10_i32.pow(9 - digits.len() as u32))
}

fn number(digits: &str) -> Option<i64> {
    let only = digits.bytes().all(|byte| byte.is_ascii_digit());
    if only { digits.parse().ok() } else { None }
}

/// The days from 1970-01-01 to a date of the Gregorian calendar, which is taken to have begun with the year 1.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // A year that begins in March has its leap day at its end.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The date that is so many days from 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    let from_march = days + 719_468;
    let (era, day) = (
        from_march.div_euclid(ERA_DAYS),
        from_march.rem_euclid(ERA_DAYS),
    );
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let in_month = day - (153 * month + 2) / 5 + 1;
    let year = year + era * 400;
    match month {
        0..10 => (year, month + 3, in_month),
        _ => (year + 1, month - 9, in_month),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_rfc_3339() {
        for (text, seconds, nanos) in [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("0001-01-01T00:00:00Z", *TIMES.start(), 0),
            ("9999-12-31T23:59:59.999999999Z", *TIMES.end(), 999_999_999),
            ("2024-02-29T12:30:00.500Z", 1_709_209_800, 500_000_000),
            ("1969-12-31T23:59:59.000001Z", -1, 1000),
        ] {
            let time = Seconds { seconds, nanos };
            assert_eq!(parse_time(text), Ok(time));
            assert_eq!(print_time(time).as_deref(), Some(text));
        }
        let zoned = parse_time("2024-02-29T14:30:00+02:00").expect("a time");
        assert_eq!(zoned.seconds, 1_709_209_800);
        for wrong in [
            "",
            "2024-02-29",
            "2024-13-01T00:00:00Z",
            "2024-01-01T00:00:00Zx",
            "2024-01-01T00:00:00",
        ] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            print_time(Seconds {
                seconds: i64::MAX,
                nanos: 0
            }),
            None
        );
    }

    #[test]
    fn dates_and_days_agree() {
        for days in (-719_162..2_932_896).step_by(97) {
            let (year, month, day) = date_of(days);
            assert_eq!(days_of(year, month, day), days);
        }
    }

    #[test]
    fn durations_and_masks_survive() {
        for (text, seconds, nanos) in [
            ("0s", 0, 0),
            ("1.500s", 1, 500_000_000),
            ("-0.000001s", 0, -1000),
        ] {
            let duration = Seconds { seconds, nanos };
            assert_eq!(parse_duration(text), Ok(duration));
            assert_eq!(print_duration(duration).as_deref(), Some(text));
        }
        assert!(parse_duration("1").is_err());
        assert_eq!(parse_mask("fooBar.bazQux,a"), ["foo_bar.baz_qux", "a"]);
        assert_eq!(
            print_mask(["foo_bar.baz_qux", "", "a"].into_iter()),
            "fooBar.bazQux,a"
        );
    }
}
