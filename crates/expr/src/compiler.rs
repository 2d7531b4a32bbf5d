//! Compiles the property texts of a plan, with everything that JMeter knows before the threads start.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::fault::TemplateFault;
use crate::parse::{Names, Parser};
use crate::properties::Properties;
use crate::random::Random;
use crate::scope::{Level, Raised, Scope, ScriptCall};
use crate::template::{Template, TemplatePart};
use crate::vars::{Slot, Value, VarNames, Vars};

/// Compiles the property texts of one plan: numbers the variables, collects warnings, and knows what
/// JMeter knows before the threads start (`PreCompiler`): the properties and the user-defined
/// variables met so far.
#[derive(Debug)]
pub struct Compiler {
    scope: StaticScope,
    warnings: Vec<TemplateFault>,
}

impl Compiler {
    /// A compiler for a plan that lies in the current folder and is called nothing.
    pub fn new(properties: Properties) -> Compiler {
        Compiler {
            scope: StaticScope::new(properties),
            warnings: Vec::new(),
        }
    }

    /// A compiler that numbers variables as an earlier one did.
    pub fn with_names(properties: Properties, names: &VarNames) -> Compiler {
        let mut compiler = Compiler::new(properties);
        compiler.scope.vars = Vars::new(Arc::new(names.clone()));
        compiler
    }

    /// Says which plan is compiled: its file name and the folder that relative names refer to.
    pub fn set_plan(&mut self, name: &str, base_dir: &Path) {
        self.scope.plan_name = name.to_owned();
        self.scope.base_dir = base_dir.to_owned();
    }

    /// Says what runs scripts of texts that are evaluated before the start.
    pub fn set_scripts(&mut self, scripts: ScriptRunner) {
        self.scope.scripts = Some(scripts);
    }

    /// The names met so far.
    pub fn names(&self) -> &VarNames {
        self.scope.vars.names()
    }

    /// The slot of `name`, which gets the next number if it has none yet: elements intern the variables that they set.
    pub fn intern(&mut self, name: &str) -> Slot {
        self.scope.vars.intern(name)
    }

    /// Gives a variable the value that functions evaluated before the start see
    /// (`PreCompiler.addNode` does so for every Test Plan and User Defined Variables element).
    pub fn define(&mut self, name: &str, value: impl Into<Value>) {
        let slot = self.intern(name);
        self.scope.vars.set(slot, value.into());
    }

    /// Takes all variables their values.
    pub fn forget_variables(&mut self) {
        self.scope.vars.clear();
    }

    /// The scope before the start: JMeter's main thread, with the variables that were
    /// [defined](Compiler::define).
    pub fn scope_mut(&mut self) -> &mut StaticScope {
        &mut self.scope
    }

    /// Findings that do not keep JMeter from running the texts; the list is empty afterwards.
    pub fn take_warnings(&mut self) -> Vec<TemplateFault> {
        std::mem::take(&mut self.warnings)
    }

    /// Ends the compilation: the names for the run, and the variables as they are at its start.
    pub fn finish(self) -> (Arc<VarNames>, Vars) {
        let vars = self.scope.vars.clone();
        (vars.names().clone(), vars)
    }

    /// The parts of a text; the spans of faults and warnings lie within it.
    pub(crate) fn compile(&mut self, text: &str) -> Result<Vec<TemplatePart>, TemplateFault> {
        let earlier = self.warnings.len();
        let parts = Parser {
            names: Names::Growing,
            scope: &mut self.scope,
            warnings: &mut self.warnings,
        }
        .compile(text, 0);
        for warning in &mut self.warnings[earlier..] {
            warning.keep_within(text);
        }
        parts.map_err(|mut fault| {
            fault.keep_within(text);
            fault
        })
    }
}

impl Template {
    /// Compiles a property text of a plan.
    ///
    /// A text without a complete `${…}` is left as it is, backslashes included; in others `\$`, `\,`
    /// and `\\` lose their backslash (`FunctionParser.compileString`).
    ///
    /// # Errors
    /// Where JMeter's `FunctionParser` throws `InvalidVariableException`. `PreCompiler` then logs the
    /// message and leaves **all** properties of that element as they are written, which
    /// [`Template::raw`] reproduces. Milder findings are in [`Compiler::take_warnings`].
    pub fn compile(text: &str, cx: &mut Compiler) -> Result<Template, TemplateFault> {
        if !text.contains("${") {
            return Ok(Template::raw(text));
        }
        let parts = cx.compile(text)?;
        if let [TemplatePart::Text(_)] = parts[..] {
            return Ok(Template::raw(text));
        }
        Ok(Template::from_parts(text, parts))
    }
}

/// The scope before any thread runs, and outside of threads: no sampler, no previous sample.
#[derive(Debug)]
pub struct StaticScope {
    vars: Vars,
    properties: Properties,
    plan_name: String,
    base_dir: PathBuf,
    random: Random,
    messages: Vec<(Level, String)>,
    raised: Option<Raised>,
    scripts: Option<ScriptRunner>,
}

/// Runs scripts of texts that are evaluated before any thread runs.
#[derive(Clone)]
pub struct ScriptRunner(Rc<RunScript>);

type RunScript = dyn Fn(&mut dyn Scope, &ScriptCall<'_>) -> Result<String, Raised>;

impl ScriptRunner {
    /// A runner that does what [`Scope::run_script`] says.
    pub fn new(
        run: impl Fn(&mut dyn Scope, &ScriptCall<'_>) -> Result<String, Raised> + 'static,
    ) -> ScriptRunner {
        ScriptRunner(Rc::new(run))
    }
}

impl std::fmt::Debug for ScriptRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScriptRunner")
    }
}

impl StaticScope {
    /// A scope without variables.
    pub fn new(properties: Properties) -> StaticScope {
        StaticScope {
            vars: Vars::new(Arc::default()),
            properties,
            plan_name: String::new(),
            base_dir: PathBuf::from("."),
            random: Random::from_entropy(),
            messages: Vec::new(),
            raised: None,
            scripts: None,
        }
    }

    /// Returns the log messages of functions and empties the list.
    pub fn take_messages(&mut self) -> Vec<(Level, String)> {
        std::mem::take(&mut self.messages)
    }

    /// The first exception that an evaluation ended with, if any; forgotten afterwards.
    pub fn take_raised(&mut self) -> Option<Raised> {
        self.raised.take()
    }
}

impl Scope for StaticScope {
    fn vars(&self) -> &Vars {
        &self.vars
    }
    fn vars_mut(&mut self) -> &mut Vars {
        &mut self.vars
    }
    fn properties(&self) -> &Properties {
        &self.properties
    }
    fn thread_number(&self) -> u32 {
        0
    }
    fn thread_name(&self) -> &str {
        "StandardJMeterEngine"
    }
    fn thread_group_name(&self) -> &str {
        ""
    }
    fn sampler_name(&self) -> Option<&str> {
        None
    }
    fn iteration(&self) -> u32 {
        0
    }
    fn previous_response(&self) -> Option<Cow<'_, str>> {
        None
    }
    fn test_plan_name(&self) -> &str {
        &self.plan_name
    }
    fn base_dir(&self) -> &Path {
        &self.base_dir
    }
    fn now_ms(&self) -> i64 {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
        elapsed.map_or(0, |elapsed| elapsed.as_millis() as i64)
    }
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn log(&mut self, level: Level, message: &str) {
        self.messages.push((level, message.to_owned()));
    }
    fn raise(&mut self, raised: Raised) {
        self.raised.get_or_insert(raised);
    }
    fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<String, Raised> {
        match self.scripts.clone() {
            Some(ScriptRunner(run)) => run(self, call),
            None => Err(Raised::exception("there is no Java".to_owned())),
        }
    }
}
