//! Prints dates: `DateTimeFormatterBuilder`'s printers.

use std::fmt::Write;

use jiff::civil::Date;
use jiff::tz::Offset;

use super::TemporalFields;
use super::locale::Locale;
use super::pattern::{DatePattern, PatternItem};
use super::zone::Zone;
use super::zone_names::{Season, ZoneNames};

impl DatePattern {
    /// Formats an instant in a zone; `None` for years that do not fit four digits.
    #[must_use]
    pub fn format_millis(&self, millis: i64, zone: &Zone, locale: &Locale) -> Option<String> {
        self.format(&TemporalFields::from_millis(millis, zone)?, locale)
    }

    /// Formats a moment; `None` if it lacks a field of the pattern, for which Java throws
    /// `UnsupportedTemporalTypeException`.
    #[must_use]
    pub fn format(&self, moment: &TemporalFields, locale: &Locale) -> Option<String> {
        let mut out = String::with_capacity(32);
        let printer = Printer { moment, locale };
        printer.items(&self.items, &mut out)?;
        Some(out)
    }
}

struct Printer<'m> {
    moment: &'m TemporalFields,
    locale: &'m Locale,
}

impl Printer<'_> {
    fn items(&self, items: &[PatternItem], out: &mut String) -> Option<()> {
        for item in items {
            match item {
                PatternItem::Literal(text) => out.push_str(text),
                PatternItem::Field { letter, count } => self.field(*letter, *count, out)?,
                PatternItem::Padded {
                    width,
                    letter,
                    count,
                } => {
                    let mut text = String::new();
                    self.field(*letter, *count, &mut text)?;
                    let length = text.chars().count();
                    // Java throws if the text exceeds the width.
                    out.push_str(&" ".repeat(width.checked_sub(length)?));
                    out.push_str(&text);
                }
                PatternItem::Optional(items) => {
                    let start = out.len();
                    if self.items(items, out).is_none() {
                        out.truncate(start);
                    }
                }
            }
        }
        Some(())
    }

    fn field(&self, letter: char, count: usize, out: &mut String) -> Option<()> {
        match letter {
            'y' | 'u' | 'Y' => self.year(letter, count, out),
            'M' | 'L' | 'E' | 'G' | 'Q' | 'q' | 'a' | 'B' => self.word(letter, count, out),
            'e' | 'c' if count > 2 => self.word('E', count, out),
            'S' => {
                let nanos = format!("{:09}", self.number('n')?);
                out.push_str(&nanos[..count]);
                Some(())
            }
            'V' | 'z' | 'v' => self.zone(letter, count, out),
            'O' | 'X' | 'x' | 'Z' => {
                print_offset(self.moment.offset?, letter, count, out);
                Some(())
            }
            _ => {
                let number = self.number(letter)?;
                write!(out, "{number:0count$}").ok()
            }
        }
    }

    fn year(&self, letter: char, count: usize, out: &mut String) -> Option<()> {
        let year = self.number(letter)?;
        if count == 2 {
            write!(out, "{:02}", year.rem_euclid(100)).ok()
        } else if count >= 4 && year >= 10i64.pow(count.min(18) as u32) {
            write!(out, "+{year}").ok()
        } else if year < 0 {
            write!(out, "-{:0count$}", -year).ok()
        } else {
            write!(out, "{year:0count$}").ok()
        }
    }

    /// A name, or a number if the pattern has fewer than three letters.
    fn word(&self, letter: char, count: usize, out: &mut String) -> Option<()> {
        let number = self.number(letter)?;
        let names = self.locale.names();
        let index = number as usize;
        match (letter, count) {
            ('M' | 'L' | 'Q' | 'q', 1 | 2) => return write!(out, "{number:0count$}").ok(),
            ('M' | 'L', 3) => out.push_str(names.short_months.get(index - 1)?),
            ('M' | 'L', 4) => out.push_str(names.months.get(index - 1)?),
            ('M' | 'L', _) => out.push_str(&narrow(names.months.get(index - 1)?)),
            ('Q' | 'q', 3) => write!(out, "Q{number}").ok()?,
            ('Q' | 'q', 4) => {
                out.push_str(["1st", "2nd", "3rd", "4th"].get(index - 1)?);
                out.push_str(" quarter");
            }
            ('Q' | 'q', _) => write!(out, "{number}").ok()?,
            ('E', 1..=3) => out.push_str(names.short_days.get(index - 1)?),
            ('E', 4) => out.push_str(names.days.get(index - 1)?),
            ('E', _) => out.push_str(&narrow(names.days.get(index - 1)?)),
            ('G', 1..=3) => out.push_str(if number == 1 { "AD" } else { "BC" }),
            ('G', 4) => out.push_str(if number == 1 {
                "Anno Domini"
            } else {
                "Before Christ"
            }),
            ('G', _) => out.push_str(if number == 1 { "A" } else { "B" }),
            ('a', _) => out.push_str(names.half_days.get(index)?),
            _ => out.push_str(self.day_period(count)?),
        }
        Some(())
    }

    /// `B`: the part of the day, in English.
    fn day_period(&self, count: usize) -> Option<&'static str> {
        let time = self.moment.time?;
        let sharp = time.minute() == 0;
        Some(match time.hour() {
            0 if sharp && count == 5 => "mi",
            0 if sharp => "midnight",
            12 if sharp && count == 5 => "n",
            12 if sharp => "noon",
            6..=11 => "in the morning",
            12..=17 => "in the afternoon",
            18..=20 => "in the evening",
            _ => "at night",
        })
    }

    /// `VV`: the zone's id. `z` and `v`: its name, full with four letters, or else its id.
    fn zone(&self, letter: char, count: usize, out: &mut String) -> Option<()> {
        let moment = self.moment;
        let Some(zone) = &moment.zone else {
            print_offset(moment.offset?, 'X', 3, out);
            return Some(());
        };
        if letter == 'V' || zone.is_offset() {
            out.push_str(zone.id());
            return Some(());
        }
        let season = match letter {
            'z' => self.season(zone),
            _ => Season::Any,
        };
        let names = ZoneNames::of(self.locale);
        let name = names.name(zone.id(), count == 4, season);
        out.push_str(name.unwrap_or(zone.id()));
        Some(())
    }

    /// `ZoneTextPrinterParser.format`: a date without a time has no season.
    fn season(&self, zone: &Zone) -> Season {
        let Some(instant) = self.moment.instant_in(zone) else {
            return Season::Any;
        };
        if zone.is_daylight(instant) {
            Season::Daylight
        } else {
            Season::Standard
        }
    }

    /// The number that a pattern letter stands for.
    fn number(&self, letter: char) -> Option<i64> {
        let moment = self.moment;
        if let (Some(value), true) = (self.of_time(letter), moment.time.is_some()) {
            return Some(value);
        }
        if let Some(value) = moment.date.and_then(|date| self.of_date(date, letter)) {
            return Some(value);
        }
        let same = |found: char| found == letter || (found == 'M' && letter == 'L');
        moment
            .fields
            .iter()
            .find(|(found, _)| same(*found))
            .map(|(_, value)| *value)
    }

    fn of_time(&self, letter: char) -> Option<i64> {
        let time = self.moment.time?;
        let hour = i64::from(time.hour());
        let nanos = i64::from(time.subsec_nanosecond());
        let seconds = (hour * 60 + i64::from(time.minute())) * 60 + i64::from(time.second());
        Some(match letter {
            'H' => hour,
            'k' if hour == 0 => 24,
            'k' => hour,
            'K' => hour % 12,
            'h' if hour % 12 == 0 => 12,
            'h' => hour % 12,
            'a' => hour / 12,
            'B' => 0,
            'm' => time.minute().into(),
            's' => time.second().into(),
            'n' => nanos,
            'A' => seconds * 1000 + nanos / 1_000_000,
            'N' => seconds * 1_000_000_000 + nanos,
            _ => return None,
        })
    }

    fn of_date(&self, date: Date, letter: char) -> Option<i64> {
        let year = i64::from(date.year());
        let weekday = i64::from(date.weekday().to_monday_one_offset());
        let (first, least) = self.locale.week();
        Some(match letter {
            'u' => year,
            'y' if year > 0 => year,
            'y' => 1 - year,
            'G' => i64::from(year > 0),
            'M' | 'L' => date.month().into(),
            'Q' | 'q' => i64::from((date.month() - 1) / 3 + 1),
            'd' => date.day().into(),
            'D' => date.day_of_year().into(),
            'E' => weekday,
            'e' | 'c' => (weekday - first).rem_euclid(7) + 1,
            'F' => i64::from((date.day() - 1) % 7 + 1),
            'W' => week_number(date.day().into(), weekday, first, least),
            'w' => week_of_year(date, first, least).1,
            'Y' => week_of_year(date, first, least).0,
            'g' => days_since_1970(date) + 40_587,
            _ => return None,
        })
    }
}

fn narrow(name: &str) -> String {
    name.chars().take(1).flat_map(char::to_uppercase).collect()
}

/// Days since 1970-01-01.
#[must_use]
pub fn days_since_1970(date: Date) -> i64 {
    i64::from((date - Date::constant(1970, 1, 1)).get_days())
}

/// `WeekFields.ComputedDayOfField`: the week of a day in its month or year; 0 before the first week.
fn week_number(day: i64, weekday: i64, first: i64, least: i64) -> i64 {
    let offset = week_offset(day, weekday, first, least);
    (7 + offset + (day - 1)) / 7
}

/// `startOfWeekOffset`.
fn week_offset(day: i64, weekday: i64, first: i64, least: i64) -> i64 {
    let position = (weekday - first).rem_euclid(7);
    let week_start = (day - 1 - position).rem_euclid(7);
    if week_start + 1 > least {
        7 - week_start
    } else {
        -week_start
    }
}

/// The week-based year and the week in it.
fn week_of_year(date: Date, first: i64, least: i64) -> (i64, i64) {
    let weekday = i64::from(date.weekday().to_monday_one_offset());
    let year = i64::from(date.year());
    let day = i64::from(date.day_of_year());
    let week = week_number(day, weekday, first, least);
    if week == 0 {
        let last = date.first_of_year().yesterday();
        return match last {
            Ok(last) => {
                let weekday = i64::from(last.weekday().to_monday_one_offset());
                (
                    year - 1,
                    week_number(last.day_of_year().into(), weekday, first, least),
                )
            }
            Err(_) => (year, week),
        };
    }
    let offset = week_offset(day, weekday, first, least);
    let next_years_first = (7 + offset + (i64::from(date.days_in_year()) + least - 1)) / 7;
    if week >= next_years_first {
        return (year + 1, week - next_years_first + 1);
    }
    (year, week)
}

/// `OffsetIdPrinterParser` and `LocalizedOffsetIdPrinterParser`.
fn print_offset(offset: Offset, letter: char, count: usize, out: &mut String) {
    let total = offset.seconds();
    let localized = letter == 'O' || (letter == 'Z' && count == 4);
    if localized {
        out.push_str("GMT");
        if total == 0 {
            return;
        }
    } else if total == 0 && (letter == 'X' || (letter == 'Z' && count == 5)) {
        return out.push('Z');
    }
    let (hours, minutes, seconds) = (total.abs() / 3600, total.abs() / 60 % 60, total.abs() % 60);
    out.push(if total < 0 { '-' } else { '+' });
    let mut digits = |text: String| out.push_str(&text);
    if letter == 'O' && count == 1 {
        digits(hours.to_string());
        if minutes != 0 || seconds != 0 {
            digits(format!(":{minutes:02}"));
        }
        if seconds != 0 {
            digits(format!(":{seconds:02}"));
        }
        return;
    }
    digits(format!("{hours:02}"));
    let colon = match (letter, count) {
        ('X' | 'x', 3 | 5) | ('O' | 'Z', 4..) => ":",
        _ => "",
    };
    let short = matches!(letter, 'X' | 'x') && count == 1;
    if !(short && minutes == 0) {
        digits(format!("{colon}{minutes:02}"));
    }
    if count >= 4 && seconds != 0 {
        digits(format!("{colon}{seconds:02}"));
    }
}
