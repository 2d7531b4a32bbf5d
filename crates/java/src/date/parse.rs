//! Parses dates: `DateTimeFormatterBuilder`'s parsers, and `Parsed`, which resolves the parsed fields in the smart resolver
//! style.

use jiff::SignedDuration;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use super::TemporalFields;
use super::locale::Locale;
use super::pattern::{DatePattern, PatternItem};
use super::zone::Zone;
use super::zone_names::ZoneNames;

/// The defaults that `DateTimeFormatterBuilder.parseDefaulting` adds for fields missing in a text, by pattern letter, in
/// order. `o` stands for the offset in seconds, `i` for milliseconds.
pub type Defaults = [(char, i64)];

impl DatePattern {
    /// Parses a whole text; `None` if Java throws `DateTimeParseException`.
    #[must_use]
    pub fn parse(
        &self,
        text: &str,
        locale: &Locale,
        defaults: &Defaults,
    ) -> Option<TemporalFields> {
        let mut parser = TimeParser {
            rest: text,
            locale,
            found: ParsedFields::default(),
        };
        parser.items(&self.items)?;
        if !parser.rest.is_empty() {
            return None;
        }
        let mut fields = parser.found;
        for (letter, value) in defaults {
            if fields.get(*letter).is_none() {
                fields.fields.push((*letter, *value));
            }
        }
        fields.resolve()
    }
}

struct TimeParser<'t> {
    rest: &'t str,
    locale: &'t Locale,
    found: ParsedFields,
}

#[derive(Debug, Clone, Default)]
struct ParsedFields {
    fields: Vec<(char, i64)>,
    zone: Option<Zone>,
}

/// The width of a number in a pattern.
struct Width {
    min: usize,
    max: usize,
    /// Whether a sign is allowed.
    signed: bool,
}

impl TimeParser<'_> {
    fn items(&mut self, items: &[PatternItem]) -> Option<()> {
        for (index, item) in items.iter().enumerate() {
            match item {
                PatternItem::Literal(text) => self.rest = self.rest.strip_prefix(text.as_str())?,
                PatternItem::Field { letter, count } => {
                    let reserved = adjacent_width(&items[index + 1..]);
                    self.field(*letter, *count, reserved)?;
                }
                PatternItem::Padded {
                    width,
                    letter,
                    count,
                } => self.padded(*width, *letter, *count)?,
                PatternItem::Optional(items) => {
                    let before = (self.rest, self.found.clone());
                    if self.items(items).is_none() {
                        (self.rest, self.found) = before;
                    }
                }
            }
        }
        Some(())
    }

    fn padded(&mut self, width: usize, letter: char, count: usize) -> Option<()> {
        let end = self
            .rest
            .char_indices()
            .nth(width)
            .map(|(at, _)| at)
            .unwrap_or(self.rest.len());
        let (padded, after) = self.rest.split_at(end);
        if padded.chars().count() < width {
            return None;
        }
        self.rest = padded.trim_start_matches(' ');
        self.field(letter, count, 0)?;
        if !self.rest.is_empty() {
            return None;
        }
        self.rest = after;
        Some(())
    }

    fn field(&mut self, letter: char, count: usize, reserved: usize) -> Option<()> {
        match letter {
            'S' => self.fraction(count),
            'a' => self.name(letter, &self.locale.names().half_days, 0),
            'M' | 'L' if count == 3 => self.name('M', &self.locale.names().short_months, 1),
            'M' | 'L' if count == 4 => self.name('M', &self.locale.names().months, 1),
            'E' if count <= 3 => self.name(letter, &self.locale.names().short_days, 1),
            'E' if count == 4 => self.name(letter, &self.locale.names().days, 1),
            'G' if count <= 3 => self.name(letter, &["BC", "AD"], 0),
            'G' if count == 4 => self.name(letter, &["Before Christ", "Anno Domini"], 0),
            'X' | 'x' | 'Z' | 'O' => self.offset(letter, count),
            'V' => self.zone(None),
            'z' | 'v' => self.zone(Some(count == 4)),
            'y' | 'u' if count == 2 => {
                let value = self.number(
                    &Width {
                        min: 2,
                        max: 2,
                        signed: false,
                    },
                    0,
                )?;
                self.found.put(letter, 2000 + value)
            }
            _ => {
                let width = number_width(letter, count)?;
                let value = self.number(&width, reserved)?;
                self.found
                    .put(if letter == 'L' { 'M' } else { letter }, value)
            }
        }
    }

    /// `NumberPrinterParser.parse`: `reserved` digits belong to the directly following fields.
    fn number(&mut self, width: &Width, reserved: usize) -> Option<i64> {
        let sign = self.rest.chars().next().filter(|c| matches!(c, '+' | '-'));
        let unsigned = match sign {
            Some(_) if width.signed => &self.rest[1..],
            Some(_) => return None,
            None => self.rest,
        };
        let available = unsigned
            .bytes()
            .take(width.max + reserved)
            .take_while(u8::is_ascii_digit)
            .count();
        let len = if reserved > 0 {
            width
                .min
                .max(available.saturating_sub(reserved))
                .min(available)
        } else {
            available
        };
        if len < width.min || (width.signed && width.min > 1 && sign.is_none() && len > width.min) {
            return None;
        }
        if sign == Some('+') && len <= width.min {
            return None;
        }
        let value: i64 = unsigned[..len].parse().ok()?;
        self.rest = &unsigned[len..];
        Some(if sign == Some('-') { -value } else { value })
    }

    fn fraction(&mut self, count: usize) -> Option<()> {
        let digits = self.rest.get(..count)?;
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        self.rest = &self.rest[count..];
        let value: i64 = digits.parse().ok()?;
        self.found.put('n', value * 10i64.pow(9 - count as u32))
    }

    /// Parses the longest of the names that the text starts with.
    fn name(&mut self, letter: char, names: &[&str], first: i64) -> Option<()> {
        let (index, name) = names
            .iter()
            .enumerate()
            .filter(|(_, name)| self.rest.starts_with(**name))
            .max_by_key(|(_, name)| name.len())?;
        self.rest = &self.rest[name.len()..];
        self.found.put(letter, index as i64 + first)
    }

    fn offset(&mut self, letter: char, count: usize) -> Option<()> {
        let localized = letter == 'O' || (letter == 'Z' && count == 4);
        if localized {
            self.rest = self.rest.strip_prefix("GMT")?;
            if !self.rest.starts_with(['+', '-']) {
                return self.found.put('o', 0);
            }
        } else if (letter == 'X' || (letter == 'Z' && count == 5))
            && let Some(rest) = self.rest.strip_prefix('Z')
        {
            self.rest = rest;
            return self.found.put('o', 0);
        }
        if let ('O', 1) = (letter, count) {
            let (seconds, length) = read_short_offset(self.rest)?;
            self.rest = &self.rest[length..];
            return self.found.put('o', seconds);
        }
        let colon = matches!((letter, count), ('X' | 'x', 3 | 5) | ('O' | 'Z', 4..));
        let hours_only = (matches!(letter, 'X' | 'x') && count == 1) || letter == 'O';
        let (seconds, len) = read_offset(self.rest, colon, hours_only)?;
        self.rest = &self.rest[len..];
        self.found.put('o', seconds)
    }

    /// `ZoneIdPrinterParser.parse`: an id of a zone, or an offset with or without a prefix; with `full_names`, also one of the
    /// full or short names that `ZoneTextPrinterParser` knows.
    fn zone(&mut self, full_names: Option<bool>) -> Option<()> {
        if self.rest.starts_with(['+', '-']) {
            return self.offset_zone("", self.rest);
        }
        for prefix in ["UTC", "UT", "GMT"] {
            let Some(rest) = self.rest.strip_prefix(prefix) else {
                continue;
            };
            if prefix == "GMT" && rest.starts_with('0') {
                self.rest = &rest[1..];
                self.found.zone = Zone::of("GMT0");
                return Some(());
            }
            return self.offset_zone(prefix, rest);
        }
        let names = ZoneNames::of(self.locale);
        let read = match full_names {
            Some(is_full) => names.read(self.rest, is_full),
            None => names.read_id(self.rest),
        };
        let (zone, length) = match read {
            Some((id, length)) => (Zone::of(id)?, length),
            None if self.rest.starts_with('Z') => (Zone::offset(Offset::UTC), 1),
            None => return None,
        };
        self.found.zone = Some(zone);
        self.rest = &self.rest[length..];
        Some(())
    }

    /// `parseOffsetBased`: an offset such as `+02:00` behind a prefix, or the prefix alone.
    fn offset_zone(&mut self, prefix: &str, rest: &'_ str) -> Option<()> {
        let length = self.rest.len() - rest.len();
        let (zone, offset_length) = match read_offset(rest, true, false) {
            // `ZoneOffset.MAX`
            Some((seconds, _)) if seconds.abs() > 18 * 3600 => return None,
            Some((seconds, length)) => {
                let offset = Offset::from_seconds(i32::try_from(seconds).ok()?).ok()?;
                let zone = match prefix {
                    "" => Zone::offset(offset),
                    _ => Zone::prefixed(prefix, offset),
                };
                (zone, length)
            }
            None if prefix.is_empty() => return None,
            None => (Zone::prefixed(prefix, Offset::UTC), 0),
        };
        self.found.zone = Some(zone);
        self.rest = &self.rest[length + offset_length..];
        Some(())
    }
}

/// `+1` or `+11`, with optional minutes and seconds behind colons (`LocalizedOffsetIdPrinterParser`, short).
fn read_short_offset(text: &str) -> Option<(i64, usize)> {
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    if digits != 1 {
        return read_offset(text, true, true);
    }
    let padded = format!("{}0{}", &text[..1], &text[1..]);
    let (seconds, length) = read_offset(&padded, true, true)?;
    Some((seconds, length - 1))
}

/// `+01`, `+0130` or `+01:30`, with optional seconds.
fn read_offset(text: &str, colon: bool, hours_only: bool) -> Option<(i64, usize)> {
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let two = |at: usize| -> Option<i64> {
        let digits = text.get(at..at + 2)?;
        digits
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let mut seconds = two(1)? * 3600;
    let mut len = 3;
    for unit in [60, 1] {
        let at = len + usize::from(colon);
        if colon && text.get(len..at) != Some(":") {
            break;
        }
        let Some(value) = two(at) else { break };
        seconds += value * unit;
        len = at + 2;
    }
    if len == 3 && !hours_only {
        return None;
    }
    Some((sign * seconds, len))
}

fn number_width(letter: char, count: usize) -> Option<Width> {
    let fixed = Width {
        min: count,
        max: count,
        signed: false,
    };
    Some(match letter {
        'y' | 'u' => Width {
            min: count,
            max: 19,
            signed: true,
        },
        'A' | 'n' | 'N' => Width {
            min: count,
            max: 19,
            signed: false,
        },
        'D' => Width {
            min: count,
            max: 3,
            signed: false,
        },
        'M' | 'L' | 'd' | 'h' | 'H' | 'k' | 'K' | 'm' | 's' if count == 1 => Width {
            min: 1,
            max: 19,
            signed: true,
        },
        'M' | 'L' | 'd' | 'h' | 'H' | 'k' | 'K' | 'm' | 's' if count == 2 => fixed,
        _ => return None,
    })
}

/// The number of digits that the directly following fields of fixed width take.
fn adjacent_width(items: &[PatternItem]) -> usize {
    let widths = items.iter().map_while(|item| match item {
        PatternItem::Field { letter, count: 2 }
            if number_width(*letter, 2).is_some_and(|w| w.max == 2) =>
        {
            Some(2)
        }
        _ => None,
    });
    widths.sum()
}

impl ParsedFields {
    fn get(&self, letter: char) -> Option<i64> {
        self.fields
            .iter()
            .find(|(found, _)| *found == letter)
            .map(|(_, value)| *value)
    }

    /// Sets a field; a second value must equal the first.
    fn put(&mut self, letter: char, value: i64) -> Option<()> {
        match self.get(letter) {
            Some(former) if former != value => None,
            Some(_) => Some(()),
            None => {
                self.fields.push((letter, value));
                Some(())
            }
        }
    }

    fn resolve(mut self) -> Option<TemporalFields> {
        let date = self.date()?;
        let time = self.time()?;
        let offset = match self.get('o') {
            Some(seconds) => Some(Offset::from_seconds(i32::try_from(seconds).ok()?).ok()?),
            None => None,
        };
        if let Some(date) = date {
            let weekday = i64::from(date.weekday().to_monday_one_offset());
            let day_of_year = i64::from(date.day_of_year());
            let differs = |letter, actual| self.get(letter).is_some_and(|said| said != actual);
            if differs('E', weekday) || differs('D', day_of_year) {
                return None;
            }
        }
        Some(TemporalFields {
            date,
            time,
            zone: self.zone,
            offset,
            fields: self.fields,
        })
    }

    /// The outer `None` means contradictory fields, the inner one an incomplete date.
    fn date(&self) -> Option<Option<Date>> {
        let of_era = self.get('y').map(|year| {
            if self.get('G') == Some(0) {
                1 - year
            } else {
                year
            }
        });
        let year = match (self.get('u'), of_era) {
            (Some(year), Some(other)) if year != other => return None,
            (year, other) => year.or(other),
        };
        let Some(year) = year else {
            return Some(None);
        };
        let year = i16::try_from(year).ok()?;
        if let (Some(month), Some(day)) = (self.get('M'), self.get('d')) {
            if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
                return None;
            }
            let first = Date::new(year, month as i8, 1).ok()?;
            let day = (day as i8).min(first.days_in_month());
            return Some(Some(Date::new(year, month as i8, day).ok()?));
        }
        if let Some(day) = self.get('D') {
            let first = Date::new(year, 1, 1).ok()?;
            if !(1..=i64::from(first.days_in_year())).contains(&day) {
                return None;
            }
            return Some(Some(
                first
                    .checked_add(SignedDuration::from_hours(24 * (day - 1)))
                    .ok()?,
            ));
        }
        Some(None)
    }

    fn time(&mut self) -> Option<Option<Time>> {
        if let Some(hour) = self.get('k') {
            self.put('H', if hour == 24 { 0 } else { hour })?;
        }
        if let Some(half) = self.get('a') {
            let clock = self.get('h').map(|hour| if hour == 12 { 0 } else { hour });
            if let Some(hour) = self.get('K').or(clock) {
                if !(0..=11).contains(&hour) {
                    return None;
                }
                self.put('H', half * 12 + hour)?;
            }
        }
        if let Some(nanos) = self.of_day() {
            return Some(Some(nanos?));
        }
        // Milliseconds and a fraction must be equal, so `__timeShift` fails on most fractions.
        let nanos = match (self.get('i'), self.get('n')) {
            (Some(millis), Some(nanos)) if nanos / 1_000_000 != millis => return None,
            (Some(millis), None) => Some(millis * 1_000_000),
            (_, nanos) => nanos,
        };
        let (hour, minute, second) = (self.get('H'), self.get('m'), self.get('s'));
        let gap = (minute.is_none() && (second.is_some() || nanos.is_some()))
            || (minute.is_some() && second.is_none() && nanos.is_some());
        let Some(hour) = hour.filter(|_| !gap) else {
            return Some(None);
        };
        let nanos = i32::try_from(nanos.unwrap_or(0)).ok()?;
        let time = Time::new(
            i8::try_from(hour).ok()?,
            narrow(minute)?,
            narrow(second)?,
            nanos,
        );
        Some(Some(time.ok()?))
    }

    /// A time given as milliseconds or nanoseconds of the day; the inner `None` means an invalid time.
    fn of_day(&self) -> Option<Option<Time>> {
        let nanos = match (self.get('N'), self.get('A')) {
            (Some(nanos), _) => nanos,
            (None, Some(millis)) => millis.checked_mul(1_000_000)?,
            (None, None) => return None,
        };
        let midnight = Time::midnight();
        Some(midnight.checked_add(SignedDuration::from_nanos(nanos)).ok())
    }
}

fn narrow(value: Option<i64>) -> Option<i8> {
    i8::try_from(value.unwrap_or(0)).ok()
}
