//! Connects the engine to the Java virtual machine.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use drumfire_commands::log::Levels;
use drumfire_engine::java::Java;
use drumfire_expr::Properties;
use drumfire_jvm::Jvm;

/// The host of a run, which starts Java when the plan first needs it. The log levels are `(category, level)` pairs.
pub fn host(properties: &Properties, log_levels: &[(String, String)]) -> Java {
    let (levels, _) = Levels::new(log_levels);
    Java::Host(Arc::new(
        jvm(properties.clone()).with_log_levels(levels.named()),
    ))
}

/// Describes the Java of this machine and JMeter's jars, after it has fetched the jars if `install` is set.
///
/// # Errors
/// Why there is no Java or no jars, with the remedy.
pub fn report(properties: Properties, install: bool) -> Result<String, String> {
    let jvm = jvm(properties);
    if install {
        jvm.install().map_err(|error| error.to_string())?;
    }
    jvm.report().map_err(|error| error.to_string())
}

/// The version of the Java that would run; `None` without one.
pub fn version() -> Option<String> {
    let report = jvm(Properties::new()).report().ok()?;
    let first = report.lines().next()?.strip_prefix("java")?;
    Some(first.trim().to_owned())
}

/// Waits for the threads that scripts have started.
pub fn await_threads() {
    drumfire_jvm::await_threads();
}

fn jvm(properties: Properties) -> Jvm {
    // Notes on the preparation of a run appear where the run prints its own notes.
    Jvm::new(properties, |line| eprintln!("{line}"), install_later)
}

/// Starts a separate process that runs `drumfire jvm install` at the lowest priority. It survives Ctrl-C and the end of this
/// process. Where it does not survive, as in a CI job that kills its children, the next run starts it again.
fn install_later(properties: &[(&str, &Path)]) -> io::Result<()> {
    let mut command = drumfire_platform::processes::in_background(&std::env::current_exe()?);
    command.args(["jvm", "install"]);
    for (name, value) in properties {
        let mut definition = std::ffi::OsString::from(format!("-J{name}="));
        definition.push(value);
        command.arg(definition);
    }
    // Nothing reads its output.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(|_| ())
}
