//! Stop 3, **bind**: a [`Plan`] becomes the [`Program`] that runs, or all diagnostics at once. From here on no property is
//! looked up by name. [`draft`] decodes a plan without touching anything outside its files, for `check` and `plan`.

mod debug;
mod draft;
mod functions;
mod group;
mod group_start;
mod previous;
mod scripts;
mod variables;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use drumfire_elements::timers::{
    constant_throughput_timer, precise_throughput_timer, throughput_shaping_timer,
};
use drumfire_expr::Compiler;
use drumfire_java::file_server;
use drumfire_jmx::Diagnostic;
use drumfire_query::xpath;
use drumfire_results::{Filter, OutputSpec, SaveConfig, sample_variable_names};

pub use draft::{Draft, absent_classes, draft, draft_asking_java};
use scripts::Scripts;

use crate::base::properties::lookup;
use crate::decode::roles::{Listener, Roles};
use crate::decode::save::row_format;
use crate::decode::{Decoder, DecodingContext};
use crate::elements;
use crate::resolve::{Element, Plan};
use crate::run::java::plan::JavaPlan;
use crate::run::journey::{BoundPlan, Journey};
use crate::run::needs::Needs;
use crate::run::program::{Group, Program};
use crate::run::settings::RunSettings;

/// A plan that can be run, and warnings for its user.
pub struct Compiled {
    pub plan: BoundPlan,
    pub warnings: Vec<Diagnostic>,
}

/// Test Plan (`TestPlan`): the whole of it.
///
/// Properties: `TestPlan.user_defined_variables`, `TestPlan.functional_mode` (result files hold the data of all samples),
/// `TestPlan.serialize_threadgroups` (thread groups run one after the other), `TestPlan.tearDown_on_shutdown`.
/// `TestPlan.user_define_classpath` (jars and folders for Java code, with commas between them).
///
/// Binding runs the init scripts that properties name, asks Java about classes and functions that are not built in, opens
/// key stores, and runs the scripts of texts that are computed before the run.
///
/// # Errors
/// Everything that keeps the plan from running as JMeter would run it.
pub fn bind(plan: Plan, settings: &Arc<RunSettings>) -> Result<Compiled, Vec<Diagnostic>> {
    let mut findings = plan.findings;
    let Some(root) = &plan.root else {
        return Err(findings);
    };
    scripts::run_init_files(root, settings, &mut findings);
    let functions = functions::called(root);
    functions::ask(&functions, root, settings);
    let mut decoding = DecodingContext {
        follows_jmeter6: plan.tree.is_of_jmeter6(),
        ..DecodingContext::new(root, settings, findings)
    };
    let groups = decode(root, &mut decoding);
    if decoding.findings.iter().any(Diagnostic::is_error) {
        return Err(decoding.findings);
    }
    Ok(decoding.finish(root, groups, settings))
}

/// The thread groups of a plan with everything in them.
fn decode(plan: &Element, decoding: &mut DecodingContext) -> Vec<(Group, Journey)> {
    let scripts = Scripts::new(
        &decoding.settings.java,
        &decoding.java.classpath,
        decoding.outside,
    );
    decoding.compiler.set_scripts(scripts.runner());
    variables::define(plan, decoding);
    elements::config::read_keystore(plan, decoding);
    elements::jdbc::choose(plan, decoding);
    let mut decoded = Decoded::default();
    let command_line = command_line_listeners(decoding);
    let groups = plan
        .children
        .iter()
        .filter(|child| elements::is_thread_group(child))
        .filter_map(|child| group::compile(child, plan, &command_line, &mut decoded, decoding))
        .collect();
    refuse_plugin_groups(plan, decoding);
    scripts.report(decoding);
    groups
}

impl<'s> DecodingContext<'s> {
    /// A context with the settings that apply to the whole plan.
    fn new(
        plan: &Element,
        settings: &'s RunSettings,
        mut findings: Vec<Diagnostic>,
    ) -> DecodingContext<'s> {
        let most = settings.properties.get_long(
            xpath::MAX_ENTITY_BYTES,
            xpath::DEFAULT_MAX_ENTITY_BYTES as i64,
        );
        xpath::limit_entities(usize::try_from(most).unwrap_or(xpath::DEFAULT_MAX_ENTITY_BYTES));
        let lookup = lookup(&settings.properties);
        let mut save_config = SaveConfig::from_properties(&lookup).unwrap_or_else(|fault| {
            findings.push(Diagnostic::error("save-configuration", fault.to_string()));
            SaveConfig::default()
        });
        save_config.functional_mode = plan.props.bool("TestPlan.functional_mode", false);
        let mut compiler = Compiler::new(settings.properties.clone());
        compiler.set_plan(&script(plan), &settings.base_dir);
        let previous_needs = previous::needs(plan, &settings.properties);
        let keeps_previous = previous_needs != Needs::NOTHING;
        let previous_needs = match settings.debugging.debugger() {
            Some(_) => Needs::ALL,
            None => previous_needs,
        };
        DecodingContext {
            findings,
            save_config,
            keeps_previous,
            previous_needs,
            java: JavaPlan {
                classpath: classpath(plan, &settings.base_dir),
                ..JavaPlan::default()
            },
            lists_samplers: previous::lists_samplers(plan),
            ..DecodingContext::empty(settings, compiler)
        }
    }

    /// Builds the program once all thread groups are compiled.
    fn finish(
        mut self,
        plan: &Element,
        groups: Vec<(Group, Journey)>,
        settings: &Arc<RunSettings>,
    ) -> Compiled {
        let variables =
            sample_variable_names(lookup(&settings.properties)("sample_variables").as_deref());
        let sample_variables = variables
            .iter()
            .map(|name| self.compiler.intern(name))
            .collect();
        let pools = elements::jdbc::pools(&mut self);
        let (names, vars) = self.compiler.finish();
        let (groups, journeys) = groups.into_iter().unzip();
        let program = Program {
            script: script(plan),
            base_dir: settings.base_dir.clone(),
            names,
            variables: vars
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_string()))
                .collect(),
            groups,
            outputs: self.outputs,
            summarisers: self.summarisers,
            backends: self.backends,
            collectors: self.collectors,
            monitors: self.monitors,
            serialized: plan.props.bool("TestPlan.serialize_threadgroups", false),
            tear_down_on_shutdown: plan.props.bool("TestPlan.tearDown_on_shutdown", false),
            state_count: self.state_count,
            sample_variables,
            keeps_previous: self.keeps_previous,
            has_rates: has_rates(plan),
            waits_in_functions: self.waits_in_functions,
            java: self.java,
            settings: settings.clone(),
            follows_jmeter6: self.follows_jmeter6,
            open_slot: elements::samplers::http::open_slot,
        };
        Compiled {
            plan: BoundPlan {
                program: Arc::new(program),
                journeys,
                preparations: vec![pools],
            },
            warnings: self.findings,
        }
    }
}

/// Timers whose rates can be changed while the run goes on.
const RATED: [&str; 3] = [
    constant_throughput_timer::CLASS,
    precise_throughput_timer::CLASS,
    throughput_shaping_timer::CLASS,
];

fn has_rates(element: &Element) -> bool {
    RATED.contains(&element.class.as_str()) || element.children.iter().any(has_rates)
}

/// `__TestPlanName` is the file's name (`FileServer#getScriptName`).
fn script(plan: &Element) -> String {
    let name = plan.source.path.file_name();
    name.map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Cache of decoded elements. Plan-level elements are in the scope of every thread group, and all groups share their state.
#[derive(Default)]
pub struct Decoded(HashMap<usize, Rc<Roles>>);

impl Decoded {
    /// The element's roles; empty if it has none, or cannot run (then there is a finding).
    fn roles(&mut self, element: &Element, decoding: &mut DecodingContext) -> Rc<Roles> {
        if let Some(roles) = self.0.get(&element.id) {
            return roles.clone();
        }
        let roles = Rc::new(elements::decode(&mut Decoder::new(element, decoding)));
        self.0.insert(element.id, roles.clone());
        roles
    }
}

/// The summariser and the results file that the command line adds to the plan (`JMeter#runNonGui`).
fn command_line_listeners(decoding: &mut DecodingContext) -> Vec<Listener> {
    let mut listeners = Vec::new();
    let properties = &decoding.settings.properties;
    if let Some(name) = properties
        .get("summariser.name")
        .filter(|name| !name.is_empty())
    {
        decoding.summarisers.push(name.to_string());
        listeners.push(Listener::Summariser(0));
    }
    if let Some(file) = &decoding.settings.results {
        let format = row_format(decoding, decoding.save_config.clone());
        decoding.outputs.push(OutputSpec {
            file_name: file.to_string_lossy().into_owned(),
            format,
            filter: Filter::All,
        });
        listeners.push(Listener::Output((decoding.outputs.len() - 1) as u16));
    }
    listeners
}

/// The jars and folders that the plan adds to the class path. JMeter looks for a relative path in the working folder only; here
/// it may also be beside the plan.
fn classpath(plan: &Element, base_dir: &Path) -> Vec<PathBuf> {
    let text = plan.props.str("TestPlan.user_define_classpath");
    let named = text.split(',').map(str::trim);
    named
        .filter(|path| !path.is_empty())
        .map(|path| file_server::resolve(path, base_dir))
        .collect()
}

fn refuse_plugin_groups(plan: &Element, decoding: &mut DecodingContext) {
    for child in &plan.children {
        if elements::foreign::role(child, decoding).is_none() {
            elements::decode(&mut Decoder::new(child, decoding));
        }
    }
}
