//! `drumfire runs`: the history of the working folder and its project.

pub mod arguments;
pub mod history;
pub mod rows;

use std::path::{Path, PathBuf};

use drumfire_java::JvmDefaults;
use drumfire_platform::causes::cause;
use drumfire_report::{CompareOptions, Comparison, RunFile, TrendPoint, read_input, trend_html};
use jiff::Timestamp;

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::criteria::baseline;
use crate::runs::arguments::{ListedRuns, RunsAction, RunsArguments};
use crate::runs::history::History;
use crate::runs::rows::{RunRow, table, trend_point};
use crate::terminal::summary::{self, Summary};
use crate::whole_file;

const NO_RUNS: &str = "there are no runs of this folder";

/// A run of the history.
struct ListedRun {
    /// Its number in the list of all runs, by which `show` and `compare` know it.
    number: usize,
    /// The file's name without its extension.
    id: String,
    path: PathBuf,
    run: RunFile,
}

/// Carries out the action. Without one, it lists the runs.
pub fn runs(arguments: &RunsArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let Some(action) = &arguments.action else {
        list(&arguments.list, console);
        return Ok(Exit::Ok);
    };
    match action {
        RunsAction::List(listed) => {
            list(listed, console);
            Ok(Exit::Ok)
        }
        RunsAction::Show { run } => {
            let run = chosen(run, console)?.run;
            show(&run, console);
            Ok(Exit::Ok)
        }
        RunsAction::Compare { runs, anyway, page } => {
            compare(runs, *anyway, page.as_deref(), console)
        }
        RunsAction::Trend { plan, page } => trend(plan.as_deref(), page.as_deref(), console),
        RunsAction::Prune { keep, dry_run } => prune(*keep, *dry_run, console),
    }
}

fn list(listed: &ListedRuns, console: &mut Console<'_>) {
    let runs = history(listed.plan.as_deref(), console);
    if listed.json {
        console.print_as_it_is(&as_json(&runs));
    } else {
        print_list(&runs, console);
    }
}

/// All runs that can be read, latest first.
fn history(plan: Option<&str>, console: &mut Console<'_>) -> Vec<ListedRun> {
    let mut history_runs = Vec::new();
    for path in History::new(console.variable).files() {
        let mut warnings = Vec::new();
        match read_input(&path, &Default::default(), &mut warnings) {
            Ok(run) => history_runs.push(ListedRun {
                number: 0,
                id: path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                path,
                run,
            }),
            Err(error) => console.warn(&error.to_string()),
        }
    }
    history_runs.sort_by_key(|one| std::cmp::Reverse(one.run.started_ms));
    for (place, one) in history_runs.iter_mut().enumerate() {
        one.number = place + 1;
    }
    history_runs.retain(|one| {
        plan.is_none_or(|plan| {
            one.run.name == plan
                || Path::new(&one.run.name).file_stem() == Path::new(plan).file_stem()
        })
    });
    history_runs
}

fn moment(ms: i64) -> String {
    let moment = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    moment
        .to_zoned(JvmDefaults::of_process().zone.rules().clone())
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

fn print_list(known: &[ListedRun], console: &mut Console<'_>) {
    if known.is_empty() {
        console.line(NO_RUNS);
        return;
    }
    let lines: Vec<Vec<String>> = known
        .iter()
        .map(|one| {
            let row = RunRow::of(&one.run);
            let mut line = vec![
                one.number.to_string(),
                moment(one.run.started_ms),
                row.name.clone(),
            ];
            line.extend(row.numbers());
            line
        })
        .collect();
    let heads = [
        "#", "started", "plan", "samples", "errors", "rate/s", "p50 ms", "p95 ms", "p99 ms",
        "verdict",
    ];
    console.print(&table(&heads, &lines));
}

fn as_json(known: &[ListedRun]) -> String {
    let all: Vec<serde_json::Value> = known
        .iter()
        .map(|one| {
            let row = RunRow::of(&one.run);
            // Nothing was measured without samples.
            let if_sampled = |value: f64| (row.samples > 0).then_some(value);
            let [p50_ms, p95_ms, p99_ms] = row.percentiles_ms.map(if_sampled);
            serde_json::json!({
                "id": one.id, "file": one.path, "plan": row.name, "started_ms": one.run.started_ms,
                "ended_ms": one.run.ended_ms, "samples": row.samples, "errors_percent": if_sampled(row.errors_percent),
                "rate": if_sampled(row.rate), "p50_ms": p50_ms, "p95_ms": p95_ms, "p99_ms": p99_ms,
                "verdict": row.verdict,
            })
        })
        .collect();
    format!("{:#}\n", serde_json::Value::from(all))
}

/// Finds a run by its number in the list, by `last`, by its name or by its file.
fn chosen(wanted: &str, console: &mut Console<'_>) -> Result<ListedRun, Refusal> {
    let path = Path::new(wanted);
    if path.is_file() {
        let mut warnings = Vec::new();
        let run = read_input(path, &Default::default(), &mut warnings)
            .map_err(|error| Refusal::run_failed(error.to_string()))?;
        return Ok(ListedRun {
            number: 0,
            id: wanted.to_owned(),
            path: path.to_path_buf(),
            run,
        });
    }
    let mut listed_runs = history(None, console);
    let position = match (wanted, wanted.parse::<usize>()) {
        ("last", _) => Some(0),
        (_, Ok(number)) => number.checked_sub(1),
        _ => listed_runs.iter().position(|one| one.id == wanted),
    };
    match position.filter(|place| *place < listed_runs.len()) {
        Some(position) => Ok(listed_runs.swap_remove(position)),
        None => {
            let mut refusal = Refusal::usage(format!("there is no run `{wanted}`"));
            refusal
                .err
                .push_str("hint: `drumfire runs` lists the runs of this folder\n");
            Err(refusal)
        }
    }
}

fn show(run: &RunFile, console: &mut Console<'_>) {
    console.line(&format!("{}  {}", run.name, moment(run.started_ms)));
    for (name, value) in run.environment.iter().chain(&run.properties) {
        console.line(&format!("  {name}: {value}"));
    }
    let text = summary::render(
        &Summary::of_recording(&run.recording),
        console.style,
        console.columns(),
        false,
    );
    console.print(&text);
    for threshold in &run.thresholds {
        console.line(&threshold.line());
    }
    if let Some(verdict) = &run.verdict {
        console.line(&format!("verdict  {}", verdict.state));
        for reason in &verdict.reasons {
            console.line(&format!("  {}: {}", reason.what, reason.measured));
        }
    }
}

fn compare(
    wanted: &[String],
    anyway: bool,
    page: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let mut runs = Vec::new();
    for one in wanted {
        let earlier = chosen(one, console)?;
        let mut run = earlier.run;
        run.name = format!("{} ({})", run.name, moment(run.started_ms));
        runs.push(run);
    }
    let others = runs.split_off(1);
    let options = CompareOptions {
        smallest_change: 0.05,
    };
    let mut comparison = Comparison::of(&runs[0], &others, options);
    if !anyway {
        comparison.refuse();
    }
    baseline::print(&comparison, console);
    if let Some(file) = page {
        whole_file::write(file, comparison.html().as_bytes())?;
    }
    Ok(match (comparison.is_refused(), comparison.is_worse()) {
        (true, _) => Exit::RunFailed,
        (false, true) => Exit::Worse,
        (false, false) => Exit::Ok,
    })
}

fn trend(
    plan: Option<&str>,
    page: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let latest = match plan {
        Some(plan) => Some(plan.to_owned()),
        None => history(None, console)
            .first()
            .map(|one| one.run.name.clone()),
    };
    let Some(plan) = latest else {
        return Err(Refusal::usage(NO_RUNS));
    };
    let mut plan_runs = history(Some(&plan), console);
    plan_runs.reverse();
    print_list(&plan_runs, console);
    if let Some(file) = page {
        let points: Vec<TrendPoint> = plan_runs
            .iter()
            .map(|one| trend_point(&one.run, one.number, moment(one.run.started_ms)))
            .collect();
        whole_file::write(file, trend_html(&plan, &points).as_bytes())?;
        console.line(&format!("page     {}", file.display()));
    }
    Ok(Exit::Ok)
}

fn prune(keep: usize, dry_run: bool, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let verb = if dry_run { "would remove" } else { "removed" };
    for one in history(None, console).iter().skip(keep) {
        if !dry_run {
            std::fs::remove_file(&one.path).map_err(|error| {
                Refusal::run_failed(format!(
                    "`{}` cannot be deleted: {}",
                    one.path.display(),
                    cause(&error)
                ))
            })?;
        }
        console.line(&format!("{verb}  {}", one.id));
    }
    Ok(Exit::Ok)
}
