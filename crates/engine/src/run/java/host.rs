//! The Java of a run. The virtual machine is behind [`JavaHost`]; the engine knows nothing else of it.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use drumfire_expr::{Raised, ScriptCall};

use super::plan::{Ask, ClassRoles, JavaCall, JavaEvent};
use super::visit::Visit;
use crate::run::control::Control;
use crate::run::program::Program;

/// Runs Java code in this process.
pub trait JavaHost: Send + Sync {
    /// The roles of a class that the engine does not know; starts Java. `None`: there is no such class on the class path.
    ///
    /// # Errors
    /// Why Java cannot be asked.
    fn classify(
        &self,
        class: &str,
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Option<ClassRoles>, JavaError>;

    /// Which of these functions the class path has; starts Java.
    ///
    /// # Errors
    /// Why Java cannot be asked.
    fn functions(
        &self,
        names: &[&str],
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Vec<String>, JavaError>;

    /// Starts Java, which runs the init scripts that properties name.
    ///
    /// # Errors
    /// Why there is no Java.
    fn prepare(&self, plan: &Path, classpath: &[PathBuf]) -> Result<(), JavaError>;

    /// Whether there is a Java to run; does not start it.
    ///
    /// # Errors
    /// Why there is none, and how to get one.
    fn find(&self) -> Result<(), JavaError>;

    /// Starts Java, unless a text of the plan has done so, and loads the elements; called before the first user. Code that
    /// runs outside of any user's calls ends the run by `control`.
    ///
    /// # Errors
    /// The reason why an element, or Java itself, cannot run.
    fn start(&self, program: &Arc<Program>, control: &Control) -> Result<(), JavaError>;

    /// The test starts or ends (`TestStateListener`). The visit is of no user.
    ///
    /// # Errors
    /// An exception that an element threw at the start: the run cannot go on.
    fn test_state(&self, visit: &mut Visit<'_>, started: bool) -> Result<(), Raised>;

    /// Something happens to a user: tells those of the elements that listen to it. Java logs the exceptions that they throw.
    fn happens(&self, visit: &mut Visit<'_>, event: JavaEvent, elements: &[u32]);

    /// Runs an element to its end on this thread; gives a timer's delay in milliseconds, and 0 otherwise.
    ///
    /// # Errors
    /// The exception that the element threw.
    fn call(&self, visit: &mut Visit<'_>, call: JavaCall) -> Result<i64, Raised>;

    /// The same on a thread of its own, so that it may take its time.
    ///
    /// # Errors
    /// The exception that the element threw.
    fn call_apart<'v>(&'v self, visit: &'v mut Visit<'_>, call: JavaCall) -> Apart<'v>;

    /// Starts the thread group of the visit, whose Java object starts its users through [`RunUsers::start_user`](super::visit::Crowd);
    /// ends when that says that all have ended. `number` is the group's in its phase, from 1.
    ///
    /// # Errors
    /// The exception that the object threw.
    fn run_group<'v>(&'v self, visit: &'v mut Visit<'_>, number: usize) -> Apart<'v>;

    /// Tells the Java object of a thread group that the run stops: after the samples at hand, or now.
    fn stop_group(&self, group: usize, now: bool);

    /// Asks a controller on this thread; gives its answer. The visit is one of [`Visit::above`].
    ///
    /// # Errors
    /// The exception that the controller threw.
    fn drive(&self, visit: &mut Visit<'_>, element: u32, ask: Ask) -> Result<i32, Raised>;

    /// Runs the script of a function on this thread. Java is started if it was not: whether some texts need it shows only
    /// when their variables have values.
    ///
    /// # Errors
    /// The exception that the function threw, or why there is no Java.
    fn script(&self, visit: &mut Visit<'_>, script: &ScriptCall<'_>) -> Result<String, Raised>;

    /// The value of the header that answers a challenge by Kerberos; may wait for a key distribution centre, so not to be
    /// asked on a worker's thread.
    ///
    /// # Errors
    /// Why there is no ticket.
    fn answer_by_ticket(&self, _ask: &TicketAsk) -> Result<String, JavaError> {
        Err(JavaError("this Java has no Kerberos".to_owned()))
    }

    /// The tickets of this login are no longer wanted.
    fn forget_login(&self, _login: u64) {}

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

    /// Takes the lines about what Java code could not send, such as samples for which a Backend Listener had no room.
    fn take_lost(&self) -> Vec<String> {
        Vec::new()
    }

    /// The call of `System.exit` that has ended the run, with the element it is in; none if no code has called it.
    fn exit_request(&self) -> Option<String> {
        None
    }
}

/// A challenge that Kerberos is to answer.
pub struct TicketAsk {
    /// Tells logins apart: each user of the run logs in on its own.
    pub login: u64,
    pub user: String,
    pub password: String,
    /// The server's address, up to its path.
    pub address: String,
    /// The challenge with its scheme.
    pub challenge: String,
}

/// Why Java cannot do what it is asked for, with the remedy where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaError(String);

impl From<String> for JavaError {
    fn from(why: String) -> JavaError {
        JavaError(why)
    }
}

impl fmt::Display for JavaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JavaError {}

/// A call on a thread of its own.
pub type Apart<'v> = Pin<Box<dyn Future<Output = Result<i64, Raised>> + 'v>>;

/// The Java of a run.
#[derive(Clone)]
pub enum Java {
    Host(Arc<dyn JavaHost>),
    /// Why there is none.
    Absent(Cow<'static, str>),
}

impl Java {
    /// The Java of this machine, which need not run yet.
    ///
    /// # Errors
    /// Why there is none.
    pub fn host(&self) -> Result<&Arc<dyn JavaHost>, JavaError> {
        match self {
            Java::Host(host) => host.find().map(|()| host),
            Java::Absent(why) => Err(JavaError(why.to_string())),
        }
    }
}

impl Default for Java {
    fn default() -> Java {
        Java::Absent("this build has no Java bridge".into())
    }
}
