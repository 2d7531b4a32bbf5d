//! Runs JMeter's own Java classes inside the process, for scripts and for elements that have no native form. The only place
//! that knows of JNI.
//!
//! | file | what |
//! |---|---|
//! | `find.rs`, `jars.rs` | the Java and the JMeter on this machine |
//! | `machine.rs` | the virtual machine, and calls into it |
//! | `natives.rs` | calls out of it |
//! | `current.rs` | whose call is running on a thread |
//! | `wire.rs`, `result.rs`, `request.rs` | samples and requests as bytes |
//!
//! Java's half is in `java/`.

mod current;
mod find;
mod jars;
mod machine;
mod natives;
mod request;
mod result;
mod wire;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use drumfire_engine::java::{JavaCall, JavaHost, JavaRole, Visit};
use drumfire_engine::{Control, Program};
use drumfire_expr::{Properties, Raised, ScriptCall, ScriptLanguage};

use find::Installation;
use jars::JMeter;
use machine::{Handle, Machine};

/// The bridge's classes, built from `java/` by `cargo xtask java`.
const BRIDGE: &[u8] = include_bytes!("../assets/drumfire-bridge.jar");

/// The Java of one run.
pub struct Jvm {
    properties: Properties,
    found: OnceLock<Result<(Installation, JMeter), String>>,
    started: OnceLock<Started>,
}

struct Started {
    machine: &'static Machine,
    /// Numbers of the plan's elements in Java.
    elements: Vec<u32>,
    groups: Vec<Handle>,
}

impl Jvm {
    /// Looks for nothing yet.
    pub fn new(properties: Properties) -> Jvm {
        Jvm {
            properties,
            found: OnceLock::new(),
            started: OnceLock::new(),
        }
    }

    fn found(&self) -> Result<&(Installation, JMeter), String> {
        self.found
            .get_or_init(|| Ok((find::find(&self.properties)?, jars::find(&self.properties)?)))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// This user on the Java side, made at its first call.
    fn user(&self, started: &Started, visit: &mut Visit<'_>) -> Result<Arc<Handle>, Raised> {
        if let Some(user) = visit
            .state()
            .as_ref()
            .and_then(|state| state.downcast_ref::<Arc<Handle>>())
        {
            return Ok(user.clone());
        }
        let group = visit.group().0;
        let user = started
            .machine
            .user(
                &started.groups[group],
                visit.thread_name(),
                visit.thread_number(),
            )
            .map_err(Raised::Exception)?;
        let user = Arc::new(user);
        *visit.state() = Some(Box::new(user.clone()));
        Ok(user)
    }

    fn started(&self) -> Result<&Started, Raised> {
        self.started
            .get()
            .ok_or_else(|| Raised::Exception("Java was not started for this plan".to_owned()))
    }
}

impl JavaHost for Jvm {
    fn find(&self) -> Result<(), String> {
        self.found().map(|_| ())
    }

    fn start(&self, program: &Arc<Program>, control: &Control) -> Result<(), String> {
        let (java, jmeter) = self.found()?;
        let mut classpath = vec![bridge()?];
        classpath.extend(jmeter.classpath(&self.properties, &program.java.classpath));
        natives::begin(natives::Run {
            properties: self.properties.clone(),
            control: control.clone(),
        });
        let machine = machine::start(java, &classpath, &self.properties)?;
        let system = self.properties.system_snapshot();
        let system: Vec<&str> = system
            .iter()
            .flat_map(|(name, value)| [&**name, &**value])
            .collect();
        let plan = program.base_dir.join(&program.script);
        machine.begin(&jmeter.home, &plan, &system, &[])?;
        let mut elements = Vec::new();
        for source in &program.java.elements {
            let number = machine.add_element(&source.xml).map_err(|why| {
                format!("{} '{}' cannot be loaded: {why}", source.class, source.name)
            })?;
            elements.push(number);
        }
        let groups = program
            .groups
            .iter()
            .map(|group| machine.group(&group.name, group.shape.users()))
            .collect::<Result<_, _>>()?;
        let started = Started {
            machine,
            elements,
            groups,
        };
        self.started
            .set(started)
            .map_err(|_| "a plan's Java runs only once".to_owned())
    }

    fn call(&self, visit: &mut Visit<'_>, call: JavaCall) -> Result<i64, Raised> {
        let started = self.started()?;
        let user = self.user(started, visit)?;
        let element = started.elements[call.element as usize];
        visit.begin(call.role);
        let delay = current::during(visit, || {
            started
                .machine
                .call(&user, element, role(call.role), call.wants_result)
        })?;
        visit.thrown.take().map_or(Ok(delay), Err)
    }

    fn script(&self, visit: &mut Visit<'_>, script: &ScriptCall<'_>) -> Result<String, Raised> {
        let started = self.started()?;
        let user = self.user(started, visit)?;
        let sees_results = drumfire_engine::java::text_sees(script.text);
        let value = current::during(visit, || {
            started.machine.script(
                &user,
                language(script.language),
                script.instance,
                script.text,
                sees_results,
            )
        })?;
        visit.thrown.take().map_or(Ok(value), Err)
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
    }
}

/// Writes the bridge's jar where Java can read it, unless it is there.
fn bridge() -> Result<PathBuf, String> {
    let folder = cache_folder();
    let jar = folder.join(format!("bridge-{:016x}.jar", fingerprint(BRIDGE)));
    if jar
        .metadata()
        .is_ok_and(|found| found.len() == BRIDGE.len() as u64)
    {
        return Ok(jar);
    }
    let problem = |error: std::io::Error| format!("{}: {error}", jar.display());
    std::fs::create_dir_all(&folder).map_err(problem)?;
    // Another process may do the same: the name appears only with the whole content.
    let part = folder.join(format!("bridge-{}.part", std::process::id()));
    std::fs::write(&part, BRIDGE).map_err(problem)?;
    std::fs::rename(&part, &jar).map_err(problem)?;
    Ok(jar)
}

/// Where files go that can be made again (`XDG_CACHE_HOME`, or else `~/.cache`).
fn cache_folder() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("drumfire")
}

/// FNV-1a: tells one build's jar from another's.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
