//! `drumfire calibrate`: measures how far this machine's numbers are off. Runs against a target of known times, in a process of its own, are
//! compared with what the target itself measured with the kernel's stamps.

pub mod arguments;
pub mod kept;
mod round;
mod service;
mod shape;
mod target;

use std::io;
use std::path::Path;

use drumfire_platform::words::{count, counted, ms};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::calibrate::arguments::CalibrateArguments;
use crate::calibrate::kept::{Calibration, HighestRate, PercentileError, ServiceErrors, machine};
use crate::calibrate::round::{PERCENTS, Round, measure};
use crate::calibrate::target::Target;
use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::settings::plan_file::existing_plan;

/// The plan that sends requests at a rate.
const PLAN: &str = include_str!("calibrate.jmx");
/// The services of the target: the text that the target understands, and the words for it.
const SERVICES: [(&str, &str); 4] = [
    ("fixed=5", "always 5 ms"),
    ("exponential=5", "exponential, mean 5 ms"),
    ("bimodal=1,10,0.1", "1 ms, every tenth 10 ms"),
    ("fixed=5&stall=100,1000", "5 ms, stalls of 100 ms"),
];
/// The service for plans and for the highest rate: a mean of 1.9 ms, so that 200 users can ask for 100,000 a second.
const QUICK: (&str, &str) = SERVICES[2];
/// The largest error of the 99th percentile that counts as right, as a share.
const RIGHT: f64 = 0.05;
/// A rate counts as reached from this share on.
const REACHED: f64 = 0.9;
/// Where the search for the highest rate begins and ends, in samples a second.
const LOWEST: f64 = 1_000.0;
const HIGHEST: f64 = 512_000.0;
/// How often the interval between a good and a bad rate is halved.
const HALVINGS: u32 = 2;

/// Measures, prints and keeps the errors of this machine.
pub fn calibrate(
    arguments: &CalibrateArguments,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    if arguments.serve {
        target::serve().map_err(Refusal::failed)?;
        return Ok(Exit::Ok);
    }
    let target = Target::start().map_err(Refusal::failed)?;
    let folder = tempfile::tempdir().map_err(Refusal::failed)?;
    let mut bench = Bench {
        arguments,
        target,
        folder,
        rounds: 0,
    };
    match &arguments.plan {
        Some(plan) => bench.plan(plan, console),
        None => bench.machine(console),
    }
}

/// The target, and what measures it.
struct Bench<'a> {
    arguments: &'a CalibrateArguments,
    target: Target,
    folder: TempDir,
    /// The rounds so far: each has a name of its own at the target.
    rounds: usize,
}

impl Bench<'_> {
    /// Measures this machine.
    fn machine(&mut self, console: &mut Console<'_>) -> Result<Exit, Refusal> {
        let CalibrateArguments { users, json, .. } = *self.arguments;
        self.tell(console, &heading(users, self.arguments.rate));
        let mut errors = Vec::new();
        for (service, words) in SERVICES {
            let rounds = self.rounds(|bench| bench.at_rate(service, bench.arguments.rate))?;
            let row = errors_of(words, &rounds);
            self.tell(console, &line(&row));
            errors.push(row);
        }
        let highest = self.highest(console)?;
        let calibration = Calibration {
            measured_ms: Timestamp::now().as_millisecond(),
            machine: machine(),
            users,
            errors,
            highest,
        };
        let stored = calibration.keep(console.variable)?;
        if json {
            console.print(&calibration.to_json());
        } else if stored.is_some() {
            console.line("kept for this machine: `drumfire doctor` and reports tell it");
        }
        Ok(Exit::Ok)
    }

    /// Measures the requests of a plan.
    fn plan(&mut self, plan: &Path, console: &mut Console<'_>) -> Result<Exit, Refusal> {
        let plan = existing_plan(plan)?;
        let read = drumfire_jmx::read_file(&plan).map_err(|faults| console.refusal_of(&faults))?;
        let address = self.target.address.clone();
        let (host, port) = address.rsplit_once(':').unwrap_or((&address, ""));
        let (service, words) = QUICK;
        let mut left_out = Vec::new();
        let rounds = self.rounds(|bench| {
            let name = bench.next();
            let path = format!("/{service}/{name}");
            let shape = shape::redirected(&read.tree, host, port, &path);
            if shape.requests == 0 {
                let why = "the plan has no enabled HTTP Request";
                return Err(Refusal::new(Exit::PlanRefused, why)
                    .hint("name a plan that has one, or leave out `--plan`"));
            }
            // Beside the plan, so that its data files are found.
            let whole = std::path::absolute(&plan).map_err(Refusal::failed)?;
            let beside = whole.parent().unwrap_or(Path::new(""));
            let file = tempfile::Builder::new()
                .suffix(".jmx")
                .tempfile_in(beside)
                .map_err(Refusal::failed)?;
            std::fs::write(file.path(), &shape.plan).map_err(Refusal::failed)?;
            left_out = shape.left_out;
            bench.measured(&name, file.path(), &[])
        })?;
        let row = errors_of(words, &rounds);
        if self.arguments.json {
            let text =
                serde_json::to_string_pretty(&row).expect("numbers and texts can be written");
            console.print(&format!("{text}\n"));
            return Ok(Exit::Ok);
        }
        for name in &left_out {
            console.warn(&format!(
                "`{name}` did not run: the target speaks HTTP only"
            ));
        }
        console.line(&columns(&format!("the plan, {}", rate(row.rate_per_s))));
        console.line(&line(&row));
        if row.percentiles[1].is_none() {
            console
                .warn("the runs had too few samples for p99; make them longer with `--duration`");
        }
        Ok(Exit::Ok)
    }

    /// Prints a line, unless the output is JSON.
    fn tell(&self, console: &mut Console<'_>, line: &str) {
        if !self.arguments.json {
            console.line(line);
        }
    }

    fn rounds(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<Round, Refusal>,
    ) -> Result<Vec<Round>, Refusal> {
        (0..self.arguments.times).map(|_| one(self)).collect()
    }

    /// A name of which the target has seen nothing.
    fn next(&mut self) -> String {
        self.rounds += 1;
        self.rounds.to_string()
    }

    fn at_rate(&mut self, service: &str, rate: f64) -> Result<Round, Refusal> {
        let name = self.next();
        let plan = self.folder.path().join("calibrate.jmx");
        std::fs::write(&plan, PLAN).map_err(Refusal::failed)?;
        let port = self.target.address.rsplit(':').next().unwrap_or_default();
        let options = [
            format!("-Jport={port}"),
            format!("-Jpath=/{service}/{name}"),
            format!("-Jusers={}", self.arguments.users),
            format!("-Jrate={rate}"),
        ];
        self.measured(&name, &plan, &options)
    }

    fn measured(&self, name: &str, plan: &Path, options: &[String]) -> Result<Round, Refusal> {
        let mut options = options.to_vec();
        options.extend([
            "--duration".to_owned(),
            format!("{}ms", self.arguments.duration),
        ]);
        let folder = self.folder.path();
        measure(&self.target, name, (plan, &options), folder).map_err(|error: io::Error| {
            Refusal::run_failed(format!("a run against the target failed: {error}"))
        })
    }

    /// Searches the highest rate at which the 99th percentile is right: doubles the rate, then halves the interval.
    fn highest(&mut self, console: &mut Console<'_>) -> Result<Option<HighestRate>, Refusal> {
        let (mut good, mut highest, mut bad) = (0.0, None, None);
        let mut next = LOWEST;
        let mut halvings = 0;
        while next <= HIGHEST && halvings <= HALVINGS {
            let mut round = self.at_rate(QUICK.0, next)?;
            if !judged(&round, next).0 {
                // Something else on this machine may have disturbed it.
                round = self.at_rate(QUICK.0, next)?;
            }
            let (is_right, words) = judged(&round, next);
            self.tell(console, &format!("at {} {words}", rate(next)));
            if is_right {
                good = next;
                highest = round.times_ms[1].map(|(measured, truth)| HighestRate {
                    rate_per_s: next,
                    p99_error_ms: measured - truth,
                });
            } else {
                bad = Some(next);
            }
            next = match bad {
                Some(bad) => {
                    halvings += 1;
                    f64::midpoint(good, bad)
                }
                None => next * 2.0,
            };
        }
        let words = match &highest {
            Some(highest) => format!(
                "p99 is within 5 % up to {} ({} ms there)",
                rate(highest.rate_per_s),
                signed(highest.p99_error_ms)
            ),
            None => "p99 is not within 5 % at any rate".to_owned(),
        };
        self.tell(console, &words);
        Ok(highest)
    }
}

/// Whether a round at a rate is right, and why not.
fn judged(round: &Round, asked: f64) -> (bool, String) {
    if round.rate_per_s < REACHED * asked {
        let reached = rate(round.rate_per_s);
        return (false, format!("only {reached} were reached"));
    }
    match round.p99_error() {
        Some(error) if error.abs() <= RIGHT => {
            (true, format!("p99 is off by {:+.1} %", error * 100.0))
        }
        Some(error) => (
            false,
            format!("p99 is off by {:+.1} %, which is too much", error * 100.0),
        ),
        None => (false, "there are too few samples for p99".to_owned()),
    }
}

fn errors_of(service: &str, rounds: &[Round]) -> ServiceErrors {
    let of = |place: usize| {
        let times: Option<Vec<(f64, f64)>> =
            rounds.iter().map(|round| round.times_ms[place]).collect();
        let times = times.filter(|times| !times.is_empty())?;
        let errors = sorted(times.iter().map(|(measured, truth)| measured - truth));
        Some(PercentileError {
            truth_ms: middle(&sorted(times.iter().map(|(_, truth)| *truth))),
            bias_ms: middle(&errors),
            spread_ms: errors[errors.len() - 1] - errors[0],
        })
    };
    ServiceErrors {
        service: service.to_owned(),
        rate_per_s: middle(&sorted(rounds.iter().map(|round| round.rate_per_s))),
        percentiles: std::array::from_fn(of),
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The widths of a line's first column and of the others.
const FIRST: usize = 26;
const COLUMN: usize = 26;

fn heading(users: u32, asked: f64) -> String {
    let users = counted(u64::from(users), "user");
    columns(&format!("{users}, {}", rate(asked)))
}

fn columns(first: &str) -> String {
    let names = PERCENTS.map(|percent| format!("{:>COLUMN$}", format!("p{percent}")));
    format!("{first:<FIRST$}{}", names.concat())
}

/// A service with its true percentiles and how far the measured ones are off.
fn line(errors: &ServiceErrors) -> String {
    let cells = errors.percentiles.map(|error| {
        let text = error
            .map(|error| {
                format!(
                    "{} {} ±{} ms",
                    ms(error.truth_ms),
                    signed(error.bias_ms),
                    ms(error.spread_ms / 2.0)
                )
            })
            .unwrap_or("–".to_owned());
        format!("{text:>COLUMN$}")
    });
    format!("{:<FIRST$}{}", errors.service, cells.concat())
}

/// `16,000/s`.
fn rate(per_second: f64) -> String {
    format!("{}/s", count(per_second.round() as u64))
}

fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", ms(value.abs()))
}
