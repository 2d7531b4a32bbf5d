//! Scripts in texts that are computed before the run: values of user defined variables, numbers of threads, file names.

use std::cell::RefCell;
use std::rc::Rc;

use drumfire_expr::{Raised, Scope, ScriptCall, ScriptRunner};
use drumfire_jmx::Diagnostic;

use crate::compile::Unit;
use crate::elements::java::NEEDS_JAVA;
use crate::java::{Java, Visit};

/// Runs them, and remembers whether it could.
pub struct Scripts {
    java: Java,
    missing: Rc<RefCell<Option<String>>>,
}

impl Scripts {
    pub fn new(java: &Java) -> Scripts {
        Scripts {
            java: java.clone(),
            missing: Rc::default(),
        }
    }

    pub fn runner(&self) -> ScriptRunner {
        let (java, missing) = (self.java.clone(), self.missing.clone());
        ScriptRunner::new(move |scope, call| run(&java, &missing, scope, call))
    }

    /// What kept a script from being run is a finding; what functions logged goes to the log.
    pub fn report(&self, unit: &mut Unit) {
        let scope = unit.compiler.scope_mut();
        for (level, message) in scope.take_messages() {
            crate::log::write(level, &message);
        }
        if let Some(raised) = scope.take_raised() {
            tracing::error!("a text that is computed before the run: {raised}");
        }
        let known = unit
            .findings
            .iter()
            .any(|finding| finding.code == NEEDS_JAVA);
        if let Some(why) = self.missing.take().filter(|_| !known) {
            let message = format!("a text of the plan has a script, which needs Java: {why}");
            unit.findings.push(Diagnostic::error(NEEDS_JAVA, message));
        }
    }
}

fn run(
    java: &Java,
    missing: &RefCell<Option<String>>,
    scope: &mut dyn Scope,
    call: &ScriptCall<'_>,
) -> Result<String, Raised> {
    let found = match java {
        Java::Host(host) => host.find().map(|()| host),
        Java::Absent(why) => Err((*why).to_owned()),
    };
    match found {
        Ok(host) => host.script(&mut Visit::before(scope, &[]), call),
        Err(why) => {
            missing.replace(Some(why.clone()));
            Err(Raised::Exception(why))
        }
    }
}
