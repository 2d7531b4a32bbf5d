//! A template's view of a virtual user during evaluation.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::properties::Properties;
use crate::random::Random;
use crate::shared::fifos::PopRequest;
use crate::vars::{Value, Vars};
use drumfire_java::Exception;

/// The severity of a log message, as log4j names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `TRACE`.
    Trace,
    /// `DEBUG`.
    Debug,
    /// `INFO`.
    Info,
    /// `WARN`.
    Warn,
    /// `ERROR`.
    Error,
}

/// Why an evaluation ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raised {
    /// JMeter's `InvalidVariableException` at run time: the function contributes nothing to the text and the evaluation
    /// continues. It never leaves [`crate::Template`].
    Invalid(String),
    /// An unchecked Java exception, such as the `NumberFormatException` of `${__Random(a,b)}`. In
    /// `JMeterThread.processSampler` it ends the current sampler without a sample result, but HTTP samplers catch it.
    Exception(Box<Exception>),
    /// `JMeterStopThreadException`: stops the user.
    StopThread(String),
}

impl Raised {
    /// An unchecked exception, from the first line of its trace: `class: message`.
    pub fn exception(text: impl Into<String>) -> Raised {
        Raised::Exception(Box::new(Exception::from(text.into())))
    }
}

impl From<Exception> for Raised {
    fn from(thrown: Exception) -> Raised {
        Raised::Exception(Box::new(thrown))
    }
}

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Raised::Invalid(message) | Raised::StopThread(message) => f.write_str(message),
            Raised::Exception(thrown) => thrown.fmt(f),
        }
    }
}

impl std::error::Error for Raised {}

/// The language of a script that a function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptLanguage {
    /// Groovy (`__groovy`).
    Groovy,
    /// BeanShell (`__BeanShell`).
    BeanShell,
    /// JavaScript (`__javaScript`).
    JavaScript,
    /// JEXL 2 with constructs that are not supported natively.
    Jexl2,
    /// JEXL 3 with constructs that are not supported natively.
    Jexl3,
    /// A JavaScript condition of an If Controller: `true` or `false`.
    Condition,
    /// A function of a plugin's class: the text consists of its name and its arguments, each preceded by its length in
    /// UTF-16 units and a colon.
    Function,
}

/// A script of a function, to be run in a JVM.
#[derive(Debug, Clone, Copy)]
pub struct ScriptCall<'a> {
    /// The language of the text.
    pub language: ScriptLanguage,
    /// The script, with its variables and functions already replaced.
    pub text: &'a str,
    /// Whether the text is identical at every call, so that caching its compiled form pays off.
    pub constant: bool,
    /// A number that is unique to this function call in the plan. JMeter's `__BeanShell` has one interpreter (with its
    /// variables) per call in the plan.
    pub instance: u32,
}

/// A virtual user at a moment: everything that a template may read and change during evaluation.
pub trait Scope {
    /// The user's variables.
    fn vars(&self) -> &Vars;
    /// The user's variables, mutable.
    fn vars_mut(&mut self) -> &mut Vars;
    /// A variable that JMeter sets itself, if `name` is one and it has a value; [`Scope::vars`] may lack those that the plan does
    /// not spell.
    fn given_variable(&self, _name: &str) -> Option<Value> {
        None
    }
    /// The variable called `name`, which may be computed.
    fn variable(&self, name: &str) -> Option<Value> {
        let set = self.vars().get_named(name).cloned();
        set.or_else(|| self.given_variable(name))
    }
    /// JMeter's properties.
    fn properties(&self) -> &Properties;
    /// The number of the thread in its group, from 0 (`JMeterContext#getThreadNum`).
    fn thread_number(&self) -> u32;
    /// The thread's name, such as `Thread Group 1-7`.
    fn thread_name(&self) -> &str;
    /// The name of the thread group; empty outside a thread group.
    fn thread_group_name(&self) -> &str;
    /// Whether there is a sampler that is being prepared, run or finished.
    fn has_sampler(&self) -> bool;
    /// The name of that sampler, evaluated now.
    fn sampler_name(&mut self) -> Option<Value>;
    /// `JMeterVariables.getIteration`.
    fn iteration(&self) -> u32;
    /// The text of the previous sample's response; `None` before the first sample.
    fn previous_response(&self) -> Option<Cow<'_, str>>;
    /// The file name of the plan.
    fn test_plan_name(&self) -> &str;
    /// The folder to which a plan's relative file names refer.
    fn base_dir(&self) -> &Path;
    /// The wall clock in milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// The source of random numbers.
    fn random(&mut self) -> &mut Random;
    /// How deeply the calls are nested in the texts that `__eval` and `__evalVar` are evaluating; 0 outside of them.
    fn nesting(&mut self) -> &mut usize;
    /// The next number of a counter that all users share, if users on other machines also share it. `instance` identifies
    /// the call in the plan.
    fn shared_count(&mut self, _instance: u32) -> Option<i32> {
        None
    }
    /// Removes the first value of a queue of the Inter-Thread Communication plugin. If the queue is empty and the user can
    /// wait, waits for a value. `None` if none came in time.
    fn pop(&mut self, request: &PopRequest<'_>) -> Option<Arc<str>> {
        self.properties().fifos().pop(request.queue)
    }
    /// Writes to JMeter's log. `message` is complete, including the thread name if JMeter adds it.
    fn log(&mut self, level: Level, message: &str);
    /// Writes to JMeter's log that the function at hand failed: it gives no text, or not the one that the plan means.
    fn log_failure(&mut self, level: Level, message: &str) {
        self.log(level, message);
    }
    /// A call of a function has ended. `has_thrown` says that it threw an exception; [`Scope::log_failure`] may have told of
    /// other failures. `element` is the name of the element in whose texts the call is, if it is known.
    fn end_call(
        &mut self,
        _function: &'static str,
        _element: Option<&Arc<str>>,
        _has_thrown: bool,
    ) {
    }
    /// Whether a text is evaluated again each time that JMeter reads it. With `function.cache.per.iteration` it is not.
    fn evaluates_again(&self) -> bool {
        true
    }
    /// The name of the element whose texts are compiled now.
    fn element(&self) -> Option<Arc<str>> {
        None
    }
    /// Records an evaluation that ended early; its text is then empty. The engine drops the current sampler or stops the
    /// user. Never called with [`Raised::Invalid`].
    fn raise(&mut self, raised: Raised);
    /// Runs a script and returns `toString()` of its result, empty for `null`.
    ///
    /// # Errors
    /// [`Raised::Exception`] or [`Raised::Invalid`], whichever the calling function throws.
    fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<String, Raised> {
        self.log(
            Level::Error,
            &format!("No engine for {:?} scripts is available", call.language),
        );
        Ok(String::new())
    }
}
