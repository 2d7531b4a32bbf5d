//! Elements and scripts that Java code runs, and what that code may see and change of a user. The Java virtual machine is
//! behind [`JavaHost`]; the engine knows nothing else of it.

use std::any::Any;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::{Raised, ScriptCall, Template, Value};
use drumfire_results::{AssertionResult, Sample};

use crate::context::{Context, LAST_SAMPLE_OK};
use crate::control::Control;
use crate::elements::Action;
pub use crate::elements::java::text_sees;
use crate::elements::samplers::Sampler;
use crate::elements::samplers::http::edits::Replaced;
pub use crate::elements::samplers::http::edits::{Request, RequestArgument};
use crate::program::Program;

/// What an element is asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JavaRole {
    PreProcessor,
    Sampler,
    PostProcessor,
    Assertion,
    Timer,
    Listener,
}

/// One call of an element.
#[derive(Clone, Copy, Debug)]
pub struct JavaCall {
    /// The element's place in [`JavaPlan::elements`].
    pub element: u32,
    pub role: JavaRole,
    /// Whether it may look at the result at hand, the previous result or the sampler.
    pub wants_result: bool,
}

/// What Java runs of a plan.
#[derive(Default)]
pub struct JavaPlan {
    pub elements: Vec<JavaSource>,
    /// Texts of those elements that have variables or functions in them.
    pub templates: Vec<Template>,
    /// A function or a condition has a script in it.
    pub has_scripts: bool,
    /// `TestPlan.user_define_classpath`.
    pub classpath: Vec<PathBuf>,
}

impl JavaPlan {
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty() && !self.has_scripts
    }
}

/// One element.
pub struct JavaSource {
    pub class: String,
    pub name: String,
    /// As a plan file has it, with [`TEMPLATE_MARK`] and a number in the place of each text in [`JavaPlan::templates`].
    pub xml: String,
}

/// Stands before the number of a template.
pub const TEMPLATE_MARK: char = '\u{E0D7}';

/// Runs Java code in this process.
pub trait JavaHost: Send + Sync {
    /// Whether there is a Java to run; does not start it.
    ///
    /// # Errors
    /// Why there is none, and how to get one.
    fn find(&self) -> Result<(), String>;

    /// Starts Java and loads the elements; called once, before the first user. Code that runs outside of any user's calls
    /// ends the run by `control`.
    ///
    /// # Errors
    /// What keeps an element, or Java itself, from being run.
    fn start(&self, program: &Arc<Program>, control: &Control) -> Result<(), String>;

    /// Runs an element to its end on this thread; gives a timer's delay in milliseconds, and 0 otherwise.
    ///
    /// # Errors
    /// What the element threw.
    fn call(&self, visit: &mut Visit<'_>, call: JavaCall) -> Result<i64, Raised>;

    /// Runs the script of a function on this thread.
    ///
    /// # Errors
    /// What the function threw.
    fn script(&self, visit: &mut Visit<'_>, script: &ScriptCall<'_>) -> Result<String, Raised>;

    /// How long Java has done nothing but collect garbage so far, as far as it says so.
    fn garbage_time(&self) -> Duration {
        Duration::ZERO
    }
}

/// The Java of a run.
#[derive(Clone)]
pub enum Java {
    Host(Arc<dyn JavaHost>),
    /// Why there is none.
    Absent(&'static str),
}

impl Default for Java {
    fn default() -> Java {
        Java::Absent("this build has no Java bridge")
    }
}

/// One user during one call: all that Java code may do goes through here.
pub struct Visit<'a> {
    cx: &'a mut Context,
    sample: Option<&'a mut Sample>,
    /// What a sampler made.
    pub outcome: Option<Sample>,
    is_sampling: bool,
    /// What an assertion found.
    pub verdict: Option<AssertionResult>,
    /// What the call threw.
    pub thrown: Option<Raised>,
}

impl<'a> Visit<'a> {
    /// A call without a result at hand: what it sees is the user's previous one.
    pub fn new(cx: &'a mut Context) -> Visit<'a> {
        Visit {
            cx,
            sample: None,
            outcome: None,
            is_sampling: false,
            verdict: None,
            thrown: None,
        }
    }

    /// A call about a result.
    pub fn of(cx: &'a mut Context, sample: &'a mut Sample) -> Visit<'a> {
        Visit {
            sample: Some(sample),
            ..Visit::new(cx)
        }
    }

    /// The call starts: a sampler's makes a sample of its own.
    pub fn begin(&mut self, role: JavaRole) {
        self.is_sampling = role == JavaRole::Sampler;
    }

    /// Whether results that come from Java are a sampler's own.
    pub fn is_sampling(&self) -> bool {
        self.is_sampling
    }

    /// What the host keeps of this user between calls.
    pub fn state(&mut self) -> &mut Option<Box<dyn Any>> {
        &mut self.cx.java
    }

    pub fn thread_name(&self) -> &Rc<str> {
        &self.cx.thread_name
    }

    /// From 0.
    pub fn thread_number(&self) -> u32 {
        self.cx.number
    }

    /// The thread group's place in the program, and its name.
    pub fn group(&self) -> (usize, &str) {
        (self.cx.group, &self.cx.group_name)
    }

    /// Users that run: in the thread group, and in all.
    pub fn running_users(&self) -> (u32, u32) {
        self.cx.shared.counts.active(self.cx.group)
    }

    /// `JMeterVariables#getIteration`.
    pub fn iteration(&self) -> u32 {
        self.cx.iteration
    }

    pub fn variable(&self, name: &str) -> Option<&str> {
        match self.cx.vars.get_named(name) {
            Some(value) => Some(value),
            None if name == LAST_SAMPLE_OK => Some(if self.cx.last_sample_ok {
                "true"
            } else {
                "false"
            }),
            None if name == SAME_USER => Some(if self.cx.same_user { "true" } else { "false" }),
            None => None,
        }
    }

    /// Sets a variable, or removes it.
    pub fn set_variable(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.cx.vars.set_named(name, Value::from(value)),
            None => {
                self.cx.vars.remove_named(name);
            }
        }
    }

    /// Whether the plan has this name in it somewhere.
    pub fn is_spelled_out(&self, name: &str) -> bool {
        self.cx.vars.names().slot(name).is_some()
    }

    /// Names and values of all variables.
    pub fn variables(&self) -> Vec<(&str, &str)> {
        let mut all: Vec<_> = self
            .cx
            .vars
            .iter()
            .map(|(name, value)| (name, &**value))
            .collect();
        for name in [LAST_SAMPLE_OK, SAME_USER] {
            if self.cx.vars.get_named(name).is_none()
                && let Some(value) = self.variable(name)
            {
                all.push((name, value));
            }
        }
        all
    }

    /// What a text of a Java element is now.
    pub fn template(&mut self, number: usize) -> String {
        let program = self.cx.shared.program.clone();
        match program.java.templates.get(number) {
            Some(template) => template.eval(self.cx).into_string(),
            None => String::new(),
        }
    }

    /// The result at hand, or else the user's previous one.
    pub fn result(&self) -> Option<&Sample> {
        match &self.sample {
            Some(sample) => Some(sample),
            None => self.cx.previous.as_deref(),
        }
    }

    /// Takes a sampler's result, or changes the result at hand; where there is none, the user's previous one.
    pub fn set_result(&mut self, changed: Sample) {
        if self.is_sampling {
            self.outcome = Some(changed);
            return;
        }
        self.cx.parsed.clear();
        match &mut self.sample {
            Some(sample) => {
                **sample = changed;
                if self.cx.shared.program.keeps_previous {
                    self.cx.previous = Some(Rc::new(sample.clone()));
                }
            }
            None => self.cx.previous = Some(Rc::new(changed)),
        }
    }

    /// The HTTP Request at hand; `None` if the sampler is another one.
    pub fn request(&mut self) -> Option<Request> {
        let program = self.cx.shared.program.clone();
        let package = program
            .groups
            .get(self.cx.group)?
            .samplers
            .get(self.cx.sampler? as usize)?;
        match &package.sampler {
            Sampler::Http(sampler) => Some(sampler.request(self.cx, &package.name)),
            _ => None,
        }
    }

    /// Changes the HTTP Request at hand for this sample.
    pub fn set_request(&mut self, before: Request, after: Request) {
        self.cx.http.edits.add(Replaced { before, after });
    }

    /// What the user does after this sample.
    pub fn set_action(&mut self, action: Action) {
        self.cx.action = action;
    }

    /// The user ends after this sample.
    pub fn stop_thread(&mut self) {
        if self.cx.alive {
            tracing::info!("Stop Thread detected by thread: {}", self.cx.thread_name);
            self.cx.alive = false;
        }
    }

    /// The user ends at once: an error that JMeter's thread does not survive.
    pub fn end_user(&mut self) {
        self.cx.alive = false;
    }

    /// The run ends.
    pub fn stop_test(&mut self, now: bool) {
        let what = if now {
            "Stop Test Now"
        } else {
            "Shutdown Test"
        };
        tracing::info!("{what} detected by thread: {}", self.cx.thread_name);
        self.cx.alive = false;
        self.cx.shared.stop(now);
    }

    /// Users of the thread group at hand as planned.
    pub fn planned_users(&self) -> u32 {
        self.cx.shared.program.groups[self.cx.group].shape.users()
    }
}

/// `JMeterVariables.VAR_IS_SAME_USER_KEY`.
const SAME_USER: &str = "__jmv_SAME_USER";
