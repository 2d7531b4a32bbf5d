//! The interface to Java. The engine uses the virtual machine only through [`JavaHost`].

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::{Raised, ScriptCall};
use drumfire_platform::message_error;

use super::plan::{Ask, ClassRoles, JavaCall, JavaEvent};
use super::visit::Visit;
use crate::run::control::Control;
use crate::run::program::Program;

/// Runs Java code in this process.
pub trait JavaHost: Send + Sync {
    /// Finds out the roles of a class that the engine does not know. Starts Java. `None` if the class path lacks the class.
    ///
    /// # Errors
    /// Why Java cannot be asked.
    fn classify(
        &self,
        class: &str,
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Option<ClassRoles>, JavaFailure>;

    /// Finds out which of these functions are on the class path. Starts Java.
    ///
    /// # Errors
    /// Why Java cannot be asked.
    fn functions(
        &self,
        names: &[&str],
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Vec<String>, JavaFailure>;

    /// Names the jars that are not on this machine, if this host may not fetch them but a run may. Java cannot start without them.
    fn unfetched(&self) -> Option<String> {
        None
    }

    /// Whether the class path, as far as it is on this machine, has the class with this full name. Does not start Java.
    fn has_class(&self, _class: &str, _classpath: &[PathBuf]) -> bool {
        true
    }

    /// Fetches the jars that Java needs and this machine lacks, without starting it.
    ///
    /// # Errors
    /// Which jars are missing, and how to get them.
    fn provide(&self) -> Result<(), JavaFailure> {
        Ok(())
    }

    /// Starts Java, which runs the init scripts that properties name.
    ///
    /// # Errors
    /// Why there is no Java.
    fn prepare(&self, plan: &Path, classpath: &[PathBuf]) -> Result<(), JavaFailure>;

    /// Looks for a Java to run, without starting it.
    ///
    /// # Errors
    /// Why there is none, and how to get one.
    fn find(&self) -> Result<(), JavaFailure>;

    /// Starts Java, unless a text of the plan has already done so, and loads the elements. Called before the first user. Java
    /// code that runs outside of any user's call ends the run through `control`.
    ///
    /// # Errors
    /// The reason why an element, or Java itself, cannot run.
    fn start(&self, program: &Arc<Program>, control: &Control) -> Result<(), JavaFailure>;

    /// Notifies elements that the test starts or ends (`TestStateListener`). The visit belongs to no user.
    ///
    /// # Errors
    /// An exception that an element threw at the start: the run cannot go on.
    fn test_state(&self, visit: &mut Visit<'_>, started: bool) -> Result<(), Raised>;

    /// Notifies those of the elements that listen to an event of a user. Java logs the exceptions that they throw.
    fn happens(&self, visit: &mut Visit<'_>, event: JavaEvent, elements: &[u32]);

    /// Runs an element to its end on this thread. Returns a timer's delay in milliseconds, and 0 otherwise.
    ///
    /// # Errors
    /// The exception that the element threw.
    fn call(&self, visit: &mut Visit<'_>, call: JavaCall) -> Result<i64, Raised>;

    /// Runs an element on another thread, so that it may block.
    ///
    /// # Errors
    /// The exception that the element threw.
    fn call_apart<'v>(&'v self, visit: &'v mut Visit<'_>, call: JavaCall) -> Apart<'v>;

    /// Makes what interrupts the samples of the visit's user from another thread (`Interruptible#interrupt`). Samplers that do not
    /// let themselves be interrupted go on. `None` if there is no such user.
    fn interrupter(&self, _visit: &mut Visit<'_>) -> Option<Interrupter> {
        None
    }

    /// Runs the thread group of the visit until its Java object says that all its users have ended. The object starts them
    /// through [`RunUsers::start_user`](super::visit::RunUsers::start_user). `number` is the group's number in its phase, from 1.
    ///
    /// # Errors
    /// The exception that the object threw.
    fn run_group<'v>(&'v self, visit: &'v mut Visit<'_>, number: usize) -> Apart<'v>;

    /// Tells the Java object of a thread group that the run stops: after the samples at hand, or now.
    fn stop_group(&self, group: usize, now: bool);

    /// Asks a controller on this thread, and returns its answer. The visit is one of [`Visit::above`].
    ///
    /// # Errors
    /// The exception that the controller threw.
    fn drive(&self, visit: &mut Visit<'_>, element: u32, ask: Ask) -> Result<i32, Raised>;

    /// Runs the script of a function on this thread. Starts Java if it is not running: for some texts the need for it is known
    /// only when their variables have values.
    ///
    /// # Errors
    /// The exception that the function threw, or why there is no Java.
    fn script(&self, visit: &mut Visit<'_>, script: &ScriptCall<'_>) -> Result<String, Raised>;

    /// The value of the header that answers a challenge by Kerberos. May wait for a key distribution centre, so it must not be
    /// called on a worker's thread.
    ///
    /// # Errors
    /// Why there is no ticket.
    fn answer_by_ticket(&self, _ask: &TicketAsk) -> Result<String, JavaFailure> {
        Err("this Java has no Kerberos".into())
    }

    /// Discards the tickets of this login.
    fn forget_login(&self, _login: u64) {}

    /// Makes Java collect its garbage now, at a time when that delays no user (`JMeterUtils#helpGC`).
    fn collect_garbage(&self) {}

    /// How long garbage collections have stopped Java so far, as far as it reports them, without those that the engine asked for.
    fn garbage_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Called when the run has ended. The host may now prepare a quicker start of Java for later runs.
    fn run_ended(&self) {}

    /// Interrupts running Java code after the run was told to stop now (`JMeterThread#interrupt`), or ends it if `by_force`.
    fn break_off(&self, by_force: bool);

    /// Takes the lines about what Java code could not send, such as samples for which a Backend Listener had no room.
    fn take_lost(&self) -> Vec<String> {
        Vec::new()
    }

    /// The crash of native code that has ended the run, with the element that called the code; `None` if none has crashed. Java
    /// must not be called any more.
    fn crash(&self) -> Option<String> {
        None
    }

    /// The call of `System.exit` that has ended the run, with the element it is in; `None` if no code has called it.
    fn exit_request(&self) -> Option<String> {
        None
    }
}

/// A challenge that Kerberos is to answer.
pub struct TicketAsk {
    /// Identifies the login. Each user of the run logs in separately.
    pub login: u64,
    pub user: String,
    pub password: String,
    /// The server's address, up to its path.
    pub address: String,
    /// The challenge with its scheme.
    pub challenge: String,
}

message_error! {
    /// Why Java cannot do a task, with the remedy where there is one.
    pub struct JavaFailure;
}

/// Interrupts the sample that a user's sampler takes.
pub type Interrupter = Box<dyn Fn()>;

/// A call on another thread.
pub type Apart<'v> = Pin<Box<dyn Future<Output = Result<i64, Raised>> + 'v>>;

/// The Java host of a run, or the reason why there is none.
#[derive(Clone)]
pub enum Java {
    Host(Arc<dyn JavaHost>),
    /// Why there is none.
    Absent(Cow<'static, str>),
}

impl Java {
    /// The Java host, which need not have been started yet.
    ///
    /// # Errors
    /// Why there is none.
    pub fn host(&self) -> Result<&Arc<dyn JavaHost>, JavaFailure> {
        match self {
            Java::Host(host) => host.find().map(|()| host),
            Java::Absent(why) => Err(why.as_ref().into()),
        }
    }
}

impl Default for Java {
    fn default() -> Java {
        Java::Absent("this build has no Java bridge".into())
    }
}
