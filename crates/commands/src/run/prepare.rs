//! Prepares a run before the first request, and refuses what cannot be run, read or written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drumfire_engine::LEFT_OUT;
use drumfire_fleet::FleetOrder;
use drumfire_jmx::{Diagnostic, SourceFile};
use drumfire_platform::causes::{cause, unwritable};
use drumfire_probes::{Source, View, Watching};
use drumfire_report::RunFile;
use drumfire_results::{Threshold, ThresholdError};
use drumfire_serve::{ListenAddress, LiveOptions};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::report::Report;
use super::{KEEP_FAILURES, monitors};
use crate::agent::link;
use crate::console::Console;
use crate::demo::DemoSite;
use crate::demo::quickstart::{self, Quickstart};
use crate::engine::{CompiledPlan, Control, Debugging, Engine, GroupView, RunOrder};
use crate::fleet::arguments::FleetOptions;
use crate::fleet::{self, FleetRun};
use crate::jmeter::meaning::missing_plan;
use crate::jmeter::remote;
use crate::log;
use crate::log::options::LogOptions;
use crate::refusal::Refusal;
use crate::run::arguments::{PlanChoice, Progress, ResultsFile, RunArguments, UiOptions};
use crate::run::criteria::baseline;
use crate::run::criteria::guards::{Board, Guards};
use crate::run::criteria::thresholds::{LabelCondition, check_labels, warn_of_inversions};
use crate::run::criteria::until::Until;
use crate::run::outputs::claims::Claims;
use crate::run::outputs::exports::Exports;
use crate::run::outputs::ui::Ui;
use crate::run::run_file::fingerprint::Fingerprint;
use crate::run::run_file::kept_run::{self, KeptPlace, KeptRun};
use crate::run::{outputs, recent, run_file};
use crate::runs::history::History;
use crate::settings::plan_file::existing_plan;
use crate::settings::profiles::ProfileChoice;
use crate::settings::properties::RunProperties;
use crate::settings::settings;
use crate::settings::{authorities, project};
use crate::terminal::milestones;

/// The property with thresholds for JMeter's command line, which has no option for them.
pub const FAIL_ON: &str = "drumfire.fail_on";
/// The property with thresholds that end the run.
const ABORT_ON: &str = "drumfire.abort_on";
/// The property that turns off run files in the history, for JMeter's command line.
const KEEP_RUNS: &str = "drumfire.keep_runs";
/// The property for the number of run files that stay in the history.
const KEEP_COUNT: &str = "drumfire.runs.keep";
/// The property with the address of the live page, for JMeter's command line.
const UI: &str = "drumfire.ui";
/// The property with sources of the target's own metrics, separated by semicolons.
const WATCH: &str = "drumfire.watch";

/// A run that is ready to begin.
pub struct Prepared {
    pub brief: RunFacts,
    pub listening: Listening,
}

/// The facts of a run.
pub struct RunFacts {
    pub options: RunArguments,
    pub plan: PathBuf,
    pub fingerprint: Fingerprint,
    pub settings: RunProperties,
    pub order: RunOrder,
    pub baseline: Option<RunFile>,
    pub report: Report,
    /// Elements that were left out on request.
    pub left_out: Vec<String>,
    /// The thread groups, if any output shows them.
    pub groups: Vec<GroupView>,
    /// The order for the coordinator, for a run on several machines.
    pub fleet: Option<FleetOrder>,
    /// Keeps other runs from writing the same files until the run ends.
    _claims: Claims,
    /// Serves the demo site until the run ends.
    pub demo: Option<DemoSite>,
    /// Holds the files of the built-in plan until the run ends.
    _quickstart: Option<Quickstart>,
}

/// The subscribers of a run, except the screen.
pub struct Listening {
    pub guards: Guards,
    pub until: Until,
    pub watching: Watching,
    pub ui: Option<Ui>,
    pub exports: Exports,
    pub kept: Option<KeptRun>,
}

/// Prepares a run. `conditions` are those beside its thresholds that name labels.
///
/// # Errors
/// The first reason why it cannot begin.
pub fn prepare(
    options: RunArguments,
    debugging: Debugging,
    conditions: Vec<LabelCondition<'_>>,
    engine: &Engine,
    control: &Control,
    console: &mut Console<'_>,
) -> Result<(Prepared, CompiledPlan), Refusal> {
    let remembered = recent::place(console.variable);
    let (mut brief, mut listening) =
        begin(options, debugging, remembered.as_deref(), control, console)?;
    let (program, warnings) = compile(&brief, engine, console)?;
    let thresholds = listening.guards.board().thresholds();
    let mut named: Vec<_> = thresholds.iter().filter_map(LabelCondition::of).collect();
    named.extend(conditions);
    named.extend(
        brief
            .options
            .until
            .iter()
            .filter_map(|goal| goal.condition()),
    );
    if !named.is_empty() {
        check_labels(&named, &program.labels(), console)?;
    }
    if matches!(
        brief.options.plan,
        Some(PlanChoice::File(_) | PlanChoice::Last)
    ) && let Some(remembered_file) = &remembered
        && let Err(error) = recent::remember(remembered_file, &brief.plan)
    {
        tracing::warn!(
            "the path of the plan could not be saved in {}: {error}",
            remembered_file.display()
        );
    }
    let results = if brief.options.fleet.is_wanted() {
        fleet::result_files(&brief.order)
    } else {
        program.result_files()
    };
    let folder = brief.report.files.folder.as_deref();
    let output_files = outputs::of_run(&brief.options, results, folder);
    outputs::prove(&output_files)?;
    let state = drumfire_platform::state_folder(console.variable);
    brief._claims = Claims::take(&output_files, state.as_deref())?;
    if brief.options.progress != Progress::Quiet && !brief.options.is_of_url() {
        announce(brief.fingerprint.shown(), &brief.settings, console);
    }
    brief.left_out = left_out(&warnings);
    listening.exports = export(&brief, &program, console)?;
    let specs = program.monitors();
    monitors::add(&mut listening.watching, specs, now_ms, console);
    if let Some(problem) = listening
        .exports
        .start_collectors(program.collectors(), &brief.settings)
    {
        console.warn(&problem);
    }
    brief.fingerprint.read_data(program.read_files());
    listening.kept = keep(&brief.options, &brief.fingerprint, &brief.settings, console)?;
    if let (Some(ui), Some(kept)) = (&listening.ui, &listening.kept) {
        ui.note_run_file(kept.path());
    }
    let shows_groups =
        brief.report.is_wished() || listening.kept.is_some() || listening.ui.is_some();
    if shows_groups || brief.options.fleet.is_wanted() {
        brief.groups = program.groups();
    }
    brief.fleet = fleet_order(&brief, &program, console)?;
    listening.watching.await_first_counts();
    Ok((Prepared { brief, listening }, program))
}

/// Settles which agents run the plan.
fn settle_fleet(
    fleet: &mut FleetOptions,
    has_demo: bool,
    settings: &RunProperties,
    console: &mut Console<'_>,
) -> Result<(), Refusal> {
    for line in remote::settle(fleet, settings)? {
        console.line(&line);
    }
    let is_here = fleet.is_local() || link(&fleet.link, fleet.is_jmeter)?.is_loopback();
    if has_demo && !is_here {
        let why = "`--demo` serves this machine alone, and agents on others cannot reach it; use `--agents local:N`";
        return Err(Refusal::usage(why));
    }
    Ok(())
}

/// Reads the options, opens files and serves the page. This happens before the plan is compiled, because Java may
/// take seconds to start.
fn begin(
    options: RunArguments,
    debugging: Debugging,
    remembered: Option<&Path>,
    control: &Control,
    console: &mut Console<'_>,
) -> Result<(RunFacts, Listening), Refusal> {
    let chosen = ChosenPlan::of(options.plan.as_ref(), remembered)?;
    let plan = existing_plan(&chosen.file).map_err(|refusal| {
        if options.is_jmeter {
            missing_plan(&chosen.file, refusal)
        } else {
            refusal
        }
    })?;
    let fingerprint = Fingerprint::begin(&plan, &chosen.shown);
    let mut options = with_outputs(options, &plan, console)?;
    let history = History::new(console.variable);
    let baseline = options.baseline.as_deref().map(|file| history.meant(file));
    let baseline = baseline.as_deref().map(baseline::read).transpose()?;
    let results = options.results.as_ref();
    let order = RunOrder {
        results: results.map(|file| results_file(file, remembered)),
        delete_results: options.delete_results,
        debugging,
        ..RunOrder::default()
    };
    let demo = if options.demo {
        Some(start_demo(options.progress, console)?)
    } else {
        None
    };
    let demo_properties = demo.as_ref().map(DemoSite::properties);
    let demo_properties = demo_properties
        .as_ref()
        .map(|demo_properties| demo_properties.as_slice())
        .unwrap_or(&[][..]);
    let mut settings = settings(&options.properties, demo_properties, Some(&plan), console)?;
    settings.log_levels = options.log.levels.clone();
    if options.fleet.is_wanted() {
        settle_fleet(&mut options.fleet, demo.is_some(), &settings, console)?;
    }
    let fail_on = thresholds(&options.fail_on, FAIL_ON, &settings)?;
    let abort_on = thresholds(&options.abort_on, ABORT_ON, &settings)?;
    warn_of_inversions(fail_on.iter().chain(&abort_on), console);
    let guards = Guards::start(fail_on, abort_on, control).map_err(Refusal::failed)?;
    let report = Report::claim(&options, &order, &settings)?;
    let watching = watch(&options, &settings)?;
    let shown = (guards.board(), watching.view());
    let listening = Listening {
        ui: serve(&options, &fingerprint, &settings, shown, control, console)?,
        guards,
        until: Until::new(options.until.clone(), control),
        watching,
        exports: Exports::default(),
        kept: None,
    };
    let brief = RunFacts {
        options,
        plan,
        fingerprint,
        settings,
        order,
        baseline,
        report,
        left_out: Vec::new(),
        groups: Vec::new(),
        fleet: None,
        demo,
        _claims: Claims::default(),
        _quickstart: chosen.quickstart,
    };
    Ok((brief, listening))
}

/// Compiles the plan and prints the findings. For a run on several machines it only drafts the plan; each agent compiles it.
fn compile(
    brief: &RunFacts,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<(CompiledPlan, Vec<Diagnostic>), Refusal> {
    let compiled = if brief.options.fleet.is_wanted() {
        engine.draft(&brief.plan, &brief.settings)
    } else {
        engine.compile(&brief.plan, &brief.settings, &brief.order)
    };
    let (program, warnings) = match compiled {
        Ok((program, warnings)) => (program, shown_findings(warnings, brief)),
        Err(faults) => return Err(console.refusal_of(&shown_findings(faults, brief))),
    };
    let rendered = console.render(&warnings);
    console.print_error(&rendered);
    Ok((program, warnings))
}

/// Shows the name of a plan that the program made in place of its temporary path.
fn shown_findings(mut findings: Vec<Diagnostic>, brief: &RunFacts) -> Vec<Diagnostic> {
    let shown = brief.fingerprint.shown();
    for finding in &mut findings {
        if let Some(source) = &finding.source
            && source.path == brief.plan
            && source.path != shown
        {
            let named = SourceFile::new(shown, source.text.clone());
            finding.source = Some(Arc::new(named));
        }
    }
    findings
}

/// Starts the outputs of the command line and the plan's Backend Listeners.
fn export(
    brief: &RunFacts,
    program: &CompiledPlan,
    console: &mut Console<'_>,
) -> Result<Exports, Refusal> {
    let mut exports = Exports::start(
        &brief.options.exports,
        &brief.settings,
        authorities::of(&brief.settings)?,
        &run_id(brief.fingerprint.shown()),
    )?;
    for problem in exports.start_listeners(program.backends(), &brief.settings) {
        console.warn(&problem);
    }
    Ok(exports)
}

/// The order for the coordinator, if the run is one on several machines.
fn fleet_order(
    brief: &RunFacts,
    program: &CompiledPlan,
    console: &mut Console<'_>,
) -> Result<Option<FleetOrder>, Refusal> {
    let options = &brief.options.fleet;
    if !options.is_wanted() {
        return Ok(None);
    }
    let fleet = FleetRun {
        options,
        plan: &brief.plan,
        settings: &brief.settings,
        results: brief.order.results.clone(),
        groups: &brief.groups,
    };
    fleet.prepare(brief.order.delete_results)?;
    fleet.order(program, console).map(Some)
}

/// Adds the files that the run's profile asks for, where the command line names none.
fn with_outputs(
    mut options: RunArguments,
    plan: &Path,
    console: &Console<'_>,
) -> Result<RunArguments, Refusal> {
    let choice = ProfileChoice {
        profile: options.properties.profile.as_deref(),
        target: None,
        variable: console.variable,
    };
    let outputs = project::outputs(Some(plan), &choice)?;
    let results = outputs.results.map(ResultsFile::File);
    options.results = options.results.or(results);
    options.baseline = options.baseline.or(outputs.baseline);
    let report = &mut options.report;
    for (own, more) in [
        (&mut report.page, outputs.report),
        (&mut report.run_file, outputs.run_file),
        (&mut report.summary_json, outputs.summary_json),
        (&mut report.ci.junit, outputs.junit),
    ] {
        *own = own.take().or(more);
    }
    Ok(options)
}

/// The names of the elements that were left out of the plan on request.
fn left_out(warnings: &[Diagnostic]) -> Vec<String> {
    let left_out = warnings.iter().filter(|warning| warning.code == LEFT_OUT);
    left_out
        .map(|warning| warning.path.last().cloned().unwrap_or_default())
        .collect()
}

/// The id of a run in other systems: the plan and the time, such as `shop-20261123T070512Z`.
fn run_id(plan: &Path) -> String {
    let name = plan.file_stem().unwrap_or_default().to_string_lossy();
    format!("{name}-{}", Timestamp::now().strftime("%Y%m%dT%H%M%SZ"))
}

/// Starts to poll the target's own metrics.
fn watch(options: &RunArguments, settings: &RunProperties) -> Result<Watching, Refusal> {
    let property = settings.properties.get(WATCH).unwrap_or_default();
    let of_property = property.split(';').map(str::trim);
    let all = options
        .exports
        .watch
        .iter()
        .map(String::as_str)
        .chain(of_property.filter(|text| !text.is_empty()));
    let sources = all
        .map(Source::parse)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Refusal::usage(error.to_string()))?;
    let mut watching = Watching::trusting(authorities::of(settings)?);
    watching
        .add(&sources, now_ms)
        .map_err(|error| Refusal::run_failed(error.to_string()))?;
    Ok(watching)
}

/// Serves the live page and prints its URL, if the user asked for it.
fn serve(
    options: &RunArguments,
    plan: &Fingerprint,
    settings: &RunProperties,
    shown: (Board, View),
    control: &Control,
    console: &mut Console<'_>,
) -> Result<Option<Ui>, Refusal> {
    let property = settings
        .properties
        .get(UI)
        .filter(|text| !text.is_empty())
        .map(str::parse::<ListenAddress>)
        .transpose()
        .map_err(|error| {
            let why = format!("`{}` is not a value of the property `{UI}`", error.0);
            Refusal::usage(why).hint(error)
        })?;
    let Some(address) = options.ui.address.or(property) else {
        let UiOptions {
            readonly, stays, ..
        } = options.ui;
        return match (readonly, stays) {
            (true, _) => Err(Refusal::usage("--ui-readonly needs --ui".to_owned())),
            (_, true) => Err(Refusal::usage("--ui-stay needs --ui".to_owned())),
            _ => Ok(None),
        };
    };
    let live = LiveOptions {
        readonly: options.ui.readonly,
        keeps_failures: settings.properties.get(KEEP_FAILURES) != Some("false"),
        stays: options.ui.stays,
    };
    let mut begun = run_file::begun(plan, Timestamp::now().as_millisecond());
    begun.properties = run_file::given(&options.properties);
    let ui =
        Ui::start(address, live, begun, shown, control, console.variable).map_err(|error| {
            let why = format!("`--ui {}`: {}", address.0, cause(&error));
            Refusal::run_failed(why)
        })?;
    console.line(&format!("live page  {}", ui.url()));
    console.line(if options.ui.stays {
        "           it stays after the run, until you close it or press Ctrl-C"
    } else {
        "           it ends with the run; --ui-stay keeps it"
    });
    Ok(Some(ui))
}

/// Begins the run file. It is an error if a file that the user named cannot be written. For the file in the history, that is
/// only a warning.
fn keep(
    options: &RunArguments,
    plan: &Fingerprint,
    settings: &RunProperties,
    console: &mut Console<'_>,
) -> Result<Option<KeptRun>, Refusal> {
    let now_ms = Timestamp::now().as_millisecond();
    let keep = settings.properties.get(KEEP_COUNT);
    let keep = keep
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(kept_run::KEPT);
    let kept_place = match &options.report.run_file {
        Some(path) => KeptPlace::Asked(path.clone()),
        None if options.report.no_run_file
            || settings.properties.get(KEEP_RUNS) == Some("false") =>
        {
            return Ok(None);
        }
        None => {
            let of_project = (!options.is_of_url()).then_some(plan.shown());
            let Some(folder) = history_folder(of_project, console) else {
                return Ok(None);
            };
            KeptPlace::in_folder(&folder, plan.shown(), now_ms)
        }
    };
    match (
        KeptRun::begin(kept_place.clone(), run_file::begun(plan, now_ms), keep),
        kept_place,
    ) {
        (Ok(kept), _) => Ok(Some(kept)),
        (Err(error), KeptPlace::Asked(path)) => {
            let message = format!("the run file {}", unwritable(&path, &error));
            Err(Refusal::run_failed(message))
        }
        (Err(error), KeptPlace::Folder(path)) => {
            console.warn(&format!("the run file {}", unwritable(&path, &error)));
            Ok(None)
        }
    }
}

/// Makes the folder of the history for this run; warns if there is none.
fn history_folder(plan: Option<&Path>, console: &mut Console<'_>) -> Option<PathBuf> {
    let history = History::new(console.variable);
    let Some(folder) = history.folder_for(plan) else {
        console.warn(
            "the run is not kept for `drumfire runs`: HOME and XDG_STATE_HOME are not set; set one, or add `--no-run-file`",
        );
        return None;
    };
    match history.make(&folder) {
        Ok(()) => Some(folder),
        Err(error) => {
            console.warn(&format!("the run is not kept for `drumfire runs`: {error}"));
            None
        }
    }
}

/// The thresholds of the command line, then those of the property, which are separated by semicolons.
pub fn thresholds(
    given: &[String],
    property: &str,
    settings: &RunProperties,
) -> Result<Vec<Threshold>, Refusal> {
    let property = settings.properties.get(property).unwrap_or_default();
    let of_property = property.split(';').filter(|text| !text.trim().is_empty());
    let all = given.iter().map(String::as_str).chain(of_property);
    all.map(|text| text.parse())
        .collect::<Result<_, ThresholdError>>()
        .map_err(|error| Refusal::usage(error.to_string()))
}

/// Starts the log. A log that cannot be written stops the run only if the user named its file.
pub fn start_log(
    options: &LogOptions,
    zone: &TimeZone,
    console: &mut Console<'_>,
) -> Result<Option<PathBuf>, Refusal> {
    if options.file.is_empty() {
        return Ok(None);
    }
    match log::start(options, Timestamp::now(), zone) {
        Ok((file, faults)) => {
            for fault in faults {
                console.warn(&fault);
            }
            Ok(Some(file))
        }
        // The kind `Other` means that this process already has a log.
        Err(error)
            if options.file == LogOptions::default().file
                || error.kind() == io::ErrorKind::Other =>
        {
            console.warn(&format!(
                "there is no log in `{}`: {}",
                options.file,
                cause(&error)
            ));
            Ok(None)
        }
        Err(error) => Err(Refusal::run_failed(format!(
            "the log {}",
            unwritable(Path::new(&options.file), &error)
        ))),
    }
}

/// The plan to run.
struct ChosenPlan {
    file: PathBuf,
    /// The path or the name that outputs show.
    shown: PathBuf,
    quickstart: Option<Quickstart>,
}

impl ChosenPlan {
    fn of(choice: Option<&PlanChoice>, remembered: Option<&Path>) -> Result<ChosenPlan, Refusal> {
        let mut quickstart = None;
        let (file, name) = match choice {
            Some(PlanChoice::File(file)) => (file.clone(), None),
            Some(PlanChoice::Made { file, name } | PlanChoice::OfUrl { file, name }) => {
                (file.clone(), Some(name.as_str()))
            }
            Some(PlanChoice::Last) => {
                let last = remembered.and_then(recent::recall);
                (
                    last.ok_or_else(|| Refusal::usage("-t LAST: no plan has been run yet"))?,
                    None,
                )
            }
            None => {
                let written = quickstart.insert(Quickstart::write().map_err(|error| {
                    let why = format!("the built-in plan cannot be written: {}", cause(&error));
                    Refusal::run_failed(why)
                })?);
                (written.plan(), Some(quickstart::NAME))
            }
        };
        Ok(ChosenPlan {
            shown: name.map(PathBuf::from).unwrap_or_else(|| file.clone()),
            file,
            quickstart,
        })
    }
}

fn results_file(file: &ResultsFile, remembered: Option<&Path>) -> PathBuf {
    match file {
        ResultsFile::File(file) => file.clone(),
        ResultsFile::Last => remembered
            .and_then(recent::recall)
            .map(|plan| recent::results_of(&plan))
            .unwrap_or_else(|| PathBuf::from("LAST")),
    }
}

fn start_demo(progress: Progress, console: &mut Console<'_>) -> Result<DemoSite, Refusal> {
    let site = DemoSite::start(0, 0).map_err(Refusal::failed)?;
    if progress != Progress::Quiet {
        console.line(&format!(
            "demo site  http://{}/  https://{}/",
            site.http, site.https
        ));
    }
    Ok(site)
}

fn announce(plan: &Path, settings: &RunProperties, console: &mut Console<'_>) {
    if let Some(name) = settings
        .properties
        .get("summariser.name")
        .filter(|name| !name.is_empty())
    {
        console.line(&milestones::creating_summariser(name));
    }
    console.line(&milestones::tree_created(&plan.display().to_string()));
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}
