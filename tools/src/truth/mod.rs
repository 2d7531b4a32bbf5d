//! `cargo xtask truth`: whether the numbers of runs are as exact as the program says. Each situation is run many times against the
//! target of known times, whose own stamps are the truth. The intervals must hold the percentiles of all runs of the situation
//! together, the generator's part must be what the program says, and the counts must be equal.

mod peers;
mod situations;

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::trust::{Neighbour, build};
use situations::{SITUATIONS, Situation};

/// The plan of `drumfire calibrate`.
const PLAN: &str = include_str!("../../../crates/commands/src/calibrate/calibrate.jmx");
/// The label whose samples count.
const LABEL: &str = "measured";
/// The percentiles, as fields name them. The generator's part is told of the first two.
const PERCENTILES: [&str; 3] = ["p50_ms", "p99_ms", "p999_ms"];
const OWN: [&str; 2] = ["own_p50_ms", "own_p99_ms"];
/// How many of 100 intervals must hold the truth at least, and the same for the short form, whose few runs prove little.
const COVERED: f64 = 95.0;
const COVERED_SHORTLY: f64 = 80.0;
/// How many of 100 intervals with two bounds may hold the truth at most: wider ones would say less than is known.
const COVERED_AT_MOST: f64 = 99.5;
/// A share of fewer intervals proves nothing.
const FEWEST: u32 = 15;
/// Fewer intervals do not show that they are too wide: all of them may hold the truth by chance.
const FEWEST_FOR_WIDTH: u32 = 200;
/// The way over loopback, in milliseconds: between the target's stamps and those of the generator's kernel.
const WAY_MS: f64 = 0.05;
/// How far the told part of the generator may be off: this share, or this many milliseconds.
const OWN_SHARE: f64 = 0.1;
const OWN_MS: f64 = 0.05;
/// The width of a bucket of the histograms that both percentiles come from, as a share of the time.
const BUCKET: f64 = 0.001;
/// How many of 100 told parts must be right at least.
const OWN_RIGHT: f64 = 95.0;

struct TruthOptions {
    runs: usize,
    /// How many runs go on at a time.
    side_by_side: usize,
    seconds: u32,
    is_short: bool,
    neighbour: bool,
    /// Other programs run the situations beside ours, one after the other.
    peers: bool,
    program: Option<PathBuf>,
    /// Where the numbers of each run are kept.
    kept: Option<PathBuf>,
}

fn options(words: &[&str]) -> anyhow::Result<TruthOptions> {
    let mut options = TruthOptions {
        runs: 1_000,
        side_by_side: 20,
        seconds: 10,
        is_short: false,
        neighbour: false,
        peers: false,
        program: None,
        kept: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} needs a value"))
        };
        match *word {
            "--runs" => options.runs = value()?.parse().context("--runs")?,
            "--side-by-side" => {
                options.side_by_side = value()?.parse().context("--side-by-side")?
            }
            "--seconds" => options.seconds = value()?.parse().context("--seconds")?,
            "--short" => {
                (options.runs, options.side_by_side) = (20, 10);
                options.is_short = true;
            }
            "--neighbour" => options.neighbour = true,
            "--peers" => options.peers = true,
            "--keep" => options.kept = Some(PathBuf::from(value()?)),
            "--program" => options.program = Some(PathBuf::from(value()?)),
            other => bail!("there is no option `{other}`; `cargo xtask` lists them"),
        }
    }
    Ok(options)
}

/// Stages the runs and judges their numbers.
pub fn truth(words: &[&str]) -> anyhow::Result<()> {
    let options = options(words)?;
    let program = match &options.program {
        Some(program) => program.canonicalize()?,
        None => build()?,
    };
    let target = Target::start(&program)?;
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("plan.jmx"), PLAN)?;
    let _neighbour = options.neighbour.then(Neighbour::start).transpose()?;
    if options.peers {
        return peers::peers(&target, folder.path(), options.seconds, |place| {
            one(
                &program,
                &target,
                folder.path(),
                (place, place),
                options.seconds,
            )
        });
    }
    let runs: VecDeque<usize> = (0..options.runs).collect();
    let queue = Mutex::new(runs);
    let next = || {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop_front()
    };
    let worker = || {
        let mut measured = Vec::new();
        while let Some(number) = next() {
            let place = number % SITUATIONS.len();
            let run = one(
                &program,
                &target,
                folder.path(),
                (place, number),
                options.seconds,
            )?;
            measured.push((place, run));
        }
        anyhow::Ok(measured)
    };
    let workers = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.side_by_side)
            .map(|_| scope.spawn(worker))
            .collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic"));
        ended.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let measured: Vec<(usize, Measured)> = workers.into_iter().flatten().collect();
    if let Some(file) = &options.kept {
        keep(&measured, &target, file)?;
    }
    judge(&measured, &target, options.is_short)
}

/// Writes a line of JSON for each run: its situation, its numbers, its own truth, and that of all runs of the situation.
fn keep(measured: &[(usize, Measured)], target: &Target, file: &Path) -> anyhow::Result<()> {
    let mut lines = String::new();
    for (place, run) in measured {
        let line = serde_json::json!({
            "situation": SITUATIONS[*place].name,
            "label": run.label,
            "truth": run.truth,
            "together": target.truth(&place.to_string())?,
        });
        lines += &format!("{line}\n");
    }
    std::fs::write(file, lines).with_context(|| file.display().to_string())
}

/// The numbers of a run, and its own truth.
struct Measured {
    label: Value,
    truth: Value,
}

fn one(
    program: &Path,
    target: &Target,
    folder: &Path,
    (place, number): (usize, usize),
    seconds: u32,
) -> anyhow::Result<Measured> {
    let situation = &SITUATIONS[place];
    let summary = folder.join(format!("{number}.json"));
    let name = format!("{place}-{number}");
    let mut command = Command::new(program);
    command.args([
        "run",
        "plan.jmx",
        "--progress",
        "quiet",
        "--no-run-file",
        "-j",
        "",
    ]);
    let path = format!("/{}/{name}", situation.service);
    command.args(plan_arguments(situation, target.port, &path));
    command.args(["--duration", &format!("{seconds}s"), "--summary-json"]);
    command
        .arg(&summary)
        .current_dir(folder)
        .env("HOME", folder);
    let output = command.stdin(Stdio::null()).output()?;
    let text = std::fs::read(&summary)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let mut document: Value = serde_json::from_slice(&text)?;
    let labels = document["labels"].as_array_mut().context("no labels")?;
    let label = labels.iter_mut().find(|label| label["label"] == LABEL);
    Ok(Measured {
        label: label.context("no requests were measured")?.take(),
        truth: target.truth(&name)?,
    })
}

/// The properties of the plan, for us and for JMeter.
fn plan_arguments(situation: &Situation, port: u16, path: &str) -> [String; 4] {
    let Situation { rate, users, .. } = situation;
    [
        format!("-Jport={port}"),
        format!("-Jpath={path}"),
        format!("-Jusers={users}"),
        format!("-Jrate={rate}"),
    ]
}

/// Things that were tried, and those that held.
#[derive(Default, Clone, Copy)]
struct Share {
    tried: u32,
    held: u32,
}

impl Share {
    fn add(&mut self, holds: bool) {
        self.tried += 1;
        self.held += u32::from(holds);
    }

    fn percent(self) -> f64 {
        100.0 * f64::from(self.held) / f64::from(self.tried.max(1))
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tried {
            0 => f.pad("–"),
            tried => f.pad(&format!("{:.1} % of {tried}", self.percent())),
        }
    }
}

/// Prints how many intervals hold the truth, and fails if they are too few or too many.
fn judge(measured: &[(usize, Measured)], target: &Target, is_short: bool) -> anyhow::Result<()> {
    let mut covered = [Share::default(); PERCENTILES.len()];
    let mut between = [Share::default(); PERCENTILES.len()];
    let mut own = [Share::default(); OWN.len()];
    let mut counts = Share::default();
    println!(
        "{:<36}{:>16}{:>16}{:>16}",
        "intervals that hold the truth", "p50", "p99", "p99.9"
    );
    for (place, situation) in SITUATIONS.iter().enumerate() {
        let truth = target.truth(&place.to_string())?;
        let mut here = [Share::default(); PERCENTILES.len()];
        for (_, run) in measured.iter().filter(|(of, _)| *of == place) {
            for (at, name) in PERCENTILES.iter().enumerate() {
                let Some(interval) = interval(run, name) else {
                    continue;
                };
                let holds = interval.holds(&truth, name)?;
                here[at].add(holds);
                covered[at].add(holds);
                if interval.high_ms.is_finite() {
                    between[at].add(holds);
                }
            }
            for (at, name) in OWN.iter().enumerate() {
                if let Some(is_right) = own_is_right(run, name, PERCENTILES[at]) {
                    own[at].add(is_right);
                }
            }
            counts.add(run.label["count"] == run.truth["count"]);
        }
        println!(
            "{:<36}{:>16}{:>16}{:>16}",
            situation.name, here[0], here[1], here[2]
        );
    }
    for (name, shares) in [
        ("together", covered),
        ("those with an upper bound", between),
    ] {
        println!(
            "{name:<36}{:>16}{:>16}{:>16}",
            shares[0], shares[1], shares[2]
        );
    }
    println!(
        "the generator's part is right: at p50 {}, at p99 {}",
        own[0], own[1]
    );
    println!("counts are equal: {counts}");
    let least = if is_short { COVERED_SHORTLY } else { COVERED };
    let too_few = |share: &Share| share.tried >= FEWEST && share.percent() < least;
    let too_wide =
        |share: &Share| share.tried >= FEWEST_FOR_WIDTH && share.percent() > COVERED_AT_MOST;
    let own_wrong = !is_short && own.iter().any(|share| share.percent() < OWN_RIGHT);
    if covered.iter().any(too_few)
        || between.iter().any(too_wide)
        || own_wrong
        || counts.held < counts.tried
    {
        bail!(
            "{least} of 100 intervals must hold the truth, at most {COVERED_AT_MOST} of those with two bounds; {OWN_RIGHT} of 100 parts \
             of the generator must be right, and all counts must be equal"
        );
    }
    Ok(())
}

/// The interval that a run printed for a percentile, less the generator's part.
struct Interval {
    /// The way over loopback may be in it.
    low_ms: f64,
    /// Infinite without an upper bound. Such an interval counts, too: that it has none depends on the samples, so the others alone
    /// would be a selection.
    high_ms: f64,
}

impl Interval {
    fn holds(&self, truth: &Value, name: &str) -> anyhow::Result<bool> {
        let truth = truth[name].as_f64().context("the target knows no truth")?;
        Ok(self.low_ms - WAY_MS <= truth && truth <= self.high_ms)
    }
}

fn interval(run: &Measured, name: &str) -> Option<Interval> {
    let bounds = &run.label["intervals"][name];
    let own = if name == PERCENTILES[0] {
        OWN[0]
    } else {
        OWN[1]
    };
    let own = run.label[own].as_f64().unwrap_or_default();
    Some(Interval {
        low_ms: bounds[0].as_f64()? - own,
        high_ms: bounds[1].as_f64().unwrap_or(f64::INFINITY) - own,
    })
}

/// Whether the generator's part of a percentile is what the target's stamps say.
fn own_is_right(run: &Measured, own: &str, percentile: &str) -> Option<bool> {
    let told = run.label[own].as_f64()?;
    let measured = run.label[percentile].as_f64()?;
    let truth = run.truth[percentile].as_f64()?;
    let is = measured - truth;
    Some((told - is).abs() <= OWN_MS.max(OWN_SHARE * is) + BUCKET * measured)
}

/// The target, which the program serves.
struct Target {
    child: Child,
    _input: Option<ChildStdin>,
    port: u16,
}

impl Target {
    fn start(program: &Path) -> anyhow::Result<Target> {
        let mut command = Command::new(program);
        command.args(["calibrate", "--serve"]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().unwrap_or_default();
        Ok(Target {
            port: port.parse().with_context(|| line.clone())?,
            _input: child.stdin.take(),
            child,
        })
    }

    /// The true times of a name, or of all names that begin with it and `-`.
    fn truth(&self, name: &str) -> anyhow::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(stream, "GET /truth/{name} HTTP/1.1\r\n\r\n")?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
