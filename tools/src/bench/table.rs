//! Prints the tables of results.

use std::fmt::Write as _;

use super::aim;
use super::peers::{LoadTester, LoopbackTraffic, Round};
use super::scenario::{Contender, Scenario};
use crate::measure::Cost;

/// The rounds of one entry.
pub struct TableRow<'a> {
    pub entry: &'a Contender,
    pub rounds: Vec<Round>,
}

impl TableRow<'_> {
    fn sum(&self, value: impl Fn(&Cost) -> u64) -> f64 {
        self.rounds
            .iter()
            .map(|round| value(&round.cost))
            .sum::<u64>() as f64
    }

    fn samples(&self) -> f64 {
        let all: u64 = self.rounds.iter().map(|round| round.reading.samples).sum();
        all.max(1) as f64
    }

    pub fn peak_mib(&self) -> f64 {
        let peak = self.rounds.iter().map(|round| round.cost.peak_kib).max();
        peak.unwrap_or(0) as f64 / 1024.0
    }

    /// The median over the rounds of a figure that the program reports itself.
    fn time(&self, value: impl Fn(&Round) -> Option<f64>) -> String {
        let known: Vec<f64> = self.rounds.iter().filter_map(value).collect();
        if known.is_empty() {
            "-".to_owned()
        } else {
            format!("{:.2}", median(known))
        }
    }
}

/// CPU of one round, in microseconds per sample.
pub fn cpu_us(round: &Round) -> f64 {
    (round.cost.user_us + round.cost.system_us) as f64 / round.reading.samples.max(1) as f64
}

/// The middle value, or the mean of the two in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

/// One line for a round that has just ended.
pub fn round(number: u32, entry: &Contender, round: &Round) -> String {
    format!(
        "  round {number}  {:<28} {:>9} samples {:>9.2} us\n",
        label(entry),
        round.reading.samples,
        cpu_us(round)
    )
}

/// The case of an entry, if it has one, and its program.
pub fn label(entry: &Contender) -> String {
    let name = entry.program.name();
    if entry.case.is_empty() {
        name.to_owned()
    } else {
        format!("{}: {name}", entry.case)
    }
}

/// The table of a scenario over all rounds. Ratios are medians over the rounds.
pub fn render(scenario: &Scenario, rows: &[TableRow<'_>]) -> String {
    let mut text = format!(
        "{}: {}\n{:<32} {:>9} {:>9} {:>8} {:>9} {:>8} {:>7} {:>9} {:>9} {:>8} {:>8} {:>8}\n",
        scenario.name,
        scenario.about,
        "program",
        "samples",
        "rate/s",
        "user us",
        "system us",
        "CPU us",
        "to wrk",
        "to jmeter",
        "peak MiB",
        "p50 ms",
        "p99 ms",
        "p99.9 ms"
    );
    for row in rows {
        let user_us = row.sum(|cost| cost.user_us) / row.samples();
        let system_us = row.sum(|cost| cost.system_us) / row.samples();
        let _ = writeln!(
            text,
            "{:<32} {:>9.0} {:>9.1} {user_us:>8.2} {system_us:>9.2} {:>8.2} {:>7} {:>9} {:>9.1} {:>8} {:>8} {:>8}",
            label(row.entry),
            row.samples(),
            row.samples() * 1e6 / row.sum(|cost| cost.wall_us).max(1.0),
            user_us + system_us,
            ratio(row, rows, LoadTester::Wrk),
            ratio(row, rows, LoadTester::JMeter),
            row.peak_mib(),
            row.time(|round| round.reading.p50_ms),
            row.time(|round| round.reading.p99_ms),
            row.time(|round| round.reading.p999_ms),
        );
    }
    text.push_str(&spreads(rows));
    text.push_str(&wires(rows));
    text.push_str(&aim::judge(&scenario.aims, rows));
    text.push('\n');
    text
}

/// CPU per sample, as a ratio to another program in the same case.
fn ratio(row: &TableRow<'_>, rows: &[TableRow<'_>], to: LoadTester) -> String {
    let other = rows
        .iter()
        .find(|other| other.entry.program == to && other.entry.case == row.entry.case);
    let ratio = other
        .filter(|_| row.entry.program != to)
        .and_then(|other| ratio_of(row, other, cpu_us));
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// The ratio of a value to that of another row: the median over the rounds.
pub fn ratio_of(
    own: &TableRow<'_>,
    other: &TableRow<'_>,
    value: impl Fn(&Round) -> f64,
) -> Option<f64> {
    let pairs = own.rounds.iter().zip(&other.rounds);
    let ratios: Vec<f64> = pairs
        .map(|(own, other)| value(own) / value(other))
        .collect();
    (!ratios.is_empty()).then(|| median(ratios))
}

/// Packets and bytes per sample on the wire, for our own rows.
fn wires(rows: &[TableRow<'_>]) -> String {
    let mut text = String::new();
    for row in rows
        .iter()
        .filter(|row| row.entry.program == LoadTester::Drumfire)
    {
        let sum = |value: fn(&LoopbackTraffic) -> u64| {
            let all: Option<u64> = row
                .rounds
                .iter()
                .map(|round| round.wire.as_ref().map(value))
                .sum();
            all.map(|all| all as f64 / row.samples())
        };
        if let (Some(packets), Some(bytes)) = (sum(|wire| wire.packets), sum(|wire| wire.bytes))
            && !row.rounds.is_empty()
        {
            let _ = writeln!(
                text,
                "{}: wire: {packets:.2} packets and {bytes:.0} bytes a sample, both ways",
                label(row.entry)
            );
        }
    }
    text
}

/// The programs' own figures about their schedule, from the last round.
fn spreads(rows: &[TableRow<'_>]) -> String {
    let mut text = String::new();
    for row in rows {
        let Some(last) = row.rounds.last() else {
            continue;
        };
        for line in last.said.lines().filter(|line| line.contains(": p50 ")) {
            let _ = writeln!(text, "{}: {line}", label(row.entry));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::readings::RoundReading;
    use crate::bench::scenario;

    fn round(samples: u64, user_us: u64, said: &str) -> Round {
        Round {
            reading: RoundReading {
                samples,
                p50_ms: Some(0.5),
                ..RoundReading::default()
            },
            cost: Cost {
                wall_us: 1_000_000,
                user_us,
                system_us: 1_000,
                peak_kib: 2_048,
                began_ms: 0,
            },
            wire: None,
            said: said.to_owned(),
        }
    }

    #[test]
    fn rounds_add_up_and_ratios_are_of_the_same_case() {
        let scenario = scenario::all().remove(0);
        let said = "late by the generator itself: p50 0.02, p99 0.19\n";
        let rows: Vec<TableRow<'_>> = scenario.entries[..2]
            .iter()
            .zip([[4_000, 3_000], [1_000, 1_000]])
            .map(|(entry, user_us)| TableRow {
                entry,
                rounds: user_us.map(|user_us| round(100, user_us, said)).into(),
            })
            .collect();
        let text = render(&scenario, &rows);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let expected = "drumfire 200 100.0 35.00 10.00 45.00 2.25 - 2.0 0.50 - -";
        assert_eq!(lines[2].join(" "), expected, "{text}");
        assert_eq!(lines[3][..2], ["wrk", "200"]);
        assert_eq!(lines[3][6], "-");
        assert!(text.contains("drumfire: late by the generator itself: p50 0.02"));
        assert!(text.contains("wrk: late"));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
    }
}
