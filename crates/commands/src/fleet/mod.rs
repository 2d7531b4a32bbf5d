//! Prepares and runs a plan on several machines, as `drumfire run --agents` orders.

pub mod arguments;
pub mod keys;

use std::path::{Path, PathBuf};

use drumfire_engine::Share;
use drumfire_fleet::{
    AgentOutcome, FleetOrder, FleetOutcome, OnLost, PlanFile, PlanSettings, PlannedGroup,
    RowHandling, stays_inside,
};
use drumfire_health::Grade;
use drumfire_java::file_server;
use drumfire_jmx::{JMETER_DEFAULTS, PropertyTable, SYSTEM_DEFAULTS};
use drumfire_platform::causes::cause;

use crate::agent::{link, table};
use crate::console::Console;
use crate::engine::{CompiledPlan, Control, GroupView, LevelUnit, RunOrder, Subscriber};
use crate::fleet::arguments::{FleetOptions, LostAgents, RowsOfAgents};
use crate::refusal::Refusal;
use crate::settings::authorities::TLS_CA;
use crate::settings::properties::RunProperties;

/// System properties that differ on each machine, so they are not sent to agents.
const OWN_SYSTEM: [&str; 8] = [
    "user.dir",
    "user.home",
    "user.name",
    "java.io.tmpdir",
    "os.name",
    "file.separator",
    "path.separator",
    "line.separator",
];

/// The inputs of the run beside the options.
pub struct FleetRun<'a> {
    pub options: &'a FleetOptions,
    pub plan: &'a Path,
    pub settings: &'a RunProperties,
    pub results: Option<PathBuf>,
    pub groups: &'a [GroupView],
}

impl FleetRun<'_> {
    /// The order for the coordinator. Prints what the plan does differently on several machines.
    ///
    /// # Errors
    /// If a file to be sent is missing, or no NATS server is named.
    pub fn order(
        &self,
        program: &CompiledPlan,
        console: &mut Console<'_>,
    ) -> Result<FleetOrder, Refusal> {
        let options = self.options;
        let is_local = options.is_local();
        let link = if is_local {
            options.link.to_link()
        } else {
            link(&options.link, options.is_jmeter)?
        };
        let rows = self.rows();
        if is_local && rows == RowHandling::Keep {
            return Err(Refusal::usage(
                "`--rows keep` keeps rows on the agents, and agents of `local:N` delete theirs; use `-l FILE` without it",
            ));
        }
        self.warn(program, rows, console);
        let groups: Vec<PlannedGroup> = self.groups.iter().map(planned).collect();
        Ok(FleetOrder {
            link,
            selection: options.selection(),
            host: gethostname::gethostname().to_string_lossy().into_owned(),
            patience: options.patience(),
            plan: name_of(self.plan),
            files: plan_files(program, self.plan, &options.send)?,
            settings: PlanSettings {
                properties: pairs(self.settings.properties.iter(), |name| {
                    // The file exists only on this machine.
                    is_local || name != TLS_CA
                }),
                system: pairs(self.settings.system.iter(), |name| {
                    !OWN_SYSTEM.contains(&name)
                }),
                given: self.settings.given.clone(),
                removed: removed(
                    self.settings.given.iter(),
                    JMETER_DEFAULTS,
                    &self.settings.properties,
                ),
                removed_system: removed(
                    self.settings.given_system.iter(),
                    SYSTEM_DEFAULTS,
                    &self.settings.system,
                ),
                log_levels: self.settings.log_levels.clone(),
            },
            is_each: options.each,
            on_lost: match options.on_lost.unwrap_or_default() {
                LostAgents::Continue => OnLost::Continue,
                LostAgents::Redistribute => OnLost::Redistribute,
                LostAgents::Stop => OnLost::Stop,
            },
            rows,
            results: self.results.clone(),
            has_rates: program.has_rates() || groups.iter().any(|group| group.has_arrivals),
            groups,
            has_set_up: !self.groups.iter().all(is_main),
            planned_users: self
                .groups
                .iter()
                .map(|group| group.users.len() as u64)
                .sum(),
            planned_ms: planned_ms(self.groups),
            allows_skew: options.allow_skew,
            attach: options.attach.clone(),
            ends_agents: options.ends_agents,
        })
    }

    /// Deletes the result file of an earlier run, if `deletes` asks for it.
    ///
    /// # Errors
    /// If it cannot be deleted.
    pub fn prepare(&self, deletes: bool) -> Result<(), Refusal> {
        let Some(results) = self
            .results
            .as_ref()
            .filter(|file| deletes && file.exists())
        else {
            return Ok(());
        };
        std::fs::remove_file(results).map_err(|error| {
            let message = format!(
                "the results file `{}` cannot be deleted: {}",
                results.display(),
                cause(&error)
            );
            Refusal::run_failed(message)
        })
    }

    fn rows(&self) -> RowHandling {
        match (self.options.rows, &self.results) {
            (Some(RowsOfAgents::Keep), _) => RowHandling::Keep,
            (Some(RowsOfAgents::Collect) | None, Some(_)) => RowHandling::Collect,
            _ => RowHandling::None,
        }
    }

    fn warn(&self, program: &CompiledPlan, rows: RowHandling, console: &mut Console<'_>) {
        if self.options.rows == Some(RowsOfAgents::Collect) && self.results.is_none() {
            console.warn("rows are not collected without a result file; pass `-l FILE`");
        }
        if rows == RowHandling::None && self.results.is_some() {
            console.warn("no result file is written because of `--rows none`");
        }
        if self.options.each {
            return;
        }
        let agents = self.options.selection().count().unwrap_or(2);
        let shares = Share::of_weights(&vec![1; agents], 0);
        for element in program.split(&shares).elements {
            if element.differs {
                console.warn(&format!("{}: {}", element.name, element.rule));
            }
        }
    }
}

/// The plan, the files that it names, and those that the user names.
///
/// # Errors
/// If one of the latter is not below the plan's folder.
pub fn plan_files(
    program: &CompiledPlan,
    plan: &Path,
    more: &[PathBuf],
) -> Result<Vec<PlanFile>, Refusal> {
    let folder = plan.parent().unwrap_or(Path::new(""));
    let rows = program.shared_row_files();
    let mut files = vec![PlanFile {
        path: name_of(plan),
        here: plan.to_path_buf(),
        is_rows: false,
    }];
    let named = program.files().into_iter();
    for path in named.chain(more.iter().cloned()) {
        let text = path.to_string_lossy().into_owned();
        let here = file_server::resolve(&path, folder);
        if !here.is_file() || !stays_inside(&text) {
            let message = format!(
                "`--send {text}` is not a file in the plan's folder; name it relative to the plan"
            );
            return Err(Refusal::usage(message));
        }
        if files.iter().all(|file| file.path != text) {
            let is_rows = rows.contains(&path) && !more.contains(&path);
            files.push(PlanFile {
                path: text,
                here,
                is_rows,
            });
        }
    }
    Ok(files)
}

/// Runs the plan on agents.
///
/// # Errors
/// Why it did not start.
pub fn run(
    order: &FleetOrder,
    control: &Control,
    subscribers: &mut [&mut dyn Subscriber],
) -> anyhow::Result<FleetOutcome> {
    drumfire_fleet::run(order, control, subscribers).map_err(anyhow::Error::new)
}

/// The result files that this machine writes. Agents write the files of the plan's own listeners.
pub fn result_files(order: &RunOrder) -> Vec<PathBuf> {
    order.results.iter().cloned().collect()
}

/// Names of properties that the command line or the defaults set but that the run does not have: the command line removed them
/// (`-Jname=`), or the property file lacks them (`-p`).
fn removed<'n>(
    given: impl Iterator<Item = &'n String>,
    defaults: &[(&'n str, &str)],
    properties: &PropertyTable,
) -> Vec<String> {
    let defaults = defaults.iter().map(|(name, _)| *name);
    let names = given.map(String::as_str).chain(defaults);
    let mut removed: Vec<String> = names
        .filter(|name| properties.get(name).is_none())
        .map(str::to_owned)
        .collect();
    removed.sort_unstable();
    removed.dedup();
    removed
}

fn name_of(plan: &Path) -> String {
    plan.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn pairs<'p>(
    properties: impl Iterator<Item = (&'p str, &'p str)>,
    is_sent: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    properties
        .filter(|(name, _)| is_sent(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn planned(group: &GroupView) -> PlannedGroup {
    PlannedGroup {
        name: group.name.clone(),
        users: group.users.len() as u32,
        has_arrivals: group.load.iter().any(|part| part.unit != LevelUnit::Users),
    }
}

/// Whether the group is neither a setUp nor a tearDown group.
fn is_main(group: &GroupView) -> bool {
    !matches!(group.class, "SetupThreadGroup" | "PostThreadGroup")
}

/// How long the main thread groups run, if each of them has a known end.
fn planned_ms(groups: &[GroupView]) -> Option<u64> {
    let main = groups.iter().filter(|group| is_main(group));
    let longest = main
        .map(end_ms)
        .try_fold(0, |longest, end_ms| Some(end_ms?.max(longest)));
    longest.filter(|planned_ms| *planned_ms > 0)
}

fn end_ms(group: &GroupView) -> Option<u64> {
    let windows = group.users.iter().map(|user| user.stop_ms);
    let stretches = group.load.iter().map(|part| Some(part.end_ms));
    windows
        .chain(stretches)
        .try_fold(0, |end_ms, stop_ms| Some(stop_ms?.max(end_ms)))
}

/// Prints the outcome of each agent.
pub fn print_agents(agents: &[AgentOutcome], console: &mut Console<'_>) {
    let mut rows = vec![["agent", "samples", "start late", "clock", "verdict"].map(str::to_owned)];
    rows.extend(agents.iter().map(|agent| {
        let verdict = agent.end.as_ref().map(|end| end.verdict.as_ref());
        let verdict = match verdict {
            None => "lost".to_owned(),
            Some(verdict) => verdict
                .map(|verdict| verdict.grade)
                .unwrap_or(Grade::Valid)
                .to_string(),
        };
        [
            agent.name.clone(),
            agent.samples.to_string(),
            format!("{:.1} ms", agent.late_us as f64 / 1e3),
            format!(
                "{:+.1} ms ± {:.1} ms",
                agent.offset_ns as f64 / 1e6,
                agent.bound_ns as f64 / 1e6
            ),
            verdict,
        ]
    }));
    for line in table(&rows) {
        console.line(&line);
    }
}
