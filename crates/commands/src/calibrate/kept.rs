//! The last calibration of this machine, which `doctor` and reports tell.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use drumfire_platform::words::{count, ms};
use serde::{Deserialize, Serialize};

use crate::refusal::FileFailure;
use crate::whole_file;

/// The file, in the user's state folder.
const FILE: &str = "calibration.json";

/// How far percentiles that this machine measures are off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// When it was measured, in milliseconds since the Unix epoch.
    pub measured_ms: i64,
    /// The machine: another one has other errors.
    pub machine: String,
    /// The users.
    pub users: u32,
    /// The errors at one rate, for each service of the target.
    pub errors: Vec<ServiceErrors>,
    /// The highest rate at which the 99th percentile was within 5 %; `None` if there is none, or if a plan was measured.
    pub highest: Option<HighestRate>,
}

/// The errors for one service of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceErrors {
    /// The service, in words.
    pub service: String,
    /// Samples a second.
    pub rate_per_s: f64,
    /// The errors of p50, p99 and p99.9; null if there are too few samples.
    pub percentiles: [Option<PercentileError>; 3],
}

/// How far a percentile is off, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentileError {
    /// The true percentile: the median of the runs.
    pub truth_ms: f64,
    /// Measured minus true: the median of the runs.
    pub bias_ms: f64,
    /// The largest minus the smallest error of the runs.
    pub spread_ms: f64,
}

/// The highest rate at which numbers can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HighestRate {
    /// Samples a second.
    pub rate_per_s: f64,
    /// The error of the 99th percentile there, in milliseconds.
    pub p99_error_ms: f64,
}

/// The name of this machine in a calibration: host, cores and kernel.
pub fn machine() -> String {
    let host = gethostname::gethostname();
    let cores = drumfire_platform::processes::cores();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{}, {cores} cores, {}",
        host.to_string_lossy(),
        kernel.trim()
    )
}

/// Where it is kept; `None` without a state folder.
fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    drumfire_platform::state_folder(variable).map(|folder| folder.join(FILE))
}

impl Calibration {
    /// Keeps it for this machine. Returns the file, or `None` if the user has no state folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(
        &self,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<PathBuf>, FileFailure> {
        let Some(path) = place(variable) else {
            return Ok(None);
        };
        if let Some(folder) = path.parent() {
            // If it cannot be made, the file tells why.
            let _ = std::fs::create_dir_all(folder);
        }
        whole_file::write(&path, self.to_json().as_bytes())?;
        Ok(Some(path))
    }

    /// The document.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        format!("{}\n", text.expect("numbers and texts can be written"))
    }

    /// The last one of this machine, if there is one.
    pub fn last(variable: impl Fn(&str) -> Option<OsString>) -> Option<Calibration> {
        Calibration::read(&place(variable)?, machine)
    }

    fn read(file: &Path, machine: impl FnOnce() -> String) -> Option<Calibration> {
        let text = std::fs::read(file).ok()?;
        let calibration: Calibration = serde_json::from_slice(&text).ok()?;
        (calibration.machine == machine()).then_some(calibration)
    }

    /// `12 minutes ago: p99 within 0.2 ms up to 40,000/s`.
    pub fn sentence(&self, now_ms: i64) -> String {
        let age = age((now_ms - self.measured_ms).max(0));
        match &self.highest {
            Some(highest) => format!(
                "{age} ago: p99 within {} ms up to {}/s",
                ms(highest.p99_error_ms.abs()),
                count(highest.rate_per_s.round() as u64)
            ),
            None => format!("{age} ago: p99 was not within 5 % at any rate"),
        }
    }
}

/// A time span in its largest unit.
fn age(span_ms: i64) -> String {
    const UNITS: [(i64, &str); 3] = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let seconds = span_ms / 1000;
    for (length, unit) in UNITS {
        if seconds >= length {
            return drumfire_platform::words::counted((seconds / length) as u64, unit);
        }
    }
    "less than a minute".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_calibration_of_the_machine_is_told() {
        let calibration = Calibration {
            measured_ms: 1_000_000,
            machine: machine(),
            users: 200,
            errors: Vec::new(),
            highest: Some(HighestRate {
                rate_per_s: 40_000.0,
                p99_error_ms: 0.2,
            }),
        };
        let folder = tempfile::tempdir().expect("a folder");
        let variable =
            |name: &str| (name == "XDG_STATE_HOME").then(|| folder.path().as_os_str().to_owned());
        assert_eq!(Calibration::last(variable), None);
        let file = calibration
            .keep(variable)
            .expect("written")
            .expect("a place");
        let last = Calibration::last(variable).expect("it is there");
        assert_eq!(last, calibration);
        assert_eq!(Calibration::read(&file, || "another".to_owned()), None);
        assert_eq!(
            last.sentence(1_000_000 + 12 * 60_000),
            "12 minutes ago: p99 within 0.200 ms up to 40,000/s"
        );
    }

    #[test]
    fn ages_have_their_largest_unit() {
        assert_eq!(age(59_000), "less than a minute");
        assert_eq!(age(60_000), "1 minute");
        assert_eq!(age(3 * 86_400_000), "3 days");
    }
}
