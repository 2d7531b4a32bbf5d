//! The class path of a run: the bridge, JMeter, the jars that the user names. What this machine lacks is fetched if it may be.

use std::io::Write as _;
use std::path::PathBuf;

use drumfire_engine::java::JavaFailure;
use drumfire_platform::causes::unwritable;
use drumfire_platform::replacement::replace;

use crate::jars::JMeter;
use crate::repositories::JarAccess;
use crate::{Jvm, cache_folder, class_names, fingerprint, install, jars, repositories};

/// The bridge's classes, built from `java/` by `cargo xtask java`.
pub(crate) const BRIDGE: &[u8] = include_bytes!("../assets/drumfire-bridge.jar");

impl Jvm {
    pub(crate) fn jar_access(&self) -> JarAccess<'_> {
        JarAccess {
            properties: &self.properties,
            tell: self.tell,
            fetches: self.fetches,
        }
    }

    /// The bridge and JMeter, which is assembled if necessary.
    pub(crate) fn own_jars(&self, jmeter: &JMeter) -> Result<Vec<PathBuf>, JavaFailure> {
        self.assemble(jmeter)?;
        let mut jars = vec![bridge()?];
        jars.extend(jmeter.own_jars());
        Ok(jars)
    }

    /// Assembles JMeter, unless it is there.
    fn assemble(&self, jmeter: &JMeter) -> Result<(), JavaFailure> {
        if is_to_be_assembled(jmeter) {
            install::install(&jmeter.home, &self.jar_access())
        } else {
            Ok(())
        }
    }

    /// Names the jars that a run would have to fetch, if this host may not and the user does not forbid it.
    pub(crate) fn unfetched_jars(&self) -> Option<String> {
        if self.fetches || repositories::is_forbidden(&self.properties) {
            return None;
        }
        let (java, jmeter) = self.installations().ok()?;
        let access = self.jar_access();
        let missing = if is_to_be_assembled(jmeter) {
            install::unfetched(&access).ok().flatten()
        } else {
            None
        };
        let added = install::added(&self.properties);
        let are_there = install::dependencies(&added, &access, java.version).is_ok();
        let added = (!are_there).then(|| format!("the jars of {added}"));
        let all: Vec<String> = missing.into_iter().chain(added).collect();
        (!all.is_empty()).then(|| all.join(", and "))
    }

    /// Whether the class path, as far as it is on this machine, has a class.
    pub(crate) fn contains_class(&self, class: &str, classpath: &[PathBuf]) -> bool {
        if class_names::is_jmeters(class) {
            return true;
        }
        let jmeter = jars::find(&self.properties);
        let mut class_path = jmeter.map(|jmeter| jmeter.own_jars()).unwrap_or_default();
        let added = install::added(&self.properties);
        class_path.extend(install::known_dependencies(&added).unwrap_or_default());
        class_path.extend(JMeter::named_jars(&self.properties, classpath));
        class_names::contain(&class_path, class)
    }

    /// Fetches the jars that Java needs and this machine lacks.
    ///
    /// # Errors
    /// Which jars are missing, and how to get them.
    pub(crate) fn fetch_jars(&self) -> Result<(), JavaFailure> {
        let (java, jmeter) = self.installations()?;
        self.assemble(jmeter)?;
        let added = install::added(&self.properties);
        install::dependencies(&added, &self.jar_access(), java.version)?;
        Ok(())
    }
}

fn is_to_be_assembled(jmeter: &JMeter) -> bool {
    jmeter.is_missing && !install::is_complete(&jmeter.home)
}

/// Writes the bridge's jar where Java can read it, unless it is there.
fn bridge() -> Result<PathBuf, JavaFailure> {
    let folder = cache_folder();
    let jar = folder.join(format!("bridge-{:016x}.jar", fingerprint(BRIDGE)));
    if jar
        .metadata()
        .is_ok_and(|found| found.len() == BRIDGE.len() as u64)
    {
        return Ok(jar);
    }
    let problem = |error: std::io::Error| unwritable(&jar, &error);
    std::fs::create_dir_all(&folder).map_err(problem)?;
    // Another process may do the same, so the name appears only with the whole content.
    replace(&jar, |file| file.write_all(BRIDGE)).map_err(problem)?;
    Ok(jar)
}
