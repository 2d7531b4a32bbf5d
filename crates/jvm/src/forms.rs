//! The forms of elements that only jars of the user have: a Java of its own makes the panels of the jars and prints the properties that each input writes.

use std::io::{Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use drumfire_engine::java::JavaFailure;
use drumfire_platform::causes::unwritable;
use drumfire_platform::replacement::replace;
use zip::ZipArchive;

use crate::provision::BRIDGE;
use crate::{Jvm, cache_folder, class_names, fingerprint, install};

/// The package of the program that tells of forms, in the bridge's jar. It runs without the rest of the bridge, which needs the
/// engine.
const PACKAGE: &str = "dev/drumfire/forms/";
const PROGRAM: &str = "dev.drumfire.forms.Forms";
/// How long it may take, how much heap it may have, and how many bytes it may tell. A panel may wait for a server, or read a large
/// file.
const LIMIT: Duration = Duration::from_secs(30);
const HEAP: &str = "-Xmx512m";
const MOST_BYTES: u64 = 16 << 20;

impl Jvm {
    /// Lists the inputs of the forms in those jars that have one of these classes, in lines whose format
    /// `java/src/main/java/dev/drumfire/forms/Forms.java` documents; `None` if no jar has a class. It searches JMeter's own folder
    /// and the jars that the user installed for all runs, never those that a plan names: opening a plan runs no code that came with
    /// it. The answer is cached by the content of the jars.
    ///
    /// # Errors
    /// Java or JMeter is missing, or the forms could not be made in time.
    pub fn forms(&self, classes: &[&str]) -> Result<Option<String>, JavaFailure> {
        let (java, jmeter) = self.installations()?;
        let mut all = jmeter.own_jars();
        let added = install::added(&self.properties);
        all.extend(install::known_dependencies(&added).unwrap_or_default());
        let has_one = |jar: &&PathBuf| {
            let jar = std::slice::from_ref(*jar);
            classes.iter().any(|class| class_names::contain(jar, class))
        };
        let asked: Vec<&PathBuf> = all.iter().filter(has_one).collect();
        if asked.is_empty() {
            return Ok(None);
        }
        let mut prints = fingerprint(BRIDGE);
        for jar in &asked {
            let bytes =
                std::fs::read(jar).map_err(|error| format!("{}: {error}", jar.display()))?;
            prints = prints.rotate_left(1) ^ fingerprint(&bytes);
        }
        let file = cache_folder().join(format!("forms-{prints:016x}.tsv"));
        if let Ok(told) = std::fs::read_to_string(&file) {
            return Ok(Some(told));
        }
        let mut path = vec![program()?];
        path.extend(all.iter().cloned());
        let mut command = Command::new(java.home.join("bin/java"));
        command
            .args([HEAP, "-Djava.awt.headless=true", "--add-opens"])
            .arg("java.desktop/sun.awt=ALL-UNNAMED")
            .arg("-cp")
            .arg(std::env::join_paths(path).map_err(|error| error.to_string())?)
            .arg(PROGRAM)
            .arg(&jmeter.home)
            .args(asked);
        let told = answer(&mut command, LIMIT)?;
        replace(&file, |out| out.write_all(told.as_bytes()))
            .map_err(|error| unwritable(&file, &error))?;
        Ok(Some(told))
    }
}

/// The folder with the program's class, which is written there once.
fn program() -> Result<PathBuf, JavaFailure> {
    let folder = cache_folder().join(format!("forms-{:016x}", fingerprint(BRIDGE)));
    let fault = |path: &Path, error: std::io::Error| JavaFailure::from(unwritable(path, &error));
    let mut archive = ZipArchive::new(Cursor::new(BRIDGE)).map_err(|error| error.to_string())?;
    let names: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .filter(|name| name.starts_with(PACKAGE) && name.ends_with(".class"))
        .collect();
    for name in names {
        let file = folder.join(&name);
        if file.is_file() {
            continue;
        }
        let mut class = Vec::new();
        archive
            .by_name(&name)
            .map_err(|error| error.to_string())?
            .read_to_end(&mut class)
            .map_err(|error| fault(&file, error))?;
        let parent = file.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent).map_err(|error| fault(parent, error))?;
        replace(&file, |out| out.write_all(&class)).map_err(|error| fault(&file, error))?;
    }
    Ok(folder)
}

/// The output of a command that ends within a time; a longer one is killed.
fn answer(command: &mut Command, limit: Duration) -> Result<String, JavaFailure> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("Java: {error}"))?;
    let out = child.stdout.take();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = out.map(|out| out.take(MOST_BYTES).read_to_string(&mut text));
        // Nobody waits after the limit.
        let _ = send.send(matches!(read, Some(Ok(_))).then_some(text));
    });
    let told = receive.recv_timeout(limit).ok().flatten();
    let _ = child.kill();
    let _ = child.wait();
    told.filter(|text| !text.is_empty())
        .ok_or_else(|| format!("the forms could not be made within {} s", limit.as_secs()).into())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let begun = Instant::now();
        let mut slow = Command::new("sleep");
        let told = answer(slow.arg("60"), Duration::from_millis(200));
        assert!(told.is_err_and(|failure| failure.to_string().contains("could not be made")));
        assert!(begun.elapsed() < Duration::from_secs(30));
        let told = answer(Command::new("echo").arg("form"), LIMIT);
        assert_eq!(told.ok().as_deref(), Some("form\n"));
    }
}
