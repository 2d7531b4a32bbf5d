//! The targets of a scenario, and whether a run met them.

use std::fmt::Write as _;

use super::peers::LoadTester;
use super::readings;
use super::table::{TableRow, cpu_us, median, ratio_of};

/// A bound on one of our figures.
pub struct Aim {
    /// The case that it applies to.
    pub case: String,
    pub figure: Figure,
    pub bound: Bound,
}

/// A figure of our program in one case: the median over the rounds unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// CPU per sample, in microseconds.
    CpuUs,
    /// CPU per sample, as a ratio to another program in the same case.
    Cpu(LoadTester),
    /// CPU per sample, as a ratio to another program in another case.
    CpuIn(LoadTester, &'static str),
    /// CPU per sample, as a ratio to our program in another case.
    CpuToCase(&'static str),
    /// CPU per sample minus that of another case, in microseconds. JMeter's figure is printed beside it.
    CpuBeyondCase(&'static str),
    /// Samples, as a ratio to our program in another case; taken from the pair of rounds with the largest
    /// deviation.
    SamplesToCase(&'static str),
    /// Time of a round, as a ratio to another program.
    Time(LoadTester),
    /// Samples per second, as a ratio to another program.
    Rate(LoadTester),
    /// The highest peak memory of all rounds, in MiB.
    PeakMib,
    /// The highest peak memory, as a ratio to our program in another case.
    PeakToCase(&'static str),
    /// The highest peak memory, as a ratio to another program.
    PeakTo(LoadTester),
    /// Memory per additional user, compared with our case with fewer users, in KiB.
    UserKib(&'static str),
    /// From the start of the process to the start of its first sample, in milliseconds. JMeter's figure is
    /// printed beside it.
    FirstSampleMs,
    /// The generator's own delay in microseconds: the 99th percentile.
    LateUs,
    /// The generator's own delay, as a ratio to another program.
    LateTo(LoadTester),
    /// The generator's own delay minus that of another case.
    LateBeyondCase(&'static str),
    /// The generator's own delay, as a ratio to another case.
    LateToCase(&'static str),
    /// The longest response time from the intended start, in milliseconds.
    LongestMs,
    /// Failed requests. A failure ends the round, so every completed round has none.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    fn name(self) -> String {
        match self {
            Figure::CpuUs => "CPU us a sample".to_owned(),
            Figure::Cpu(program) => format!("CPU to {}'s", program.name()),
            Figure::CpuIn(program, case) => format!("CPU to {}'s of '{case}'", program.name()),
            Figure::CpuToCase(case) => format!("CPU to that of '{case}'"),
            Figure::SamplesToCase(case) => format!("samples to those of '{case}'"),
            Figure::CpuBeyondCase(case) => format!("CPU us beyond '{case}'"),
            Figure::Time(program) => format!("time to {}'s", program.name()),
            Figure::Rate(program) => format!("rate to {}'s", program.name()),
            Figure::PeakMib => "peak MiB".to_owned(),
            Figure::PeakToCase(case) => format!("peak memory to that of '{case}'"),
            Figure::PeakTo(program) => format!("peak memory to {}'s", program.name()),
            Figure::UserKib(case) => format!("KiB a user beyond '{case}'"),
            Figure::FirstSampleMs => "ms to the first sample".to_owned(),
            Figure::LateUs => "us late by itself, p99".to_owned(),
            Figure::LateTo(program) => format!("late by itself, p99, to {}'s", program.name()),
            Figure::LateBeyondCase(case) => format!("us late by itself, p99, beyond '{case}'"),
            Figure::LateToCase(case) => format!("late by itself, p99, to that of '{case}'"),
            Figure::LongestMs => "longest response from the intended start, ms".to_owned(),
            Figure::Failed => "failed requests".to_owned(),
        }
    }

    /// The value; `None` if a run that it needs was not measured.
    fn measured(self, own: &TableRow<'_>, rows: &[TableRow<'_>]) -> Option<f64> {
        let case = |program: LoadTester, case: &str| {
            rows.iter().find(|row| {
                row.entry.program == program && row.entry.case == case && !row.rounds.is_empty()
            })
        };
        let ours = |name: &str| case(LoadTester::Drumfire, name);
        let beside = |program| case(program, &own.entry.case);
        let first = |row: &TableRow<'_>| {
            let all = row
                .rounds
                .iter()
                .filter_map(|round| round.first_sample_ms());
            Some(median(all.collect())).filter(|ms| ms.is_finite())
        };
        let late = |row: &TableRow<'_>| {
            let said = row.rounds.iter();
            let all = said.filter_map(|round| readings::late_us(&round.said));
            Some(median(all.collect())).filter(|us| us.is_finite())
        };
        match self {
            Figure::CpuUs => Some(median(own.rounds.iter().map(cpu_us).collect())),
            Figure::Cpu(program) => ratio_of(own, beside(program)?, cpu_us),
            Figure::CpuIn(program, name) => ratio_of(own, case(program, name)?, cpu_us),
            Figure::CpuToCase(name) => ratio_of(own, ours(name)?, cpu_us),
            Figure::SamplesToCase(name) => {
                let pairs = own.rounds.iter().zip(&ours(name)?.rounds);
                let ratios =
                    pairs.map(|(a, b)| a.reading.samples as f64 / b.reading.samples as f64);
                ratios.max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs()))
            }
            Figure::CpuBeyondCase(name) => {
                let other = case(own.entry.program, name)?;
                let pairs = own.rounds.iter().zip(&other.rounds);
                Some(median(pairs.map(|(a, b)| cpu_us(a) - cpu_us(b)).collect()))
            }
            Figure::Time(program) => {
                ratio_of(own, beside(program)?, |round| round.cost.wall_us as f64)
            }
            Figure::Rate(program) => ratio_of(own, beside(program)?, |round| {
                round.reading.samples as f64 / round.cost.wall_us.max(1) as f64
            }),
            Figure::PeakMib => Some(own.peak_mib()),
            Figure::PeakToCase(name) => Some(own.peak_mib() / ours(name)?.peak_mib()),
            Figure::PeakTo(program) => Some(own.peak_mib() / beside(program)?.peak_mib()),
            Figure::UserKib(name) => {
                let few = ours(name)?;
                let users = f64::from(own.entry.users.checked_sub(few.entry.users)?);
                Some((own.peak_mib() - few.peak_mib()) * 1024.0 / users)
            }
            Figure::FirstSampleMs => first(own),
            Figure::LateUs => late(own),
            Figure::LateTo(program) => Some(late(own)? / late(beside(program)?)?),
            Figure::LateBeyondCase(name) => Some(late(own)? - late(ours(name)?)?),
            Figure::LateToCase(name) => Some(late(own)? / late(ours(name)?)?),
            Figure::LongestMs => {
                let said = own.rounds.iter();
                let all = said.filter_map(|round| readings::longest_ms(&round.said));
                Some(median(all.collect())).filter(|ms| ms.is_finite())
            }
            Figure::Failed => Some(0.0),
        }
    }
}

impl Aim {
    /// The case and the figure, as the report prints them before the bound.
    pub fn text(&self) -> String {
        match self.case.as_str() {
            "" => self.figure.name(),
            case => format!("{case}: {}", self.figure.name()),
        }
    }
}

impl Bound {
    /// The bound as text, such as `<= 1.2`.
    pub fn text(self) -> String {
        match self {
            Bound::AtMost(most) => format!("<= {most}"),
            Bound::AtLeast(least) => format!(">= {least}"),
        }
    }

    pub fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtMost(most) => value <= most,
            Bound::AtLeast(least) => value >= least,
        }
    }
}

/// A line for each aim: the figure, its bound, and PASS or miss.
pub fn judge(aims: &[Aim], rows: &[TableRow<'_>]) -> String {
    let mut text = String::new();
    for aim in aims {
        let measured = |program: LoadTester| {
            let own = rows.iter().find(|row| {
                row.entry.program == program && row.entry.case == aim.case && !row.rounds.is_empty()
            });
            own.and_then(|own| aim.figure.measured(own, rows))
        };
        let value = measured(LoadTester::Drumfire);
        let peer = match aim.figure {
            Figure::CpuBeyondCase(_) | Figure::FirstSampleMs => measured(LoadTester::JMeter),
            _ => None,
        };
        let peer = peer.map_or(String::new(), |value| format!("  (jmeter {value:.3})"));
        let outcome = match value {
            None => "not measured".to_owned(),
            Some(value) => {
                let word = if aim.bound.holds(value) {
                    "PASS"
                } else {
                    "miss"
                };
                format!("{value:.3}  {word}")
            }
        };
        let _ = writeln!(
            text,
            "target  {} {}: {outcome}{peer}",
            aim.text(),
            aim.bound.text()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::peers::Round;
    use crate::bench::readings::RoundReading;
    use crate::bench::scenario;
    use crate::measure::Cost;

    fn round(user_us: u64, said: &str) -> Round {
        Round {
            reading: RoundReading {
                samples: 100,
                first_ms: Some(1_015),
                ..RoundReading::default()
            },
            cost: Cost {
                wall_us: 1_000_000,
                user_us,
                peak_kib: 2_048,
                began_ms: 1_000,
                ..Cost::default()
            },
            wire: None,
            said: said.to_owned(),
        }
    }

    #[test]
    fn figures_are_held_against_their_bounds() {
        let scenario = scenario::all().remove(0);
        let said = "late by the generator itself: p50 20µs, p99 190µs, p99.9 1.30, max 12.0 ms (5 times)\n";
        let rows: Vec<TableRow<'_>> = scenario.entries[..2]
            .iter()
            .zip([120, 100])
            .map(|(entry, user_us)| TableRow {
                entry,
                rounds: vec![round(user_us, said)],
            })
            .collect();
        let aim = |figure, bound| Aim {
            case: String::new(),
            figure,
            bound,
        };
        let aims = [
            aim(Figure::Cpu(LoadTester::Wrk), Bound::AtMost(1.25)),
            aim(Figure::Rate(LoadTester::Wrk), Bound::AtLeast(2.0)),
            aim(Figure::Cpu(LoadTester::JMeter), Bound::AtMost(1.0)),
            aim(Figure::PeakMib, Bound::AtMost(1.0)),
            aim(Figure::FirstSampleMs, Bound::AtMost(20.0)),
            aim(Figure::LateUs, Bound::AtMost(200.0)),
        ];
        assert_eq!(
            judge(&aims, &rows),
            "target  CPU to wrk's <= 1.25: 1.200  PASS\n\
             target  rate to wrk's >= 2: 1.000  miss\n\
             target  CPU to jmeter's <= 1: not measured\n\
             target  peak MiB <= 1: 2.000  miss\n\
             target  ms to the first sample <= 20: 15.000  PASS\n\
             target  us late by itself, p99 <= 200: 190.000  PASS\n"
        );
    }
}
