//! Connects the engine to the Java virtual machine.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use drumfire_commands::engine::{JavaBridge, JvmOrder, Network};
use drumfire_commands::log::Levels;
use drumfire_commands::terminal::escape;
use drumfire_engine::java::{Java, JavaFailure};
use drumfire_expr::Properties;
use drumfire_jvm::{Jvm, Notice};

/// Runs Java inside this process.
pub const BRIDGE: JavaBridge = JavaBridge {
    host,
    report,
    version,
    forms,
    is_running: drumfire_jvm::is_running,
    await_threads: drumfire_jvm::await_threads,
};

fn host(properties: &Properties, log_levels: &[(String, String)], network: Network) -> Java {
    let (levels, _) = Levels::new(log_levels);
    let jvm = jvm(properties.clone()).with_log_levels(levels.named());
    Java::Host(Arc::new(match network {
        Network::Allowed => jvm,
        Network::Never => jvm.without_fetching(),
    }))
}

fn report(properties: Properties, order: &JvmOrder) -> Result<String, JavaFailure> {
    let jvm = jvm(properties);
    let done = match order {
        JvmOrder::Report => Ok(()),
        JvmOrder::Install(more) => jvm.install(more),
        JvmOrder::Remove(fewer) => jvm.remove(fewer),
    };
    done.and_then(|()| jvm.report())
}

fn version() -> Option<String> {
    let report = jvm(Properties::new()).report().ok()?;
    let first = report.lines().next()?.strip_prefix("java")?;
    Some(first.trim().to_owned())
}

fn forms(classes: &[&str]) -> Result<Option<String>, JavaFailure> {
    jvm(Properties::new()).without_fetching().forms(classes)
}

fn jvm(properties: Properties) -> Jvm {
    // Notes on the preparation of a run appear where the run prints its own notes.
    Jvm::new(properties, tell, install_later)
}

/// Prints a line, or how many jars have arrived: in place on a terminal, elsewhere a line for each tenth of them.
fn tell(notice: &Notice<'_>) {
    let (number, total) = match *notice {
        Notice::Line(line) => return eprintln!("{}", escape::text(line)),
        Notice::Jar { number, total, .. } => (number, total),
    };
    let is_last = number == total;
    let notice = notice.to_string();
    let notice = escape::line(&notice);
    match io::stderr().is_terminal() {
        true => eprint!("\r\x1b[K{notice}{}", if is_last { "\n" } else { "" }),
        false if is_last || number % total.div_ceil(10) == 0 => eprintln!("{notice}"),
        false => {}
    }
}

/// Starts a separate process that runs `drumfire jvm install` at the lowest priority. It survives Ctrl-C and the end of this
/// process. Where it does not survive, as in a CI job that kills its children, the next run starts it again.
fn install_later(properties: &[(&str, &Path)]) -> io::Result<()> {
    let mut command = drumfire_platform::processes::in_background(&std::env::current_exe()?);
    // The run that asks for it has fetched everything.
    command.args(["jvm", "install", "-Jdrumfire.maven.offline=true"]);
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
