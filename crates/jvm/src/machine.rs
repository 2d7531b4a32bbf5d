//! The Java virtual machine of this process. It starts once and lives as long as the process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use drumfire_engine::java::{JavaEvent, JavaFailure, TicketAsk, Visit};
use drumfire_expr::{Properties, Raised};
use drumfire_jmx::Element;
use drumfire_platform::causes::cause;
use jni::errors::Result as JniResult;
use jni::objects::{JBooleanArray, JClass, JIntArray, JObject, JStaticMethodID, JString, JValue};
use jni::refs::Global;
use jni::signature::{Primitive, ReturnType};
use jni::sys::jvalue;
use jni::vm::InitArgsBuilder;
use jni::{Env, JNIVersion, JavaVM, jni_sig, jni_str};

use crate::archive::join;
use crate::find::Installation;
use crate::{compiler, crash};
use crate::{element, exit, force, natives, seats, text, xml};

/// Options for the virtual machine, separated by blanks; they come after the bridge's own.
const OPTIONS: &str = "drumfire.jvm.options";
/// The size of the young generation, unless the user sizes the heap. Scripts' objects become garbage at once, and a small young
/// generation keeps collections short and saves page faults (5 % of the CPU of a script that reads and writes a variable,
/// compared with 1.5 GB). Everything that Groovy allocates until its first script is done fits in; with half the size that took
/// two collections of 60 ms.
const NEW_OBJECTS: &str = "-Xmn64m";
/// The serial collector has the least machinery, which suits few threads at a time and short pauses. The packages are those that
/// JMeter's start script opens to scripts.
pub const OWN_OPTIONS: [&str; 10] = [
    "-Xrs",
    "-XX:-UsePerfData",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.text=ALL-UNNAMED",
];

pub struct Machine {
    vm: JavaVM,
    bridge: Global<JClass<'static>>,
    lifecycle: Global<JClass<'static>>,
    call: JStaticMethodID,
    script: JStaticMethodID,
}

/// A user or a thread group on the Java side.
pub type Handle = Global<JObject<'static>>;

static MACHINE: OnceLock<Machine> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());

/// The virtual machine, if it was started.
pub fn running() -> Option<&'static Machine> {
    MACHINE.get()
}

/// The virtual machine, which is started unless it is running.
///
/// # Errors
/// The message of the virtual machine or of the bridge's classes.
pub fn start(
    java: &Installation,
    classpath: &[PathBuf],
    archive: Option<&Path>,
    properties: &Properties,
) -> Result<&'static Machine, JavaFailure> {
    let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(machine) = MACHINE.get() {
        return Ok(machine);
    }
    let mut options = options(&users_options(properties));
    tracing::info!("Java {} with {}", java.library.display(), options.join(" "));
    if let Some(archive) = archive {
        options.push(format!("-XX:SharedArchiveFile={}", archive.display()));
        // Java need not warn that the class path has changed since.
        options.push("-Xlog:cds=off".to_owned());
        options.push("-Xlog:class+path=off".to_owned());
    }
    // `exit.rs` replaces a native method of Java's own, about which Java would warn.
    options.push("-Xlog:jni+resolve=off".to_owned());
    options.push(format!("-Djava.class.path={}", join(classpath)));
    let library = java.library.clone();
    // The machine makes the thread that creates it its main thread, with its stack and signal mask.
    let started = std::thread::Builder::new()
        .name("jvm".to_owned())
        .spawn(move || create(&options, &library))
        .map_err(|error| error.to_string())?
        .join()
        .map_err(|_| "cannot start the virtual machine".to_owned())??;
    Ok(MACHINE.get_or_init(|| started))
}

/// Options from the environment and from properties. Where they differ, Java uses the last one.
fn users_options(properties: &Properties) -> String {
    // The virtual machine reads one of the variables itself.
    let around = drumfire_java::jvm::options(|name: &str| {
        Some(name)
            .filter(|name| *name != "JAVA_TOOL_OPTIONS")
            .and_then(|name| std::env::var(name).ok())
    });
    let of_properties = properties.get(OPTIONS).map(|text| text.to_string());
    [Some(around), of_properties]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The bridge's options and the user's. There can be only one collector: the user's last one.
fn options(users: &str) -> Vec<String> {
    let users = one_word_each(users);
    let is_collector = |option: &str| option.starts_with("-XX:+Use") && option.ends_with("GC");
    let last = users.iter().rposition(|option| is_collector(option));
    let bridge_options = OWN_OPTIONS.into_iter().map(str::to_owned);
    let bridge_options = bridge_options.filter(|option| last.is_none() || !is_collector(option));
    let sizes = ["-Xm", "-XX:NewSize", "-XX:MaxNewSize", "-XX:NewRatio"];
    let is_sized = |option: &String| sizes.iter().any(|size| option.starts_with(size));
    let room = (!users.iter().any(is_sized)).then(|| NEW_OBJECTS.to_owned());
    let bridge_options = bridge_options.chain(room);
    let users = users.iter().enumerate();
    let users = users.filter(|(place, option)| Some(*place) == last || !is_collector(option));
    bridge_options
        .chain(users.map(|(_, option)| option.clone()))
        .collect()
}

/// `java` accepts `--add-opens x=y` as two words, the virtual machine itself as one.
fn one_word_each(options: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in options.split_whitespace() {
        match words.last_mut() {
            Some(last) if last.starts_with("--") && !last.contains('=') => {
                last.push('=');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn create(options: &[String], library: &Path) -> Result<Machine, JavaFailure> {
    if let Err(error) = crash::catch() {
        tracing::warn!(
            "a crash of native code would end the process: {}",
            cause(&error)
        );
    }
    let mut args = InitArgsBuilder::new().version(JNIVersion::V1_8);
    for option in options {
        args = args.option(option.as_str());
    }
    let args = args.build().map_err(|error| error.to_string())?;
    let vm = JavaVM::with_libjvm(args, || Ok(library.to_path_buf()))
        .map_err(|error| format!("{}: {error}", library.display()))?;
    compiler::stand_back(compiler::START);
    vm.attach_current_thread(|env| bind(env, vm.clone()))
        .map_err(|error| format!("the bridge's classes: {error}").into())
}

fn bind(env: &mut Env<'_>, vm: JavaVM) -> JniResult<Machine> {
    let natives_class = env.find_class(jni_str!("dev/drumfire/jvm/Natives"))?;
    natives::register(env, &natives_class)?;
    exit::catch(env)?;
    let class = env.find_class(jni_str!("dev/drumfire/jvm/Bridge"))?;
    let lifecycle = env.find_class(jni_str!("dev/drumfire/jvm/Lifecycle"))?;
    let call = env.get_static_method_id(
        &class,
        jni_str!("call"),
        jni_sig!("(Ldev/drumfire/jvm/User;IIZI)J"),
    )?;
    let script = env.get_static_method_id(
        &class,
        jni_str!("script"),
        jni_sig!("(Ldev/drumfire/jvm/User;IILjava/lang/String;Z)Ljava/lang/String;"),
    )?;
    Ok(Machine {
        vm,
        bridge: env.new_global_ref(&class)?,
        lifecycle: env.new_global_ref(&lifecycle)?,
        call,
        script,
    })
}

/// The events that an element listens to, as `Lifecycle.java` numbers them.
#[derive(Clone, Copy, Debug)]
pub struct ListensTo(u32);

impl ListensTo {
    /// Whether it has to be notified of the event.
    pub fn hears(self, event: JavaEvent) -> bool {
        let bit = match event {
            JavaEvent::ThreadStarted | JavaEvent::ThreadFinished => 2,
            JavaEvent::ThreadIteration(_) => 4,
            JavaEvent::LoopIteration(_) => 8,
        };
        self.0 & bit != 0
    }

    /// Whether it has to be notified of the test's start and end.
    pub fn hears_test(self) -> bool {
        self.0 & 1 != 0
    }
}

fn ints<'l>(env: &mut Env<'l>, numbers: &[u32]) -> JniResult<JIntArray<'l>> {
    let numbers: Vec<i32> = numbers.iter().map(|number| *number as i32).collect();
    let array = env.new_int_array(numbers.len())?;
    array.set_region(env, 0, &numbers)?;
    Ok(array)
}

impl Machine {
    fn attached<R>(
        &self,
        run: impl FnOnce(&mut Env<'_>) -> JniResult<R>,
    ) -> Result<R, JavaFailure> {
        if crash::crashed().is_some() {
            return Err("Java has crashed".into());
        }
        // Java knows the bounds of its thread's stack, so it has to run on that stack.
        drumfire_fiber::outside(|| self.vm.attach_current_thread(run))
            .map_err(|error| error.to_string().into())
    }

    /// Prepares JMeter's classes. `system` and `levels` alternate names and values, of system properties and of log levels. If
    /// Groovy is expected, it is loaded concurrently from now on.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn begin(
        &self,
        home: &Path,
        plan: &Path,
        system: &[&str],
        levels: &[&str],
        is_groovy_expected: bool,
    ) -> Result<(), JavaFailure> {
        self.attached(|env| {
            let home = env.new_string(home.to_string_lossy())?;
            let plan = env.new_string(plan.to_string_lossy())?;
            let system = natives::texts_of(env, system)?;
            let levels = natives::texts_of(env, levels)?;
            env.call_static_method(
                &self.bridge,
                jni_str!("start"),
                jni_sig!(
                    "(Ljava/lang/String;Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/String;Z)V"
                ),
                &[
                    JValue::Object(&home),
                    JValue::Object(&plan),
                    JValue::Object(&system),
                    JValue::Object(&levels),
                    JValue::Bool(is_groovy_expected),
                ],
            )?;
            Ok(())
        })
    }

    /// Loads the plan's next element, with the numbers of those that are merged into it; returns what it listens to.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn add_element(
        &self,
        element: &Element,
        configs: &[u32],
    ) -> Result<ListensTo, JavaFailure> {
        let written = element::write(element);
        let is_xml = written.is_none();
        let bytes = written.unwrap_or_else(|| xml::write(element).into_bytes());
        self.attached(|env| {
            let bytes = env.byte_array_from_slice(&bytes)?;
            let configs = ints(env, configs)?;
            let listens_to = env.call_static_method(
                &self.bridge,
                jni_str!("addElement"),
                jni_sig!("([BZ[I)I"),
                &[
                    JValue::Object(&bytes),
                    JValue::Bool(is_xml),
                    JValue::Object(&configs),
                ],
            )?;
            Ok(ListensTo(listens_to.i()? as u32))
        })
    }

    /// The kind of a class, as `Classes.java` numbers it; `None` if there is no such class.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn classify(&self, class: &str) -> Result<Option<u32>, JavaFailure> {
        self.attached(|env| {
            let classes = env.find_class(jni_str!("dev/drumfire/jvm/Classes"))?;
            let class = env.new_string(class)?;
            let bits = env.call_static_method(
                &classes,
                jni_str!("classify"),
                jni_sig!("(Ljava/lang/String;)I"),
                &[JValue::Object(&class)],
            )?;
            Ok(u32::try_from(bits.i()?).ok())
        })
    }

    /// Those of these functions that are on the class path.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn known_functions(&self, names: &[&str]) -> Result<Vec<String>, JavaFailure> {
        self.attached(|env| {
            let functions = env.find_class(jni_str!("dev/drumfire/jvm/Functions"))?;
            let asked = natives::texts_of(env, names)?;
            let answer = env.call_static_method(
                &functions,
                jni_str!("known"),
                jni_sig!("([Ljava/lang/String;)[Z"),
                &[JValue::Object(&asked)],
            )?;
            let answer = env.cast_local::<JBooleanArray>(answer.l()?)?;
            let mut flags = vec![false; names.len()];
            answer.get_region(env, 0, &mut flags)?;
            let named = names.iter().zip(flags).filter(|(_, is_known)| *is_known);
            Ok(named.map(|(name, _)| (*name).to_owned()).collect())
        })
    }

    /// Notifies the plan's elements of the test's start; returns what went wrong.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn test_started(&self, group: &Handle) -> Result<Option<String>, JavaFailure> {
        self.attached(|env| {
            let problem = env
                .call_static_method(
                    &self.lifecycle,
                    jni_str!("testStarted"),
                    jni_sig!("(Ldev/drumfire/jvm/Group;)Ljava/lang/String;"),
                    &[JValue::Object(group)],
                )?
                .l()?;
            if problem.is_null() {
                return Ok(None);
            }
            env.cast_local::<JString>(problem)?
                .try_to_string(env)
                .map(Some)
        })
    }

    /// Notifies the plan's elements of the test's end.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn test_ended(&self) -> Result<(), JavaFailure> {
        self.attached(|env| {
            env.call_static_method(&self.lifecycle, jni_str!("testEnded"), jni_sig!("()V"), &[])?;
            Ok(())
        })
    }

    /// The value of the header that answers a challenge by Kerberos.
    ///
    /// # Errors
    /// Java's exception.
    pub fn answer_by_ticket(&self, ask: &TicketAsk) -> Result<String, JavaFailure> {
        self.attached(|env| {
            let tickets = env.find_class(jni_str!("dev/drumfire/jvm/Tickets"))?;
            let user = env.new_string(&ask.user)?;
            let password = env.new_string(&ask.password)?;
            let address = env.new_string(&ask.address)?;
            let challenge = env.new_string(&ask.challenge)?;
            let answer = env.call_static_method(
                &tickets,
                jni_str!("answer"),
                jni_sig!(
                    "(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;"
                ),
                &[
                    JValue::Long(ask.login.cast_signed()),
                    JValue::Object(&user),
                    JValue::Object(&password),
                    JValue::Object(&address),
                    JValue::Object(&challenge),
                ],
            )?;
            let answer = env.cast_local::<JString>(answer.l()?)?;
            answer.try_to_string(env)
        })
    }

    /// Drops the tickets of a login.
    ///
    /// # Errors
    /// Java's exception.
    pub fn forget_login(&self, login: u64) -> Result<(), JavaFailure> {
        self.attached(|env| {
            let tickets = env.find_class(jni_str!("dev/drumfire/jvm/Tickets"))?;
            let login = JValue::Long(login.cast_signed());
            env.call_static_method(&tickets, jni_str!("forget"), jni_sig!("(J)V"), &[login])?;
            Ok(())
        })
    }

    /// `System.gc()`.
    ///
    /// # Errors
    /// Java's exception.
    pub fn collect_garbage(&self) -> Result<(), JavaFailure> {
        self.attached(|env| {
            env.call_static_method(
                jni_str!("java/lang/System"),
                jni_str!("gc"),
                jni_sig!("()V"),
                &[],
            )?;
            Ok(())
        })
    }

    /// Notifies elements of an event of a user.
    ///
    /// # Errors
    /// The exception of an element, if JMeter does not catch it.
    pub fn happens(
        &self,
        user: &Handle,
        event: JavaEvent,
        elements: &[u32],
    ) -> Result<(), JavaFailure> {
        let (event, iteration) = match event {
            JavaEvent::ThreadStarted => (0, 0),
            JavaEvent::ThreadFinished => (1, 0),
            JavaEvent::ThreadIteration(iteration) => (2, iteration as i32),
            JavaEvent::LoopIteration(iteration) => (3, iteration),
        };
        self.attached(|env| {
            let elements = ints(env, elements)?;
            env.call_static_method(
                &self.lifecycle,
                jni_str!("happens"),
                jni_sig!("(Ldev/drumfire/jvm/User;I[II)V"),
                &[
                    JValue::Object(user),
                    JValue::Int(event),
                    JValue::Object(&elements),
                    JValue::Int(iteration),
                ],
            )?;
            Ok(())
        })
    }

    /// A thread group by its index in the program. `element` is the plan's element, if its class is JMeter's own; `java` is the
    /// index of its object among the plan's elements, if that object starts its users.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn group(
        &self,
        name: &str,
        number: usize,
        element: Option<&[u8]>,
        java: Option<u32>,
    ) -> Result<Handle, JavaFailure> {
        self.attached(|env| {
            let name = env.new_string(name)?;
            let element = env.byte_array_from_slice(element.unwrap_or_default())?;
            let group = env.call_static_method(
                &self.bridge,
                jni_str!("group"),
                jni_sig!("(Ljava/lang/String;I[BI)Ldev/drumfire/jvm/Group;"),
                &[
                    JValue::Object(&name),
                    JValue::Int(number as i32),
                    JValue::Object(&element),
                    JValue::Int(java.map(|java| java as i32).unwrap_or(-1)),
                ],
            )?;
            env.new_global_ref(group.l()?)
        })
    }

    /// Lets the object of a thread group start its users, and waits for their end. `engine` is the user as which it runs,
    /// `number` the group's number in its phase.
    ///
    /// # Errors
    /// The exception that the object threw.
    pub fn run_group(
        &self,
        engine: &Handle,
        group: usize,
        number: usize,
    ) -> Result<(), JavaFailure> {
        self.attached(|env| {
            env.call_static_method(
                &self.bridge,
                jni_str!("runGroup"),
                jni_sig!("(Ldev/drumfire/jvm/User;II)V"),
                &[
                    JValue::Object(engine),
                    JValue::Int(group as i32),
                    JValue::Int(number as i32),
                ],
            )?;
            Ok(())
        })
    }

    /// Starts a BeanShell server, which first runs a script.
    ///
    /// # Errors
    /// Why it cannot listen on the port after this one.
    pub fn start_shell(&self, port: i32, file: &str) -> Result<(), JavaFailure> {
        self.attached(|env| {
            let file = env.new_string(file)?;
            env.call_static_method(
                &self.bridge,
                jni_str!("startShell"),
                jni_sig!("(ILjava/lang/String;)V"),
                &[JValue::Int(port), JValue::Object(&file)],
            )?;
            Ok(())
        })
    }

    /// Notifies the object of a thread group that the run stops.
    ///
    /// # Errors
    /// The exception that the object threw.
    pub fn stop_group(&self, group: usize, now: bool) -> Result<(), JavaFailure> {
        self.attached(|env| {
            env.call_static_method(
                &self.bridge,
                jni_str!("stopGroup"),
                jni_sig!("(IZ)V"),
                &[JValue::Int(group as i32), JValue::Bool(now)],
            )?;
            Ok(())
        })
    }

    /// A user of a thread group, or of none.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn user(
        &self,
        group: Option<&Handle>,
        visit: &Visit<'_>,
        line: u64,
    ) -> Result<Handle, JavaFailure> {
        self.attached(|env| {
            let thread_name = env.new_string(visit.thread_name())?;
            let none = JObject::null();
            let user = env.call_static_method(
                &self.bridge,
                jni_str!("user"),
                jni_sig!("(Ldev/drumfire/jvm/Group;Ljava/lang/String;IJJ)Ldev/drumfire/jvm/User;"),
                &[
                    JValue::Object(group.map(|group| group.as_ref()).unwrap_or(&none)),
                    JValue::Object(&thread_name),
                    JValue::Int(visit.thread_number() as i32),
                    JValue::Long(line as i64),
                    JValue::Long(visit.end_ms().unwrap_or(0)),
                ],
            )?;
            env.new_global_ref(user.l()?)
        })
    }

    /// Runs an element for a user. An exception of the element goes to the current visit.
    ///
    /// # Errors
    /// A failure of the bridge itself.
    pub fn call(
        &self,
        user: &Handle,
        element: u32,
        role: i32,
        wants_result: bool,
        sample: u32,
    ) -> Result<i64, Raised> {
        let args = [
            jvalue { l: user.as_raw() },
            jvalue { i: element as i32 },
            jvalue { i: role },
            jvalue { z: wants_result },
            jvalue { i: sample as i32 },
        ];
        self.busy(|env| {
            // SAFETY: the method is Bridge.call, which takes a User, two ints, a boolean and an int, and returns a long.
            let delay = unsafe {
                env.call_static_method_unchecked(
                    &self.bridge,
                    self.call,
                    ReturnType::Primitive(Primitive::Long),
                    &args,
                )
            }?;
            delay.j()
        })
    }

    /// Asks a controller; returns its answer. An exception of the controller goes to the current visit.
    ///
    /// # Errors
    /// A failure of the bridge itself.
    pub fn drive(
        &self,
        user: &Handle,
        element: u32,
        question: i32,
        argument: i32,
    ) -> Result<i32, Raised> {
        self.busy(|env| {
            let answer = env.call_static_method(
                &self.bridge,
                jni_str!("drive"),
                jni_sig!("(Ldev/drumfire/jvm/User;III)I"),
                &[
                    JValue::Object(user),
                    JValue::Int(element as i32),
                    JValue::Int(question),
                    JValue::Int(argument),
                ],
            )?;
            answer.i()
        })
    }

    /// Runs the script of a function for a user, and returns its text.
    ///
    /// # Errors
    /// A failure of the bridge itself.
    pub fn script(
        &self,
        user: &Handle,
        language: i32,
        instance: u32,
        text: &str,
        sees_results: bool,
    ) -> Result<String, Raised> {
        self.busy(|env| {
            let text = text::write(env, text)?;
            let args = [
                jvalue { l: user.as_raw() },
                jvalue { i: language },
                jvalue { i: instance as i32 },
                jvalue { l: text.as_raw() },
                jvalue { z: sees_results },
            ];
            // SAFETY: the method is Bridge.script, which takes a User, two ints, a String and a boolean, and returns a String.
            let value = unsafe {
                env.call_static_method_unchecked(
                    &self.bridge,
                    self.script,
                    ReturnType::Object,
                    &args,
                )
            }?;
            let value = env.cast_local::<JString>(value.l()?)?;
            Ok(text::read(env, &value)?.unwrap_or_default())
        })
    }

    /// Runs the plan's code, with this thread marked as busy.
    fn busy<R>(&self, run: impl FnOnce(&mut Env<'_>) -> JniResult<R>) -> Result<R, Raised> {
        self.attached(|env| {
            let seat = seats::own(|| current_thread(env))?;
            let _busy = seat.busy();
            run(env)
        })
        .map_err(Raised::exception)
    }

    /// Waits for all threads for which Java's own exit would wait.
    ///
    /// # Errors
    /// The exception that the bridge threw.
    pub fn await_threads(&self) -> Result<(), JavaFailure> {
        self.attached(|env| {
            env.call_static_method(&self.bridge, jni_str!("awaitThreads"), jni_sig!("()V"), &[])?;
            Ok(())
        })
    }

    /// How long garbage collection took so far, as the collectors report it.
    ///
    /// # Errors
    /// The bridge's exception.
    pub fn garbage_ms(&self) -> Result<i64, JavaFailure> {
        self.attached(|env| {
            let millis = env.call_static_method(
                &self.bridge,
                jni_str!("garbageMillis"),
                jni_sig!("()J"),
                &[],
            )?;
            millis.j()
        })
    }

    /// Interrupts the sample of a user, if its sampler can be interrupted.
    ///
    /// # Errors
    /// The exception that the sampler threw.
    pub fn interrupt_sample(&self, user: &Handle) -> Result<(), JavaFailure> {
        self.attached(|env| {
            env.call_static_method(
                &self.bridge,
                jni_str!("interruptSample"),
                jni_sig!("(Ldev/drumfire/jvm/User;)V"),
                &[JValue::Object(user)],
            )?;
            Ok(())
        })
    }

    /// Interrupts the running calls or, with `by_force`, makes them throw an error.
    pub fn break_off(&self, by_force: bool) {
        let outcome = self.attached(|env| {
            if !by_force {
                env.call_static_method(
                    &self.bridge,
                    jni_str!("interruptSamples"),
                    jni_sig!("()V"),
                    &[],
                )?;
            }
            for seat in seats::all_busy() {
                if by_force {
                    force::throw_in(&self.vm, env, seat.thread())?;
                } else {
                    env.call_method(seat.thread(), jni_str!("interrupt"), jni_sig!("()V"), &[])?;
                }
            }
            Ok(())
        });
        if let Err(why) = outcome {
            tracing::warn!("cannot abort scripts: {why}");
        }
    }
}

fn current_thread(env: &mut Env<'_>) -> JniResult<Handle> {
    let thread = env.call_static_method(
        jni_str!("java/lang/Thread"),
        jni_str!("currentThread"),
        jni_sig!("()Ljava/lang/Thread;"),
        &[],
    )?;
    env.new_global_ref(thread.l()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_collector_takes_the_place_of_the_own_one() {
        let serial = "-XX:+UseSerialGC".to_owned();
        assert!(options("-Xmx1g").contains(&serial));
        assert!(options("-Da=b").contains(&NEW_OBJECTS.to_owned()));
        assert!(!options("-Xmx1g").contains(&NEW_OBJECTS.to_owned()));
        let own = options("-Xmx1g  -XX:+UseZGC");
        assert!(!own.contains(&serial));
        assert_eq!(own[own.len() - 2..], ["-Xmx1g", "-XX:+UseZGC"]);
        let last = options("-XX:+UseG1GC -XX:MaxGCPauseMillis=100 -XX:+UseParallelGC");
        assert!(!last.contains(&"-XX:+UseG1GC".to_owned()));
        assert_eq!(last[last.len() - 1], "-XX:+UseParallelGC");
    }

    #[test]
    fn options_of_two_words_become_one() {
        let words =
            one_word_each("--add-opens java.base/sun.net=ALL-UNNAMED -Xmx1g --enable-preview=x");
        let expected = [
            "--add-opens=java.base/sun.net=ALL-UNNAMED",
            "-Xmx1g",
            "--enable-preview=x",
        ];
        assert_eq!(words, expected);
    }
}
