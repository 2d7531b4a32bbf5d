//! Ultimate Thread Group (`kg.apc.jmeter.threads.UltimateThreadGroup`): rows of users, each with a delay, a startup time, a
//! hold time and a shutdown time.
//!
//! Property: `ultimatethreadgroupdata`, rows of five whole numbers (seconds), evaluated before the run; old files may have
//! them in `threads_schedule`. The JMeter property `threads_schedule`, such as `spawn(10,0s,30s,1m,10s) spawn(…)`, replaces
//! them. The last user of a row starts first. Each iteration is a new user.

use drumfire_elements::thread_groups::ultimate_thread_group as facts;

use super::{GroupLoad, rows};
use crate::base::number;
use crate::decode::Decoder;
use crate::run::schedule::{Shape, Window};

const DATA: &str = facts::SCHEDULE.name;
const OVERRIDE: &str = "threads_schedule";

/// Users, and times in seconds: initial delay, startup, hold, shutdown.
type Row = [i32; 5];

pub fn decode(d: &mut Decoder) -> Option<GroupLoad> {
    let schedule = d.settings().properties.get(OVERRIDE);
    let rows: Vec<Row> = match schedule.filter(|schedule| !schedule.is_empty()) {
        Some(schedule) => parse_schedule(&schedule),
        None => {
            let property = if d.element.props.has(DATA) {
                DATA
            } else {
                OVERRIDE
            };
            rows(d, property).iter().map(|row| to_row(row)).collect()
        }
    };
    let windows: Vec<Window> = rows.iter().flat_map(|row| row_windows(*row)).collect();
    super::looping(d, Shape::Windows(windows.into()), false)
}

fn to_row(texts: &[String]) -> Row {
    std::array::from_fn(|column| texts.get(column).map(|text| number::int(text)).unwrap_or(0))
}

/// `UltimateThreadGroup#scheduleThread`: `left` counts down while the users of a row are made.
fn row_windows(
    [threads, delay_s, startup_s, hold_s, shutdown_s]: Row,
) -> impl Iterator<Item = Window> {
    (1..=threads.max(0)).rev().map(move |left| {
        let share = |seconds: i32| {
            (f64::from(seconds.wrapping_mul(1000)) * f64::from(left) / f64::from(threads)).floor()
                as i64
        };
        let start_ms = 1000 * i64::from(delay_s) + share(startup_s);
        let descent_ms =
            start_ms + 1000 * i64::from(hold_s) + 1000 * i64::from(startup_s) - share(startup_s);
        Window {
            start_ms,
            stop_ms: Some(descent_ms + share(shutdown_s)),
        }
    })
}

/// `UltimateThreadGroup#getLoadFromExternalProperty`: malformed parts are ignored.
fn parse_schedule(schedule: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for chunk in schedule.split(')').filter(|chunk| !chunk.is_empty()) {
        match parse_chunk(chunk) {
            Some(row) => rows.push(row),
            None => tracing::warn!("Wrong  chunk ignored: {chunk}"),
        }
    }
    rows
}

fn parse_chunk(chunk: &str) -> Option<Row> {
    let mut parts = chunk.split(['(', ',']);
    if !parts.next()?.trim().eq_ignore_ascii_case("spawn") {
        return None;
    }
    let threads = parts.next()?.trim().parse().ok()?;
    let mut row = [threads, 0, 0, 0, 0];
    for cell in &mut row[1..] {
        *cell = short_seconds(parts.next()?)?;
    }
    Some(row)
}

/// Seconds of a text such as `1h30m`, in which a last number without unit counts seconds
/// (`JMeterPluginsUtils#getSecondsForShortString`); `None` if Java would throw.
pub fn short_seconds(text: &str) -> Option<i32> {
    let mut seconds: i32 = 0;
    let mut digits = String::new();
    for c in text.trim().chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let unit_s = match c.to_ascii_lowercase() {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return None,
        };
        seconds = seconds.wrapping_add(digits.parse::<i32>().ok()?.wrapping_mul(unit_s));
        digits.clear();
    }
    if !digits.is_empty() {
        seconds = seconds.wrapping_add(digits.parse().ok()?);
    }
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn windows(properties: &[(&str, &str)], rows: &[&str]) -> Vec<(i64, i64)> {
        let cell = |text: &str| format!(r#"<stringProp name="1">{text}</stringProp>"#);
        let row = |row: &&str| {
            let cells: String = row.split(',').map(cell).collect();
            format!(r#"<collectionProp name="2">{cells}</collectionProp>"#)
        };
        let rows: String = rows.iter().map(row).collect();
        let xml = format!(
            r#"<kg.apc.jmeter.threads.UltimateThreadGroup guiclass="g" testclass="kg.apc.jmeter.threads.UltimateThreadGroup" testname="u">
            <collectionProp name="ultimatethreadgroupdata">{rows}</collectionProp>
            <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">-1</stringProp></elementProp></kg.apc.jmeter.threads.UltimateThreadGroup>"#
        );
        let (load, _, _) = fixture::decode_with_findings(properties, &xml, decode);
        let windows = load.and_then(|load| load.shape.windows());
        let windows = windows.expect("the group can run");
        let window = |window: &Window| (window.start_ms, window.stop_ms.expect("each ends"));
        windows.iter().map(window).collect()
    }

    #[test]
    fn starts_and_stops_are_the_plugins() {
        // Recorded from jmeter-plugins-casutg 2.10.
        let expected = [
            (11000, 36000),
            (7666, 34333),
            (4333, 32666),
            (0, 10000),
            (0, 6500),
        ];
        assert_eq!(windows(&[], &["3,1,10,20,5", "2,0,0,3,7"]), expected);
        assert_eq!(
            windows(&[("n", "2")], &["${__P(n)},0,0,3,7"]),
            expected[3..]
        );
        assert_eq!(windows(&[], &["0,1,1,1,1", "x"]), []);
    }

    #[test]
    fn a_property_replaces_the_rows() {
        let schedule = "spawn(3, 1s,10s,20,5s) walk(1,1,1,1,1) spawn(2,0,0s,3s,7s)";
        assert_eq!(
            windows(&[(OVERRIDE, schedule)], &["9,9,9,9,9"]),
            windows(&[], &["3,1,10,20,5", "2,0,0,3,7"])
        );
    }

    #[test]
    fn short_times_are_the_plugins() {
        let cases = [
            ("1h30m", 5400),
            ("5s", 5),
            (" 90", 90),
            ("2m15", 135),
            ("1d", 86400),
        ];
        for (text, seconds) in cases {
            assert_eq!(short_seconds(text), Some(seconds), "{text}");
        }
        assert_eq!([short_seconds("1x"), short_seconds("s")], [None, None]);
    }
}
