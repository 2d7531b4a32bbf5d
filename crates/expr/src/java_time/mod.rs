//! Java's date patterns (`java.time.format.DateTimeFormatter`) over the `jiff` library.

mod format;
mod locale;
mod parse;
mod pattern;

pub use locale::Locale;
pub use pattern::{DatePattern, DatePatternError};

pub(crate) use parse::{Defaults, parse_duration};

use std::sync::LazyLock;

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

/// `ZoneId.systemDefault()`.
pub(crate) static SYSTEM_ZONE: LazyLock<TimeZone> =
    LazyLock::new(|| TimeZone::try_system().unwrap_or(TimeZone::UTC));

/// The input of a formatter, Java's `TemporalAccessor`: any of a date, a time and a zone.
#[derive(Debug, Clone, Default)]
pub(crate) struct TemporalFields {
    pub(crate) date: Option<Date>,
    pub(crate) time: Option<Time>,
    pub(crate) zone: Option<TimeZone>,
    pub(crate) offset: Option<Offset>,
    /// Numbers that were parsed but do not complete a date or time, by pattern letter.
    pub(crate) fields: Vec<(char, i64)>,
}

impl TemporalFields {
    /// An instant in the system's time zone; `None` outside the years -9999 to 9999.
    pub(crate) fn from_millis(millis: i64) -> Option<TemporalFields> {
        let timestamp = Timestamp::from_millisecond(millis).ok()?;
        Some(TemporalFields::from(
            timestamp.to_zoned(SYSTEM_ZONE.clone()),
        ))
    }

    /// A day without a time.
    pub(crate) fn from_date(date: Date) -> TemporalFields {
        TemporalFields {
            date: Some(date),
            ..TemporalFields::default()
        }
    }

    /// The instant, if the moment is complete: in its own zone, or else in `zone`.
    pub(crate) fn to_zoned(&self, zone: &TimeZone) -> Option<Zoned> {
        let local = self.date?.to_datetime(self.time?);
        let zone = match (&self.zone, self.offset) {
            (Some(zone), _) => zone.clone(),
            (None, Some(offset)) => TimeZone::fixed(offset),
            (None, None) => zone.clone(),
        };
        local.to_zoned(zone).ok()
    }
}

impl From<Zoned> for TemporalFields {
    fn from(zoned: Zoned) -> TemporalFields {
        TemporalFields {
            date: Some(zoned.date()),
            time: Some(zoned.time()),
            zone: Some(zoned.time_zone().clone()),
            offset: Some(zoned.offset()),
            fields: Vec::new(),
        }
    }
}
