//! How an element file reads its properties: each text becomes a template once, each fault a diagnostic.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use drumfire_expr::{Compiler, Template};
use drumfire_java::values;
use drumfire_jmx::Diagnostic;
use rustc_hash::FxHashSet;

use crate::decode::kept::Kept;
use crate::decode::roles::Listener;
use crate::decode::script_words;
use crate::resolve::Element;
use crate::run::context::StateId;
use crate::run::java::host::{Java, JavaFailure, JavaHost};
use crate::run::java::plan::{ClassRoles, JavaPlan};
use crate::run::needs::Needs;
use crate::run::program::{BackendSpec, MonitorSpec};
use crate::run::roles::ListenerRole;
use crate::run::settings::RunSettings;
use drumfire_results::{CollectorSet, OutputSpec, SaveConfig};

/// Whether decoding may touch things outside the plan's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideAccess {
    /// The plan is bound to be run: decoding asks Java, reads key stores and runs scripts.
    Open,
    /// The plan is only inspected: decoding touches nothing, and the decoded elements must not be run.
    Closed,
}

/// The state of decoding a plan, which every decoded element adds to.
pub struct DecodingContext<'a> {
    pub outside: OutsideAccess,
    pub settings: &'a RunSettings,
    pub compiler: Compiler,
    pub findings: Vec<Diagnostic>,
    pub state_count: u32,
    /// State slots that all elements of a kind share in each user, keyed by a name that they agree on.
    pub shared_states: HashMap<&'static str, StateId>,
    pub outputs: Vec<OutputSpec>,
    pub summarisers: Vec<String>,
    pub backends: Vec<BackendSpec>,
    /// The collectors of Prometheus Listeners.
    pub collectors: Vec<Arc<Mutex<CollectorSet>>>,
    /// Metrics of the target, each once.
    pub monitors: Vec<MonitorSpec>,
    pub told: Vec<Arc<dyn ListenerRole>>,
    /// The save configuration that properties give.
    pub save_config: SaveConfig,
    pub keeps_previous: bool,
    /// The parts of the previous result that the plan reads.
    pub previous_needs: Needs,
    /// Some template waits for other users (`__fifoPop`).
    pub waits_in_functions: bool,
    /// State that elements share.
    pub kept: Kept,
    /// The parts that Java runs.
    pub java: JavaPlan,
    /// Texts with functions that were compiled and found sound. They are cached because large plans repeat them.
    pub sound_texts: FxHashSet<Box<str>>,
    /// Classes that are not in the catalogue, with the roles they can play or the reason why they cannot run.
    pub foreign: HashMap<String, Result<ClassRoles, JavaFailure>>,
    /// In a closed world: something of the plan needs Java.
    pub needs_java: bool,
    /// In a closed world: classes that are not in the catalogue and about which Java has not been asked.
    pub unasked: Vec<String>,
    /// The plan has a Debug PostProcessor that lists the properties of its sampler.
    pub lists_samplers: bool,
    /// JMeter 6 saved the plan, so its rules apply where they differ.
    pub follows_jmeter6: bool,
}

impl<'a> DecodingContext<'a> {
    /// A context in which nothing is collected yet.
    pub fn empty(settings: &'a RunSettings, compiler: Compiler) -> DecodingContext<'a> {
        DecodingContext {
            outside: OutsideAccess::Open,
            settings,
            compiler,
            findings: Vec::new(),
            state_count: 0,
            shared_states: HashMap::new(),
            outputs: Vec::new(),
            summarisers: Vec::new(),
            backends: Vec::new(),
            collectors: Vec::new(),
            monitors: Vec::new(),
            told: Vec::new(),
            save_config: SaveConfig::default(),
            keeps_previous: false,
            previous_needs: Needs::NOTHING,
            waits_in_functions: false,
            kept: Kept::default(),
            java: JavaPlan::default(),
            sound_texts: FxHashSet::default(),
            foreign: HashMap::new(),
            needs_java: false,
            unasked: Vec::new(),
            lists_samplers: false,
            follows_jmeter6: false,
        }
    }
}

/// The property that makes Drumfire leave out elements that cannot run, as if they were disabled.
pub const SKIP_UNSUPPORTED: &str = "drumfire.skip_unsupported";
/// The code of the finding about an element that the user has left out.
pub const LEFT_OUT: &str = "element-left-out";
/// The code of the finding that an element needs Java and there is none.
pub const NEEDS_JAVA: &str = "java-missing";
const REMEDY: &str =
    "disable the element, or leave out all that cannot run with -Jdrumfire.skip_unsupported=true";

/// One element being decoded.
pub struct Decoder<'a, 'u> {
    pub element: &'a Element,
    pub decoding: &'a mut DecodingContext<'u>,
    /// A property could not be compiled: JMeter then leaves all properties of the element as they are written
    /// (`PreCompiler#addNode`).
    raw: bool,
}

impl<'a, 'u> Decoder<'a, 'u> {
    pub fn new(element: &'a Element, decoding: &'a mut DecodingContext<'u>) -> Decoder<'a, 'u> {
        let mut decoder = Decoder {
            element,
            decoding,
            raw: false,
        };
        decoder.check_text(&element.name, None);
        for prop in &element.props {
            for text in prop.texts() {
                decoder.check_text(text, Some(&prop.name));
            }
        }
        decoder
    }

    /// Checks the functions of a text of a property, or of the element's name.
    fn check_text(&mut self, text: &str, property: Option<&str>) {
        if !text.contains("${__") || self.decoding.sound_texts.contains(text) {
            return;
        }
        let mut is_sound = false;
        match Template::compile(text, &mut self.decoding.compiler) {
            Ok(template) if template.needs_jvm() => self.call_java(text, &template),
            Ok(_) => is_sound = true,
            Err(fault) => {
                self.raw = true;
                let mut finding = self.element.error(fault.code, fault.message);
                finding.property = property.map(str::to_owned);
                if let Some(help) = fault.help {
                    finding = finding.help(help);
                }
                self.decoding.findings.push(finding);
            }
        }
        for fault in self.decoding.compiler.take_warnings() {
            is_sound = false;
            let mut finding = self.element.warning(fault.code, fault.message);
            finding.property = property.map(str::to_owned);
            self.decoding.findings.push(finding);
        }
        if is_sound {
            self.decoding.sound_texts.insert(text.into());
        }
    }

    /// Records that a text calls functions which Java runs.
    fn call_java(&mut self, text: &str, template: &Template) {
        let names: Vec<&str> = template.functions().iter().map(|spec| spec.name).collect();
        let what = format!("'{}' calls {}, which", self.element.name, names.join(", "));
        self.decoding.java.has_scripts |= self.java_host(&what).is_some();
        self.decoding.java.has_blocking_functions |= script_words::text_holds(text);
    }

    pub fn settings(&self) -> &'u RunSettings {
        self.decoding.settings
    }

    /// A text as a template.
    pub fn compile(&mut self, text: &str) -> Template {
        if self.raw || !text.contains("${") {
            return Template::raw(text);
        }
        if text.contains("${__") {
            self.decoding.compiler.set_element(&self.element.name);
        }
        let template = Template::compile(text, &mut self.decoding.compiler)
            .unwrap_or_else(|_| Template::raw(text));
        for function in template.functions() {
            self.decoding.waits_in_functions |= function.name == "__fifoPop";
        }
        template
    }

    /// A property's text as a template; a missing property is the empty text.
    pub fn template(&mut self, name: &str) -> Template {
        let text = self.element.props.str(name).into_owned();
        self.compile(&text)
    }

    /// A property's text as a template, if the property is there.
    pub fn optional(&mut self, name: &str) -> Option<Template> {
        self.element.props.has(name).then(|| self.template(name))
    }

    /// The element's name as a template.
    pub fn name(&mut self) -> Template {
        let name = self.element.name.clone();
        self.compile(&name)
    }

    /// A property as it is written.
    pub fn text(&self, name: &str) -> Cow<'a, str> {
        let element: &'a Element = self.element;
        element.props.str(name)
    }

    /// A property's value before any user runs, computed now from the plan's variables and functions.
    pub fn text_now(&mut self, name: &str) -> String {
        let template = self.template(name);
        self.now(&template)
    }

    /// A template's value before any user runs.
    pub fn now(&mut self, template: &Template) -> String {
        template
            .eval(self.decoding.compiler.scope_mut())
            .into_string()
    }

    /// A boolean property before any user runs.
    pub fn bool(&mut self, name: &str, default: bool) -> bool {
        if self.text(name).contains("${") {
            values::property_bool(&self.text_now(name))
        } else {
            self.element.props.bool(name, default)
        }
    }

    /// A whole number before any user runs.
    pub fn int(&mut self, name: &str, default: i32) -> i32 {
        if self.text(name).contains("${") {
            crate::base::number::int(&self.text_now(name))
        } else {
            self.element.props.int(name, default)
        }
    }

    /// Allocates a slot for this element's state in every user.
    pub fn new_state(&mut self) -> StateId {
        let id = StateId(self.decoding.state_count);
        self.decoding.state_count += 1;
        id
    }

    /// A state slot in every user that all elements which pass this name share.
    pub fn shared_state(&mut self, name: &'static str) -> StateId {
        if let Some(known) = self.decoding.shared_states.get(name) {
            return *known;
        }
        let id = self.new_state();
        self.decoding.shared_states.insert(name, id);
        id
    }

    /// Adds a result file for this element.
    pub fn new_output(&mut self, spec: OutputSpec) -> Listener {
        self.decoding.outputs.push(spec);
        Listener::Output((self.decoding.outputs.len() - 1) as u16)
    }

    /// Adds a summariser for this element.
    pub fn new_summariser(&mut self, name: String) -> Listener {
        self.decoding.summarisers.push(name);
        Listener::Summariser((self.decoding.summarisers.len() - 1) as u16)
    }

    /// Adds a backend listener, and the code that passes it each sample, if it needs every sample.
    pub fn new_backend(
        &mut self,
        spec: BackendSpec,
        samples: Option<Arc<dyn ListenerRole>>,
    ) -> Listener {
        let told = samples.map(|samples| self.tell(samples));
        self.decoding.backends.push(spec);
        Listener::Backend((self.decoding.backends.len() - 1) as u16, told)
    }

    /// Adds metrics of the target to show beside the load, unless the same ones were added before.
    pub fn new_monitor(&mut self, monitor: MonitorSpec) {
        if !self.decoding.monitors.contains(&monitor) {
            self.decoding.monitors.push(monitor);
        }
    }

    /// Registers code that receives samples, and returns its index.
    fn tell(&mut self, listener: Arc<dyn ListenerRole>) -> u16 {
        self.decoding.told.push(listener);
        (self.decoding.told.len() - 1) as u16
    }

    /// Adds a listener that runs code for each sample.
    pub fn new_listener(&mut self, listener: Arc<dyn ListenerRole>) -> Listener {
        Listener::Told(self.tell(listener))
    }

    /// Reports that the plan cannot run because of this element.
    pub fn refuse(&mut self, code: &'static str, message: impl Into<String>, help: &str) {
        let finding = self.element.error(code, message).help(help);
        self.decoding.findings.push(finding);
    }

    /// Reports that the plan cannot run because of this element, or just a warning if [`SKIP_UNSUPPORTED`] leaves it out.
    pub fn cannot_run(&mut self, code: &'static str, message: String) {
        if self.settings().properties.get_bool(SKIP_UNSUPPORTED, false) {
            self.warn(LEFT_OUT, format!("left out: {message}"));
        } else {
            self.refuse(code, message, REMEDY);
        }
    }

    /// The Java host that runs `what`. Without one, adds a finding and returns `None`.
    pub fn java_host(&mut self, what: &str) -> Option<Arc<dyn JavaHost>> {
        let found = match &self.settings().java {
            Java::Host(host) if self.decoding.outside == OutsideAccess::Closed => {
                self.decoding.needs_java = true;
                Ok(host.clone())
            }
            java => java.host().cloned(),
        };
        match found {
            Ok(host) => Some(host),
            Err(why) => {
                self.cannot_run(NEEDS_JAVA, format!("{what} needs Java: {why}"));
                None
            }
        }
    }

    /// Adds a warning about this element.
    pub fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        let finding = self.element.warning(code, message);
        self.decoding.findings.push(finding);
    }
}
