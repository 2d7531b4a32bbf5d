//! The lines that JMeter prints at the start and the end of a run without its GUI, in its words
//! (`org.apache.jmeter.JMeter`), because scripts look for them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Printed if the property `summariser.name` is not empty.
pub fn creating_summariser(name: &str) -> String {
    format!("Creating summariser <{name}>")
}

/// Printed when the plan is compiled; `plan` is spelt as on the command line.
pub fn tree_created(plan: &str) -> String {
    format!("Created the tree successfully using {plan}")
}

/// Printed right before the first user starts.
pub fn starting(now_ms: i64, zone: &TimeZone) -> String {
    format!(
        "Starting standalone test @ {} ({now_ms})",
        date(now_ms, zone)
    )
}

/// Printed instead for a run on remote hosts (`org.apache.jmeter.engine.DistributedRunner`).
pub fn starting_remote(hosts: &[String], now_ms: i64, zone: &TimeZone) -> String {
    format!(
        "Starting distributed test with remote engines: [{}] @ {} ({now_ms})",
        hosts.join(", "),
        date(now_ms, zone)
    )
}

/// Printed when the last user has ended.
pub fn tidying_up(now_ms: i64, zone: &TimeZone) -> String {
    format!("Tidying up ...    @ {} ({now_ms})", date(now_ms, zone))
}

/// Printed when the results are written.
pub const END_OF_RUN: &str = "... end of run";

/// Printed when the run can receive messages on this port.
pub fn waiting_for_messages(port: u16) -> String {
    format!("Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {port}")
}

/// Java's long date and time in the root locale: `2026 Nov 1 01:33:43 UTC`.
fn date(now_ms: i64, zone: &TimeZone) -> String {
    let now = Timestamp::from_millisecond(now_ms)
        .unwrap_or_default()
        .to_zoned(zone.clone());
    now.strftime("%Y %b %-d %H:%M:%S %Z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from `DateTimeFormatter.ofLocalizedDateTime(FormatStyle.LONG)` with `Locale.ROOT`.
    #[test]
    fn dates_are_javas() {
        for (zone, ms, expected) in [
            ("UTC", 1_795_224_823_104, "2026 Nov 21 01:33:43 UTC"),
            ("UTC", 0, "1970 Jan 1 00:00:00 UTC"),
            (
                "Europe/Berlin",
                1_718_000_000_000,
                "2024 Jun 10 08:13:20 CEST",
            ),
            ("America/New_York", 0, "1969 Dec 31 19:00:00 EST"),
            (
                "Asia/Kolkata",
                1_795_224_823_104,
                "2026 Nov 21 07:03:43 IST",
            ),
        ] {
            let zone = TimeZone::get(zone).expect("a zone of the system");
            assert_eq!(date(ms, &zone), expected);
        }
    }

    #[test]
    fn lines_are_jmeters() {
        let ms = 1_795_224_823_104;
        assert_eq!(
            starting(ms, &TimeZone::UTC),
            "Starting standalone test @ 2026 Nov 21 01:33:43 UTC (1795224823104)"
        );
        assert_eq!(
            tidying_up(ms, &TimeZone::UTC),
            "Tidying up ...    @ 2026 Nov 21 01:33:43 UTC (1795224823104)"
        );
    }
}
