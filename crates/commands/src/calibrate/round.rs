//! A measurement: what a run measured of the target, beside the truth.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use drumfire_report::read_input;
use drumfire_results::suffices_for;

use super::target::Target;

/// The percentiles that are compared.
pub const PERCENTS: [f64; 3] = [50.0, 99.0, 99.9];
/// The label of each user's first request. Its time includes that of the new connection, which the target does not see.
pub const CONNECT: &str = "connect";

/// The numbers of one run beside the true ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// Samples a second.
    pub rate_per_s: f64,
    /// The measured and the true time at each of [`PERCENTS`], in milliseconds; `None` if there are too few samples.
    pub times_ms: [Option<(f64, f64)>; 3],
}

impl Round {
    /// How much too high the 99th percentile is, as a share of the true one.
    pub fn p99_error(&self) -> Option<f64> {
        let (measured, truth) = self.times_ms[1]?;
        Some((measured - truth) / truth)
    }
}

/// Runs a plan with these options in a folder, and asks the target for the truth of the requests of a name.
///
/// # Errors
/// The run fails, or the target does not answer.
pub fn measure(
    target: &Target,
    name: &str,
    (plan, options): (&Path, &[String]),
    folder: &Path,
) -> io::Result<Round> {
    let file = folder.join(format!("{name}.run"));
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("run").arg(plan).args(options);
    command.arg("--run-file").arg(&file);
    command.args(["--progress", "quiet", "-j", ""]);
    let output = command.stdin(Stdio::null()).current_dir(folder).output()?;
    let run = read_input(&file, &Default::default(), &mut Vec::new()).map_err(|_| {
        let why = String::from_utf8_lossy(&output.stderr);
        io::Error::other(why.trim().trim_start_matches("error: ").to_owned())
    })?;
    let mut recording = run.recording;
    recording.labels.retain(|label| label.label != CONNECT);
    let total = recording.total();
    let truth = target.truth(name)?;
    let true_ms = [truth.p50_ms, truth.p99_ms, truth.p999_ms];
    let times = |place: usize| {
        let percent = PERCENTS[place];
        let measured_ms = total.service.percentile_ms(percent);
        suffices_for(truth.count, percent).then_some((measured_ms, true_ms[place]))
    };
    Ok(Round {
        rate_per_s: total.row().throughput_per_s,
        times_ms: std::array::from_fn(times),
    })
}
