//! Run files: all measurements of a run, in a file that is small enough to keep. Reports, comparisons and merges read them.
//!
//! A run file is JSON in gzip; a short one is not compressed. `format` and `version` come first. A reader accepts files of its own version and
//! of earlier ones. Fields may be added within a version; readers ignore unknown fields.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use drumfire_results::{Connections, Increment, LabelStatistics, Recording, SampleBalance};
use serde::{Deserialize, Deserializer, Serialize};

use crate::counts::CheckedCount;
use crate::gzip::write_packed;
use crate::judged::ThresholdResult;
use crate::repeats::Repeats;
use crate::settled::SettledPart;

/// The version that this program writes.
const VERSION: u32 = 1;

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    format: Format,
    version: u32,
    /// The program that wrote the file, with its version.
    pub tool: String,
    /// The run's name: the plan's or the result file's name.
    pub name: String,
    /// The plan, if it is known.
    #[serde(default)]
    pub plan: Option<PlanIdentity>,
    /// The files that the plan reads, as they were when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataFile>,
    /// Start of the run, in milliseconds since the Unix epoch.
    pub started_ms: i64,
    /// End of the run, in milliseconds since the Unix epoch.
    pub ended_ms: i64,
    /// The unit of times, in microseconds: 1,000 if they come from a result file.
    pub resolution_us: u64,
    /// The machine that generated the load: names and values, in the order of display.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// The hosts that requests were sent to, each with its port.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Properties set on the command line, with secrets masked.
    #[serde(default)]
    pub properties: Vec<(String, String)>,
    /// How runs were merged, if this run is the result of a merge.
    #[serde(default)]
    pub merged: Option<String>,
    /// The verdict on the numbers; `None` if there is none.
    #[serde(default)]
    pub verdict: Option<RunVerdict>,
    /// The outcome of the thresholds.
    #[serde(default)]
    pub thresholds: Vec<ThresholdResult>,
    /// Connections and handshakes, if they were counted.
    #[serde(default)]
    pub connections: Option<Connections>,
    /// The planned number of users: times in milliseconds since the Unix epoch, and the number from then on.
    #[serde(default)]
    pub planned_users: Vec<(i64, u64)>,
    /// Marks: things that happened during the run.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// The generator's health.
    #[serde(default)]
    pub health: Vec<HealthGroup>,
    /// The agents of a run on several machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<RunAgent>,
    /// Where the time of samples went, if it was measured.
    #[serde(default)]
    pub time_use: Option<TimeUse>,
    /// How the run differs from its baseline beyond noise, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineChange>,
    /// What the search for the target's capacity found, if the run was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// The requests that servers counted, beside those that were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CheckedCount>,
    /// The fate of the samples that users began, if every machine of the run told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<SampleBalance>,
    /// How the runs of a repeated run differ, if this is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// Whether the run was killed or the machine failed. The file then holds what was written until then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_early: bool,
    /// The measurements.
    pub recording: Recording,
    /// The statistics that outputs show instead, if the user leaves the warm-up out. It is not stored.
    #[serde(skip)]
    pub settled: Option<SettledPart>,
}

/// A file that the plan reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// The path as the plan writes it.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The SHA-256 of its content; `None` for large files.
    pub sha256: Option<String>,
}

/// What a search for a target's capacity found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The answer in a sentence.
    pub answer: String,
    /// The conditions that no level may break, as they were given.
    pub until: String,
    /// The limits among them on a percentile of all samples, in milliseconds.
    pub limits_ms: Vec<f64>,
    /// The highest rate that held and the lowest that did not, in iterations a second.
    pub held: Option<f64>,
    /// The lowest rate that did not hold.
    pub broken: Option<f64>,
    /// The levels in the order in which they were measured.
    pub levels: Vec<CapacityLevel>,
}

/// A level of a search for a target's capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityLevel {
    /// The rate that was asked for, in iterations a second.
    pub rate: f64,
    /// The rate that was reached, in samples a second.
    pub reached: f64,
    /// Whether the level held.
    pub holds: bool,
    /// How it ended, in a few words.
    pub outcome: String,
    /// The measured value of each condition.
    pub values: Vec<String>,
    /// Median and 95th percentile of the elapsed times in milliseconds, and failed samples in per cent; `None` without samples.
    pub measured: Option<[f64; 3]>,
    /// From when to when it was measured, in milliseconds since the Unix epoch.
    pub span_ms: (i64, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Format {
    #[serde(rename = "drumfire-run")]
    Run,
}

/// The identity of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanIdentity {
    /// The file.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// A run's verdict on its own numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunVerdict {
    /// VALID, DEGRADED, INVALID or `too short to judge`.
    pub state: String,
    /// Why it is not VALID.
    pub reasons: Vec<VerdictReason>,
}

/// A cause that spoils numbers, and when it occurred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictReason {
    /// The cause, in a few words.
    pub what: String,
    /// The worst measurement.
    pub measured: String,
    /// The remedy.
    pub remedy: String,
    /// When: from and to, in milliseconds since the Unix epoch.
    pub spans_ms: Vec<(i64, i64)>,
}

/// How a run differs from an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineChange {
    /// The name of the earlier run.
    pub name: String,
    /// The largest change, in a sentence.
    pub sentence: String,
    /// Whether the run is worse.
    pub is_worse: bool,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// The note, or the order that was carried out.
    pub text: String,
}

/// Where the time of samples went, measured on those samples that were timed in all their parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeUse {
    /// How many were timed.
    pub samples: u64,
    /// CPU time of the whole generator per sample, in microseconds, if it is known.
    pub cpu_us: Option<f64>,
    /// The parts, in their order.
    pub parts: Vec<TimedPart>,
}

/// A part of the work for a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedPart {
    /// Its name, in a word.
    pub name: String,
    /// Its average duration in microseconds.
    pub mean_us: f64,
    /// Whether the generator works throughout the part. In other parts it waits.
    pub is_own_work: bool,
}

impl TimeUse {
    /// Merges both. A part that only one of them has took no time in the other.
    fn merged(self, other: &TimeUse) -> TimeUse {
        let (ours, theirs) = (self.samples as f64, other.samples as f64);
        let mean = |a: f64, b: f64| (a * ours + b * theirs) / (ours + theirs).max(1.0);
        let mut parts = self.parts;
        for part in &mut parts {
            let same = other.parts.iter().find(|known| known.name == part.name);
            part.mean_us = mean(part.mean_us, same.map(|same| same.mean_us).unwrap_or(0.0));
        }
        for part in &other.parts {
            if parts.iter().all(|known| known.name != part.name) {
                parts.push(TimedPart {
                    mean_us: mean(0.0, part.mean_us),
                    ..part.clone()
                });
            }
        }
        TimeUse {
            samples: self.samples + other.samples,
            cpu_us: self.cpu_us.zip(other.cpu_us).map(|(a, b)| mean(a, b)),
            parts,
        }
    }
}

/// An agent of a run on several machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunAgent {
    /// Its name.
    pub name: String,
    /// Its state, for display: `running`, `silent for 4 s`, `lost`.
    pub state: String,
    /// The number of users that run or ran there.
    pub users: u64,
    /// Its samples.
    pub samples: u64,
    /// How late it started, in milliseconds.
    #[serde(default)]
    pub late_ms: Option<f64>,
    /// The offset of its clock behind the coordinator's, in milliseconds.
    #[serde(default)]
    pub offset_ms: Option<f64>,
    /// The largest possible error of the offset, in milliseconds.
    #[serde(default)]
    pub bound_ms: Option<f64>,
    /// Its verdict on its own numbers, as in [`RunVerdict::state`]; `None` without a verdict.
    #[serde(default)]
    pub verdict: Option<String>,
}

/// Related measurements of the generator over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HealthGroup {
    /// The name of the group.
    pub name: String,
    /// The unit of all values.
    pub unit: String,
    /// The times of the values, in milliseconds since the Unix epoch.
    pub at_ms: Vec<i64>,
    /// The measurements.
    pub lines: Vec<HealthLine>,
}

/// One measurement over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HealthLine {
    /// Its name.
    pub name: String,
    /// A value for each time of the group; NaN if nothing was measured.
    #[serde(deserialize_with = "with_gaps")]
    pub values: Vec<f64>,
}

/// Reads `null` as NaN, which JSON cannot represent.
fn with_gaps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?.into_iter();
    Ok(values.map(|value| value.unwrap_or(f64::NAN)).collect())
}

/// Why a run file cannot be read.
#[derive(Debug)]
pub struct RunFileError {
    path: PathBuf,
    message: String,
}

impl fmt::Display for RunFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for RunFileError {}

impl RunFileError {
    pub(crate) fn new(path: &Path, message: String) -> RunFileError {
        RunFileError {
            path: path.to_path_buf(),
            message,
        }
    }
}

impl RunFile {
    /// A run of which only the measurements are known, with times in microseconds.
    pub fn new(name: impl Into<String>, recording: Recording) -> RunFile {
        let started = recording
            .labels
            .iter()
            .map(|label| label.first_start_ms)
            .min();
        let ended = recording.labels.iter().map(|label| label.last_end_ms).max();
        RunFile {
            format: Format::Run,
            version: VERSION,
            tool: format!("drumfire {}", env!("CARGO_PKG_VERSION")),
            name: name.into(),
            plan: None,
            data: Vec::new(),
            started_ms: started.unwrap_or(0),
            ended_ms: ended.unwrap_or(0),
            resolution_us: 1,
            environment: Vec::new(),
            targets: Vec::new(),
            properties: Vec::new(),
            merged: None,
            verdict: None,
            thresholds: Vec::new(),
            connections: None,
            planned_users: Vec::new(),
            marks: Vec::new(),
            health: Vec::new(),
            agents: Vec::new(),
            time_use: None,
            baseline: None,
            capacity: None,
            settled: None,
            balance: None,
            repeats: None,
            counts: Vec::new(),
            ended_early: false,
            recording,
        }
    }

    /// The run in a result file, with times in whole milliseconds.
    pub fn of_result_file(path: &Path, recording: Recording) -> RunFile {
        let name = path.file_name().unwrap_or(path.as_os_str());
        RunFile {
            resolution_us: 1000,
            ..RunFile::new(name.to_string_lossy(), recording)
        }
    }

    /// Replaces the whole milliseconds of a result file with the microseconds that the run itself measured. Labels with
    /// another number of samples in the file, such as those of sub-results, stay unchanged.
    pub fn take_times_of(&mut self, measured: &RunFile) {
        for label in &mut self.recording.labels {
            let is_same = |known: &&LabelStatistics| {
                known.label == label.label
                    && known.transaction == label.transaction
                    && (known.count, known.errors) == (label.count, label.errors)
            };
            if let Some(label_of_measured) = measured.recording.labels.iter().find(is_same) {
                *label = label_of_measured.clone();
            }
        }
    }

    /// Reads a decompressed run file.
    ///
    /// # Errors
    /// If it is damaged, or has a later version.
    pub fn read(path: &Path, input: impl BufRead) -> Result<RunFile, RunFileError> {
        let fault = |message: String| RunFileError::new(path, message);
        let run: RunFile = serde_json::from_reader(input)
            .map_err(|_| fault("this run file is damaged".to_owned()))?;
        if run.version > VERSION {
            return Err(fault(format!(
                "this run file has version {}; {} reads versions up to {VERSION}",
                run.version, run.tool
            )));
        }
        Ok(run)
    }

    /// Writes the run, compressed.
    ///
    /// # Errors
    /// The message of the operating system.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        write_packed(out, |pieces| Ok(serde_json::to_writer(pieces, self)?))
    }

    /// Adds the numbers of a span of time.
    pub fn add(&mut self, increment: &Increment) {
        self.recording.absorb(increment);
        let connections = self.connections.unwrap_or_default();
        self.connections = Some(connections.plus(increment.connections));
        if increment.from_ms < increment.to_ms {
            self.ended_ms = self.ended_ms.max(increment.to_ms);
        }
    }

    /// The statistics that outputs show: those of the whole run, unless the user leaves the warm-up out.
    pub fn statistics(&self) -> &Recording {
        let settled = self.settled.as_ref();
        settled.map_or(&self.recording, |part| &part.recording)
    }

    /// Merges other runs: adds their samples as if they belonged to one run, and lists everything else side by side.
    pub fn merge(&mut self, others: &[RunFile]) {
        self.health = named(self);
        self.merged = assumed(self, others);
        for other in others {
            self.recording.merge(&other.recording);
            self.started_ms = self.started_ms.min(other.started_ms);
            self.ended_ms = self.ended_ms.max(other.ended_ms);
            self.resolution_us = self.resolution_us.max(other.resolution_us);
            self.ended_early |= other.ended_early;
            self.balance = self.balance.zip(other.balance).map(|(mut sum, more)| {
                sum.add(more);
                sum
            });
            if self.plan != other.plan {
                self.plan = None;
            }
            self.connections = match (self.connections, other.connections) {
                (Some(mine), Some(theirs)) => Some(mine.plus(theirs)),
                (mine, theirs) => mine.or(theirs),
            };
            self.time_use = match (self.time_use.take(), &other.time_use) {
                (Some(mine), Some(theirs)) => Some(mine.merged(theirs)),
                (mine, theirs) => mine.or_else(|| theirs.clone()),
            };
            self.agents.extend(other.agents.iter().cloned());
            self.marks.extend(other.marks.iter().cloned());
            self.health.extend(named(other));
            self.environment.extend(other.environment.iter().cloned());
            let targets = other.targets.iter();
            let new: Vec<String> = targets
                .filter(|target| !self.targets.contains(target))
                .cloned()
                .collect();
            self.targets.extend(new);
            if self.properties != other.properties {
                self.properties.extend(other.properties.iter().cloned());
            }
            self.name = format!("{} + {}", self.name, other.name);
        }
        self.marks.sort_by_key(|mark| mark.at_ms);
        // These concern only a part of the samples, or only one of several generators.
        self.thresholds.clear();
        self.planned_users.clear();
        self.baseline = None;
        self.capacity = None;
        self.repeats = None;
        self.counts
            .extend(others.iter().flat_map(|other| other.counts.clone()));
        self.verdict = merged_verdict(self.verdict.take(), others);
    }
}

fn named(run: &RunFile) -> Vec<HealthGroup> {
    let name = |group: &HealthGroup| format!("{}, {}", group.name, run.name);
    let groups = run.health.iter();
    groups
        .map(|group| HealthGroup {
            name: name(group),
            ..group.clone()
        })
        .collect()
}

/// The assumption behind a merge: runs that overlap sent their load together; others ran one after the other.
fn assumed(first: &RunFile, others: &[RunFile]) -> Option<String> {
    /// Runs that overlap by less than this count as consecutive.
    const MOMENT_MS: i64 = 1000;
    if others.is_empty() {
        return None;
    }
    let mut spans: Vec<(i64, i64)> = std::iter::once(first)
        .chain(others)
        .map(|run| (run.started_ms, run.ended_ms))
        .collect();
    spans.sort_unstable();
    let mut reached = i64::MIN;
    let (mut together_ms, mut apart_ms) = (0, 0);
    for (from, to) in spans {
        if reached != i64::MIN {
            together_ms += (reached.min(to) - from).max(0);
            apart_ms += (from - reached).max(0);
        }
        reached = reached.max(to);
    }
    Some(match together_ms {
        ..MOMENT_MS => format!(
            "assumes runs of one system one after the other: rates are those of the whole stretch, {:.0} s without load between them included",
            seconds(apart_ms)
        ),
        _ => format!(
            "assumes runs that sent their load together, overlapping for {:.0} s, by clocks that agree: users and rates are added second by second",
            seconds(together_ms)
        ),
    })
}

fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

/// The worst state, with the reasons of all runs; `None` unless every run has a verdict.
fn merged_verdict(first: Option<RunVerdict>, others: &[RunFile]) -> Option<RunVerdict> {
    let mut all = first?;
    for other in others {
        let theirs = other.verdict.as_ref()?;
        if rank(theirs) > rank(&all) {
            all.state.clone_from(&theirs.state);
        }
        all.reasons.extend(theirs.reasons.iter().cloned());
    }
    Some(all)
}

fn rank(verdict: &RunVerdict) -> i32 {
    match verdict.state.as_str() {
        "VALID" => 0,
        "too short to judge" => 1,
        "DEGRADED" => 2,
        _ => 3,
    }
}
