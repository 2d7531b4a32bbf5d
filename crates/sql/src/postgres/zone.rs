//! Dates and times in this machine's time zone (`TimestampUtils`).

use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};

/// A date or time as pgjdbc sends it, with this machine's offset from UTC at that `time`.
pub fn with_offset(text: &str, time: &str, separator: &str) -> String {
    in_zone(text, time, separator, &TimeZone::system())
}

fn in_zone(text: &str, time: &str, separator: &str, zone: &TimeZone) -> String {
    let parsed: Result<DateTime, _> = time.parse();
    let offset = parsed.and_then(|time| {
        zone.to_ambiguous_timestamp(time)
            .compatible()
            .map(|at| zone.to_offset(at))
    });
    match offset {
        Ok(offset) => format!("{text}{separator}{}", written(offset)),
        Err(_) => text.to_owned(), // the server reports what is wrong with it
    }
}

/// `TimestampUtils#appendTimeZone`.
fn written(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let mut text = format!("{sign}{:02}", seconds / 3600);
    if seconds % 3600 != 0 {
        text.push_str(&format!(":{:02}", seconds / 60 % 60));
    }
    text
}

/// Converts a time with an offset, `hh:mm:ss[.fraction]±hh[:mm]`, to the local time.
pub fn local_time(text: &str) -> Option<String> {
    let at = text.rfind(['+', '-'])?;
    let time: Time = text[..at].parse().ok()?;
    let (hours, minutes) = text[at + 1..]
        .split_once(':')
        .unwrap_or((&text[at + 1..], "0"));
    let theirs: i64 = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
    let theirs = if text[at..].starts_with('-') {
        -theirs
    } else {
        theirs
    };
    let ours = TimeZone::system().to_offset(jiff::Timestamp::UNIX_EPOCH);
    let shift = jiff::SignedDuration::from_secs(i64::from(ours.seconds()) - theirs);
    Some(time.wrapping_add(shift).strftime("%H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_that_of_the_day() {
        let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").expect("it is a zone");
        assert_eq!(
            in_zone("2024-01-02", "2024-01-02 00:00:00", " ", &zone),
            "2024-01-02 -05"
        );
        assert_eq!(in_zone("a", "2024-07-02 03:04:05.5", "", &zone), "a-04");
        assert_eq!(in_zone("x", "no time", "", &zone), "x");
        let half = TimeZone::fixed(Offset::from_seconds(19_800).expect("it is an offset"));
        assert_eq!(in_zone("", "2024-01-02 00:00:00", "", &half), "+05:30");
    }
}
