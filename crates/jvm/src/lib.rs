//! Runs JMeter's own Java classes inside the process, for scripts and for elements without a native implementation. No other
//! crate uses JNI.
//!
//! | file | what |
//! |---|---|
//! | `find.rs`, `jars.rs` | the Java and the JMeter on this machine |
//! | `artifacts.rs`, `repositories.rs`, `install.rs`, `plugins.rs` | jars by their Maven coordinates |
//! | `class_names.rs` | the classes in jars, without Java |
//! | `provision.rs` | the class path of a run, and the jars that it lacks |
//! | `archive.rs` | an archive of loaded classes, for a quick start |
//! | `report.rs` | the output of `drumfire jvm` |
//! | `machine.rs` | the virtual machine, and calls into it |
//! | `natives.rs` | calls from Java into the engine |
//! | `below.rs` | calls from Java about the children of a controller that Java drives |
//! | `current.rs`, `user_link.rs` | whose call is running on a thread, and how a call on another thread reaches its user |
//! | `waits.rs` | whether a call has waited |
//! | `hired.rs` | users that a thread group's Java object starts |
//! | `pool.rs` | threads for calls that may block |
//! | `seats.rs`, `force.rs` | the threads that run Java, and how to interrupt them |
//! | `exit.rs` | `System.exit` in scripts |
//! | `text.rs`, `wire.rs`, `result.rs`, `request.rs`, `element.rs`, `xml.rs` | samples, requests and elements as bytes |
//!
//! Java's half is in `java/`.

#![warn(missing_docs)]

mod archive;
mod artifacts;
mod below;
mod class_names;
mod compiler;
mod conflicts;
mod crash;
mod current;
mod element;
mod exit;
mod find;
mod force;
mod forms;
mod garbage;
mod hired;
mod install;
mod jars;
mod machine;
mod natives;
mod plugins;
mod pool;
mod provision;
mod report;
mod repositories;
mod request;
mod result;
mod seats;
mod text;
mod user_link;
mod waits;
mod wire;
mod xml;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use drumfire_engine::java::{
    Apart, Ask, ClassRoles, Interrupter, JavaCall, JavaEvent, JavaFailure, JavaHost, JavaRole,
    JavaSource, TicketAsk, Visit,
};
use drumfire_engine::{Control, Program};
use drumfire_expr::{Properties, Raised, ScriptCall, ScriptLanguage};
pub use drumfire_maven::Notice;

use current::Line;
use exit::Caller;
use find::Installation;
use garbage::GarbageClock;
use jars::JMeter;
use machine::{Handle, ListensTo, Machine};
use user_link::{ReadHabit, UserLink};

/// The Java of one run.
pub struct Jvm {
    properties: Properties,
    /// Shows what is being prepared and fetched.
    tell: fn(&Notice<'_>),
    /// Whether missing jars may be fetched over the network.
    fetches: bool,
    install_later: InstallLater,
    found: OnceLock<Result<(Installation, JMeter), JavaFailure>>,
    machine: OnceLock<Result<&'static Machine, JavaFailure>>,
    plan: OnceLock<Result<Plan, JavaFailure>>,
    /// Garbage collection time that was requested, in milliseconds.
    garbage_asked_for: AtomicU64,
    garbage: GarbageClock,
    /// The path of the archive of classes to be made, if Java has started without one.
    archive_wanted: OnceLock<PathBuf>,
    /// Categories of Java's loggers, and their levels.
    log_levels: Vec<(String, &'static str)>,
}

/// Does what [`Jvm::install`] does with these properties, but later, when nothing waits for it, in a process of its own that
/// outlives this one.
pub type InstallLater = fn(&[(&str, &Path)]) -> std::io::Result<()>;

/// The plan's objects in Java.
struct Plan {
    /// The events that each of its elements listens to.
    listens_to: Vec<ListensTo>,
    /// The class and the name of each.
    names: Vec<String>,
    /// The variables that each reads.
    habits: Vec<Arc<ReadHabit>>,
    groups: Vec<Handle>,
}

impl Jvm {
    /// Creates the host, which does not look for Java yet.
    pub fn new(properties: Properties, tell: fn(&Notice<'_>), install_later: InstallLater) -> Jvm {
        Jvm {
            properties,
            tell,
            fetches: true,
            install_later,
            found: OnceLock::new(),
            machine: OnceLock::new(),
            plan: OnceLock::new(),
            garbage_asked_for: AtomicU64::new(0),
            garbage: GarbageClock::default(),
            archive_wanted: OnceLock::new(),
            log_levels: Vec::new(),
        }
    }

    /// A host that never uses the network, for commands that only inspect a plan.
    #[must_use]
    pub fn without_fetching(self) -> Jvm {
        Jvm {
            fetches: false,
            ..self
        }
    }

    /// Sets the levels (`DEBUG`, …) of these categories of Java's loggers; an empty category is the root, which is at `INFO`
    /// otherwise.
    #[must_use]
    pub fn with_log_levels(self, log_levels: Vec<(String, &'static str)>) -> Jvm {
        Jvm { log_levels, ..self }
    }

    /// How long Java has collected garbage so far, in milliseconds; 0 before it runs.
    fn garbage_ms(&self) -> u64 {
        let Some(Ok(machine)) = self.machine.get() else {
            return 0;
        };
        let machine: &'static Machine = machine;
        self.garbage.read(|| {
            let millis = machine.garbage_ms().ok();
            let millis = millis.and_then(|millis| u64::try_from(millis).ok());
            millis.unwrap_or_default()
        })
    }

    fn installations(&self) -> Result<&(Installation, JMeter), JavaFailure> {
        self.found
            .get_or_init(|| Ok((find::find(&self.properties)?, jars::find(&self.properties)?)))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The virtual machine, which is started for this plan unless it is running. Missing jars are fetched first.
    fn machine(&self, plan: &Path, classpath: &[PathBuf]) -> Result<&'static Machine, JavaFailure> {
        self.machine_for(plan, classpath, false)
    }

    /// As `machine`; `is_groovy_expected` says that the plan has a Groovy script.
    fn machine_for(
        &self,
        plan: &Path,
        classpath: &[PathBuf],
        is_groovy_expected: bool,
    ) -> Result<&'static Machine, JavaFailure> {
        let started = self.machine.get_or_init(|| {
            let (java, jmeter) = self.installations()?;
            let added = install::added(&self.properties);
            let named = install::dependencies(&added, &self.jar_access(), java.version)?;
            let mut class_path = self.own_jars(jmeter)?;
            let archive = self.archive(java, &class_path, &jmeter.home);
            class_path.extend(jars::usable(named));
            class_path.extend(JMeter::named_jars(&self.properties, classpath));
            natives::use_properties(self.properties.clone());
            let machine = machine::start(java, &class_path, archive.as_deref(), &self.properties)?;
            let system = self.properties.system_snapshot();
            let system: Vec<&str> = system
                .iter()
                .flat_map(|(name, value)| [&**name, &**value])
                .collect();
            let levels: Vec<&str> = self
                .log_levels
                .iter()
                .flat_map(|(category, level)| [category.as_str(), level])
                .collect();
            machine.begin(&jmeter.home, plan, &system, &levels, is_groovy_expected)?;
            Ok(machine)
        });
        started.clone()
    }

    /// The archive of classes. If there is none, the run continues without it, and it is made afterwards.
    fn archive(&self, java: &Installation, own: &[PathBuf], home: &Path) -> Option<PathBuf> {
        let file = archive::file(java, own, home);
        if file.is_file() {
            return Some(file);
        }
        // It is set only once, since Java starts once.
        let _ = self.archive_wanted.set(file);
        None
    }

    /// The program's objects in Java, loaded on the first call.
    fn load(
        &self,
        machine: &Machine,
        program: &Program,
        control: &Control,
    ) -> Result<&Plan, JavaFailure> {
        let loaded = self.plan.get_or_init(|| {
            natives::use_control(control.clone());
            if exit::asked().is_some() {
                control.stop_now();
            }
            let mut listens_to = Vec::new();
            for source in &program.java.elements {
                let element = machine.add_element(&source.element, &source.configs);
                listens_to.push(element.map_err(|why| {
                    format!("{} '{}' cannot be loaded: {why}", source.class, source.name)
                })?);
            }
            let groups = program
                .groups
                .iter()
                .enumerate()
                .map(|(number, group)| {
                    let element = program.java.groups.get(number).and_then(element::write);
                    machine.group(&group.name, number, element.as_deref(), group.java)
                })
                .collect::<Result<_, _>>()?;
            let elements = program.java.elements.iter();
            let names = elements.map(|source| format!("{} '{}'", source.class, source.name));
            Ok(Plan {
                listens_to,
                names: names.collect(),
                habits: program
                    .java
                    .elements
                    .iter()
                    .map(|_| Arc::default())
                    .collect(),
                groups,
            })
        });
        loaded.as_ref().map_err(Clone::clone)
    }

    /// Everything that a call needs: the machine, this user on the Java side (created at its first call), and the plan's
    /// objects in Java, which do not exist before the run.
    fn place(&self, visit: &mut Visit<'_>) -> Result<CurrentUser<'_>, Raised> {
        let machine = match self.machine.get() {
            Some(machine) => machine.clone(),
            None => {
                tracing::info!("a text has a script in it: Java starts");
                self.machine(&visit.plan(), visit.classpath())
            }
        }
        .map_err(Raised::exception)?;
        let plan = match (self.plan.get(), visit.program()) {
            (_, None) => None,
            (Some(plan), _) => Some(plan.as_ref().map_err(Clone::clone)),
            (None, Some((program, control))) => Some(self.load(machine, program, control)),
        };
        let plan = plan.transpose().map_err(Raised::exception)?;
        let user_state = visit.state().as_ref();
        if let Some(user) = user_state.and_then(|state| state.downcast_ref::<Arc<Person>>()) {
            let user = user.clone();
            return Ok(CurrentUser {
                machine,
                plan,
                user,
            });
        }
        let group = plan
            .zip(visit.group())
            .map(|(plan, group)| &plan.groups[group]);
        if let Some(crowd) = visit.crowd() {
            natives::use_crowd(crowd);
        }
        let line = Line::new();
        let user = machine
            .user(group, visit, line.number())
            .map_err(Raised::exception)?;
        let user = Arc::new(Person { user, line });
        *visit.state() = Some(Box::new(user.clone()));
        Ok(CurrentUser {
            machine,
            plan,
            user,
        })
    }

    /// An element's call, ready to be made.
    fn ready(&self, visit: &mut Visit<'_>, call: JavaCall) -> Result<Ready, Raised> {
        let current_user = self.place(visit)?;
        let Some(plan) = current_user.plan else {
            let why = "Java was not started for this element's plan";
            return Err(Raised::exception(why.to_owned()));
        };
        visit.begin(call.role);
        Ok(Ready {
            machine: current_user.machine,
            habit: plan.habits.get(call.element as usize).cloned(),
            user: current_user.user,
            sample: visit.sample_number(),
            call,
        })
    }
}

/// The host's own state of a user.
struct Person {
    /// The user on the Java side.
    user: Handle,
    line: Arc<Line>,
}

struct CurrentUser<'j> {
    machine: &'static Machine,
    plan: Option<&'j Plan>,
    user: Arc<Person>,
}

struct Ready {
    machine: &'static Machine,
    user: Arc<Person>,
    habit: Option<Arc<ReadHabit>>,
    sample: u32,
    call: JavaCall,
}

impl Ready {
    /// Makes the call; also returns whether it has waited, if the caller wants to know.
    fn run(&self) -> (Result<i64, Raised>, bool) {
        if self.call.watches_waits {
            waits::watched(|| self.run_it())
        } else {
            (self.run_it(), false)
        }
    }

    fn run_it(&self) -> Result<i64, Raised> {
        let _calling = exit::calling(Caller::Element(self.call.element));
        self.machine.call(
            &self.user.user,
            self.call.element,
            role(self.call.role),
            self.call.wants_result,
            self.sample,
        )
    }
}

/// Runs Java code for a user on another thread, and answers that thread's questions meanwhile.
async fn apart(
    visit: &mut Visit<'_>,
    user: Arc<Person>,
    habit: Option<Arc<ReadHabit>>,
    run: impl FnOnce() -> (Result<i64, Raised>, bool) + Send + 'static,
) -> Result<i64, Raised> {
    let (far, mut questions) = UserLink::to(visit, habit);
    let (end, mut ended) = tokio::sync::oneshot::channel();
    pool::run(move || {
        let outcome = current::during_apart(far.clone(), &user.line, run);
        // If the user has gone on without this call, nothing receives its outcome.
        let _ = end.send((outcome, far.end()));
    })
    .map_err(|error| Raised::exception(format!("no thread for a script: {error}")))?;
    let outcome = loop {
        tokio::select! {
            biased;
            Some(question) = questions.recv() => question(visit),
            outcome = &mut ended => break outcome,
        }
    };
    let ((outcome, has_waited), orders) =
        outcome.map_err(|_| Raised::exception("a script's thread ended early".to_owned()))?;
    user_link::carry_out(orders, visit);
    visit.has_waited = has_waited;
    let value = outcome?;
    visit.thrown.take().map_or(Ok(value), Err)
}

/// Runs the object of a thread group as the engine's own user; returns 0.
fn run_group(
    machine: &Machine,
    group: usize,
    engine: &Person,
    number: usize,
) -> Result<i64, Raised> {
    machine
        .run_group(&engine.user, group, number)
        .map(|()| 0)
        .map_err(Raised::exception)
}

impl JavaHost for Jvm {
    fn find(&self) -> Result<(), JavaFailure> {
        self.installations()?;
        Ok(())
    }

    fn unfetched(&self) -> Option<String> {
        self.unfetched_jars()
    }

    fn has_class(&self, class: &str, classpath: &[PathBuf]) -> bool {
        self.contains_class(class, classpath)
    }

    fn provide(&self) -> Result<(), JavaFailure> {
        self.fetch_jars()
    }

    fn prepare(&self, plan: &Path, classpath: &[PathBuf]) -> Result<(), JavaFailure> {
        self.machine(plan, classpath)?;
        Ok(())
    }

    fn classify(
        &self,
        class: &str,
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Option<ClassRoles>, JavaFailure> {
        Ok(self.machine(plan, classpath)?.classify(class)?.map(traits))
    }

    fn functions(
        &self,
        names: &[&str],
        plan: &Path,
        classpath: &[PathBuf],
    ) -> Result<Vec<String>, JavaFailure> {
        self.machine(plan, classpath)?.known_functions(names)
    }

    fn test_state(&self, visit: &mut Visit<'_>, started: bool) -> Result<(), Raised> {
        let Some(Ok(plan)) = self.plan.get() else {
            return Ok(());
        };
        if !plan.listens_to.iter().any(|one| one.hears_test()) {
            return Ok(());
        }
        let machine = self.place(visit)?.machine;
        let outcome = current::during(visit, None, || {
            if started {
                machine.test_started(&plan.groups[0])
            } else {
                machine.test_ended().map(|()| None)
            }
        });
        match outcome.map_err(Raised::exception)? {
            None => Ok(()),
            Some(problem) => Err(Raised::exception(problem)),
        }
    }

    fn happens(&self, visit: &mut Visit<'_>, event: JavaEvent, elements: &[u32]) {
        let Some(Ok(plan)) = self.plan.get() else {
            return;
        };
        let hears = |element: &&u32| plan.listens_to[**element as usize].hears(event);
        let elements: Vec<u32> = elements.iter().filter(hears).copied().collect();
        if elements.is_empty() {
            return;
        }
        let outcome = self.place(visit).and_then(|place| {
            let tell = || place.machine.happens(&place.user.user, event, &elements);
            current::during(visit, Some(&place.user.line), tell).map_err(Raised::exception)
        });
        if let Err(raised) = outcome {
            tracing::error!("{raised}");
        }
    }

    fn start(&self, program: &Arc<Program>, control: &Control) -> Result<(), JavaFailure> {
        let plan = program.base_dir.join(&program.script);
        let has_groovy = program.java.elements.iter().any(is_groovy);
        let machine = self.machine_for(&plan, &program.java.classpath, has_groovy)?;
        self.load(machine, program, control)?;
        let port = self.properties.get_long("beanshell.server.port", 0);
        if let Ok(port @ 1..) = i32::try_from(port) {
            let file = self.properties.get("beanshell.server.file");
            machine.start_shell(port, file.as_deref().unwrap_or_default())?;
        }
        self.exit_request().map_or(Ok(()), |why| Err(why.into()))
    }

    fn call(&self, visit: &mut Visit<'_>, call: JavaCall) -> Result<i64, Raised> {
        let ready = self.ready(visit, call)?;
        let (outcome, has_waited) = current::during(visit, Some(&ready.user.line), || ready.run());
        visit.has_waited = has_waited;
        let delay = outcome?;
        visit.thrown.take().map_or(Ok(delay), Err)
    }

    fn call_apart<'v>(&'v self, visit: &'v mut Visit<'_>, call: JavaCall) -> Apart<'v> {
        Box::pin(async move {
            let ready = self.ready(visit, call)?;
            let (user, habit) = (ready.user.clone(), ready.habit.clone());
            apart(visit, user, habit, move || ready.run()).await
        })
    }

    fn interrupter(&self, visit: &mut Visit<'_>) -> Option<Interrupter> {
        let CurrentUser { machine, user, .. } = self.place(visit).ok()?;
        Some(Box::new(move || {
            let user = user.clone();
            // A sampler may wait for its server until it has been interrupted.
            let queued = pool::run(move || {
                if let Err(why) = machine.interrupt_sample(&user.user) {
                    tracing::warn!("cannot interrupt a sample: {why}");
                }
            });
            if let Err(error) = queued {
                tracing::warn!("cannot interrupt a sample: {error}");
            }
        }))
    }

    fn run_group<'v>(&'v self, visit: &'v mut Visit<'_>, number: usize) -> Apart<'v> {
        Box::pin(async move {
            let CurrentUser { machine, user, .. } = self.place(visit)?;
            let Some(group) = visit.group() else {
                let why = "the call belongs to no thread group".to_owned();
                return Err(Raised::exception(why));
            };
            let engine = user.clone();
            let run = move || (run_group(machine, group, &engine, number), true);
            apart(visit, user, None, run).await
        })
    }

    fn stop_group(&self, group: usize, now: bool) {
        let Some(Ok(machine)) = self.machine.get() else {
            return;
        };
        let machine: &'static Machine = machine;
        let queued = pool::run(move || {
            if let Err(why) = machine.stop_group(group, now) {
                tracing::error!("cannot tell a thread group to stop: {why}");
            }
        });
        if let Err(error) = queued {
            tracing::error!("cannot tell a thread group to stop: {error}");
        }
    }

    fn drive(&self, visit: &mut Visit<'_>, element: u32, ask: Ask) -> Result<i32, Raised> {
        let CurrentUser { machine, user, .. } = self.place(visit)?;
        let (question, argument) = below::number(ask);
        let answer = current::during(visit, Some(&user.line), || {
            machine.drive(&user.user, element, question, argument)
        })?;
        visit.thrown.take().map_or(Ok(answer), Err)
    }

    fn script(&self, visit: &mut Visit<'_>, script: &ScriptCall<'_>) -> Result<String, Raised> {
        let CurrentUser { machine, user, .. } = self.place(visit)?;
        let sees_results = script.language == ScriptLanguage::Function
            || drumfire_engine::java::text_sees(script.text);
        let value = current::during(visit, Some(&user.line), || {
            let _calling = exit::calling(Caller::Function);
            machine.script(
                &user.user,
                language(script.language),
                script.instance,
                script.text,
                sees_results,
            )
        })?;
        visit.thrown.take().map_or(Ok(value), Err)
    }

    fn answer_by_ticket(&self, ask: &TicketAsk) -> Result<String, JavaFailure> {
        let Some(Ok(machine)) = self.machine.get() else {
            return Err("Java is not running".into());
        };
        machine.answer_by_ticket(ask)
    }

    fn forget_login(&self, login: u64) {
        if let Some(Ok(machine)) = self.machine.get()
            && let Err(why) = machine.forget_login(login)
        {
            tracing::warn!("Java keeps the tickets of a user that has ended: {why}");
        }
    }

    fn collect_garbage(&self) {
        let Some(Ok(machine)) = self.machine.get() else {
            return;
        };
        let before = self.garbage_ms();
        if let Err(why) = machine.collect_garbage() {
            tracing::warn!("Java did not collect its garbage: {why}");
        }
        let taken = self.garbage_ms().saturating_sub(before);
        self.garbage_asked_for.fetch_add(taken, Ordering::Relaxed);
    }

    fn garbage_time(&self) -> Duration {
        let asked_for = self.garbage_asked_for.load(Ordering::Relaxed);
        Duration::from_millis(self.garbage_ms().saturating_sub(asked_for))
    }

    fn run_ended(&self) {
        let (Some(Ok((java, jmeter))), true) = (
            self.found.get(),
            self.archive_wanted
                .get()
                .is_some_and(|file| archive::is_wanted(file)),
        ) else {
            return;
        };
        let mut named = vec![
            (find::HOME, java.home.as_path()),
            (jars::HOME, jmeter.home.as_path()),
        ];
        let authorities = self.properties.get_trimmed(repositories::AUTHORITIES);
        if let Some(file) = authorities.as_deref().filter(|file| !file.is_empty()) {
            named.push((repositories::AUTHORITIES, Path::new(file)));
        }
        match (self.install_later)(&named) {
            Ok(()) => self.jar_access().line(
                "preparing Java's classes in the background, so that Java starts faster from now on",
            ),
            Err(error) => tracing::warn!("cannot prepare Java's classes: {error}"),
        }
    }

    fn break_off(&self, by_force: bool) {
        if crash::crashed().is_none()
            && let Some(Ok(machine)) = self.machine.get()
        {
            machine.break_off(by_force);
        }
    }

    fn take_lost(&self) -> Vec<String> {
        natives::take_lost()
    }

    fn exit_request(&self) -> Option<String> {
        let asked = exit::asked()?;
        let by = match asked.by {
            Some(caller) => self.name_of(caller, asked.sampler.as_deref()),
            None => "a thread of a script".to_owned(),
        };
        let status = asked.status;
        Some(format!("`System.exit({status})` in {by} ended the run"))
    }

    fn crash(&self) -> Option<String> {
        let by = self.name_of(crash::crashed()?, None);
        Some(format!(
            "native code that {by} called has crashed and ended the run; see `hs_err_pid{}.log`",
            std::process::id()
        ))
    }
}

impl Jvm {
    /// The name of code for messages; `sampler` is the current one.
    fn name_of(&self, caller: Caller, sampler: Option<&str>) -> String {
        let plan = self.plan.get().and_then(|plan| plan.as_ref().ok());
        match (caller, plan, sampler) {
            (Caller::Element(number), Some(plan), _) => plan.names[number as usize].clone(),
            (_, _, Some(sampler)) => format!("a function of '{sampler}'"),
            (_, _, None) => "a function".to_owned(),
        }
    }
}

/// Ends the process with this code if native code has crashed, because the usual end would wait for Java for ever. Does nothing
/// otherwise.
pub fn leave_after_crash(code: u8) {
    crash::leave(code);
}

/// Whether a Java virtual machine runs in this process.
pub fn is_running() -> bool {
    machine::running().is_some()
}

/// Waits for threads that Java code has started and that would keep a Java process from ending, if Java is running.
pub fn await_threads() {
    if exit::asked().is_none()
        && crash::crashed().is_none()
        && let Some(machine) = machine::running()
        && let Err(why) = machine.await_threads()
    {
        tracing::warn!("cannot wait for threads of scripts: {why}");
    }
}

/// A script of a JSR223 element is Groovy unless it says otherwise.
fn is_groovy(source: &JavaSource) -> bool {
    let language = source.element.props.str("scriptLanguage");
    source.class.starts_with("JSR223")
        && (language.is_empty() || language.eq_ignore_ascii_case("groovy"))
}

/// The traits that `Classes.java` reports for a class.
fn traits(bits: u32) -> ClassRoles {
    let has = |bit: u32| bits & (1 << bit) != 0;
    ClassRoles {
        sampler: has(0),
        config: has(1),
        pre: has(2),
        post: has(3),
        assertion: has(4),
        timer: has(5),
        listener: has(6),
        controller: has(7),
        thread_group: has(8),
        result_collector: has(9),
        iterations: has(10),
        iterating: has(11),
        backend_client: has(12),
        walks_itself: has(13),
    }
}

/// The roles as `Bridge.java` numbers them.
fn role(role: JavaRole) -> i32 {
    match role {
        JavaRole::PreProcessor => 0,
        JavaRole::Sampler => 1,
        JavaRole::PostProcessor => 2,
        JavaRole::Assertion => 3,
        JavaRole::Timer => 4,
        JavaRole::Listener => 5,
    }
}

/// The languages as `Functions.java` numbers them.
fn language(language: ScriptLanguage) -> i32 {
    match language {
        ScriptLanguage::Groovy => 0,
        ScriptLanguage::BeanShell => 1,
        ScriptLanguage::JavaScript => 2,
        ScriptLanguage::Jexl2 => 3,
        ScriptLanguage::Jexl3 => 4,
        ScriptLanguage::Condition => 5,
        ScriptLanguage::Function => 6,
    }
}

/// The folder for files that can be made again (`XDG_CACHE_HOME`, or else `~/.cache`).
fn cache_folder() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("drumfire")
}

/// FNV-1a, which distinguishes the jars of different builds.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
