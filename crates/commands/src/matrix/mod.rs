//! `drumfire matrix`: runs a plan in all combinations of a matrix and compares each with the base.

pub mod arguments;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drumfire_platform::causes::unwritable;
use drumfire_platform::progress::Work;
use drumfire_platform::words::hex;
use drumfire_report::{
    Apdex, CompareOptions, Comparison, MatrixRow, RunFile, matrix_html, read_input, report_html,
};
use sha2::{Digest, Sha256};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::matrix::arguments::MatrixArguments;
use crate::refusal::{FileFailure, Refusal, UsageError};
use crate::runs::history::{PROJECT, make_real};
use crate::runs::rows::{RunRow, table, trend_point};
use crate::settings::profiles::Held;
use crate::settings::project::{self, Matrix};
use crate::{signals, whole_file};

/// The folder for the run files of matrices, in the project's.
const FOLDER: &str = "matrix";
/// A matrix with more combinations than this is refused as a mistake.
const MAX_COMBINATIONS: usize = 1_000;
/// Axes that set options of `run` instead of properties.
const OPTIONS: [&str; 7] = [
    "users",
    "ramp-up",
    "duration",
    "iterations",
    "rate",
    "profile",
    "target",
];

/// One value for each axis, in the order of the axes.
type Combination = Vec<(String, String)>;

/// Runs the combinations that have not been run yet, then shows all.
pub fn matrix(arguments: &MatrixArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let project_matrix = project::matrix(arguments.plan.as_deref())?;
    let Some((folder, matrix)) = project_matrix else {
        let mut refusal = Refusal::usage(format!("there is no `[matrix]` in {}", project::FILE));
        refusal
            .err
            .push_str("hint: write `[matrix.axes]` with `users = [1, 10]`\n");
        return Err(refusal);
    };
    let named_plan = arguments.plan.clone();
    let plan = named_plan.or_else(|| matrix.plan.as_ref().map(|plan| folder.join(plan)));
    let Some(plan) = plan else {
        return Err(Refusal::usage(
            "`drumfire matrix` needs a plan: name it, or set `plan` in `[matrix]`".to_owned(),
        ));
    };
    let all = combinations(&matrix, console).map_err(Refusal::usage)?;
    if arguments.list {
        all.iter().for_each(|one| console.line(&name(one)));
        return Ok(Exit::Ok);
    }
    let project_folder = folder.join(PROJECT);
    let runs = project_folder.join(FOLDER);
    let of_matrix = folder_name(&plan, &matrix, &arguments.options)
        .map_err(|error| Refusal::unreadable(Exit::PlanRefused, &plan, &error))?;
    let series_folder = runs.join(of_matrix);
    make_real(&[project_folder, runs]).map_err(failed)?;
    if arguments.again && series_folder.exists() {
        std::fs::remove_dir_all(&series_folder).map_err(failed)?;
    }
    make_real(std::slice::from_ref(&series_folder)).map_err(failed)?;
    let series = Series {
        plan: &plan,
        matrix: &matrix,
        combinations: &all,
        folder: &series_folder,
    };
    match series.run(&arguments.options, console)? {
        SeriesEnd::Stopped(code) => stopped(code, console),
        SeriesEnd::Whole(worst) => {
            show(arguments, &plan, &all, &series_folder, console)?;
            Ok(worst)
        }
    }
}
/// The runs of a matrix, one after another.
struct Series<'m> {
    plan: &'m Path,
    matrix: &'m Matrix,
    combinations: &'m [Combination],
    /// Where the run files are kept.
    folder: &'m Path,
}

enum SeriesEnd {
    /// All combinations have run; the gravest exit code.
    Whole(Exit),
    /// A signal ended one of them; the exit code of that run.
    Stopped(i32),
}

impl Series<'_> {
    /// Runs the combinations that have no run file yet. Ctrl-C also reaches the child process, which ends in order. This
    /// process waits for it.
    fn run(&self, options: &[String], console: &mut Console<'_>) -> Result<SeriesEnd, Refusal> {
        let is_interrupted = Arc::new(AtomicBool::new(false));
        let is_told = Arc::clone(&is_interrupted);
        let listening = signals::listen(None, move |_| is_told.store(true, Ordering::SeqCst));
        let _listening = listening.map_err(failed)?;
        let mut worst = Exit::Ok;
        let all = self.combinations;
        for (number, one) in all.iter().enumerate() {
            let file = self.folder.join(format!("{}.drumfire", slug(one)));
            if let Some(exit) = ended(&file) {
                console.line(&format!(
                    "{}/{}  {}  is there",
                    number + 1,
                    all.len(),
                    name(one)
                ));
                worst = graver(worst, exit);
                continue;
            }
            if is_interrupted.load(Ordering::SeqCst) {
                return Ok(SeriesEnd::Stopped(i32::from(Exit::Interrupted.code())));
            }
            console.line(&format!("{}/{}  {}", number + 1, all.len(), name(one)));
            let progress = Work::begin(format!("running {}", name(one)));
            progress.at(number as u64, all.len() as u64);
            let code = run(self.plan, self.matrix, one, &file, options);
            drop(progress);
            let code = code?;
            match exit_of(code) {
                Some(exit) => {
                    let _ = whole_file::write(
                        &file.with_extension("exit"),
                        code.to_string().as_bytes(),
                    );
                    worst = graver(worst, exit);
                }
                None => {
                    // the numbers of an interrupted run are incomplete
                    let _ = std::fs::remove_file(&file);
                    return Ok(SeriesEnd::Stopped(code));
                }
            }
        }
        Ok(SeriesEnd::Whole(worst))
    }
}

fn failed(error: std::io::Error) -> Refusal {
    Refusal::failed(error)
}

/// The exit code, if it belongs to a run that completed.
fn exit_of(code: i32) -> Option<Exit> {
    [
        Exit::Ok,
        Exit::ThresholdsNotMet,
        Exit::NotTrusted,
        Exit::Worse,
        Exit::NothingSent,
    ]
    .into_iter()
    .find(|exit| i32::from(exit.code()) == code)
}

fn graver(one: Exit, other: Exit) -> Exit {
    match one {
        Exit::Ok => other,
        _ => one,
    }
}

fn stopped(code: i32, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let stops = [
        Exit::Usage,
        Exit::PlanRefused,
        Exit::Interrupted,
        Exit::Terminated,
        Exit::HungUp,
    ];
    let exit = stops
        .into_iter()
        .find(|exit| i32::from(exit.code()) == code);
    console.error(
        "the matrix was stopped\nhint: run the same command again; finished combinations are kept",
    );
    Ok(exit.unwrap_or(Exit::RunFailed))
}

/// How a run ended that an earlier call has completed.
fn ended(file: &Path) -> Option<Exit> {
    let code = std::fs::read_to_string(file.with_extension("exit")).ok()?;
    exit_of(code.trim().parse().ok()?).filter(|_| file.is_file())
}

/// The name of the folder for this plan, this matrix and these options. If one of them changes, so does the name.
fn folder_name(plan: &Path, matrix: &Matrix, options: &[String]) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(std::fs::read(plan)?);
    hash.update(format!("{matrix:?} {options:?}"));
    let digest = hex(&hash.finalize()[..4]);
    let name = plan.file_stem().unwrap_or_default().to_string_lossy();
    Ok(format!("{name}-{digest}"))
}

/// All combinations, the base first.
fn combinations(matrix: &Matrix, console: &Console<'_>) -> Result<Vec<Combination>, UsageError> {
    let text = |held: &Held| held.text(console.variable);
    let mut all: Vec<Combination> = vec![Vec::new()];
    for (axis, values) in &matrix.axes {
        if values.is_empty() {
            return Err(format!("the axis `{axis}` of `[matrix.axes]` has no values").into());
        }
        let values: Vec<String> = values.iter().map(text).collect::<Result<_, _>>()?;
        let longer = all.iter().flat_map(|one| {
            values
                .iter()
                .map(|value| {
                    let mut one = one.clone();
                    one.push((axis.clone(), value.clone()));
                    one
                })
                .collect::<Vec<_>>()
        });
        all = longer.collect();
        if all.len() > MAX_COMBINATIONS {
            return Err(format!("the matrix has more than {MAX_COMBINATIONS} combinations").into());
        }
    }
    let fits = |one: &Combination,
                values: &crate::settings::profiles::Values|
     -> Result<bool, UsageError> {
        for (name, value) in values {
            let value = text(value)?;
            if !one.iter().any(|(axis, own)| axis == name && *own == value) {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let mut remaining = Vec::new();
    for one in all {
        let excluded = matrix.exclude.iter().map(|values| fits(&one, values));
        if !excluded
            .collect::<Result<Vec<bool>, UsageError>>()?
            .contains(&true)
        {
            remaining.push(one);
        }
    }
    let mut base = None;
    for (at, one) in remaining.iter().enumerate() {
        if base.is_none() && fits(one, &matrix.base)? {
            base = Some(at);
        }
    }
    let Some(base) = base else {
        return Err("the base of `[matrix]` is not among its combinations".into());
    };
    let base = remaining.remove(base);
    remaining.insert(0, base);
    Ok(remaining)
}

fn name(one: &Combination) -> String {
    let parts: Vec<String> = one
        .iter()
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect();
    parts.join(" ")
}

/// The file name of a combination. Characters other than letters, digits and a few more are replaced; a digest keeps such names
/// distinct.
fn slug(one: &Combination) -> String {
    let name = name(one);
    let plain: String = name
        .chars()
        .map(|sign| match sign {
            ' ' => '_',
            sign if sign.is_ascii_alphanumeric() || "=.-".contains(sign) => sign,
            _ => '-',
        })
        .take(100)
        .collect();
    let digest = hex(&Sha256::digest(&name)[..3]);
    format!("{plain}_{digest}")
}

/// Runs a combination in a child process. Ctrl-C reaches that process as well.
fn run(
    plan: &Path,
    matrix: &Matrix,
    one: &Combination,
    file: &Path,
    options: &[String],
) -> Result<i32, Refusal> {
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command
        .arg("run")
        .arg(plan)
        .arg("--run-file")
        .arg(file)
        .args(["--progress", "quiet"]);
    if let Some(profile) = &matrix.profile
        && !one.iter().any(|(axis, _)| axis == "profile")
    {
        command.arg("--profile").arg(profile);
    }
    for (axis, value) in one {
        if OPTIONS.contains(&axis.as_str()) {
            command.arg(format!("--{axis}")).arg(value)
        } else {
            command.arg(format!("-J{axis}={value}"))
        };
    }
    let status = command.args(options).status().map_err(failed)?;
    Ok(status.code().unwrap_or(130))
}

fn show(
    arguments: &MatrixArguments,
    plan: &Path,
    all: &[Combination],
    place: &Path,
    console: &mut Console<'_>,
) -> Result<(), Refusal> {
    let runs = read_runs(all, place)?;
    let Some((base, others)) = runs.split_first() else {
        return Ok(());
    };
    let comparison = Comparison::of(
        base,
        others,
        CompareOptions {
            smallest_change: 0.05,
        },
    );
    let rows: Vec<RunRow> = runs.iter().map(RunRow::of).collect();
    let against = |at: usize| against_base(&comparison, &rows, at);
    let lines: Vec<Vec<String>> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| {
            let mut line = vec![row.name.clone()];
            line.extend(row.numbers());
            line.push(against(at));
            line
        })
        .collect();
    let heads = [
        "combination",
        "samples",
        "errors",
        "rate/s",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "verdict",
        "against base",
    ];
    console.print(&format!("\n{}", table(&heads, &lines)));
    if let Some(file) = &arguments.markdown {
        let text = markdown(&heads, &lines);
        whole_file::write(file, text.as_bytes())?;
    }
    if let Some(file) = &arguments.page {
        pages(file, plan, all, &runs, &comparison, &against)?;
        console.line(&format!("page     {}", file.display()));
    }
    Ok(())
}

/// How the run at this place compares with the base, in a word or two.
fn against_base(comparison: &Comparison, rows: &[RunRow], at: usize) -> String {
    let Some(compared) = at.checked_sub(1).map(|at| &comparison.others[at]) else {
        return "base".to_owned();
    };
    let word = match (rows[at].samples, rows[0].samples) {
        (0, _) => "no sample",
        (_, 0) => "the base has no sample",
        _ => compared.finding.word(),
    };
    word.to_owned()
}

/// Reads the run files of all combinations and names the runs after them.
fn read_runs(all: &[Combination], place: &Path) -> Result<Vec<RunFile>, FileFailure> {
    all.iter()
        .map(|one| {
            let file = place.join(format!("{}.drumfire", slug(one)));
            let read = read_input(&file, &Default::default(), &mut Vec::new());
            let mut run = read.map_err(|error| error.to_string())?;
            run.name = name(one);
            Ok(run)
        })
        .collect()
}

/// The table in Markdown.
fn markdown(heads: &[&str], lines: &[Vec<String>]) -> String {
    let mut text = format!(
        "| {} |\n|{}\n",
        heads.join(" | "),
        "---|".repeat(heads.len())
    );
    for line in lines {
        text.push_str(&format!("| {} |\n", line.join(" | ").replace('\n', " ")));
    }
    text
}

/// Writes the page with the table. The pages that it links to go to a folder of the same name: the comparison and each report.
fn pages(
    file: &Path,
    plan: &Path,
    all: &[Combination],
    runs: &[RunFile],
    comparison: &Comparison,
    against: &dyn Fn(usize) -> String,
) -> Result<(), FileFailure> {
    let folder = file.with_extension("pages");
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let folder_name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut rows = Vec::new();
    for (at, (one, run)) in all.iter().zip(runs).enumerate() {
        let name = format!("{}.html", slug(one));
        let report = report_html(run, &Apdex::default(), &|_, _| false);
        whole_file::write(&folder.join(&name), report.as_bytes())?;
        rows.push(MatrixRow {
            values: one.iter().map(|(_, value)| value.clone()).collect(),
            run: trend_point(run, 0, String::new()),
            against_base: against(at),
            report: format!("{folder_name}/{name}"),
        });
    }
    let compared = "comparison.html";
    whole_file::write(&folder.join(compared), comparison.html().as_bytes())?;
    let first = all.first().into_iter().flatten();
    let axes: Vec<String> = first.map(|(axis, _)| axis.clone()).collect();
    let title = plan.file_name().unwrap_or_default().to_string_lossy();
    let page = matrix_html(&title, &axes, &rows, &format!("{folder_name}/{compared}"));
    whole_file::write(file, page.as_bytes())
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample};

    use super::*;

    #[test]
    fn a_run_without_samples_is_said_to_have_none() {
        let run = |name: &str, samples: i64| {
            let mut recording = Recording::default();
            for at in 0..samples {
                let mut sample = Sample::new("a".into(), "t".into());
                sample.start_ms = at * 1_000;
                sample.set_end(at * 1_000 + 5);
                recording.add(&sample);
            }
            RunFile::new(name, recording)
        };
        let words = |base: RunFile, other: RunFile| {
            let rows = [RunRow::of(&base), RunRow::of(&other)];
            let comparison = Comparison::of(&base, &[other], CompareOptions::default());
            [0, 1].map(|at| against_base(&comparison, &rows, at))
        };
        assert_eq!(words(run("a", 30), run("b", 0)), ["base", "no sample"]);
        assert_eq!(words(run("a", 0), run("b", 0)), ["base", "no sample"]);
        assert_eq!(
            words(run("a", 0), run("b", 30)),
            ["base", "the base has no sample"]
        );
        assert_eq!(words(run("a", 3), run("b", 3)), ["base", "unclear"]);
    }

    #[test]
    fn names_of_files_are_plain_and_differ() {
        let one = |value: &str| vec![("path".to_owned(), value.to_owned())];
        let (a, b) = (slug(&one("../../etc")), slug(&one("..-..-etc")));
        assert!(a.starts_with("path=..-..-etc_") && a != b);
        assert!(!a.contains('/'));
    }
}
