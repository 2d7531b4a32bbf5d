//! Compiles the property texts of a plan with everything that JMeter knows before threads start.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustc_hash::FxHashMap;

use crate::parse::{Parser, VariableNumbering};
use crate::properties::Properties;
use crate::random::Random;
use crate::scope::{Level, Raised, Scope, ScriptCall};
use crate::template::{Template, TemplatePart};
use crate::template_error::TemplateError;
use crate::vars::{Slot, Value, VarNames, Vars};

/// Compiles the property texts of one plan. It numbers the variables, collects warnings, and holds what JMeter knows
/// before threads start (`PreCompiler`): the properties and the user-defined variables defined so far.
#[derive(Debug)]
pub struct Compiler {
    scope: StaticScope,
    warnings: Vec<TemplateError>,
    /// Templates that elements with the same text share. Large plans repeat their texts, and each sampler compiles those of the
    /// defaults in its scope.
    shared: FxHashMap<Box<str>, Template>,
}

impl Compiler {
    /// A compiler for an unnamed plan in the current folder.
    pub fn new(properties: Properties) -> Compiler {
        Compiler {
            scope: StaticScope::new(properties),
            warnings: Vec::new(),
            shared: FxHashMap::default(),
        }
    }

    /// A compiler that continues the numbering of an earlier one.
    pub fn with_names(properties: Properties, names: &VarNames) -> Compiler {
        let mut compiler = Compiler::new(properties);
        compiler.scope.vars = Vars::new(Arc::new(names.clone()));
        compiler
    }

    /// Sets the plan's file name and the folder to which relative names refer.
    pub fn set_plan(&mut self, name: &str, base_dir: &Path) {
        self.scope.plan_name = name.to_owned();
        self.scope.base_dir = base_dir.to_owned();
    }

    /// Sets the runner for scripts in texts that are evaluated before the start.
    pub fn set_scripts(&mut self, scripts: ScriptRunner) {
        self.scope.scripts = Some(scripts);
    }

    /// Sets the name of the element whose texts follow.
    pub fn set_element(&mut self, name: &str) {
        if self.scope.element.as_deref() != Some(name) {
            self.scope.element = Some(name.into());
        }
    }

    /// The names found so far.
    pub fn names(&self) -> &VarNames {
        self.scope.vars.names()
    }

    /// The slot of `name`, assigned if new; elements intern the variables that they set.
    pub fn intern(&mut self, name: &str) -> Slot {
        self.scope.vars.intern(name)
    }

    /// Sets a variable for functions that are evaluated before the start (`PreCompiler.addNode` does so for every Test
    /// Plan and User Defined Variables element).
    pub fn define(&mut self, name: &str, value: impl Into<Value>) {
        let slot = self.intern(name);
        self.scope.vars.set(slot, value.into());
    }

    /// Removes the values of all variables.
    pub fn forget_variables(&mut self) {
        self.scope.vars.clear();
    }

    /// The scope before the start: JMeter's main thread, with the variables that were
    /// [defined](Compiler::define).
    pub fn scope_mut(&mut self) -> &mut StaticScope {
        &mut self.scope
    }

    /// Takes the findings that do not keep JMeter from running the texts.
    pub fn take_warnings(&mut self) -> Vec<TemplateError> {
        std::mem::take(&mut self.warnings)
    }

    /// Ends the compilation; returns the names for the run, and the variables at its start.
    pub fn finish(self) -> (Arc<VarNames>, Vars) {
        let vars = self.scope.vars.clone();
        (vars.names().clone(), vars)
    }

    /// Compiles a text to its parts; the spans of faults and warnings refer to it.
    pub(crate) fn compile(&mut self, text: &str) -> Result<Vec<TemplatePart>, TemplateError> {
        let earlier = self.warnings.len();
        let names = VariableNumbering::Growing;
        let parts = Parser::new(names, &mut self.scope, &mut self.warnings).compile(text, 0);
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
    /// A text without a complete `${…}` stays unchanged, including backslashes. In other texts `\$`, `\,` and `\\`
    /// lose their backslash (`FunctionParser.compileString`).
    ///
    /// # Errors
    /// If JMeter's `FunctionParser` throws `InvalidVariableException`. `PreCompiler` then logs the message and leaves
    /// **all** properties of that element unevaluated, which [`Template::raw`] reproduces. Less severe findings are in
    /// [`Compiler::take_warnings`].
    pub fn compile(text: &str, cx: &mut Compiler) -> Result<Template, TemplateError> {
        if !text.contains("${") {
            return Ok(Template::raw(text));
        }
        if let Some(known) = cx.shared.get(text).and_then(Template::shared) {
            return Ok(known);
        }
        let earlier = cx.warnings.len();
        let parts = cx.compile(text)?;
        if let [TemplatePart::Text(_)] = parts[..] {
            return Ok(Template::raw(text));
        }
        let template = Template::from_parts(text, parts);
        if cx.warnings.len() == earlier
            && let Some(shared) = template.shared()
        {
            cx.shared.insert(text.into(), shared);
        }
        Ok(template)
    }
}

/// The scope outside of threads, for example before they start: no sampler, no previous sample.
#[derive(Debug)]
pub struct StaticScope {
    vars: Vars,
    properties: Properties,
    plan_name: String,
    base_dir: PathBuf,
    random: Random,
    nesting: usize,
    messages: Vec<(Level, String)>,
    raised: Option<Raised>,
    scripts: Option<ScriptRunner>,
    element: Option<Arc<str>>,
}

/// Runs scripts in texts that are evaluated before threads start.
#[derive(Clone)]
pub struct ScriptRunner(Rc<RunScript>);

type RunScript = dyn Fn(&mut dyn Scope, &ScriptCall<'_>) -> Result<String, Raised>;

impl ScriptRunner {
    /// A runner that fulfils the contract of [`Scope::run_script`].
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
            nesting: 0,
            messages: Vec::new(),
            raised: None,
            scripts: None,
            element: None,
        }
    }

    /// Returns the log messages of functions and empties the list.
    pub fn take_messages(&mut self) -> Vec<(Level, String)> {
        std::mem::take(&mut self.messages)
    }

    /// Takes the first exception that ended an evaluation, if any.
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
    fn has_sampler(&self) -> bool {
        false
    }
    fn sampler_name(&mut self) -> Option<Value> {
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
        elapsed
            .map(|elapsed| elapsed.as_millis() as i64)
            .unwrap_or(0)
    }
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn nesting(&mut self) -> &mut usize {
        &mut self.nesting
    }
    fn log(&mut self, level: Level, message: &str) {
        self.messages.push((level, message.to_owned()));
    }
    fn raise(&mut self, raised: Raised) {
        self.raised.get_or_insert(raised);
    }
    fn element(&self) -> Option<Arc<str>> {
        self.element.clone()
    }
    fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<String, Raised> {
        match self.scripts.clone() {
            Some(ScriptRunner(run)) => run(self, call),
            None => Err(Raised::exception("there is no Java".to_owned())),
        }
    }
}
