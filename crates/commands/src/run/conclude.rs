//! Concludes a run after its last sample: files, the verdict, thresholds, the exit code.

use std::path::{Path, PathBuf};

use drumfire_fleet::AgentOutcome;
use drumfire_health::Grade;
use drumfire_platform::causes::cause;
use drumfire_probes::Watching;
use drumfire_report::{
    Capacity, CheckedCount, RunFile, SettledPart, ThresholdResult, WITHOUT_WARM_UP, own_part,
};

use super::KEEP_FAILURES;
use super::prepare::{Prepared, RunFacts};
use crate::console::Console;
use crate::engine::{Engine, Outcome};
use crate::exit_codes::Exit;
use crate::fleet;
use crate::log::{self, options::LogOptions};
use crate::refusal::Refusal;
use crate::report::files;
use crate::run::arguments::Progress;
use crate::run::criteria::guards::Board;
use crate::run::criteria::judge::PassFail;
use crate::run::criteria::until::Until;
use crate::run::criteria::{baseline, thresholds};
use crate::run::ending::Ending;
use crate::run::outputs::exports::Undelivered;
use crate::run::outputs::summary_json;
use crate::run::outputs::ui::{StayingPage, Ui};
use crate::run::run_file;
use crate::run::run_file::kept_run::{self, EndedRun, KeptPlace, KeptRun};
use crate::signals::{self, Heard};
use crate::terminal::style::Style;
use crate::terminal::summary::{self, Summary};
use crate::terminal::{milestones, verdict};

/// The property that prints the generator's own times, for JMeter's command line.
const VERBOSE: &str = "drumfire.verbose";
/// The property that requires a VALID verdict, for JMeter's command line.
const STRICT: &str = "drumfire.strict";

/// A run that has ended.
pub struct Attended {
    pub outcome: anyhow::Result<Outcome>,
    /// The outcome of each agent.
    pub agents: Vec<AgentOutcome>,
    /// The signal that ended it early.
    pub stopped: Option<&'static str>,
    /// The result of a search for the target's capacity.
    pub capacity: Option<Capacity>,
}

/// Writes and judges the numbers of the run. Returns the exit code.
///
/// # Errors
/// If the run could not continue.
pub fn conclude(
    prepared: Prepared,
    attended: Attended,
    log: Option<PathBuf>,
    judge: Option<&mut PassFail>,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let Prepared { brief, listening } = prepared;
    let undelivered = listening.exports.end();
    let board = listening.guards.end();
    let until = listening.until;
    let (mut watching, ui) = (listening.watching, listening.ui);
    let (outcome, agents, stopped) = (attended.outcome, attended.agents, attended.stopped);
    let kept_run = end_kept(listening.kept, outcome.is_ok(), console);
    let mut outcome = outcome.map_err(|error| Refusal::run_failed(format!("{error:#}")))?;
    let nothing_sent = outcome.nothing_sent.take();
    if let Some(why) = &nothing_sent {
        outcome.verdict = Some(verdict::of_nothing(why, outcome.verdict.take()));
    }
    let settled = settled(&brief, &outcome);
    let mut judged = judged(&board, settled.as_ref(), &outcome);
    judged.extend(judge.into_iter().flat_map(|judge| judge.end()));
    let progress = brief.options.progress;
    tell_end(&brief, board.aborted_by(), console);
    let block = end_block(&brief, log.clone());
    finish(&outcome, settled.as_ref(), block, stopped, console);
    tell_goals(&until, &outcome, progress, console);
    let allows_unjudged = thresholds::allows_unjudged(&brief.settings);
    let broke_threshold = thresholds::print(&judged, allows_unjudged, progress, console);
    if brief.fleet.is_some() && progress != Progress::Quiet {
        fleet::print_agents(&agents, console);
    }
    let counts = counts(&brief, &mut watching, &outcome);
    let is_trusted = trusted(&outcome, &brief.left_out, &counts, progress, console);
    let strict = brief.options.strict || brief.settings.properties.get(STRICT) == Some("true");
    let mut faults = std::mem::take(&mut outcome.faults);
    let mut staying = None;
    faults.extend(losses(&brief, undelivered, &watching, console));
    faults.extend(lost_log(&brief.options.log, log.as_deref(), console));
    let mut ending = Ending {
        interrupted: stopped.map(Exit::by_signal),
        has_faults: !faults.is_empty(),
        sent_nothing: nothing_sent.is_some(),
        broke_threshold,
        is_distrusted: strict && !is_trusted,
        is_worse: false,
    };
    if brief.report.is_wished() || kept_run.is_some() || ui.is_some() || brief.baseline.is_some() {
        let mut run = run_file::run_file(outcome, &brief.fingerprint, judged, &brief.groups);
        run.settled = settled;
        run.capacity = attended.capacity;
        run.counts = counts;
        complete(&mut run, &brief, &watching, &agents);
        let records = Records {
            brief: &brief,
            ui,
            kept: kept_run,
            nothing_sent: nothing_sent.as_deref(),
        };
        let written = records.write(run, &mut ending, console);
        faults.extend(written.faults);
        staying = written.page;
    }
    tell_faults(&faults, nothing_sent.as_deref(), console);
    if stopped.is_none() {
        await_closing(staying, console);
        await_threads(engine);
    }
    Ok(ending.exit())
}

/// The outcome of the thresholds, by the statistics that are shown.
fn judged(board: &Board, settled: Option<&SettledPart>, outcome: &Outcome) -> Vec<ThresholdResult> {
    let shown = settled.map_or(&outcome.recording, |part| &part.recording);
    thresholds::results(board.verdicts(shown), shown)
}

/// Says that the run has ended, and which threshold ended it early.
fn tell_end(brief: &RunFacts, aborted_by: Option<String>, console: &mut Console<'_>) {
    if let Some(text) = aborted_by {
        console.warn(&format!("`{text}` ended the run early"));
    }
    if brief.options.progress != Progress::Quiet && !brief.options.is_of_url() {
        console.line(milestones::END_OF_RUN);
    }
}

/// The statistics without the warm-up, if the user wants them.
fn settled(brief: &RunFacts, outcome: &Outcome) -> Option<SettledPart> {
    let is_wanted = brief.settings.properties.get(WITHOUT_WARM_UP) == Some("true");
    is_wanted.then(|| SettledPart::of(&outcome.recording))
}

/// Prints what was lost, and why nothing was sent.
fn tell_faults(faults: &[String], nothing_sent: Option<&str>, console: &mut Console<'_>) {
    for fault in faults {
        console.error(fault);
    }
    if let Some(why) = nothing_sent {
        console.error(&format!("nothing was sent: {why}"));
    }
}

/// Compares the requests that servers counted with those that were sent.
fn counts(brief: &RunFacts, watching: &mut Watching, outcome: &Outcome) -> Vec<CheckedCount> {
    let (connections, recording) = (outcome.connections, &outcome.recording);
    watching.end(connections.opened.saturating_add(connections.reused));
    let of = |source, counted, is_scraped, others| {
        CheckedCount::of(source, counted, is_scraped, others, connections, recording)
    };
    let demo = brief
        .demo
        .iter()
        .map(|site| of("the demo site".to_owned(), site.requests(), false, 0));
    let others = outcome.targets.len().saturating_sub(1);
    let watched = watching
        .requests()
        .into_iter()
        .map(|counted| of(counted.source, counted.requests, counted.is_scraped, others));
    demo.chain(watched).collect()
}

/// Prints how exactly the numbers of `--until` are known.
fn tell_goals(until: &Until, outcome: &Outcome, progress: Progress, console: &mut Console<'_>) {
    for (is_reached, line) in until.outcome(&outcome.recording) {
        match (is_reached, progress) {
            (false, _) => console.warn(&line),
            (true, Progress::Quiet) => {}
            (true, _) => console.line(&line),
        }
    }
}

/// Adds to the record of a run what others than the engine know.
fn complete(run: &mut RunFile, brief: &RunFacts, watching: &Watching, agents: &[AgentOutcome]) {
    run.data = brief.fingerprint.data();
    run.health.extend(watching.groups());
    run_file::add_agents(run, agents);
}

fn await_closing(page: Option<StayingPage>, console: &mut Console<'_>) {
    if let Some(page) = page {
        page.wait(console);
    }
}

fn end_block(brief: &RunFacts, log: Option<PathBuf>) -> EndBlock {
    EndBlock {
        progress: brief.options.progress,
        is_verbose: brief.options.verbose || brief.settings.properties.get(VERBOSE) == Some("true"),
        log,
    }
}

/// Prints what sources and outputs lost. Returns the lines that count as losses.
fn losses(
    brief: &RunFacts,
    undelivered: Undelivered,
    watching: &Watching,
    console: &mut Console<'_>,
) -> Vec<String> {
    for problem in watching.problems() {
        console.warn(&problem);
    }
    lost(undelivered, brief.options.exports.required, console)
}

/// Prints what sinks did not deliver. Returns the lines that count as losses.
fn lost(undelivered: Undelivered, is_required: bool, console: &mut Console<'_>) -> Vec<String> {
    for line in &undelivered.listeners {
        console.warn(line);
    }
    if is_required {
        return undelivered.outputs;
    }
    for line in &undelivered.outputs {
        console.warn(line);
    }
    Vec::new()
}

/// Tells what the log lost. Returns it as a loss if the user named the log.
fn lost_log(
    options: &LogOptions,
    file: Option<&Path>,
    console: &mut Console<'_>,
) -> Option<String> {
    let loss = log::take_loss(file?)?;
    if options.file != LogOptions::default().file {
        return Some(loss);
    }
    console.warn(&loss);
    None
}

/// The outputs that receive the numbers of the run.
struct Records<'a> {
    brief: &'a RunFacts,
    ui: Option<Ui>,
    kept: Option<EndedRun>,
    nothing_sent: Option<&'a str>,
}

impl Records<'_> {
    /// Compares the run with its baseline and writes it to all outputs. Notes in the ending what could not be written.
    fn write(self, mut run: RunFile, ending: &mut Ending, console: &mut Console<'_>) -> Written {
        let RunFacts {
            options,
            settings,
            order,
            report,
            ..
        } = self.brief;
        let mut faults = Vec::new();
        run.properties = run_file::given(&options.properties);
        if settings.properties.get(KEEP_FAILURES) == Some("false") {
            run.recording.errors.forget_samples();
        }
        if let Some(baseline) = &self.brief.baseline {
            match baseline::compare(baseline, &mut run, options.progress, console) {
                Ok(is_worse) => ending.is_worse = is_worse,
                Err(error) => faults.push(error.into()),
            }
        }
        if let Some(kept_run) = &self.kept
            && matches!(kept_run.place, KeptPlace::Folder(_))
            && let Err(error) = kept_run::finish(&kept_run.place, &run)
        {
            console.warn(error.as_ref());
        }
        faults.extend(report.write(&run, order, settings, console));
        ending.has_faults |= !faults.is_empty();
        if let Some(file) = &report.files.summary_json {
            let text = summary_json::render(&run, ending.exit(), self.nothing_sent);
            faults.extend(files::put(file, text.as_bytes()).err().map(String::from));
            ending.has_faults |= !faults.is_empty();
        }
        let files = [&order.results, &report.files.page, &report.files.run_file];
        let kept_run = self.kept.as_ref().map(|kept| kept.place.path().to_owned());
        let mut files: Vec<PathBuf> = files
            .into_iter()
            .flatten()
            .cloned()
            .chain(kept_run)
            .filter(|file| file.is_file())
            .collect();
        files.dedup();
        let page = self
            .ui
            .and_then(|ui| ui.end(Some(&files::payload(&run, settings)), files));
        Written { faults, page }
    }
}

/// The result of writing the outputs.
struct Written {
    /// The outputs that could not be written, a line each.
    faults: Vec<String>,
    page: Option<StayingPage>,
}

/// Waits for threads of scripts, as JMeter's JVM does. All results are written by now, so one signal ends the wait.
fn await_threads(engine: &Engine) {
    if !(engine.java.is_running)() {
        return;
    }
    let _listening = signals::listen(None, |heard| {
        if let Heard::Signal(_, name) = heard {
            std::process::exit(i32::from(Exit::by_signal(name).code()));
        }
    });
    (engine.java.await_threads)();
}

/// Ends the run file that was written during the run. Returns `None` if there is none, or if writing it failed.
fn end_kept(kept: Option<KeptRun>, has_run: bool, console: &mut Console<'_>) -> Option<EndedRun> {
    match kept?.end() {
        Ok(kept) if has_run => Some(kept),
        Ok(kept) => {
            kept_run::forget(&kept.place);
            None
        }
        Err(error) => {
            console.warn(&format!(
                "the run file could not be written: {}",
                cause(&error)
            ));
            None
        }
    }
}

/// The settings of the block that ends a run.
struct EndBlock {
    progress: Progress,
    is_verbose: bool,
    log: Option<PathBuf>,
}

/// Prints the end of the run and its numbers.
fn finish(
    outcome: &Outcome,
    settled: Option<&SettledPart>,
    shown: EndBlock,
    stopped: Option<&'static str>,
    console: &mut Console<'_>,
) {
    let EndBlock {
        progress,
        is_verbose,
        log,
    } = shown;
    let summary = Summary {
        log,
        ..Summary::of(outcome, settled)
    };
    for line in summary::details(&summary, true).lines() {
        tracing::info!("{line}");
    }
    if progress != Progress::Quiet {
        let style = console.style;
        let columns = console.columns();
        console.print(&summary::render(&summary, style, columns, is_verbose));
    }
    if let Some(signal) = stopped {
        console.warn(&format!("{signal} ended the run early"));
    }
    for warning in &outcome.warnings {
        console.warn(warning);
    }
}

/// Prints the run's verdict on its own numbers and returns whether it is VALID. A quiet run prints only a bad verdict, to
/// standard error.
fn trusted(
    outcome: &Outcome,
    left_out: &[String],
    counts: &[CheckedCount],
    progress: Progress,
    console: &mut Console<'_>,
) -> bool {
    let Some(verdict) = &outcome.verdict else {
        return true;
    };
    let is_valid = verdict.grade == Grade::Valid;
    let columns = console.columns();
    let own_part = own_part(&outcome.recording).into_iter();
    let remarks: Vec<String> = own_part
        .chain(counts.iter().map(CheckedCount::line))
        .collect();
    let text = verdict::render(verdict, left_out, &remarks, console.style, columns);
    // That a run was too short is no objection to its numbers.
    let is_quiet = is_valid || verdict.grade == Grade::TooShort;
    match (progress == Progress::Quiet, is_quiet) {
        (false, _) => console.print(&text),
        (true, false) => console.print_error(&text),
        (true, true) => {}
    }
    for line in verdict::render(verdict, left_out, &remarks, Style::PLAIN, None).lines() {
        tracing::info!("{line}");
    }
    is_valid
}
