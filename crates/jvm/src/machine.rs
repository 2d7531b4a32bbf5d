//! The Java virtual machine of this process: it is started once and lives as long as the process does.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use drumfire_expr::{Properties, Raised};
use jni::errors::Result;
use jni::objects::{JClass, JObject, JStaticMethodID, JString, JValue};
use jni::refs::Global;
use jni::signature::{Primitive, ReturnType};
use jni::sys::jvalue;
use jni::vm::InitArgsBuilder;
use jni::{Env, JNIVersion, JavaVM, jni_sig, jni_str};

use crate::find::Installation;
use crate::{force, natives, seats};

/// Options for the virtual machine, separated by blanks; they come after the bridge's own.
const OPTIONS: &str = "drumfire.jvm.options";
/// Few threads run Java at a time, and pauses should be short: the collector with the least machinery.
const OWN_OPTIONS: [&str; 5] = [
    "-Xrs",
    "-XX:-UsePerfData",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
];

pub struct Machine {
    vm: JavaVM,
    bridge: Global<JClass<'static>>,
    call: JStaticMethodID,
    script: JStaticMethodID,
}

/// A user or a thread group on the Java side.
pub type Handle = Global<JObject<'static>>;

static MACHINE: OnceLock<Machine> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());

/// The virtual machine, started if it was not.
///
/// # Errors
/// What the virtual machine or the bridge's classes say.
pub fn start(
    java: &Installation,
    classpath: &[PathBuf],
    properties: &Properties,
) -> std::result::Result<&'static Machine, String> {
    let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(machine) = MACHINE.get() {
        return Ok(machine);
    }
    let mut options = options(&properties.get(OPTIONS).unwrap_or_default());
    tracing::info!("Java {} with {}", java.library.display(), options.join(" "));
    let jars: Vec<_> = classpath.iter().map(|jar| jar.to_string_lossy()).collect();
    options.push(format!("-Djava.class.path={}", jars.join(":")));
    let library = java.library.clone();
    // The machine takes the thread that creates it for its main thread, with its stack and signal mask.
    let started = std::thread::Builder::new()
        .name("jvm".to_owned())
        .spawn(move || create(&options, &library))
        .map_err(|error| error.to_string())?
        .join()
        .map_err(|_| "the virtual machine could not be started".to_owned())??;
    Ok(MACHINE.get_or_init(|| started))
}

/// The bridge's options and the user's. There can be only one collector.
fn options(users: &str) -> Vec<String> {
    let is_collector = |option: &str| option.starts_with("-XX:+Use") && option.ends_with("GC");
    let has_collector = users.split_whitespace().any(is_collector);
    OWN_OPTIONS
        .into_iter()
        .filter(|option| !(has_collector && is_collector(option)))
        .chain(users.split_whitespace())
        .map(str::to_owned)
        .collect()
}

fn create(options: &[String], library: &Path) -> std::result::Result<Machine, String> {
    let mut args = InitArgsBuilder::new().version(JNIVersion::V1_8);
    for option in options {
        args = args.option(option.as_str());
    }
    let args = args.build().map_err(|error| error.to_string())?;
    let vm = JavaVM::with_libjvm(args, || Ok(library.to_path_buf()))
        .map_err(|error| format!("{}: {error}", library.display()))?;
    vm.attach_current_thread(|env| bind(env, vm.clone()))
        .map_err(|error| format!("the bridge's classes: {error}"))
}

fn bind(env: &mut Env<'_>, vm: JavaVM) -> Result<Machine> {
    let natives_class = env.find_class(jni_str!("dev/drumfire/jvm/Natives"))?;
    natives::register(env, &natives_class)?;
    let class = env.find_class(jni_str!("dev/drumfire/jvm/Bridge"))?;
    let call = env.get_static_method_id(
        &class,
        jni_str!("call"),
        jni_sig!("(Ldev/drumfire/jvm/User;IIZ)J"),
    )?;
    let script = env.get_static_method_id(
        &class,
        jni_str!("script"),
        jni_sig!("(Ldev/drumfire/jvm/User;IILjava/lang/String;Z)Ljava/lang/String;"),
    )?;
    Ok(Machine {
        vm,
        bridge: env.new_global_ref(&class)?,
        call,
        script,
    })
}

impl Machine {
    fn attached<R>(
        &self,
        run: impl FnOnce(&mut Env<'_>) -> Result<R>,
    ) -> std::result::Result<R, String> {
        self.vm
            .attach_current_thread(run)
            .map_err(|error| error.to_string())
    }

    /// Prepares JMeter's classes. Names and values of system properties and of log levels stand in turn.
    ///
    /// # Errors
    /// What the bridge threw.
    pub fn begin(
        &self,
        home: &Path,
        plan: &Path,
        system: &[&str],
        levels: &[&str],
    ) -> std::result::Result<(), String> {
        self.attached(|env| {
            let home = env.new_string(home.to_string_lossy())?;
            let plan = env.new_string(plan.to_string_lossy())?;
            let system = natives::texts_of(env, system)?;
            let levels = natives::texts_of(env, levels)?;
            env.call_static_method(
                &self.bridge,
                jni_str!("start"),
                jni_sig!(
                    "(Ljava/lang/String;Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/String;)V"
                ),
                &[
                    JValue::Object(&home),
                    JValue::Object(&plan),
                    JValue::Object(&system),
                    JValue::Object(&levels),
                ],
            )?;
            Ok(())
        })
    }

    /// Loads an element and gives its number.
    ///
    /// # Errors
    /// What the bridge threw.
    pub fn add_element(&self, xml: &str) -> std::result::Result<u32, String> {
        self.attached(|env| {
            let xml = env.byte_array_from_slice(xml.as_bytes())?;
            let number = env.call_static_method(
                &self.bridge,
                jni_str!("addElement"),
                jni_sig!("([B)I"),
                &[JValue::Object(&xml)],
            )?;
            Ok(number.i()? as u32)
        })
    }

    /// A thread group with its planned users.
    ///
    /// # Errors
    /// What the bridge threw.
    pub fn group(&self, name: &str, users: u32) -> std::result::Result<Handle, String> {
        self.attached(|env| {
            let name = env.new_string(name)?;
            let group = env.call_static_method(
                &self.bridge,
                jni_str!("group"),
                jni_sig!("(Ljava/lang/String;I)Ldev/drumfire/jvm/Group;"),
                &[JValue::Object(&name), JValue::Int(users as i32)],
            )?;
            env.new_global_ref(group.l()?)
        })
    }

    /// A user of a thread group, or of none.
    ///
    /// # Errors
    /// What the bridge threw.
    pub fn user(
        &self,
        group: Option<&Handle>,
        thread_name: &str,
        number: u32,
    ) -> std::result::Result<Handle, String> {
        self.attached(|env| {
            let thread_name = env.new_string(thread_name)?;
            let none = JObject::null();
            let group = group.map_or(&none, |group| group.as_ref());
            let user = env.call_static_method(
                &self.bridge,
                jni_str!("user"),
                jni_sig!("(Ldev/drumfire/jvm/Group;Ljava/lang/String;I)Ldev/drumfire/jvm/User;"),
                &[
                    JValue::Object(group),
                    JValue::Object(&thread_name),
                    JValue::Int(number as i32),
                ],
            )?;
            env.new_global_ref(user.l()?)
        })
    }

    /// Runs an element for a user. What the element throws goes to the visit at hand.
    ///
    /// # Errors
    /// What broke in the bridge itself.
    pub fn call(
        &self,
        user: &Handle,
        element: u32,
        role: i32,
        wants_result: bool,
    ) -> std::result::Result<i64, Raised> {
        let args = [
            jvalue { l: user.as_raw() },
            jvalue { i: element as i32 },
            jvalue { i: role },
            jvalue { z: wants_result },
        ];
        self.busy(|env| {
            // SAFETY: the method is Bridge.call, which takes a User, two ints and a boolean, and gives a long.
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

    /// Runs the script of a function for a user, and gives its text.
    ///
    /// # Errors
    /// What broke in the bridge itself.
    pub fn script(
        &self,
        user: &Handle,
        language: i32,
        instance: u32,
        text: &str,
        sees_results: bool,
    ) -> std::result::Result<String, Raised> {
        self.busy(|env| {
            let text = env.new_string(text)?;
            let args = [
                jvalue { l: user.as_raw() },
                jvalue { i: language },
                jvalue { i: instance as i32 },
                jvalue { l: text.as_raw() },
                jvalue { z: sees_results },
            ];
            // SAFETY: the method is Bridge.script, which takes a User, two ints, a String and a boolean, and gives a String.
            let value = unsafe {
                env.call_static_method_unchecked(
                    &self.bridge,
                    self.script,
                    ReturnType::Object,
                    &args,
                )
            }?;
            let value = value.l()?;
            if value.is_null() {
                return Ok(String::new());
            }
            env.cast_local::<JString>(value)?.try_to_string(env)
        })
    }

    /// Runs the plan's code.
    fn busy<R>(
        &self,
        run: impl FnOnce(&mut Env<'_>) -> Result<R>,
    ) -> std::result::Result<R, Raised> {
        self.attached(|env| {
            let seat = seats::own(|| current_thread(env))?;
            let _busy = seat.busy();
            run(env)
        })
        .map_err(Raised::Exception)
    }

    /// How long garbage was collected so far, by what the collectors say.
    ///
    /// # Errors
    /// What the bridge threw.
    pub fn garbage_ms(&self) -> std::result::Result<i64, String> {
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

    /// Interrupts what is running, or has it throw an error.
    pub fn break_off(&self, by_force: bool) {
        let outcome = self.attached(|env| {
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
            tracing::warn!("scripts cannot be broken off: {why}");
        }
    }
}

fn current_thread(env: &mut Env<'_>) -> Result<Handle> {
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
        let own = options("-Xmx1g  -XX:+UseZGC");
        assert!(!own.contains(&serial));
        assert_eq!(own[own.len() - 2..], ["-Xmx1g", "-XX:+UseZGC"]);
    }
}
