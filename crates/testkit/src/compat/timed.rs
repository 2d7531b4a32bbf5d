//! Timed cases: plans in `compat/timed/` whose rows differ from run to run, so that only measures of them are compared.
//!
//! A case is a folder with `plan.jmx`, the files that it reads, and `measures.toml`: the measures with their tolerances,
//! command-line properties, and messages that are sent during the run. `measured.json` holds the values of several runs of
//! JMeter.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use super::measures::{Measure, TimedRun, WARM_UP, rows_of};
use super::{LOG, RESULTS, lay_out, site};
use crate::ports::free_port;
use crate::program::{Finished, finish};
use crate::server::Server;

/// The file of a case that defines its measures.
pub const MEASURES: &str = "measures.toml";
/// The file of a case with JMeter's values.
pub const MEASURED: &str = "measured.json";

/// The values of one measure in several runs, by the measure's name.
pub type Recorded = BTreeMap<String, Vec<Value>>;

/// The content of a [`MEASURES`] file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The rule of JMeter that the case tests.
    rule: String,
    #[serde(default)]
    properties: BTreeMap<String, String>,
    #[serde(default)]
    send: Vec<Message>,
    /// Prefixes of jar names in `lib/ext` that the case needs; it is skipped without them.
    #[serde(default)]
    jars: Vec<String>,
    measure: BTreeMap<String, Measure>,
}

/// A datagram to the port on which a run listens for commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    /// The time since the first request after the warm-up.
    after_ms: u64,
    text: String,
}

/// A timed case.
#[derive(Debug)]
pub struct TimedCase {
    folder: PathBuf,
    written: Written,
}

/// A run of a case that is about to start: its site, and the port on which it will listen for messages.
pub struct CaseRun<'a> {
    case: &'a TimedCase,
    site: Server,
    message_port: u16,
}

impl TimedCase {
    /// Reads a case from its folder.
    ///
    /// # Errors
    /// A file is missing or contains an unknown key.
    pub fn read(folder: &Path) -> std::io::Result<TimedCase> {
        let text = std::fs::read_to_string(folder.join(MEASURES))?;
        let written: Written = toml::from_str(&text).map_err(|error| {
            std::io::Error::other(format!("{}: {error}", folder.join(MEASURES).display()))
        })?;
        if written.rule.is_empty() || written.measure.is_empty() {
            return Err(std::io::Error::other(format!(
                "{} has no rule or no measures",
                folder.display()
            )));
        }
        Ok(TimedCase {
            folder: folder.to_path_buf(),
            written,
        })
    }

    /// Whether a folder is a timed case.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(MEASURES).is_file()
    }

    /// The case's name.
    pub fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Whether a JMeter installation has the jars that the case needs.
    pub fn can_run_in(&self, home: &Path) -> bool {
        let Ok(files) = std::fs::read_dir(home.join("lib/ext")) else {
            return false;
        };
        let names: Vec<String> = files
            .flatten()
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .collect();
        let has = |jar: &String| names.iter().any(|name| name.starts_with(jar.as_str()));
        self.written.jars.iter().all(has)
    }

    /// Starts the site and copies the files that the plan reads into `folder`.
    ///
    /// # Errors
    /// A file cannot be copied.
    pub fn rehearse(&self, folder: &Path) -> std::io::Result<CaseRun<'_>> {
        lay_out(&self.folder, folder)?;
        Ok(CaseRun {
            case: self,
            site: site(),
            message_port: free_port(),
        })
    }

    /// The values of all measures of a run.
    pub fn measure(&self, run: &TimedRun) -> BTreeMap<String, Value> {
        let measures = self.written.measure.iter();
        measures
            .map(|(name, measure)| (name.clone(), measure.of(run)))
            .collect()
    }

    /// JMeter's values.
    ///
    /// # Errors
    /// There are none.
    pub fn recorded(&self) -> std::io::Result<Recorded> {
        let text = std::fs::read_to_string(self.folder.join(MEASURED))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Writes JMeter's values.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_recorded(&self, recorded: &Recorded) -> std::io::Result<()> {
        let lines: Vec<String> = recorded
            .iter()
            .map(|(name, values)| {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                format!(
                    " {}: [\n  {}\n ]",
                    Value::from(name.as_str()),
                    values.join(",\n  ")
                )
            })
            .collect();
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        std::fs::write(self.folder.join(MEASURED), text)
    }

    /// Describes the recorded runs whose values are too far from those of the other runs.
    pub fn unsteady(&self, recorded: &Recorded) -> Vec<String> {
        let runs = recorded.values().map(Vec::len).max().unwrap_or(0);
        let mut told = Vec::new();
        for run in 0..runs {
            let mut others = recorded.clone();
            let mut found = BTreeMap::new();
            for (name, values) in &mut others {
                if run < values.len() {
                    found.insert(name.clone(), values.remove(run));
                }
            }
            told.extend(self.differences(&others, &found));
        }
        told
    }

    /// Describes the measures whose values are too far from the recorded ones.
    pub fn differences(&self, recorded: &Recorded, found: &BTreeMap<String, Value>) -> Vec<String> {
        let mut told = Vec::new();
        for (name, measure) in &self.written.measure {
            let wanted: Vec<&Value> = recorded.get(name).into_iter().flatten().collect();
            let found = found.get(name).unwrap_or(&Value::Null);
            if wanted.is_empty() {
                told.push(format!("{name} is not recorded"));
            } else if !measure.accepts(&wanted, found) {
                let wanted: Vec<String> = wanted.iter().map(|value| value.to_string()).collect();
                told.push(format!(
                    "{name}\n    JMeter {}\n    this   {found}",
                    wanted.join("\n           ")
                ));
            }
        }
        told
    }
}

impl CaseRun<'_> {
    /// The command-line arguments.
    pub fn words(&self, folder: &Path) -> Vec<String> {
        let mut words = super::words(folder, &self.site);
        words.push("-Jsummariser.name=".to_owned());
        for name in ["port", "maxport"] {
            words.push(format!(
                "-Jjmeterengine.nongui.{name}={}",
                self.message_port
            ));
        }
        let properties = self.case.written.properties.iter();
        words.extend(properties.map(|(name, value)| format!("-J{name}={value}")));
        words
    }

    /// Sends the case's messages to a run that was just started, waits for its end, and reads its results.
    ///
    /// # Errors
    /// The run wrote no results, or not a CSV file; the text contains the run's output.
    ///
    /// # Panics
    /// The run has not ended within the limit.
    pub fn attend(self, child: Child, folder: &Path, limit: Duration) -> Result<TimedRun, String> {
        let has_ended = AtomicBool::new(false);
        let finished = std::thread::scope(|scope| {
            scope.spawn(|| self.send(&has_ended));
            let finished = finish(child, limit);
            has_ended.store(true, Ordering::Relaxed);
            finished
        });
        let arrivals = self.site.arrivals();
        let results = std::fs::read_to_string(folder.join(RESULTS)).unwrap_or_default();
        let rows = rows_of(&results, self.site.address().port()).map_err(|error| error.to_string());
        match rows {
            Ok(rows) if !rows.is_empty() => Ok(TimedRun {
                rows,
                arrivals,
                exit: finished.code,
            }),
            Ok(_) => Err(said("no rows", &finished, folder)),
            Err(error) => Err(said(&error, &finished, folder)),
        }
    }

    fn send(&self, has_ended: &AtomicBool) {
        let pause = Duration::from_millis(5);
        let is_measured = || {
            let arrivals = self.site.arrivals();
            arrivals
                .iter()
                .any(|arrival| !arrival.target.starts_with(WARM_UP))
        };
        let messages = &self.case.written.send;
        while !messages.is_empty() && !is_measured() {
            if has_ended.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(pause);
        }
        let began = Instant::now();
        for message in messages {
            while began.elapsed() < Duration::from_millis(message.after_ms) {
                if has_ended.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(pause);
            }
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
            let to = (Ipv4Addr::LOCALHOST, self.message_port);
            let _ = socket.send_to(message.text.as_bytes(), to);
        }
    }
}

fn said(why: &str, finished: &Finished, folder: &Path) -> String {
    let log = std::fs::read_to_string(folder.join(LOG)).unwrap_or_default();
    let last: Vec<&str> = log.lines().rev().take(5).collect();
    format!(
        "{why}; exit code {:?}\n{}{}{}",
        finished.code,
        finished.out,
        finished.err,
        last.into_iter().rev().collect::<Vec<_>>().join("\n")
    )
}
