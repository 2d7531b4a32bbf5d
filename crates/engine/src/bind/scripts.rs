//! Scripts in texts that are computed before the run: values of user defined variables, numbers of threads, file names.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use drumfire_expr::{Raised, ScriptRunner};
use drumfire_jmx::Diagnostic;

use crate::decode::{DecodingContext, NEEDS_JAVA, OutsideAccess};
use crate::resolve::Element;
use crate::run::java::host::Java;
use crate::run::java::visit::Visit;
use crate::run::settings::RunSettings;

/// Runs scripts, and records whether one could not run.
pub struct Scripts {
    java: Java,
    classpath: Rc<[PathBuf]>,
    missing: Rc<RefCell<Option<String>>>,
    outside: OutsideAccess,
    /// In a closed world: a script was skipped.
    skipped: Rc<Cell<bool>>,
}

impl Scripts {
    /// `classpath` is `TestPlan.user_define_classpath`.
    pub fn new(java: &Java, classpath: &[PathBuf], outside: OutsideAccess) -> Scripts {
        Scripts {
            java: java.clone(),
            classpath: classpath.into(),
            missing: Rc::default(),
            outside,
            skipped: Rc::default(),
        }
    }

    pub fn runner(&self) -> ScriptRunner {
        let (java, missing) = (self.java.clone(), self.missing.clone());
        let classpath = self.classpath.clone();
        let (outside, skipped) = (self.outside, self.skipped.clone());
        ScriptRunner::new(move |scope, call| {
            if outside == OutsideAccess::Closed && matches!(java, Java::Host(_)) {
                skipped.set(true);
                return Ok(String::new());
            }
            let why = match java.host() {
                Ok(host) => return host.script(&mut Visit::before(scope, &classpath), call),
                Err(why) => why,
            };
            missing.replace(Some(why.to_string()));
            Err(Raised::exception(why.to_string()))
        })
    }

    /// Reports scripts that could not run as findings, and writes the log lines of functions to the log.
    pub fn report(&self, decoding: &mut DecodingContext) {
        let scope = decoding.compiler.scope_mut();
        for (level, message) in scope.take_messages() {
            crate::base::log::write(level, &message);
        }
        if let Some(raised) = scope.take_raised() {
            tracing::error!("cannot compute a text before the run: {raised}");
        }
        if self.skipped.get() {
            decoding.needs_java = true;
            let message = "a script computes a value of the plan before the run; here the value counts as empty";
            decoding
                .findings
                .push(Diagnostic::warning("script-value-unknown", message));
        }
        let known = decoding
            .findings
            .iter()
            .any(|finding| finding.code == NEEDS_JAVA);
        if let Some(why) = self.missing.take().filter(|_| !known) {
            let message = format!("a text of the plan has a script, which needs Java: {why}");
            decoding
                .findings
                .push(Diagnostic::error(NEEDS_JAVA, message));
        }
    }
}

/// Properties that name init scripts. These run before anything in the plan, and may set properties (`JMeter#runInitScripts`).
const INIT_FILES: [&str; 2] = ["beanshell.init.file", "jsr223.init.file"];

/// The property that names an init script, if one does.
pub fn init_file(settings: &RunSettings) -> Option<&'static str> {
    INIT_FILES.into_iter().find(|name| {
        let file = settings.properties.get(name);
        file.is_some_and(|file| !file.is_empty())
    })
}

/// Starts Java, which runs the init scripts, if a property names one.
pub fn run_init_files(plan: &Element, settings: &RunSettings, findings: &mut Vec<Diagnostic>) {
    let Some(name) = init_file(settings) else {
        return;
    };
    let file = settings.base_dir.join(super::script(plan));
    let classpath = super::classpath(plan, &settings.base_dir);
    let started = settings
        .java
        .host()
        .and_then(|host| host.prepare(&file, &classpath));
    if let Err(why) = started {
        let message = format!("{name} names a script, which needs Java: {why}");
        findings.push(Diagnostic::error(NEEDS_JAVA, message));
    }
}
