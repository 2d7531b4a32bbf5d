//! The view that Java code has of a user.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::{Raised, Scope, Value};
use drumfire_results::{AssertionResult, Sample};
use drumfire_web::cookies::Cookie;

use super::plan::{Ask, JavaRole, JavaUser, NOTHING};
use crate::run::action::Action;
use crate::run::control::Control;
use crate::run::orders::Halt;
use crate::run::own_variables::OWN_VARIABLES;
use crate::run::program::Program;
use crate::run::request::{Request, SeenCookie};
use crate::run::schedule::Shape;

/// A user as far as Java code may see and change it.
pub trait VisitedUser: Scope {
    /// The user as the run knows it.
    fn as_any(&mut self) -> &mut dyn Any;
    fn program(&self) -> &Arc<Program>;
    /// The handle that steers the run.
    fn control(&self) -> &Control;
    /// Records how long a call of Java code took.
    fn note_script(&self, took: Duration);
    /// The host's state of this user between calls.
    fn java_state(&mut self) -> &mut Option<Box<dyn Any>>;
    /// The thread group's place in the program.
    fn group(&self) -> usize;
    /// A number that tells one sample of this user from the next.
    fn sample_number(&self) -> u32;
    /// The index of the sampler at hand among the elements that Java runs, if it is one of them.
    fn java_sampler(&self) -> Option<u32>;
    /// All users of the run.
    fn crowd(&self) -> Arc<dyn RunUsers>;
    /// When the user's time is over, in milliseconds since the epoch.
    fn end_ms(&self) -> Option<i64>;
    /// A variable that JMeter sets itself, if the user has it now.
    fn own_variable(&self, name: &str) -> Option<&str>;
    /// Evaluates a text of a Java element.
    fn template(&mut self, number: usize) -> String;
    /// The user's previous result.
    fn previous(&self) -> Option<&Sample>;
    fn set_previous(&mut self, sample: Sample);
    /// Records that code has changed the result at hand.
    fn note_changed(&mut self, result: &Sample);
    /// The HTTP Request at hand; `None` if the sampler is another one, or if a script in one of its own settings asks.
    fn request(&mut self) -> Option<Request>;
    /// Changes the HTTP Request at hand for this sample. Changes of headers are permanent if they were made `in_place`.
    fn change_request(&mut self, before: Request, after: Request, in_place: bool);
    /// The cookies of the user that the HTTP Request at hand may send.
    fn cookies(&mut self) -> Vec<SeenCookie>;
    /// Replaces all of those cookies; `None` removes the Cookie Manager.
    fn set_cookies(&mut self, cookies: Option<Vec<Cookie>>);
    /// Class and name of the sampler at hand, whatever it is.
    fn named_sampler(&mut self) -> Option<(String, String)>;
    /// Class and name of the sampler before it.
    fn previous_sampler(&mut self) -> Option<(String, String)>;
    /// Sets the user's action after this sample.
    fn set_action(&mut self, action: Action);
    /// Ends the user after this sample.
    fn stop_thread(&mut self);
    /// Ends the user at once, after an error.
    fn end_by_error(&mut self, reason: &str);
    /// Ends the run.
    fn stop_test(&mut self, now: bool);
}

/// The children of a controller while Java asks it.
pub trait ControllerChildren {
    /// The names of its children, each with the number of its step if it is a sampler, or `None` if it is a controller.
    fn children(&mut self, user: &mut dyn VisitedUser) -> Vec<(Option<i32>, String)>;
    /// Asks the child controller at that place.
    fn ask(&mut self, user: &mut dyn VisitedUser, place: usize, ask: Ask) -> i32;
    /// Notifies the listening children that the controller starts an iteration.
    fn tell(&mut self, user: &mut dyn VisitedUser, count: i32, of_loop: bool);
}

/// All users of a run, which any thread may count and stop.
pub trait RunUsers: Send + Sync {
    /// Users that run: of one thread group, or of all.
    fn running(&self, group: Option<usize>) -> u32;
    /// Users of the phase at hand: active, started, finished, and all that were to run.
    fn of_phase(&self) -> [u64; 4];
    /// The thread group's name, and the shape of its load.
    fn group(&self, group: usize) -> (&str, &Shape);
    /// Starts a user of a thread group whose Java object starts them; false if the group takes none any more.
    fn start_user(&self, group: usize, user: JavaUser) -> bool;
    /// Stops a user; false if none of that name runs.
    fn stop_user(&self, thread_name: &str, halt: Halt) -> bool;
    /// Stops all users of a thread group, and starts no others.
    fn stop_group(&self, group: usize, halt: Halt);
}

/// One user during one call. Java code reads and changes the user only through this. Before the run there is no user; a visit
/// then serves texts of the plan that are computed before the run.
pub struct Visit<'a> {
    of: Of<'a>,
    sample: Option<&'a mut Sample>,
    /// The sample that a sampler made.
    pub outcome: Option<Sample>,
    is_sampling: bool,
    /// The result of an assertion.
    pub verdict: Option<AssertionResult>,
    /// The exception that the call threw.
    pub thrown: Option<Raised>,
    /// Whether the call has waited for something, if the host measured that.
    pub has_waited: bool,
    /// The children of the controller that is asked.
    below: Option<&'a mut dyn ControllerChildren>,
}

enum Of<'a> {
    User(&'a mut dyn VisitedUser),
    Plan {
        scope: &'a mut dyn Scope,
        classpath: &'a [PathBuf],
        state: Option<Box<dyn Any>>,
    },
}

impl<'a> Visit<'a> {
    /// A call without a result at hand. It sees the user's previous one.
    pub fn new(cx: &'a mut dyn VisitedUser) -> Visit<'a> {
        Visit::with(Of::User(cx))
    }

    /// A call about a result.
    pub fn of(cx: &'a mut dyn VisitedUser, sample: &'a mut Sample) -> Visit<'a> {
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
            has_waited: false,
            below: None,
        }
    }

    /// A question to a controller with these children.
    pub fn above(cx: &'a mut dyn VisitedUser, below: &'a mut dyn ControllerChildren) -> Visit<'a> {
        Visit {
            below: Some(below),
            ..Visit::new(cx)
        }
    }

    /// The names of the children of the controller that is asked, as [`ControllerChildren::children`] gives them.
    pub fn children(&mut self) -> Vec<(Option<i32>, String)> {
        match (&mut self.of, &mut self.below) {
            (Of::User(user), Some(below)) => below.children(&mut **user),
            _ => Vec::new(),
        }
    }

    /// Asks the child controller at that place.
    pub fn ask_child(&mut self, place: usize, ask: Ask) -> i32 {
        match (&mut self.of, &mut self.below) {
            (Of::User(user), Some(below)) => below.ask(&mut **user, place, ask),
            _ => NOTHING,
        }
    }

    /// Notifies the children that the controller that is asked starts an iteration.
    pub fn tell_children(&mut self, count: i32, of_loop: bool) {
        if let (Of::User(user), Some(below)) = (&mut self.of, &mut self.below) {
            below.tell(&mut **user, count, of_loop);
        }
    }

    fn user(&self) -> Option<&dyn VisitedUser> {
        match &self.of {
            Of::User(user) => Some(&**user),
            Of::Plan { .. } => None,
        }
    }

    fn user_mut(&mut self) -> Option<&mut (dyn VisitedUser + 'a)> {
        match &mut self.of {
            Of::User(user) => Some(&mut **user),
            Of::Plan { .. } => None,
        }
    }

    fn scope(&self) -> &dyn Scope {
        match &self.of {
            Of::User(user) => &**user,
            Of::Plan { scope, .. } => *scope,
        }
    }

    fn scope_mut(&mut self) -> &mut dyn Scope {
        match &mut self.of {
            Of::User(user) => &mut **user,
            Of::Plan { scope, .. } => *scope,
        }
    }

    /// The program and the handle that steers its run; `None` before the run.
    pub fn program(&self) -> Option<(&Arc<Program>, &Control)> {
        let user = self.user()?;
        Some((user.program(), user.control()))
    }

    /// Records how long the call took.
    pub fn note_time(&self, took: Duration) {
        if let Some(user) = self.user() {
            user.note_script(took);
        }
    }

    /// The plan's file.
    pub fn plan(&self) -> PathBuf {
        self.scope().base_dir().join(self.scope().test_plan_name())
    }

    /// `TestPlan.user_define_classpath`.
    pub fn classpath(&self) -> &[PathBuf] {
        match &self.of {
            Of::User(user) => &user.program().java.classpath,
            Of::Plan { classpath, .. } => classpath,
        }
    }

    /// Begins the call. A call of a sampler makes a new sample.
    pub fn begin(&mut self, role: JavaRole) {
        self.is_sampling = role == JavaRole::Sampler;
    }

    /// Whether a result that comes from Java is a sampler's new sample.
    pub fn is_sampling(&self) -> bool {
        self.is_sampling
    }

    /// The host's state of this user between calls.
    pub fn state(&mut self) -> &mut Option<Box<dyn Any>> {
        match &mut self.of {
            Of::User(user) => user.java_state(),
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
        Some(self.user()?.group())
    }

    /// A number that tells one sample of this user from the next.
    pub fn sample_number(&self) -> u32 {
        self.user().map(VisitedUser::sample_number).unwrap_or(0)
    }

    /// The index of the sampler at hand among the elements that Java runs, if it is one of them.
    pub fn sampler(&self) -> Option<u32> {
        self.user()?.java_sampler()
    }

    /// The run as code outside of any user's call may reach it; `None` before the run.
    pub fn crowd(&self) -> Option<Arc<dyn RunUsers>> {
        Some(self.user()?.crowd())
    }

    /// When the user's time is over, in milliseconds since the epoch.
    pub fn end_ms(&self) -> Option<i64> {
        self.user()?.end_ms()
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

    /// Whether the plan mentions this name of a variable.
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

    /// Evaluates a text of a Java element.
    pub fn template(&mut self, number: usize) -> String {
        match self.user_mut() {
            Some(user) => user.template(number),
            None => String::new(),
        }
    }

    /// The result at hand, or else the user's previous one.
    pub fn result(&self) -> Option<&Sample> {
        match &self.sample {
            Some(sample) => Some(sample),
            None => self.user()?.previous(),
        }
    }

    /// Stores a sampler's result, or else replaces the result at hand, or else the user's previous one.
    pub fn set_result(&mut self, changed: Sample) {
        if self.is_sampling {
            self.outcome = Some(changed);
            return;
        }
        let Of::User(user) = &mut self.of else {
            return;
        };
        match &mut self.sample {
            Some(sample) => {
                **sample = changed;
                user.note_changed(sample);
            }
            None => user.set_previous(changed),
        }
    }

    /// The HTTP Request at hand; `None` if the sampler is another one, or if a script in one of its own settings asks.
    pub fn request(&mut self) -> Option<Request> {
        self.user_mut()?.request()
    }

    /// Class and name of the sampler at hand, whatever it is.
    pub fn named_sampler(&mut self) -> Option<(String, String)> {
        self.user_mut()?.named_sampler()
    }

    /// Class and name of the sampler before it.
    pub fn previous_sampler(&mut self) -> Option<(String, String)> {
        self.user_mut()?.previous_sampler()
    }

    /// Changes the HTTP Request at hand for this sample. Changes of headers are permanent if they were made `in_place`.
    pub fn set_request(&mut self, before: Request, after: Request, in_place: bool) {
        if let Some(user) = self.user_mut() {
            user.change_request(before, after, in_place);
        }
    }

    /// The cookies of the user that the HTTP Request at hand may send.
    pub fn cookies(&mut self) -> Vec<SeenCookie> {
        self.user_mut().map_or_else(Vec::new, |user| user.cookies())
    }

    /// Replaces all of those cookies; `None` removes the Cookie Manager.
    pub fn set_cookies(&mut self, cookies: Option<Vec<Cookie>>) {
        if let Some(user) = self.user_mut() {
            user.set_cookies(cookies);
        }
    }

    /// Sets the user's action after this sample.
    pub fn set_action(&mut self, action: Action) {
        if let Some(user) = self.user_mut() {
            user.set_action(action);
        }
    }

    /// Ends the user after this sample.
    pub fn stop_thread(&mut self) {
        if let Some(user) = self.user_mut() {
            user.stop_thread();
        }
    }

    /// Raises an exception in the sample at hand.
    pub fn raise(&mut self, raised: Raised) {
        self.scope_mut().raise(raised);
    }

    /// Ends the user at once, after an error that JMeter's thread does not survive.
    pub fn end_user(&mut self, reason: &str) {
        if let Some(user) = self.user_mut() {
            user.end_by_error(reason);
        }
    }

    /// Ends the run.
    pub fn stop_test(&mut self, now: bool) {
        if let Some(user) = self.user_mut() {
            user.stop_test(now);
        }
    }
}
