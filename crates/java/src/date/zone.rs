//! `java.time.ZoneId` over the time zone database of the `jiff` library.

use std::sync::Arc;

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, Zoned};

use super::locale::Locale;
use super::zone_names::{Season, ZoneNames};

/// A time zone by its id in Java: a region, a fixed offset, or a fixed offset with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    id: Arc<str>,
    rules: TimeZone,
    /// Whether Java represents it as a `ZoneOffset`, which has no name.
    is_offset: bool,
}

/// `ZoneId.SHORT_IDS`: ids that only `java.util.TimeZone` knows.
const SHORT_IDS: [(&str, &str); 28] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("EST", "-05:00"),
    ("HST", "-10:00"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("MST", "-07:00"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

/// Ids that stand before an offset.
const PREFIXES: [&str; 3] = ["UTC", "GMT", "UT"];

impl Zone {
    /// `ZoneId.of`; `None` if Java throws.
    #[must_use]
    pub fn of(id: &str) -> Option<Zone> {
        if id == "Z" || id.starts_with(['+', '-']) {
            return offset_of(id).map(Zone::offset);
        }
        for prefix in PREFIXES {
            match id.strip_prefix(prefix) {
                Some("") => return Some(Zone::prefixed(prefix, Offset::UTC)),
                Some(offset) if offset.starts_with(['+', '-']) => {
                    return offset_of(offset).map(|offset| Zone::prefixed(prefix, offset));
                }
                _ => {}
            }
        }
        let rules = match id.strip_prefix("SystemV/") {
            Some(rule) => system_v(rule)?,
            None => TimeZone::get(id)
                .ok()
                // The library ignores case, and knows three ids that Java has as short ids only.
                .filter(|rules| rules.iana_name() == Some(id))
                .filter(|_| !matches!(id, "EST" | "MST" | "HST"))?,
        };
        Some(Zone {
            id: id.into(),
            rules,
            is_offset: false,
        })
    }

    /// `TimeZone.getTimeZone(id).toZoneId()`, which knows short ids such as `PST`, and `GMT+2`; GMT if the id is unknown.
    #[must_use]
    pub fn of_time_zone(id: &str) -> Zone {
        let short = SHORT_IDS.iter().find(|(short, _)| *short == id);
        let id = short.map(|(_, long)| *long).unwrap_or(id);
        let named = Zone::of(id).filter(|zone| short.is_some() || !zone.is_offset);
        named
            .or_else(|| {
                Some(Zone::prefixed(
                    "GMT",
                    custom_offset(id.strip_prefix("GMT")?)?,
                ))
            })
            .unwrap_or_else(|| Zone::prefixed("GMT", Offset::UTC))
    }

    /// A `ZoneOffset`.
    #[must_use]
    pub fn offset(offset: Offset) -> Zone {
        Zone {
            id: offset_id(offset).into(),
            rules: TimeZone::fixed(offset),
            is_offset: true,
        }
    }

    /// `ZoneId.ofOffset`.
    #[must_use]
    pub fn prefixed(prefix: &str, offset: Offset) -> Zone {
        let id = if offset == Offset::UTC {
            prefix.into()
        } else {
            format!("{prefix}{}", offset_id(offset)).into()
        };
        Zone {
            id,
            rules: TimeZone::fixed(offset),
            is_offset: false,
        }
    }

    /// The zone with rules of the operating system, as Java finds it.
    #[must_use]
    pub fn of_rules(rules: TimeZone) -> Zone {
        let id = rules.iana_name().unwrap_or("GMT").into();
        Zone {
            id,
            rules,
            is_offset: false,
        }
    }

    /// `getId`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The rules of the zone.
    #[must_use]
    pub fn rules(&self) -> &TimeZone {
        &self.rules
    }

    /// Whether it is a `ZoneOffset`.
    #[must_use]
    pub fn is_offset(&self) -> bool {
        self.is_offset
    }

    /// `ZoneRules.isDaylightSavings`.
    ///
    /// Java reads the time zone database in the form in which daylight saving time is always later than standard time.
    /// Elsewhere, a few zones have a winter time that is earlier than standard time.
    #[must_use]
    pub fn is_daylight(&self, instant: Timestamp) -> bool {
        let info = self.rules.to_offset_info(instant);
        let is_dst = info.dst().is_dst();
        let now = info.offset();
        let is_reversed = [
            "Europe/Dublin",
            "Eire",
            "Africa/Casablanca",
            "Africa/El_Aaiun",
        ]
        .contains(&self.id());
        if self.id() == "Africa/Windhoek" && now.seconds() == 2 * 3600 {
            // To Java this is the daylight saving time of UTC+1, which Namibia has had since independence without an end.
            return info.abbreviation() == "CAT";
        }
        if !is_reversed {
            return is_dst;
        }
        let year = SignedDuration::from_hours(24 * 366);
        let until = instant.checked_add(year).unwrap_or(instant);
        let mut following = self.rules.following(instant);
        following
            .find(|transition| transition.timestamp() > until || transition.offset() != now)
            .is_some_and(|transition| transition.timestamp() <= until && transition.offset() < now)
    }

    /// `TimeZone.getDisplayName`; `None` if the zone has no name.
    #[must_use]
    pub fn name(&self, instant: Timestamp, is_full: bool, locale: &Locale) -> Option<String> {
        let season = if self.is_daylight(instant) {
            Season::Daylight
        } else {
            Season::Standard
        };
        let names = ZoneNames::of(locale);
        names.name(&self.id, is_full, season).map(str::to_owned)
    }

    /// An instant in this zone.
    #[must_use]
    pub fn at(&self, instant: Timestamp) -> Zoned {
        instant.to_zoned(self.rules.clone())
    }
}

/// `ZoneOffset.of`: `Z`, `+h`, `+hh`, `+hh:mm`, `+hhmm`, `+hh:mm:ss` or `+hhmmss`.
fn offset_of(id: &str) -> Option<Offset> {
    if id == "Z" {
        return Some(Offset::UTC);
    }
    let (sign, digits) = match id.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, id.strip_prefix('+')?),
    };
    let two = |at: usize| -> Option<i32> {
        let digits = digits.get(at..at + 2)?;
        if digits.bytes().all(|b| b.is_ascii_digit()) {
            digits.parse().ok()
        } else {
            None
        }
    };
    let colon_at = |at: usize| digits.as_bytes().get(at) == Some(&b':');
    let (hours, minutes, seconds) = match digits.len() {
        1 => (digits.parse().ok()?, 0, 0),
        2 => (two(0)?, 0, 0),
        4 => (two(0)?, two(2)?, 0),
        5 if colon_at(2) => (two(0)?, two(3)?, 0),
        6 => (two(0)?, two(2)?, two(4)?),
        8 if colon_at(2) && colon_at(5) => (two(0)?, two(3)?, two(6)?),
        _ => return None,
    };
    let total = (hours * 60 + minutes) * 60 + seconds;
    if minutes > 59 || seconds > 59 || total > 18 * 3600 {
        return None;
    }
    Offset::from_seconds(sign * total).ok()
}

/// `ZoneOffset.getId`.
fn offset_id(offset: Offset) -> String {
    let total = offset.seconds();
    if total == 0 {
        return "Z".to_owned();
    }
    let sign = if total < 0 { '-' } else { '+' };
    let (hours, minutes, seconds) = (total.abs() / 3600, total.abs() / 60 % 60, total.abs() % 60);
    match seconds {
        0 => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

/// The offset of a custom id of `java.util.TimeZone`: `+h`, `+hh`, `+h:mm`, `+hh:mm` or `+hhmm`.
fn custom_offset(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours < 24 && minutes < 60 {
        Offset::from_seconds(sign * (hours * 60 + minutes) * 60).ok()
    } else {
        None
    }
}

fn is_number(text: &str) -> bool {
    (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// The zones `SystemV/…`, with the rules of the United States until 1973.
fn system_v(rule: &str) -> Option<TimeZone> {
    let digits = rule.find(|c: char| c.is_ascii_digit())?;
    let rest = rule[digits..].trim_start_matches(|c: char| c.is_ascii_digit());
    match (is_name(&rule[..digits]), rest) {
        (true, "") => TimeZone::posix(rule).ok(),
        (true, summer) if is_name(summer) => {
            TimeZone::posix(&format!("{rule},M4.5.0,M10.5.0")).ok()
        }
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_zone_id() {
        for (id, expected) in [
            ("Z", Some("Z")),
            ("+2", Some("+02:00")),
            ("-0530", Some("-05:30")),
            ("+01:02:03", Some("+01:02:03")),
            ("+00:00", Some("Z")),
            ("+19:00", None),
            ("UTC", Some("UTC")),
            ("GMT+02:00", Some("GMT+02:00")),
            ("UT-3", Some("UT-03:00")),
            ("GMT0", Some("GMT0")),
            ("Europe/Berlin", Some("Europe/Berlin")),
            ("europe/berlin", None),
            ("PST", None),
            ("EST", None),
            ("CET", Some("CET")),
            ("EST5EDT", Some("EST5EDT")),
            ("SystemV/PST8PDT", Some("SystemV/PST8PDT")),
        ] {
            let zone = Zone::of(id);
            assert_eq!(zone.as_ref().map(Zone::id), expected, "{id}");
        }
    }

    #[test]
    fn ids_of_old_time_zones_are_known_too() {
        for (id, expected) in [
            ("PST", "America/Los_Angeles"),
            ("EST", "-05:00"),
            ("IST", "Asia/Kolkata"),
            ("GMT+2", "GMT+02:00"),
            ("GMT-1130", "GMT-11:30"),
            ("GMT+5:30", "GMT+05:30"),
            ("GMT+25", "GMT"),
            ("Asia/Tokyo", "Asia/Tokyo"),
            ("Nowhere", "GMT"),
            ("+02:00", "GMT"),
        ] {
            assert_eq!(Zone::of_time_zone(id).id(), expected, "{id}");
        }
    }
}
