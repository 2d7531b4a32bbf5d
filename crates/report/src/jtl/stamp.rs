//! Time stamps: milliseconds, or one of the date formats that JMeter tries.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The formats that `CSVSaveService` tries in turn, and those that users of `SimpleDateFormat` often
/// set.
const FORMATS: [&str; 6] = [
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%m/%d/%y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y/%m/%d %H:%M:%S,%f",
    "%Y-%m-%d %H:%M:%S,%f",
];

/// Reads time stamps. It first tries the format that matched last.
#[derive(Debug)]
pub struct StampReader {
    zone: TimeZone,
    format: usize,
}

impl StampReader {
    pub fn new(zone: TimeZone) -> StampReader {
        StampReader { zone, format: 0 }
    }

    /// Milliseconds since the Unix epoch; `None` if no format matches.
    pub fn read(&mut self, text: &[u8]) -> Option<i64> {
        if let Some(ms) = integer(text) {
            return Some(ms);
        }
        let text = std::str::from_utf8(text).ok()?.trim();
        for index in 0..FORMATS.len() {
            let index = (self.format + index) % FORMATS.len();
            if let Ok(stamp) = DateTime::strptime(FORMATS[index], text) {
                self.format = index;
                let zoned = stamp.to_zoned(self.zone.clone()).ok()?;
                return Some(zoned.timestamp().as_millisecond());
            }
        }
        let exact: Result<jiff::Timestamp, _> = text.parse();
        exact.ok().map(jiff::Timestamp::as_millisecond)
    }
}

/// Parses a decimal integer like Java's `Long.parseLong`.
pub fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value: i64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_javas() {
        for (text, value) in [
            ("0", Some(0)),
            ("-12", Some(-12)),
            ("+7", Some(7)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("", None),
            ("-", None),
            ("1.5", None),
            (" 1", None),
        ] {
            assert_eq!(integer(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_the_zone() {
        let zone = TimeZone::get("Europe/Berlin").expect("the time zone database has Berlin");
        let mut reader = StampReader::new(zone);
        for text in [
            "2024/01/31 13:00:05.250",
            "2024-01-31 13:00:05.250",
            "2024-01-31T13:00:05.250",
            "2024/01/31 13:00:05,250",
            "2024-01-31T12:00:05.250Z",
            "1706702405250",
        ] {
            assert_eq!(
                reader.read(text.as_bytes()),
                Some(1_706_702_405_250),
                "{text}"
            );
        }
        assert_eq!(reader.read(b"01/31/24 13:00:05"), Some(1_706_702_405_000));
        assert_eq!(reader.read(b"yesterday"), None);
    }
}
