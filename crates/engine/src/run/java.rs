//! Elements and scripts that Java code runs, and what that code may see and change of a user. The Java virtual machine is
//! behind [`JavaHost`]; the engine knows nothing else of it.

use std::any::Any;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::{Raised, Scope, ScriptCall, Template, Value};
use drumfire_results::{AssertionResult, Sample};
pub use drumfire_web::cookies::Cookie;

use crate::elements::config::SeenCookie;
use crate::elements::samplers::Sampler;
use crate::elements::samplers::http::HttpSampler;
use crate::elements::samplers::http::edits::Replaced;
use crate::elements::samplers::http::edits::Request;
use crate::run::action::Action;
use crate::run::context::{Context, OWN_VARIABLES};
use crate::run::control::Control;
pub use crate::run::orders::Halt;
use crate::run::program::{Package, Program};
use crate::run::schedule::Shape;
use crate::run::shared::Shared;
use crate::run::walk::SamplerId;

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

/// Something that happens to a user's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JavaEvent {
    /// `ThreadListener#threadStarted`.
    ThreadStarted,
    /// `ThreadListener#threadFinished`.
    ThreadFinished,
    /// `TestIterationListener#testIterationStart`, with the iteration from 1.
    ThreadIteration(u32),
    /// `LoopIterationListener#iterationStart`, with the controller's count.
    LoopIteration(i32),
}

/// What Java runs of a plan.
#[derive(Default)]
pub struct JavaPlan {
    pub elements: Vec<JavaSource>,
    /// Texts of those elements that have variables or functions in them.
    pub templates: Vec<Template>,
    /// A function or a condition has a script in it.
    pub has_scripts: bool,
    /// One of them waits for something, and functions are evaluated where their user runs.
    pub has_blocking_functions: bool,
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
    /// Of the element in the tree.
    pub id: usize,
    pub class: String,
    pub name: String,
    /// As a plan file has it, with [`TEMPLATE_MARK`] and a number in the place of each text in [`JavaPlan::templates`].
    pub element: drumfire_jmx::Element,
    /// The elements that are merged into it if it is a sampler, by their places, the nearest first.
    pub configs: Vec<u32>,
}

/// Stands before the number of a template.
pub const TEMPLATE_MARK: char = '\u{E0D7}';

/// What a class can be in a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    pub sampler: bool,
    pub config: bool,
    pub pre: bool,
    pub post: bool,
    pub assertion: bool,
    pub timer: bool,
    pub listener: bool,
    pub controller: bool,
    pub thread_group: bool,
    /// It writes results as `ResultCollector` does.
    pub result_collector: bool,
    /// It is told of iterations of its controller.
    pub iterations: bool,
}

/// Runs Java code in this process.
pub trait JavaHost: Send + Sync {
    /// What a class that the engine does not know can be; starts Java. `None`: there is no such class on the class path.
    ///
    /// # Errors
    /// Why Java cannot be asked.
    fn classify(
        &self,
        class: &str,
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Option<Traits>, String>;

    /// Which of these functions the class path has; starts Java.
    ///
    /// # Errors
    /// Why Java cannot be asked.
    fn functions(
        &self,
        names: &[&str],
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Vec<String>, String>;

    /// Starts Java, which runs the init scripts that properties name.
    ///
    /// # Errors
    /// Why there is no Java.
    fn prepare(&self, plan: &Path, classpath: &[PathBuf]) -> Result<(), String>;

    /// Whether there is a Java to run; does not start it.
    ///
    /// # Errors
    /// Why there is none, and how to get one.
    fn find(&self) -> Result<(), String>;

    /// Starts Java, unless a text of the plan has done so, and loads the elements; called before the first user. Code that
    /// runs outside of any user's calls ends the run by `control`.
    ///
    /// # Errors
    /// What keeps an element, or Java itself, from being run.
    fn start(&self, program: &Arc<Program>, control: &Control) -> Result<(), String>;

    /// The test starts or ends (`TestStateListener`). The visit is of no user.
    ///
    /// # Errors
    /// What an element threw at the start: the run cannot go on.
    fn test_state(&self, visit: &mut Visit<'_>, started: bool) -> Result<(), Raised>;

    /// Something happens to a user: tells those of the elements that listen to it. What they throw, Java logs.
    fn happens(&self, visit: &mut Visit<'_>, event: JavaEvent, elements: &[u32]);

    /// Runs an element to its end on this thread; gives a timer's delay in milliseconds, and 0 otherwise.
    ///
    /// # Errors
    /// What the element threw.
    fn call(&self, visit: &mut Visit<'_>, call: JavaCall) -> Result<i64, Raised>;

    /// The same on a thread of its own, so that it may take its time.
    ///
    /// # Errors
    /// What the element threw.
    fn call_apart<'v>(&'v self, visit: &'v mut Visit<'_>, call: JavaCall) -> Apart<'v>;

    /// Runs the script of a function on this thread. Java is started if it was not: whether some texts need it shows only
    /// when their variables have values.
    ///
    /// # Errors
    /// What the function threw, or why there is no Java.
    fn script(&self, visit: &mut Visit<'_>, script: &ScriptCall<'_>) -> Result<String, Raised>;

    /// Java collects its garbage now, at a time when it holds nobody up (`JMeterUtils#helpGC`).
    fn collect_garbage(&self) {}

    /// How long Java has done nothing but collect garbage so far, as far as it says so; not what it was asked for.
    fn garbage_time(&self) -> Duration {
        Duration::ZERO
    }

    /// The run has ended: what makes a later start of Java quicker may be made ready, out of the way of all else.
    fn run_ended(&self) {}

    /// The run was told to stop now: interrupts what is running (`JMeterThread#interrupt`), or ends it if `by_force`.
    fn break_off(&self, by_force: bool);
}

/// What a sampler of HTTP is.
fn http(package: &Package) -> Option<&HttpSampler> {
    match &package.sampler {
        Sampler::Http(sampler) => Some(sampler),
        Sampler::AccessLog(sampler) => Some(&sampler.http),
        _ => None,
    }
}

/// A call on a thread of its own.
pub type Apart<'v> = Pin<Box<dyn Future<Output = Result<i64, Raised>> + 'v>>;

/// The Java of a run.
#[derive(Clone)]
pub enum Java {
    Host(Arc<dyn JavaHost>),
    /// Why there is none.
    Absent(Cow<'static, str>),
}

impl Default for Java {
    fn default() -> Java {
        Java::Absent("this build has no Java bridge".into())
    }
}

/// One user during one call: all that Java code may do goes through here. Before the run there is no user yet, but texts of
/// the plan that are computed then.
pub struct Visit<'a> {
    of: Of<'a>,
    sample: Option<&'a mut Sample>,
    /// What a sampler made.
    pub outcome: Option<Sample>,
    is_sampling: bool,
    /// What an assertion found.
    pub verdict: Option<AssertionResult>,
    /// What the call threw.
    pub thrown: Option<Raised>,
}

/// All users of a run, as any thread may count and stop them.
#[derive(Clone)]
pub struct Crowd(Arc<Shared>);

impl Crowd {
    /// Users that run: of one thread group, or of all.
    pub fn running(&self, group: Option<usize>) -> u32 {
        match group {
            Some(group) => self.0.counts.active(group).0,
            None => self.0.counts.totals().active as u32,
        }
    }

    /// Users of the phase at hand: active, started, finished, and all that were to run.
    pub fn of_phase(&self) -> [u64; 4] {
        self.0.counts.of_phase()
    }

    /// The thread group's name, and how its users come and go.
    pub fn group(&self, group: usize) -> (&str, &Shape) {
        (self.0.group_name(group), self.0.shape(group))
    }

    /// Stops a user; false if none of that name runs.
    pub fn stop_user(&self, thread_name: &str, halt: Halt) -> bool {
        self.0.orders.stop_user(thread_name, halt)
    }

    /// Stops all users of a thread group, and starts no others.
    pub fn stop_group(&self, group: usize, halt: Halt) {
        self.0.orders.stop_group(group, halt);
    }
}

enum Of<'a> {
    User(&'a mut Context),
    Plan {
        scope: &'a mut dyn Scope,
        classpath: &'a [PathBuf],
        state: Option<Box<dyn Any>>,
    },
}

impl<'a> Visit<'a> {
    /// A call without a result at hand: what it sees is the user's previous one.
    pub fn new(cx: &'a mut Context) -> Visit<'a> {
        Visit::with(Of::User(cx))
    }

    /// A call about a result.
    pub fn of(cx: &'a mut Context, sample: &'a mut Sample) -> Visit<'a> {
        Visit {
            sample: Some(sample),
            ..Visit::new(cx)
        }
    }

    /// A call before the run. `classpath` is `TestPlan.user_define_classpath`.
    pub fn before(scope: &'a mut dyn Scope, classpath: &'a [PathBuf]) -> Visit<'a> {
        Visit::with(Of::Plan {
            scope,
            classpath,
            state: None,
        })
    }

    fn with(of: Of<'a>) -> Visit<'a> {
        Visit {
            of,
            sample: None,
            outcome: None,
            is_sampling: false,
            verdict: None,
            thrown: None,
        }
    }

    fn user(&self) -> Option<&Context> {
        match &self.of {
            Of::User(cx) => Some(cx),
            Of::Plan { .. } => None,
        }
    }

    fn user_mut(&mut self) -> Option<&mut Context> {
        match &mut self.of {
            Of::User(cx) => Some(cx),
            Of::Plan { .. } => None,
        }
    }

    fn scope(&self) -> &dyn Scope {
        match &self.of {
            Of::User(cx) => *cx,
            Of::Plan { scope, .. } => *scope,
        }
    }

    fn scope_mut(&mut self) -> &mut dyn Scope {
        match &mut self.of {
            Of::User(cx) => *cx,
            Of::Plan { scope, .. } => *scope,
        }
    }

    /// The program and what ends its run; `None` before the run.
    pub fn program(&self) -> Option<(&Arc<Program>, &Control)> {
        let shared = &self.user()?.shared;
        Some((&shared.program, &shared.control))
    }

    /// The call took so long.
    pub fn note_time(&self, took: Duration) {
        if let Some(user) = self.user() {
            user.worker.note_script(took);
        }
    }

    /// The plan's file.
    pub fn plan(&self) -> PathBuf {
        self.scope().base_dir().join(self.scope().test_plan_name())
    }

    /// `TestPlan.user_define_classpath`.
    pub fn classpath(&self) -> &[PathBuf] {
        match &self.of {
            Of::User(cx) => &cx.shared.program.java.classpath,
            Of::Plan { classpath, .. } => classpath,
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
        match &mut self.of {
            Of::User(cx) => &mut cx.java,
            Of::Plan { state, .. } => state,
        }
    }

    pub fn thread_name(&self) -> &str {
        self.scope().thread_name()
    }

    /// From 0.
    pub fn thread_number(&self) -> u32 {
        self.scope().thread_number()
    }

    /// The thread group's place in the program; `None` before the run.
    pub fn group(&self) -> Option<usize> {
        Some(self.user()?.group)
    }

    /// Tells one sample of this user from the next.
    pub fn sample_number(&self) -> u32 {
        self.user().map_or(0, |cx| cx.sample_number)
    }

    /// The sampler at hand, if Java runs it: its place in [`JavaPlan::elements`].
    pub fn sampler(&self) -> Option<u32> {
        let cx = self.user()?;
        let samplers = &cx.shared.program.groups.get(cx.group)?.samplers;
        match &samplers.get(cx.sampler? as usize)?.sampler {
            Sampler::Foreign(element) => Some(element.number()),
            _ => None,
        }
    }

    /// The run as code outside of any user's call may reach it; `None` before the run.
    pub fn crowd(&self) -> Option<Crowd> {
        Some(Crowd(self.user()?.shared.clone()))
    }

    /// When the user's time is over, in milliseconds since the epoch.
    pub fn end_ms(&self) -> Option<i64> {
        self.user()?.end_ms
    }

    /// `JMeterVariables#getIteration`.
    pub fn iteration(&self) -> u32 {
        self.scope().iteration()
    }

    pub fn variable(&self, name: &str) -> Option<&str> {
        if let Some(value) = self.scope().vars().get_named(name) {
            return Some(value);
        }
        self.user()?.own_variable(name)
    }

    /// Sets a variable; `None` is Java's null.
    pub fn set_variable(&mut self, name: &str, value: Option<&str>) {
        let vars = self.scope_mut().vars_mut();
        match value {
            Some(value) => vars.set_named(name, Value::from(value)),
            None => vars.set_null_named(name),
        }
    }

    pub fn remove_variable(&mut self, name: &str) {
        self.scope_mut().vars_mut().remove_named(name);
    }

    /// Whether the plan has this name in it somewhere.
    pub fn is_spelled_out(&self, name: &str) -> bool {
        self.scope().vars().names().slot(name).is_some()
    }

    /// Names and values of all variables; null has no value.
    pub fn variables(&self) -> Vec<(&str, Option<&str>)> {
        let vars = self.scope().vars();
        let defined = vars.iter().map(|(name, value)| (name, Some(&**value)));
        let mut all: Vec<_> = defined.collect();
        all.extend(vars.nulls().map(|name| (name, None)));
        for name in OWN_VARIABLES {
            if vars.get_named(name).is_none()
                && let Some(value) = self.variable(name)
            {
                all.push((name, Some(value)));
            }
        }
        all
    }

    /// What a text of a Java element is now.
    pub fn template(&mut self, number: usize) -> String {
        let Some(cx) = self.user_mut() else {
            return String::new();
        };
        let worker = cx.worker.clone();
        match worker.program.java.templates.get(number) {
            Some(template) => template.eval(cx).into_string(),
            None => String::new(),
        }
    }

    /// The result at hand, or else the user's previous one.
    pub fn result(&self) -> Option<&Sample> {
        match &self.sample {
            Some(sample) => Some(sample),
            None => self.user()?.previous.as_deref(),
        }
    }

    /// Takes a sampler's result, or changes the result at hand; where there is none, the user's previous one.
    pub fn set_result(&mut self, changed: Sample) {
        if self.is_sampling {
            self.outcome = Some(changed);
            return;
        }
        let Of::User(cx) = &mut self.of else {
            return;
        };
        cx.parsed.clear();
        match &mut self.sample {
            Some(sample) => {
                **sample = changed;
                if cx.shared.program.keeps_previous {
                    cx.previous = Some(Rc::new(sample.clone()));
                }
            }
            None => cx.previous = Some(Rc::new(changed)),
        }
    }

    /// The HTTP Request at hand; `None` if the sampler is another one, or if a script in one of its own settings asks.
    pub fn request(&mut self) -> Option<Request> {
        self.with_package(|cx, package| {
            let sampler = http(package).filter(|_| !cx.is_described)?;
            cx.is_described = true;
            let request = sampler.request(cx, &package.name);
            cx.is_described = false;
            Some(request)
        })
    }

    /// Class and name of the sampler at hand, whatever it is.
    pub fn named_sampler(&mut self) -> Option<(String, String)> {
        let sampler = self.user()?.sampler?;
        self.named(sampler)
    }

    /// Class and name of the sampler before it.
    pub fn previous_sampler(&mut self) -> Option<(String, String)> {
        let sampler = self.user()?.previous_sampler?;
        self.named(sampler)
    }

    fn named(&mut self, sampler: SamplerId) -> Option<(String, String)> {
        self.with_package_of(sampler, |cx, package| {
            if package.name.needs_jvm() && cx.is_described {
                return None; // the script that asks is in the name
            }
            let outer = std::mem::replace(&mut cx.is_described, true);
            let name = package.name.eval(cx).into_string();
            cx.is_described = outer;
            Some((package.class.to_string(), name))
        })
    }

    /// What `look` finds in the sampler at hand.
    fn with_package<T>(
        &mut self,
        look: impl FnOnce(&mut Context, &Package) -> Option<T>,
    ) -> Option<T> {
        let sampler = self.user()?.sampler?;
        self.with_package_of(sampler, look)
    }

    /// What `look` finds in a sampler of the user's thread group.
    fn with_package_of<T>(
        &mut self,
        sampler: SamplerId,
        look: impl FnOnce(&mut Context, &Package) -> Option<T>,
    ) -> Option<T> {
        let cx = self.user_mut()?;
        let worker = cx.worker.clone();
        let group = worker.program.groups.get(cx.group)?;
        let package = group.samplers.get(sampler as usize)?;
        look(cx, package)
    }

    /// Changes the HTTP Request at hand for this sample; headers for good, if they were changed where they are kept.
    pub fn set_request(&mut self, before: Request, mut after: Request, in_place: bool) {
        if in_place && before.headers != after.headers {
            let stay = self.with_package(|cx, package| {
                Some(http(package)?.keep_headers(cx, &before.headers, &after.headers))
            });
            if stay == Some(true) {
                after.headers.clone_from(&before.headers);
            }
        }
        if let Some(cx) = self.user_mut().filter(|_| before != after) {
            cx.http.edits.add(Replaced { before, after });
        }
    }

    /// The cookies of the user that the HTTP Request at hand may send.
    pub fn cookies(&mut self) -> Vec<SeenCookie> {
        self.with_package(|cx, package| Some(http(package)?.cookie_manager()?.cookies(cx)))
            .unwrap_or_default()
    }

    /// Takes these for all of those cookies; `None`: there is no Cookie Manager any longer.
    pub fn set_cookies(&mut self, cookies: Option<Vec<Cookie>>) {
        self.with_package(|cx, package| {
            http(package)?.cookie_manager()?.replace(cx, cookies);
            Some(())
        });
    }

    /// What the user does after this sample.
    pub fn set_action(&mut self, action: Action) {
        if let Some(cx) = self.user_mut() {
            cx.action = action;
        }
    }

    /// The user ends after this sample.
    pub fn stop_thread(&mut self) {
        if let Some(cx) = self.user_mut().filter(|cx| cx.alive) {
            tracing::info!("Stop Thread detected by thread: {}", cx.thread_name);
            cx.alive = false;
        }
    }

    /// The user ends at once: an error that JMeter's thread does not survive.
    pub fn end_user(&mut self) {
        if let Some(cx) = self.user_mut() {
            cx.alive = false;
        }
    }

    /// The run ends.
    pub fn stop_test(&mut self, now: bool) {
        let what = if now {
            "Stop Test Now"
        } else {
            "Shutdown Test"
        };
        if let Some(cx) = self.user_mut() {
            tracing::info!("{what} detected by thread: {}", cx.thread_name);
            cx.alive = false;
            cx.shared.stop(now);
        }
    }
}
