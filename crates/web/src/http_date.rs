//! Parses dates in headers as leniently as `java.text.SimpleDateFormat` (`org.apache.http.client.utils.DateUtils`).

/// The patterns of `DateUtils.parseDate`: RFC 1123, RFC 1036 and asctime.
pub(crate) const DEFAULT_PATTERNS: [&str; 3] =
    ["E, d M y4 H:m:s z", "E, d-M-y2 H:m:s z", "E M d H:m:s y4"];

/// The pattern of `NetscapeDraftSpec`.
pub(crate) const NETSCAPE_PATTERN: [&str; 1] = ["E, d-M-y2 H:m:s z"];

const DAYS: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Offsets from UTC, in minutes, of the zone names that servers use.
const ZONES: [(&str, i64); 12] = [
    ("GMT", 0),
    ("UTC", 0),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("CET", 60),
    ("CEST", 120),
];

/// `DateUtils.parseDate(text)`: milliseconds since the epoch.
pub fn parse(text: &str) -> Option<i64> {
    parse_with(text, &DEFAULT_PATTERNS)
}

/// `DateUtils.parseDate(text, patterns)`; ignores text after the date.
pub(crate) fn parse_with(text: &str, patterns: &[&str]) -> Option<i64> {
    let text = match text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        Some(inner) if text.len() > 1 => inner,
        _ => text,
    };
    patterns
        .iter()
        .find_map(|pattern| DateReader { rest: text }.read(pattern))
}

struct DateReader<'a> {
    rest: &'a str,
}

#[derive(Default)]
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    offset_minutes: i64,
}

impl DateReader<'_> {
    /// Pattern letters: `E` weekday, `d` day, `M` month name, `y2`/`y4` year, `H:m:s`, `z` zone; the rest is literal.
    fn read(mut self, pattern: &str) -> Option<i64> {
        let mut fields = Fields::default();
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            match letter {
                'E' => _ = self.name(&DAYS)?,
                'M' => fields.month = self.name(&MONTHS)?,
                'd' => fields.day = self.number()?,
                'H' => fields.hour = self.number()?,
                'm' => fields.minute = self.number()?,
                's' => fields.second = self.number()?,
                'y' => fields.year = self.year(letters.next() == Some('2'))?,
                'z' => fields.offset_minutes = self.zone()?,
                literal => self.rest = self.rest.strip_prefix(literal)?,
            }
        }
        Some(fields.millis())
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn number(&mut self) -> Option<i64> {
        self.skip_blanks();
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let value = self.rest[..len].parse().ok();
        self.rest = &self.rest[len..];
        value
    }

    /// A two-digit year is in the century from 2000 if the pattern has two letters; otherwise it is taken literally.
    fn year(&mut self, short: bool) -> Option<i64> {
        self.skip_blanks();
        let before = self.rest.len();
        let year = self.number()?;
        let two_digits = before - self.rest.len() == 2;
        Some(if short && two_digits {
            2000 + year
        } else {
            year
        })
    }

    /// A full or three-letter English name, ignoring case; returns its index.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        self.skip_blanks();
        let starts = |name: &str| {
            self.rest
                .get(..name.len())
                .is_some_and(|s| s.eq_ignore_ascii_case(name))
        };
        let full = names
            .iter()
            .position(|name| starts(name))
            .map(|i| (i, names[i].len()));
        let (index, len) = full.or_else(|| {
            names
                .iter()
                .position(|name| starts(&name[..3]))
                .map(|i| (i, 3))
        })?;
        self.rest = &self.rest[len..];
        i64::try_from(index).ok()
    }

    fn zone(&mut self) -> Option<i64> {
        self.skip_blanks();
        if let Some(after) = self
            .rest
            .strip_prefix("GMT")
            .filter(|r| r.starts_with(['+', '-']))
        {
            self.rest = after;
            return self.offset(true);
        }
        if self.rest.starts_with(['+', '-']) {
            return self.offset(false);
        }
        let matches = |name: &str| {
            self.rest
                .get(..name.len())
                .is_some_and(|s| s.eq_ignore_ascii_case(name))
        };
        let (name, minutes) = ZONES.iter().rev().find(|(name, _)| matches(name))?;
        self.rest = &self.rest[name.len()..];
        Some(*minutes)
    }

    /// `+hh:mm` after `GMT`, `+hhmm` alone.
    fn offset(&mut self, colon: bool) -> Option<i64> {
        let sign = if self.rest.starts_with('-') { -1 } else { 1 };
        let digits = &self.rest[1..];
        let (hours, minutes) = if colon {
            let (hours, minutes) = digits.split_once(':')?;
            (hours, minutes.get(..2)?)
        } else {
            (digits.get(..2)?, digits.get(2..4)?)
        };
        Some(sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?))
    }
}

impl Fields {
    /// Lenient like `java.util.GregorianCalendar`: 31 February is 3 March.
    fn millis(&self) -> i64 {
        let days = days_from_civil(self.year, self.month) + self.day - 1;
        let minutes = (days * 24 + self.hour) * 60 + self.minute - self.offset_minutes;
        (minutes * 60 + self.second) * 1000
    }
}

/// Days from 1970-01-01 to the first of a month; months count from 0.
fn days_from_civil(year: i64, month: i64) -> i64 {
    let year = if month < 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 10) % 12) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// `LaxExpiresHandler.parse`: finds time, day, month and year in any order among the tokens of an `Expires` attribute.
pub(crate) fn parse_lax(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(delimiter).filter(|token| !token.is_empty()) {
        let lower = token.get(..3).map(str::to_ascii_lowercase);
        if let Some(lax) = time.is_none().then(|| lax_time(token)).flatten() {
            time = Some(lax);
        } else if let Some((number, _)) = day.is_none().then(|| lax_number(token, 1, 2)).flatten() {
            day = Some(number);
        } else if let Some(index) = lower
            .filter(|_| month.is_none())
            .and_then(|name| MONTHS.iter().position(|m| m[..3] == *name))
        {
            month = i64::try_from(index).ok();
        } else if let Some((number, _)) = year.is_none().then(|| lax_number(token, 2, 4)).flatten()
        {
            year = Some(number);
        }
    }
    let ((hour, minute, second), day, month, year) = (time?, day?, month?, year?);
    let year = match year {
        70..=99 => 1900 + year,
        0..=69 => 2000 + year,
        _ => year,
    };
    if !(1..=31).contains(&day) || year < 1601 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fields = Fields {
        year,
        month,
        day,
        hour,
        minute,
        second,
        offset_minutes: 0,
    };
    Some(fields.millis())
}

fn delimiter(c: char) -> bool {
    matches!(c, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~')
}

/// Between `min` and `max` digits, not followed by another digit; returns the number and the rest.
fn lax_number(token: &str, min: usize, max: usize) -> Option<(i64, &str)> {
    let digits = token.bytes().take_while(u8::is_ascii_digit).count();
    if !(min..=max).contains(&digits) {
        return None;
    }
    Some((token[..digits].parse().ok()?, &token[digits..]))
}

fn lax_time(token: &str) -> Option<(i64, i64, i64)> {
    let (hour, rest) = lax_number(token, 1, 2)?;
    let (minute, rest) = lax_number(rest.strip_prefix(':')?, 1, 2)?;
    let (second, _) = lax_number(rest.strip_prefix(':')?, 1, 2)?;
    Some((hour, minute, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_formats_are_read() {
        let expected = Some(784_111_777_000);
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "'Sun, 06 Nov 1994 08:49:37 GMT'",
            "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 09:49:37 CET",
            "Sun, 06 Nov 1994 08:49:37 GMT trailing",
            "sun, 6 november 1994 8:49:37 +0000",
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        assert_eq!(parse("0"), None);
        assert_eq!(parse("06 Nov 1994 08:49:37 GMT"), None);
    }

    #[test]
    fn two_digit_years_start_in_2000() {
        assert_eq!(
            parse("Sunday, 06-Nov-94 08:49:37 GMT"),
            parse("Sun, 06 Nov 2094 08:49:37 GMT")
        );
    }

    #[test]
    fn overflowing_days_roll_over() {
        assert_eq!(
            parse("Sun, 31 Feb 2021 00:00:00 GMT"),
            parse("Sun, 03 Mar 2021 00:00:00 GMT")
        );
    }

    #[test]
    fn lax_expires_takes_any_order() {
        let expected = Some(3_782_416_360_000);
        for text in [
            "Wed, 09-Nov-2089 23:12:40 GMT",
            "2089 Nov 09 23:12:40",
            "23:12:40 9th november 2089",
        ] {
            let got = parse_lax(text);
            // A four-digit year cannot be mistaken for a day.
            assert_eq!(got, expected, "{text}");
        }
        assert_eq!(
            parse_lax("Wed, 09-Nov-99 23:12:40 GMT"),
            parse("Tue, 09 Nov 1999 23:12:40 GMT")
        );
        assert_eq!(parse_lax("junk"), None);
        assert_eq!(parse_lax("Wed, 32-Nov-2089 23:12:40 GMT"), None);
    }
}
