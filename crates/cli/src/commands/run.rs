//! `drumfire run` and JMeter's `-n -t`: the run from its start to its exit code.

use std::io;
use std::path::{Path, PathBuf};

use drumfire_engine::LEFT_OUT;
use drumfire_health::Grade;
use drumfire_jmx::Diagnostic;
use drumfire_probes::{Source, View, Watching};
use drumfire_report::RunFile;
use drumfire_results::{Threshold, ThresholdError, Verdict, local_zone};
use drumfire_serve::LiveOptions;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fleet::{self, FleetRun};
use super::inputs::{existing_plan, settings};
use super::report::read_run;
use super::screen::Screen;
use crate::console::Console;
use crate::demo::DemoSite;
use crate::ending::Ending;
use crate::engine::{Control, Debugging, Engine, Outcome, RunOrder, Subscriber};
use crate::exit_codes::Exit;
use crate::exports::Exports;
use crate::guards::{Board, Guards};
use crate::jmeter::meaning::failed;
use crate::jmeter::remote;
use crate::judge::Judge;
use crate::kept_run::{self, KeptPlace, KeptRun};
use crate::options::{
    LogOptions, PlanChoice, Progress, Refusal, ReportFiles, ResultsFile, RunOptions,
};
use crate::profiles::Choice;
use crate::properties::Settings;
use crate::signals::{self, Heard};
use crate::terminal::live::terminal_size;
use crate::terminal::style::Style;
use crate::terminal::summary::{self, Summary};
use crate::terminal::{milestones, verdict};
use crate::ui::Ui;
use crate::{baseline, log, outputs, project, recent, reports, run_record, summary_json};

/// The property with thresholds for JMeter's command line, which has no option for them.
pub(super) const FAIL_ON: &str = "drumfire.fail_on";
/// The same for thresholds that end the run.
const ABORT_ON: &str = "drumfire.abort_on";
/// The property that keeps run files out of `.drumfire/`, for JMeter's command line.
const KEEP_RUNS: &str = "drumfire.keep_runs";
/// How many run files stay in `.drumfire/`.
const KEEP_COUNT: &str = "drumfire.runs.keep";
/// Whether the first failed request and response of each kind are kept for the report.
const KEEP_FAILURES: &str = "drumfire.keep_failures";
/// The property that asks for a VALID verdict, for JMeter's command line.
const STRICT: &str = "drumfire.strict";
/// The property with the address of the live page, for JMeter's command line.
const UI: &str = "drumfire.ui";
/// The property with sources of the target's own metrics, semicolons between them.
const WATCH: &str = "drumfire.watch";

/// Runs a plan.
pub fn run<E: Engine>(
    options: RunOptions,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let company = Company {
        control: &Control::default(),
        follower: None,
        debugging: Debugging::default(),
        judge: None,
    };
    follow(options, engine, console, company)
}

/// The participants of a run beside the command line.
pub(super) struct Company<'c> {
    /// Steers it.
    pub control: &'c Control,
    /// Hears of it.
    pub follower: Option<&'c mut dyn Subscriber>,
    /// Follows its users step by step.
    pub debugging: Debugging,
    /// Judges it beside its thresholds.
    pub judge: Option<&'c mut dyn Judge>,
}

/// Runs a plan in company.
pub(super) fn follow<E: Engine>(
    options: RunOptions,
    engine: &E,
    console: &mut Console<'_>,
    company: Company<'_>,
) -> Result<Exit, Refusal> {
    let Company {
        control,
        follower,
        debugging,
        mut judge,
    } = company;
    let zone = local_zone();
    let log = start_log(&options.log, &zone, console)?;
    for note in &options.notes {
        console.warn(note);
    }
    let remembered = recent::place(console.variable);
    let plan = existing_plan(&chosen_plan(&options.plan, remembered.as_deref())?)?;
    let mut options = with_outputs(options, &plan, console)?;
    let baseline = options
        .baseline
        .as_deref()
        .map(baseline::read)
        .transpose()?;
    let order = RunOrder {
        results: options
            .results
            .as_ref()
            .map(|file| results_file(file, remembered.as_deref())),
        delete_results: options.delete_results,
        debugging,
        ..RunOrder::default()
    };
    let demo = if options.demo {
        Some(start_demo(console)?)
    } else {
        None
    };
    let own = demo.as_ref().map(DemoSite::properties);
    let settings = settings(
        &options.properties,
        own.as_ref().map_or(&[], |own| own.as_slice()),
        Some(&plan),
        console,
    )?;
    if let Some(fleet) = &mut options.fleet {
        for line in remote::settle(fleet, &settings)? {
            console.line(&line);
        }
    }
    let mut guards = Guards::start(
        thresholds(&options.fail_on, FAIL_ON, &settings)?,
        thresholds(&options.abort_on, ABORT_ON, &settings)?,
        control,
    )
    .map_err(|error| Refusal::new(Exit::RunFailed, error.to_string()))?;
    let report = Report::claim(&options, &order, &settings)?;
    let mut watching = watch(&options, &settings)?;
    // Before the plan is compiled: Java may take seconds to start.
    let mut ui = serve(
        &options,
        &plan,
        &settings,
        (guards.board(), watching.view()),
        control,
        console,
    )?;
    // Of a run on several machines each agent compiles the plan.
    let compiled = match &options.fleet {
        Some(_) => engine.draft(&plan, &settings),
        None => engine.compile(&plan, &settings, &order),
    };
    let (program, warnings) = compiled.map_err(|faults| console.refusal_of(&faults))?;
    let rendered = console.render(&warnings);
    console.print_error(&rendered);
    if !matches!(options.plan, PlanChoice::Made(_))
        && let Some(place) = &remembered
        && let Err(error) = recent::remember(place, &plan)
    {
        tracing::warn!("the plan is not remembered in {}: {error}", place.display());
    }
    let results = match &options.fleet {
        Some(_) => fleet::result_files(&order),
        None => engine.result_files(&program),
    };
    let wanted = outputs::of_run(&options, results, report.files.folder.as_deref());
    outputs::prove(&wanted)?;
    announce(&plan, &settings, options.progress, console);
    let left_out = left_out(&warnings);
    let mut exports = Exports::start(&options.exports, &settings, &run_id(&plan))
        .map_err(|why| Refusal::new(Exit::Usage, why))?;
    for problem in exports.start_listeners(&engine.backends(&program), &settings) {
        console.warn(&problem);
    }
    watch_agents(&mut watching, &engine.agents(&program), console);
    if let Some(problem) = exports.start_collectors(engine.collectors(&program), &settings) {
        console.warn(&problem);
    }
    let mut kept = keep(&options, &plan, &settings, console)?;
    let needs_groups = report.is_wished() || kept.is_some() || ui.is_some();
    let groups = match needs_groups || options.fleet.is_some() {
        true => engine.describe(&program).groups,
        false => Vec::new(),
    };

    let fleet_order = match &options.fleet {
        Some(fleet) => {
            let fleet = FleetRun {
                options: fleet,
                plan: &plan,
                settings: &settings,
                results: order.results.clone(),
                groups: &groups,
            };
            fleet.prepare(order.delete_results)?;
            Some(fleet.order(engine, &program, console)?)
        }
        None => None,
    };
    let mut screen = Screen::new(&plan, options.progress, zone, console);
    screen.summary_lines = engine.summary_lines(&program);
    screen.remote_hosts = options.fleet.as_ref().and_then(remote::hosts);
    screen.start(&settings, control);
    let mut subscribers: Vec<&mut dyn Subscriber> = vec![&mut screen];
    if let Some(kept) = &mut kept {
        subscribers.push(kept);
    }
    if let Some(ui) = &mut ui {
        subscribers.push(ui);
    }
    subscribers.push(&mut guards);
    if let Some(follower) = follower {
        subscribers.push(follower);
    }
    if let Some(judge) = &mut judge {
        judge.begin(control);
        subscribers.push(&mut **judge);
    }
    subscribers.push(&mut exports);
    let mut agents = Vec::new();
    let outcome = match &fleet_order {
        Some(order) => fleet::run(order, control, &mut subscribers).map(|fleet| {
            agents = fleet.agents;
            fleet.outcome
        }),
        None => engine.run(program, &order, control, &mut subscribers),
    };
    if outcome.is_ok() {
        screen.tidying_up();
    }
    let stopped = screen.end();
    let undelivered = exports.end();
    let board = guards.end();
    let kept = end_kept(kept, outcome.is_ok(), console);
    let mut outcome =
        outcome.map_err(|error| Refusal::new(Exit::RunFailed, format!("{error:#}")))?;
    let strict = options.strict || settings.properties.get(STRICT) == Some("true");
    let nothing_sent = outcome.nothing_sent.take();
    if let Some(why) = &nothing_sent {
        outcome.verdict = Some(verdict::of_nothing(why, outcome.verdict.take()));
    }
    let verdicts = board.verdicts(&outcome.recording);
    if let Some(text) = board.aborted_by() {
        console.warn(&format!("`{text}` ended the run early"));
    }
    let are_met = finish(&outcome, log, stopped, &verdicts, options.progress, console);
    if fleet_order.is_some() && options.progress != Progress::Quiet {
        fleet::print_agents(&agents, console);
    }
    let are_met = judge.is_none_or(|judge| judge.end(console)) && are_met;
    let is_trusted = trusted(&outcome, &left_out, options.progress, console);
    let mut faults = std::mem::take(&mut outcome.faults);
    for line in watching.problems() {
        console.warn(&line);
    }
    for line in &undelivered.listeners {
        console.warn(line);
    }
    match options.exports.required {
        true => faults.extend(undelivered.outputs),
        false => undelivered
            .outputs
            .iter()
            .for_each(|line| console.warn(line)),
    }
    let mut is_worse = false;
    let exit_of = |faults: &[String], is_worse: bool| {
        let ending = Ending {
            interrupted: stopped.map(Exit::by_signal),
            has_faults: !faults.is_empty(),
            sent_nothing: nothing_sent.is_some(),
            broke_threshold: !are_met,
            is_distrusted: strict && !is_trusted,
            is_worse,
        };
        ending.exit()
    };
    if report.is_wished() || kept.is_some() || ui.is_some() || baseline.is_some() {
        let mut run = run_record::run_file(outcome, &plan, &verdicts, &groups);
        run.properties = run_record::given(&options.properties);
        run.health.extend(watching.groups());
        run_record::add_agents(&mut run, &agents);
        if settings.properties.get(KEEP_FAILURES) == Some("false") {
            run.recording.errors.forget_samples();
        }
        if let Some(baseline) = &baseline {
            match baseline::compare(baseline, &run, console) {
                Ok(worse) => is_worse = worse,
                Err(why) => faults.push(why),
            }
        }
        if let Some(ui) = ui {
            ui.end(Some(&reports::payload(&run, &settings)));
        }
        if let Some(place @ KeptPlace::Folder(_)) = &kept
            && let Err(error) = kept_run::finish(place, &run)
        {
            console.warn(&error);
        }
        faults.extend(report.write(&run, &order, &settings, console));
        if let Some(file) = &report.files.summary {
            let text =
                summary_json::render(&run, exit_of(&faults, is_worse), nothing_sent.as_deref());
            faults.extend(reports::put(file, text.as_bytes()).err());
        }
    }
    for fault in &faults {
        console.error(fault);
    }
    if let Some(why) = &nothing_sent {
        console.error(&format!("nothing was sent: {why}"));
    }
    if stopped.is_none() {
        await_threads(engine);
    }
    Ok(exit_of(&faults, is_worse))
}

/// The files that the run's profile asks for, where the command line names none.
fn with_outputs(
    mut options: RunOptions,
    plan: &Path,
    console: &Console<'_>,
) -> Result<RunOptions, Refusal> {
    let choice = Choice {
        profile: options.properties.profile.as_deref(),
        target: None,
        variable: console.variable,
    };
    let outputs =
        project::outputs(Some(plan), &choice).map_err(|why| Refusal::new(Exit::Usage, why))?;
    let results = outputs.results.map(ResultsFile::File);
    options.results = options.results.or(results);
    options.baseline = options.baseline.or(outputs.baseline);
    let report = &mut options.report;
    for (own, more) in [
        (&mut report.pages, outputs.report),
        (&mut report.runs, outputs.run_file),
    ] {
        if own.is_empty() {
            own.extend(more);
        }
    }
    report.summary = report.summary.take().or(outputs.summary_json);
    report.junit = report.junit.take().or(outputs.junit);
    Ok(options)
}

/// Waits for threads of scripts, as JMeter's JVM does. All results are written by now, so one signal ends the wait.
fn await_threads<E: Engine>(engine: &E) {
    let _listening = signals::listen(None, |heard| {
        if let Heard::Signal(_, name) = heard {
            std::process::exit(i32::from(Exit::by_signal(name).code()));
        }
    });
    engine.await_threads();
}

/// The names of the elements that the user has left out of the plan.
fn left_out(warnings: &[Diagnostic]) -> Vec<String> {
    let left_out = warnings.iter().filter(|warning| warning.code == LEFT_OUT);
    left_out
        .map(|warning| warning.path.last().cloned().unwrap_or_default())
        .collect()
}

/// The name of a run in other systems: the plan and the moment, such as `shop-20261123T070512Z`.
fn run_id(plan: &Path) -> String {
    let name = plan.file_stem().unwrap_or_default().to_string_lossy();
    format!("{name}-{}", Timestamp::now().strftime("%Y%m%dT%H%M%SZ"))
}

/// Begins to look at the target's own metrics.
fn watch(options: &RunOptions, settings: &Settings) -> Result<Watching, Refusal> {
    let property = settings.properties.get(WATCH).unwrap_or_default();
    let of_property = property.split(';').map(str::trim);
    let of_property = of_property.filter(|text| !text.is_empty());
    let all = options.watch.iter().map(String::as_str).chain(of_property);
    let sources = all.map(Source::parse).collect::<Result<Vec<_>, _>>();
    let sources = sources.map_err(|error| Refusal::new(Exit::Usage, error.to_string()))?;
    let mut watching = Watching::default();
    watching
        .add(&sources, now_ms)
        .map_err(|error| Refusal::new(Exit::RunFailed, error.to_string()))?;
    Ok(watching)
}

/// Asks the ServerAgents of the plan's PerfMon Metrics Collectors, too. What is wrong with one is a warning.
fn watch_agents(watching: &mut Watching, agents: &[String], console: &mut Console<'_>) {
    for agent in agents {
        let added = Source::parse(&format!("agent={agent}"))
            .map_err(|error| error.to_string())
            .and_then(|source| {
                let added = watching.add(&[source], now_ms);
                added.map_err(|error| error.to_string())
            });
        if let Err(why) = added {
            console.warn(&format!("PerfMon Metrics Collector: {why}"));
        }
    }
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Serves the live page and prints its address, if it was asked for.
fn serve(
    options: &RunOptions,
    plan: &Path,
    settings: &Settings,
    shown: (Board, View),
    control: &Control,
    console: &mut Console<'_>,
) -> Result<Option<Ui>, Refusal> {
    let wrong = |why: String| Refusal::new(Exit::Usage, why);
    let property = settings.properties.get(UI).filter(|text| !text.is_empty());
    let property = property.map(str::parse).transpose();
    let property = property.map_err(|why: String| wrong(format!("{UI}: {why}")))?;
    let Some(address) = options.ui.address.or(property) else {
        return match options.ui.readonly {
            true => Err(wrong("--ui-readonly needs --ui".to_owned())),
            false => Ok(None),
        };
    };
    let live = LiveOptions {
        readonly: options.ui.readonly,
        keeps_failures: settings.properties.get(KEEP_FAILURES) != Some("false"),
    };
    let mut begun = run_record::begun(plan, Timestamp::now().as_millisecond());
    begun.properties = run_record::given(&options.properties);
    let ui = Ui::start(address, live, begun, shown, control, console.variable)
        .map_err(|error| Refusal::new(Exit::RunFailed, format!("--ui {}: {error}", address.0)))?;
    console.line(&format!("live page  {}", ui.url()));
    Ok(Some(ui))
}

/// Begins the run file. One that was asked for must be writable; without the others a run goes on.
fn keep(
    options: &RunOptions,
    plan: &Path,
    settings: &Settings,
    console: &mut Console<'_>,
) -> Result<Option<KeptRun>, Refusal> {
    let now_ms = Timestamp::now().as_millisecond();
    let keep = settings.properties.get(KEEP_COUNT);
    let keep = keep.and_then(|count| count.trim().parse().ok());
    let keep = keep.unwrap_or(kept_run::KEPT);
    let place = match options.report.runs.first() {
        Some(path) => KeptPlace::Asked(path.clone()),
        None if !options.keeps_run || settings.properties.get(KEEP_RUNS) == Some("false") => {
            return Ok(None);
        }
        None => KeptPlace::in_folder(plan, now_ms),
    };
    match (
        KeptRun::begin(place.clone(), run_record::begun(plan, now_ms), keep),
        place,
    ) {
        (Ok(kept), _) => Ok(Some(kept)),
        (Err(error), KeptPlace::Asked(path)) => {
            let message = format!("the run file {} cannot be written: {error}", path.display());
            Err(Refusal::new(Exit::RunFailed, message))
        }
        (Err(error), KeptPlace::Folder(path)) => {
            let path = path.display();
            console.warn(&format!("the run file {path} cannot be written: {error}"));
            Ok(None)
        }
    }
}

/// Ends the run file that was written meanwhile; none where there is none, or where the disk failed.
fn end_kept(kept: Option<KeptRun>, has_run: bool, console: &mut Console<'_>) -> Option<KeptPlace> {
    match kept?.end() {
        Ok(place) if has_run => Some(place),
        Ok(place) => {
            kept_run::forget(&place);
            None
        }
        Err(error) => {
            console.warn(&format!("the run file could not be written: {error}"));
            None
        }
    }
}

/// The report that is made when the run has ended.
struct Report {
    files: ReportFiles,
    /// `statistics.json` tells of the result file (`-e`).
    at_end: bool,
}

impl Report {
    /// Makes room for the files before anything is sent, with JMeter's messages.
    fn claim(
        options: &RunOptions,
        order: &RunOrder,
        settings: &Settings,
    ) -> Result<Report, Refusal> {
        let mut files = options.report.clone();
        let at_end = options.report_at_end;
        if let Some(folder) = &files.folder {
            reports::claim_folder(folder, options.delete_results)
                .map_err(|message| failed(&message, Exit::RunFailed))?;
        }
        if !at_end {
            // JMeter claims the folder of -o, and without -e writes nothing to it.
            files.folder = None;
            return Ok(Report { files, at_end });
        }
        files
            .folder
            .get_or_insert_with(|| reports::default_folder(settings));
        let results = order.results.as_deref().filter(|_| !order.delete_results);
        if let Some(results) = results
            && results.metadata().is_ok_and(|file| file.len() > 0)
        {
            // ReportGenerator's words.
            let message = format!("Results file:{} is not empty", results.display());
            return Err(failed(&message, Exit::RunFailed));
        }
        Ok(Report { files, at_end })
    }

    fn is_wished(&self) -> bool {
        !self.files.is_empty()
    }

    /// Writes the files. JMeter's dashboard counts the rows of the result file, in which sub-results have rows of their
    /// own, so `statistics.json` of `-e` counts them, too, with the times that the run itself has measured. Gives what could
    /// not be written.
    fn write(
        &self,
        run: &RunFile,
        order: &RunOrder,
        settings: &Settings,
        console: &mut Console<'_>,
    ) -> Vec<String> {
        let mut lost = Vec::new();
        let from_results = match (&order.results, self.at_end) {
            (Some(results), true) => match read_run(results, settings, console) {
                Ok(mut rows) => {
                    rows.take_times_of(run);
                    Some(rows)
                }
                Err(error) => {
                    lost.push(error);
                    None
                }
            },
            _ => None,
        };
        let statistics = from_results.as_ref().unwrap_or(run);
        lost.extend(reports::write(run, statistics, &self.files, settings));
        if self.files.annotations {
            console.print_as_it_is(&reports::annotations(&run.name, &reports::cases(run)));
        }
        let pages = self.files.folder.iter().chain(&self.files.pages);
        for page in pages.filter(|page| page.exists()) {
            console.line(&format!("report   {}", page.display()));
        }
        let told = |message: String| format!("Error generating the report: {message}");
        lost.into_iter().map(told).collect()
    }
}

/// Those of the command line, then those of the property, which are separated by semicolons.
pub(super) fn thresholds(
    given: &[String],
    property: &str,
    settings: &Settings,
) -> Result<Vec<Threshold>, Refusal> {
    let property = settings.properties.get(property).unwrap_or_default();
    let of_property = property.split(';').filter(|text| !text.trim().is_empty());
    let all = given.iter().map(String::as_str).chain(of_property);
    all.map(|text| text.parse())
        .collect::<Result<_, ThresholdError>>()
        .map_err(|error| Refusal::new(Exit::Usage, error.to_string()))
}

/// A log that cannot be written is a reason not to run only if it was asked for by its name.
fn start_log(
    options: &LogOptions,
    zone: &TimeZone,
    console: &mut Console<'_>,
) -> Result<Option<PathBuf>, Refusal> {
    match log::start(options, Timestamp::now(), zone) {
        Ok((file, faults)) => {
            tracing::info!("drumfire {}", env!("CARGO_PKG_VERSION"));
            for fault in faults {
                console.warn(&fault);
            }
            Ok(Some(file))
        }
        // The kind `Other` is a log that this process has already.
        Err(error)
            if options.file == LogOptions::default().file
                || error.kind() == io::ErrorKind::Other =>
        {
            console.warn(&format!("there is no log in {}: {error}", options.file));
            Ok(None)
        }
        Err(error) => Err(Refusal::new(
            Exit::RunFailed,
            format!("the log `{}` cannot be written: {error}", options.file),
        )),
    }
}

fn chosen_plan(choice: &PlanChoice, remembered: Option<&Path>) -> Result<PathBuf, Refusal> {
    match choice {
        PlanChoice::File(file) | PlanChoice::Made(file) => Ok(file.clone()),
        PlanChoice::Last => remembered
            .and_then(recent::recall)
            .ok_or_else(|| Refusal::new(Exit::Usage, "-t LAST: no plan has been run yet")),
    }
}

fn results_file(file: &ResultsFile, remembered: Option<&Path>) -> PathBuf {
    match file {
        ResultsFile::File(file) => file.clone(),
        ResultsFile::Last => remembered
            .and_then(recent::recall)
            .map_or_else(|| PathBuf::from("LAST"), |plan| recent::results_of(&plan)),
    }
}

fn start_demo(console: &mut Console<'_>) -> Result<DemoSite, Refusal> {
    let site =
        DemoSite::start(0, 0).map_err(|error| Refusal::new(Exit::RunFailed, error.to_string()))?;
    console.line(&format!(
        "demo site  http://{}/  https://{}/",
        site.http, site.https
    ));
    Ok(site)
}

fn announce(plan: &Path, settings: &Settings, progress: Progress, console: &mut Console<'_>) {
    if progress == Progress::Quiet {
        return;
    }
    if let Some(name) = settings
        .properties
        .get("summariser.name")
        .filter(|name| !name.is_empty())
    {
        console.line(&milestones::creating_summariser(name));
    }
    console.line(&milestones::tree_created(&plan.display().to_string()));
}

/// Prints the end of the run and its numbers; whether all thresholds are met.
fn finish(
    outcome: &Outcome,
    log: Option<PathBuf>,
    stopped: Option<&'static str>,
    verdicts: &[Verdict],
    progress: Progress,
    console: &mut Console<'_>,
) -> bool {
    if progress != Progress::Quiet {
        console.line(milestones::END_OF_RUN);
        let style = console.style;
        let columns = console.is_terminal.then(|| terminal_size().0);
        let summary = Summary {
            log,
            ..Summary::of(outcome)
        };
        console.print(&summary::render(&summary, style, columns));
    }
    if let Some(signal) = stopped {
        console.warn(&format!("{signal} ended the run early"));
    }
    judge(verdicts, progress, console)
}

/// Prints what became of each threshold; a quiet run tells on standard error what was not met.
pub(super) fn judge(verdicts: &[Verdict], progress: Progress, console: &mut Console<'_>) -> bool {
    let mut are_met = true;
    for judged in verdicts {
        let line = judged.to_string();
        are_met &= judged.is_met();
        if judged.is_met() {
            tracing::info!("threshold {line}");
        } else {
            tracing::error!("threshold {line}");
        }
        match (progress == Progress::Quiet, judged.is_met()) {
            (false, true) => console.line(&line),
            (false, false) => console.line(&console.style.red(&line)),
            (true, false) => console.print_error(&format!("{line}\n")),
            (true, true) => {}
        }
    }
    are_met
}

/// Prints the run's verdict on itself and says whether it is VALID; a quiet run tells only another one, on standard error.
fn trusted(
    outcome: &Outcome,
    left_out: &[String],
    progress: Progress,
    console: &mut Console<'_>,
) -> bool {
    let Some(verdict) = &outcome.verdict else {
        return true;
    };
    let is_valid = verdict.grade == Grade::Valid;
    let columns = console.is_terminal.then(|| terminal_size().0);
    let text = verdict::render(verdict, left_out, console.style, columns);
    // A run that was too short says nothing against its numbers.
    let is_quiet = is_valid || verdict.grade == Grade::TooShort;
    match (progress == Progress::Quiet, is_quiet) {
        (false, _) => console.print(&text),
        (true, false) => console.print_error(&text),
        (true, true) => {}
    }
    for line in verdict::render(verdict, left_out, Style::PLAIN, None).lines() {
        tracing::info!("{line}");
    }
    is_valid
}
