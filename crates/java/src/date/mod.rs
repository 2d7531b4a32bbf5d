//! Dates as `java.time.format.DateTimeFormatter` prints and reads them, over the `jiff` library.

mod duration;
mod format;
mod locale;
mod parse;
mod pattern;
mod simple;
mod zone;
mod zone_names;

pub use duration::parse_duration;
pub use format::days_since_1970;
pub use locale::Locale;
pub use parse::Defaults;
pub use pattern::{DatePattern, DatePatternError};
pub use simple::SimplePattern;
pub use zone::Zone;

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

/// The input of a formatter, Java's `TemporalAccessor`: any of a date, a time and a zone.
#[derive(Debug, Clone, Default)]
pub struct TemporalFields {
    /// The date.
    pub date: Option<Date>,
    /// The time of the day.
    pub time: Option<Time>,
    /// The zone.
    pub zone: Option<Zone>,
    /// The offset from UTC.
    pub offset: Option<Offset>,
    /// Numbers that were parsed but do not complete a date or time, by pattern letter.
    pub(crate) fields: Vec<(char, i64)>,
}

impl TemporalFields {
    /// An instant in a zone; `None` outside the years -9999 to 9999.
    #[must_use]
    pub fn from_millis(millis: i64, zone: &Zone) -> Option<TemporalFields> {
        let instant = Timestamp::from_millisecond(millis).ok()?;
        Some(TemporalFields::from_instant(instant, zone))
    }

    /// An instant in a zone.
    #[must_use]
    pub fn from_instant(instant: Timestamp, zone: &Zone) -> TemporalFields {
        let zoned: Zoned = zone.at(instant);
        TemporalFields {
            date: Some(zoned.date()),
            time: Some(zoned.time()),
            zone: Some(zone.clone()),
            offset: Some(zoned.offset()),
            fields: Vec::new(),
        }
    }

    /// A day without a time.
    #[must_use]
    pub fn from_date(date: Date) -> TemporalFields {
        TemporalFields {
            date: Some(date),
            ..TemporalFields::default()
        }
    }

    /// The same fields, in a zone.
    #[must_use]
    pub fn with_zone(self, zone: &Zone) -> TemporalFields {
        TemporalFields {
            zone: Some(zone.clone()),
            ..self
        }
    }

    /// The instant of a complete date and time (`Parsed.resolveInstant`): an offset has priority over the zone, and `zone` counts
    /// without both.
    #[must_use]
    pub fn instant_in(&self, zone: &Zone) -> Option<Timestamp> {
        let local = self.date?.to_datetime(self.time?);
        let rules = match (self.offset, &self.zone) {
            (Some(offset), _) => TimeZone::fixed(offset),
            (None, Some(zone)) => zone.rules().clone(),
            (None, None) => zone.rules().clone(),
        };
        Some(local.to_zoned(rules).ok()?.timestamp())
    }
}
