//! `java.text.SimpleDateFormat`, and commons-lang's `FastDateFormat`, which prints the same letters.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use super::locale::Locale;
use super::zone::Zone;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const LETTERS: &str = "GyYMLwWDdFEuaHkKhmsSzZX";

/// A compiled pattern of `SimpleDateFormat`'s letters, printed as commons-lang's `FastDateFormat` does
/// (`SampleSaveConfiguration.threadSafeLenientFormatter`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimplePattern {
    items: Vec<PatternPiece>,
    locale: Locale,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPiece {
    Literal(String),
    Field { letter: char, width: usize },
}

impl SimplePattern {
    /// Compiles `pattern`; `None` for an unknown letter, a missing closing quote, or a field that only one of Java's two
    /// formatters supports.
    pub fn compile(pattern: &str) -> Option<SimplePattern> {
        let mut items = Vec::new();
        let mut literal = String::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                if chars.next_if_eq(&'\'').is_some() {
                    literal.push('\'');
                } else {
                    quoted(&mut chars, &mut literal)?;
                }
            } else if c.is_ascii_alphabetic() {
                let mut width = 1;
                while chars.next_if_eq(&c).is_some() {
                    width += 1;
                }
                if !LETTERS.contains(c) || (c == 'X' && width > 3) {
                    return None;
                }
                if !literal.is_empty() {
                    items.push(PatternPiece::Literal(std::mem::take(&mut literal)));
                }
                items.push(PatternPiece::Field { letter: c, width });
            } else {
                literal.push(c);
            }
        }
        if !literal.is_empty() {
            items.push(PatternPiece::Literal(literal));
        }
        Some(SimplePattern {
            items,
            locale: Locale::from_parts("en", ""),
        })
    }

    /// The same pattern with the names of another language.
    #[must_use]
    pub fn in_locale(self, locale: Locale) -> SimplePattern {
        SimplePattern { locale, ..self }
    }

    /// Appends the moment `epoch_ms` (milliseconds since the Unix epoch), formatted in `zone`.
    pub fn write(&self, epoch_ms: i64, zone: &TimeZone, out: &mut Vec<u8>) {
        let moment = Timestamp::from_millisecond(epoch_ms)
            .unwrap_or(Timestamp::UNIX_EPOCH)
            .to_zoned(zone.clone());
        for item in &self.items {
            match item {
                PatternPiece::Literal(text) => out.extend_from_slice(text.as_bytes()),
                PatternPiece::Field { letter, width } => {
                    write_field(*letter, *width, &moment, &self.locale, out);
                }
            }
        }
    }

    /// Parses the moment at the start of `text`, in milliseconds since the Unix epoch, as `SimpleDateFormat.parse` does
    /// in `zone`. Numbers may exceed the range of their field. A field that is directly followed by a numeric field has
    /// exactly the width in the pattern. Returns `None` if the text does not match, and for patterns with weekdays,
    /// weeks, eras or zones.
    pub fn read(&self, text: &str, zone: &TimeZone) -> Option<i64> {
        let mut rest = text;
        let mut read = DateFields::default();
        for (index, item) in self.items.iter().enumerate() {
            match item {
                PatternPiece::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                PatternPiece::Field { letter, width } => {
                    let next = self.items.get(index + 1);
                    let is_followed = matches!(next, Some(PatternPiece::Field { letter, .. }) if !NAMED.contains(*letter));
                    let most = if is_followed { *width } else { usize::MAX };
                    rest = read.field(*letter, *width, most, rest.trim_start())?;
                }
            }
        }
        read.moment(zone)
    }
}

/// Letters of fields that are never numeric.
const NAMED: &str = "GEazZX";

/// The fields parsed from a text.
struct DateFields {
    year: i16,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    milliseconds: i64,
}

impl Default for DateFields {
    /// The Unix epoch supplies the fields that the pattern lacks.
    fn default() -> DateFields {
        DateFields {
            year: 1970,
            months: 0,
            days: 0,
            hours: 0,
            minutes: 0,
            seconds: 0,
            milliseconds: 0,
        }
    }
}

impl DateFields {
    /// Parses a field at the front of `text` and returns the rest.
    fn field<'t>(
        &mut self,
        letter: char,
        width: usize,
        most: usize,
        text: &'t str,
    ) -> Option<&'t str> {
        if letter == 'a' {
            let (half, rest) = text.split_at_checked(2)?;
            match half.to_ascii_uppercase().as_str() {
                "AM" => {}
                "PM" => self.hours += 12,
                _ => return None,
            }
            return Some(rest);
        }
        if matches!(letter, 'M' | 'L') && width > 2 {
            return self.month_name(text);
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = text.split_at(digits.min(most));
        let value: i64 = digits.parse().ok()?;
        match letter {
            'y' if width <= 2 && digits.len() == 2 => self.year = of_this_century(value),
            'y' => self.year = value.try_into().ok()?,
            'M' | 'L' => self.months = value - 1,
            'd' => self.days = value - 1,
            'H' | 'K' => self.hours += value,
            'k' => self.hours += value % 24,
            'h' => self.hours += value % 12,
            'm' => self.minutes = value,
            's' => self.seconds = value,
            'S' => self.milliseconds = value,
            _ => return None,
        }
        Some(rest)
    }

    fn month_name<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let starts = |name: &str| {
            let start = text.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        for (place, name) in MONTHS.iter().enumerate() {
            if let Some(name) = [name, &name[..3]].into_iter().find(|name| starts(name)) {
                self.months = place as i64;
                return Some(&text[name.len()..]);
            }
        }
        None
    }

    fn moment(&self, zone: &TimeZone) -> Option<i64> {
        let span = Span::new()
            .try_months(self.months)
            .and_then(|span| span.try_days(self.days))
            .and_then(|span| span.try_hours(self.hours))
            .and_then(|span| span.try_minutes(self.minutes))
            .and_then(|span| span.try_seconds(self.seconds))
            .and_then(|span| span.try_milliseconds(self.milliseconds));
        let start = Date::new(self.year, 1, 1).ok()?.at(0, 0, 0, 0);
        let moment = start.checked_add(span.ok()?).ok()?.to_zoned(zone.clone());
        Some(moment.ok()?.timestamp().as_millisecond())
    }
}

/// A two-digit year lies between 80 years ago and 20 years ahead (`SimpleDateFormat`).
fn of_this_century(two_digits: i64) -> i16 {
    let first = i64::from(Zoned::now().year()) - 80;
    let year = first + (two_digits - first).rem_euclid(100);
    year.try_into().unwrap_or(i16::MAX)
}

/// Reads a quoted literal up to its closing quote; a doubled quote stands for one quote.
fn quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    literal: &mut String,
) -> Option<()> {
    loop {
        match chars.next()? {
            '\'' if chars.next_if_eq(&'\'').is_some() => literal.push('\''),
            '\'' => return Some(()),
            c => literal.push(c),
        }
    }
}

fn write_field(letter: char, width: usize, at: &Zoned, locale: &Locale, out: &mut Vec<u8>) {
    let names = locale.names();
    let hour = i64::from(at.hour());
    let weekday = at.weekday().to_monday_zero_offset() as usize;
    match letter {
        'G' => text(if at.year() > 0 { "AD" } else { "BC" }, out),
        'y' => year(i64::from(at.year()), width, out),
        'Y' => year(week_year(at), width, out),
        'M' | 'L' => month(at, width, locale, out),
        'w' => number(week_of_year(at), width, out),
        'W' => number(week_of_month(at), width, out),
        'D' => number(i64::from(at.day_of_year()), width, out),
        'd' => number(i64::from(at.day()), width, out),
        'F' => number((i64::from(at.day()) - 1) / 7 + 1, width, out),
        'E' => text(
            if width < 4 {
                names.short_days[weekday]
            } else {
                names.days[weekday]
            },
            out,
        ),
        'u' => number(weekday as i64 + 1, width, out),
        'a' => text(names.half_days[usize::from(hour >= 12)], out),
        'H' => number(hour, width, out),
        'k' => number(if hour == 0 { 24 } else { hour }, width, out),
        'K' => number(hour % 12, width, out),
        'h' => number(if hour % 12 == 0 { 12 } else { hour % 12 }, width, out),
        'm' => number(i64::from(at.minute()), width, out),
        's' => number(i64::from(at.second()), width, out),
        'S' => number(i64::from(at.millisecond()), width, out),
        'z' => text(&zone_name(at, width >= 4, locale), out),
        'Z' => offset(at, width == 1, width == 2, 3, out),
        'X' => offset(at, width < 3, true, width, out),
        _ => unreachable!("compile lets only known letters through"),
    }
}

fn text(value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(value.as_bytes());
}

fn number(value: i64, width: usize, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value);
    for _ in digits.len()..width {
        out.push(b'0');
    }
    text(digits, out);
}

/// Two letters print two digits; any other number of letters prints at least four (`FastDatePrinter`).
fn year(value: i64, width: usize, out: &mut Vec<u8>) {
    if width == 2 {
        number(value % 100, 2, out);
    } else {
        number(value, width.max(4), out);
    }
}

fn month(at: &Zoned, width: usize, locale: &Locale, out: &mut Vec<u8>) {
    let index = at.month() as usize - 1;
    match width {
        1 | 2 => number(i64::from(at.month()), width, out),
        3 => text(locale.names().short_months[index], out),
        _ => text(locale.names().months[index], out),
    }
}

/// `TimeZone.getDisplayName`; an offset for a zone without a name.
fn zone_name(at: &Zoned, is_full: bool, locale: &Locale) -> String {
    let zone = match at.time_zone().iana_name() {
        Some(_) => Zone::of_rules(at.time_zone().clone()),
        None => Zone::prefixed("GMT", at.offset()),
    };
    zone.name(at.timestamp(), is_full, locale)
        .unwrap_or_else(|| Zone::prefixed("GMT", at.offset()).id().to_owned())
}

/// Prints the zone offset as `+0100` or `+01:00`; an ISO offset of zero is `Z`, and at width 1 it omits the minutes.
fn offset(at: &Zoned, compact: bool, iso: bool, width: usize, out: &mut Vec<u8>) {
    let seconds = at.offset().seconds();
    if iso && seconds == 0 {
        out.push(b'Z');
        return;
    }
    out.push(if seconds < 0 { b'-' } else { b'+' });
    let minutes = i64::from(seconds.abs() / 60);
    number(minutes / 60, 2, out);
    if width > 1 {
        if !compact {
            out.push(b':');
        }
        number(minutes % 60, 2, out);
    }
}

/// Weeks start on Sunday and the first week may be short, as in Java's US locale.
fn week_of_year(at: &Zoned) -> i64 {
    if week_year(at) > i64::from(at.year()) {
        return 1;
    }
    week_number(at, i64::from(at.day_of_year()))
}

fn week_of_month(at: &Zoned) -> i64 {
    week_number(at, i64::from(at.day()))
}

fn week_number(at: &Zoned, day: i64) -> i64 {
    let sunday_zero = i64::from(at.weekday().to_sunday_zero_offset());
    (day - 1 - sunday_zero).div_euclid(7)
        + 1
        + i64::from((day - 1 - sunday_zero).rem_euclid(7) != 0)
}

/// The week that contains 1 January belongs to the new year.
fn week_year(at: &Zoned) -> i64 {
    let left_in_week = 6 - i64::from(at.weekday().to_sunday_zero_offset());
    let crosses = at.month() == 12 && i64::from(at.day()) + left_in_week > 31;
    i64::from(at.year()) + i64::from(crosses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(pattern: &str, epoch_ms: i64, zone: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let mut out = Vec::new();
        SimplePattern::compile(pattern)
            .unwrap()
            .write(epoch_ms, &zone, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn moments_read_as_fast_date_format_writes_them() {
        // zone|pattern|milliseconds|text, written by FastDateFormat of JMeter 5.6.3's commons-lang.
        let golden = include_str!("../../tests/golden/simple_dates.txt");
        assert!(golden.lines().count() > 150);
        for line in golden.lines() {
            let [zone, pattern, epoch_ms, text]: [&str; 4] =
                line.split('|').collect::<Vec<_>>().try_into().unwrap();
            assert_eq!(
                format(pattern, epoch_ms.parse().unwrap(), zone),
                text,
                "{line}"
            );
        }
    }

    #[test]
    fn names_follow_the_locale() {
        let pattern = SimplePattern::compile("EEE d MMM yyyy HH:mm z zzzz").unwrap();
        let pattern = pattern.in_locale(Locale::from_parts("de", "DE"));
        let mut out = Vec::new();
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        pattern.write(1_720_958_400_000, &zone, &mut out);
        // `FastDateFormat` of JMeter 5.6.3's commons-lang, with -Duser.language=de -Duser.country=DE.
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "So. 14 Juli 2024 14:00 MESZ Mitteleuropäische Sommerzeit"
        );
    }

    #[test]
    fn texts_are_the_moments_that_simple_date_format_reads() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        for (pattern, text, epoch_ms) in [
            ("yyyyMMddHHmmss", "20240131130005", Some(1_706_702_405_000)),
            ("yyyyMMddHHmmss", "20241331256005", Some(1_738_371_605_000)),
            ("yyyy/MM/dd HH:mm", "2024/1/31 7:5", Some(1_706_681_100_000)),
            (
                "dd MMM yyyy HH:mm:ss.SSS",
                "31 jan 2024 13:00:05.25",
                Some(1_706_702_405_025),
            ),
            (
                "MMMM d, yyyy h:mm a",
                "January 31, 2024 1:00 PM",
                Some(1_706_702_400_000),
            ),
            (
                "MMMM d, yyyy h:mm a",
                "Jan 31, 2024 12:30 am",
                Some(1_706_657_400_000),
            ),
            ("yyyyMMdd", "20240131 and more", Some(1_706_655_600_000)),
            ("dd/MM/yyyy", "31-01-2024", None),
            ("yyyyMMddHHmmss", "2024013113", None),
            (
                "yyyy-MM-dd'T'HH:mm",
                "2024-01-31T13:00",
                Some(1_706_702_400_000),
            ),
            ("HH:mm", "13:00", Some(43_200_000)),
            (
                "yyyy-MM-dd kk:mm",
                "2024-01-31 24:10",
                Some(1_706_656_200_000),
            ),
            (
                "yyyy-MM-dd KK:mm a",
                "2024-01-31 00:10 PM",
                Some(1_706_699_400_000),
            ),
            ("yyyyMMddHHmmss", "tomorrow", None),
            ("yyyy-MM-dd", "2024- 01-31", Some(1_706_655_600_000)),
            ("yyyy-MM-dd", "2024-02-31", Some(1_709_334_000_000)),
        ] {
            let read = SimplePattern::compile(pattern).unwrap().read(text, &berlin);
            assert_eq!(read, epoch_ms, "{pattern}: {text}");
        }
        let short = SimplePattern::compile("yy").unwrap();
        let here = |text| short.read(text, &TimeZone::UTC).unwrap();
        assert_eq!(here("24"), here("2024"));
    }

    #[test]
    fn patterns_java_refuses_are_refused() {
        for pattern in ["XXXX", "'abc", "b", "{x}", "'", "Q"] {
            assert_eq!(SimplePattern::compile(pattern), None, "{pattern}");
        }
        for pattern in ["", "''", "yyyy'T'", "L", "ZZZZ"] {
            assert!(SimplePattern::compile(pattern).is_some(), "{pattern}");
        }
        assert_eq!(format("yyyy'T'", 0, "UTC"), "1970T");
        assert_eq!(format("ZZZZ", 0, "UTC"), "+00:00");
    }
}
