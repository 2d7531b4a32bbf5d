//! `--repeat 5`: runs the plan several times and judges all runs as one.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use drumfire_platform::words::ms;
use drumfire_report::{Repeats, RunFile, WITHOUT_WARM_UP, read_input};
use drumfire_results::Threshold;

use super::{FAIL_ON, RunParticipants, follow, thresholds};
use crate::console::Console;
use crate::engine::{Control, Debugging, Engine};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::report::arguments::ReportFiles;
use crate::report::files;
use crate::run::arguments::{PlanChoice, Progress, RunArguments};
use crate::run::criteria::{baseline, thresholds as judged};
use crate::run::ending::Ending;
use crate::run::outputs::summary_json;
use crate::settings::options::Change;
use crate::settings::properties::RunProperties;
use crate::settings::settings;
use crate::signals::{self, Heard};
use crate::terminal::format::rate;
use crate::terminal::summary::{self, Summary};

/// Runs the plan as often as `--repeat` says.
///
/// # Errors
/// The refusal of the first run, or of an option that cannot be combined with it.
pub fn run(
    options: &RunArguments,
    times: u32,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let plan = match &options.plan {
        Some(PlanChoice::File(file)) => Some(file.as_path()),
        _ => None,
    };
    let settings = settings(&options.properties, &[], plan, console)?;
    refuse_others(options, &settings)?;
    let all = thresholds(&options.fail_on, FAIL_ON, &settings)?;
    // A threshold over a stretch of time is judged while a run goes on.
    let (windowed, at_end): (Vec<_>, Vec<_>) = all.into_iter().partition(Threshold::is_windowed);
    let earlier = options
        .baseline
        .as_deref()
        .map(baseline::read)
        .transpose()?;
    let folder = tempfile::tempdir().map_err(Refusal::failed)?;
    let mut runs: Vec<RunFile> = Vec::new();
    let mut ending = Ending::default();
    // A signal between two runs must not be lost.
    let signal = Arc::new(OnceLock::new());
    let heard = signal.clone();
    let listening = signals::listen(None, move |event| {
        if let Heard::Signal(_, name) = event {
            let _ = heard.set(Exit::by_signal(name));
        }
    });
    let _listening = listening.map_err(Refusal::failed)?;
    for number in 1..=times {
        let file = folder.path().join(format!("{number}.drumfire"));
        let one = one_of(options, number, &file, &windowed);
        if options.progress != Progress::Quiet {
            let text = format!("run {number} of {times}");
            console.line(&console.style.bold(&text));
        }
        let exit = follow(one, engine, console, participants(&Control::default()))?;
        match exit {
            Exit::Ok => {}
            Exit::ThresholdsNotMet => ending.broke_threshold = true,
            Exit::NotTrusted => ending.is_distrusted = true,
            other => {
                tell_cut_short(number, times, console);
                if runs.is_empty() {
                    return Ok(other);
                }
                ending.interrupted = Some(other);
                break;
            }
        }
        let run = read_input(&file, &Default::default(), &mut Vec::new());
        runs.push(run.map_err(|error| Refusal::run_failed(error.to_string()))?);
        if let Some(exit) = signal.get().filter(|_| number < times) {
            tell_cut_short(number + 1, times, console);
            ending.interrupted = Some(*exit);
            break;
        }
    }
    let whole = Whole {
        options,
        settings: &settings,
        thresholds: &at_end,
    };
    whole.conclude(runs, earlier.as_ref(), ending, console)
}

/// Refuses options that cannot be combined with `--repeat`.
fn refuse_others(options: &RunArguments, settings: &RunProperties) -> Result<(), Refusal> {
    let is_settled = settings.properties.get(WITHOUT_WARM_UP) == Some("true");
    let others = [
        ("--ui", options.ui.address.is_some()),
        ("--agents", options.fleet.is_wanted()),
        ("--without-warm-up", is_settled),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((other, _)) => {
            let why = "`--repeat` judges several whole runs on this machine";
            Err(Refusal::usage(format!("{why}; leave out `{other}`")))
        }
    }
}

/// Says that a run did not come to its end, and what the result consists of.
fn tell_cut_short(number: u32, times: u32, console: &mut Console<'_>) {
    let result = match number {
        1 => "so there is no result of all".to_owned(),
        2 => "so the result is that of run 1".to_owned(),
        _ => format!("so the result is that of runs 1 to {}", number - 1),
    };
    console.error(&format!(
        "run {number} of {times} did not come to its end, {result}"
    ));
}

/// The options of one of the runs: its run file, and only the thresholds that are judged while it goes on.
fn one_of(
    options: &RunArguments,
    number: u32,
    file: &Path,
    windowed: &[Threshold],
) -> RunArguments {
    let mut one = options.clone();
    one.repeat = None;
    one.baseline = None;
    one.report = ReportFiles {
        run_file: Some(file.to_owned()),
        ..ReportFiles::default()
    };
    let texts = windowed.iter().map(|threshold| threshold.text().to_owned());
    one.fail_on = texts.collect();
    let none_of_property = Change::Property(FAIL_ON.to_owned(), String::new());
    one.properties.changes.push(none_of_property);
    if number > 1 {
        // The rows and the log of all runs stand in one file.
        one.delete_results = false;
        one.log.file = String::new();
    }
    one
}

fn participants(control: &Control) -> RunParticipants<'_> {
    RunParticipants {
        capacity: None,
        control,
        follower: None,
        debugging: Debugging::default(),
        judge: None,
        conditions: Vec::new(),
    }
}

/// All runs as one.
struct Whole<'a> {
    options: &'a RunArguments,
    settings: &'a RunProperties,
    /// Thresholds on the whole.
    thresholds: &'a [Threshold],
}

impl Whole<'_> {
    /// Shows, judges and writes the runs as one.
    fn conclude(
        &self,
        mut runs: Vec<RunFile>,
        earlier: Option<&RunFile>,
        mut ending: Ending,
        console: &mut Console<'_>,
    ) -> Result<Exit, Refusal> {
        let progress = self.options.progress;
        let repeats = (runs.len() > 1).then(|| Repeats::of(&runs));
        let name = runs.first().map(|run| run.name.clone()).unwrap_or_default();
        let (plan, targets) = (runs[0].plan.clone(), runs[0].targets.clone());
        let environment = runs[0].environment.clone();
        for (run, number) in runs.iter_mut().zip(1..) {
            run.name = format!("run {number}");
        }
        let mut whole = runs.remove(0);
        whole.merge(&runs);
        (whole.name, whole.plan, whole.targets) = (name, plan, targets);
        whole.environment = environment;
        if progress != Progress::Quiet {
            show(&whole, repeats.as_ref(), console);
        }
        whole.repeats = repeats;
        let verdicts = self
            .thresholds
            .iter()
            .map(|one| one.judge(&whole.recording));
        let results = judged::results(verdicts.collect(), &whole.recording);
        let allows_unjudged = judged::allows_unjudged(self.settings);
        ending.broke_threshold |= judged::print(&results, allows_unjudged, progress, console);
        whole.thresholds = results;
        let mut faults = Vec::new();
        if let Some(earlier) = earlier {
            match baseline::compare(earlier, &mut whole, progress, console) {
                Ok(is_worse) => ending.is_worse = is_worse,
                Err(error) => faults.push(String::from(error)),
            }
        }
        let wanted = &self.options.report;
        faults.extend(files::write(&whole, &whole, wanted, self.settings));
        if wanted.ci.annotations {
            let cases = files::cases(&whole, self.settings);
            console.print_as_it_is(&files::annotations(&whole.name, &cases));
        }
        ending.has_faults = !faults.is_empty();
        if let Some(file) = &wanted.summary_json {
            let text = summary_json::render(&whole, ending.exit(), None);
            faults.extend(files::put(file, text.as_bytes()).err().map(String::from));
            ending.has_faults = !faults.is_empty();
        }
        for fault in &faults {
            console.error(fault);
        }
        Ok(ending.exit())
    }
}

/// Prints the numbers of all runs, and how the runs differ if there are several.
fn show(whole: &RunFile, repeats: Option<&Repeats>, console: &mut Console<'_>) {
    let columns = console.columns();
    let mut summary = Summary::of_recording(&whole.recording);
    let title = match repeats {
        Some(repeats) => format!("all {} runs", repeats.runs),
        None => "run 1".to_owned(),
    };
    console.line(&console.style.bold(&title));
    if let Some(repeats) = repeats {
        console.print(&table(repeats));
        let rates = "the rates above are those of the whole stretch, with the pauses between runs";
        summary.notes = vec![rates.to_owned(), repeats.sentence.clone()];
        summary.precise = None;
    }
    console.print(&summary::render(&summary, console.style, columns, false));
}

/// The numbers of all samples in all runs: the middle one, and the range.
fn table(repeats: &Repeats) -> String {
    let mut text = "between runs: the middle run (lowest … highest)\n".to_owned();
    for number in &repeats.numbers {
        let (name, format): (&str, fn(f64) -> String) = match number.name.as_str() {
            "rate_per_s" => ("rate/s", rate),
            "failed_percent" => ("failed%", |share| format!("{share:.2}")),
            name => (name.trim_end_matches("_ms"), ms),
        };
        let _ = writeln!(
            text,
            "{name:<8}{:>8} ({} … {}){}",
            format(number.median),
            format(number.low),
            format(number.high),
            if number.differs {
                "  differs from run to run"
            } else {
                ""
            }
        );
    }
    text
}
