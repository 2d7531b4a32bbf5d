//! `drumfire jvm`: reports which Java and which jars scripts and Java elements run with; installs and removes plugins.

pub mod arguments;

use std::path::Path;

use drumfire_engine::{artifact_of, plugin_of};

use crate::console::Console;
use crate::engine::{Engine, JvmOrder};
use crate::exit_codes::Exit;
use crate::jmeter;
use crate::jvm::arguments::{JvmAction, JvmArguments};
use crate::refusal::Refusal;
use crate::settings::authorities;
use crate::settings::plan_file::existing_plan;
use crate::settings::properties::RunProperties;
use crate::settings::settings;

/// Installs or removes what is named, and prints what there is.
pub fn jvm(
    options: &JvmArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let mut properties = options.properties.clone();
    authorities::trust(&mut properties, options.tls_ca.as_deref());
    let settings = settings(&properties, &[], None, console)?;
    let action = options.action.unwrap_or_default();
    let mut coordinates = Vec::new();
    for one in &options.what {
        if is_plan(one) {
            coordinates.extend(of_plan(one, engine, &settings, console)?)
        } else {
            coordinates.push(of_name(one, action)?)
        }
    }
    coordinates.sort_unstable();
    coordinates.dedup();
    let order = match action {
        JvmAction::Report => JvmOrder::Report,
        JvmAction::Install => JvmOrder::Install(coordinates),
        JvmAction::Remove if coordinates.is_empty() => {
            let why = "name the plugin to remove; `drumfire jvm` lists them under `maven`";
            return Err(Refusal::usage(why));
        }
        JvmAction::Remove => JvmOrder::Remove(coordinates.iter().map(|one| project(one)).collect()),
    };
    let text = engine
        .java_report(&settings, &order)
        .map_err(|why| jmeter::meaning::failed(why.as_ref(), Exit::RunFailed))?;
    console.print(&text);
    Ok(Exit::Ok)
}

fn is_plan(word: &str) -> bool {
    let ending = Path::new(word).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"))
}

/// The coordinates of a plugin, or the coordinates themselves. To remove a plugin, its version need not be named.
fn of_name(word: &str, action: JvmAction) -> Result<String, Refusal> {
    let parts = word.split(':').count();
    if let Some(artifact) = artifact_of(word) {
        return Ok(artifact.to_owned());
    }
    match (parts, action) {
        (2, JvmAction::Remove) | (3.., _) => Ok(word.to_owned()),
        _ => Err(Refusal::usage(format!(
            "`{word}` is no known plugin at Maven Central; name its jar as group:artifact:version, or put it on the class path with -Juser.classpath=JAR"
        ))),
    }
}

/// Coordinates without what follows the artifact.
fn project(coordinates: &str) -> String {
    let parts: Vec<&str> = coordinates.splitn(3, ':').take(2).collect();
    parts.join(":")
}

/// The coordinates of the plugins that have the classes which no jar on this machine contains.
fn of_plan(
    plan: &str,
    engine: &Engine,
    settings: &RunProperties,
    console: &mut Console<'_>,
) -> Result<Vec<String>, Refusal> {
    let plan = existing_plan(Path::new(plan))?;
    let absent = engine
        .absent_classes(&plan, settings)
        .map_err(|faults| console.refusal_of(&faults))?;
    let artifact = |class: &String| plugin_of(class)?.artifact;
    let unknown: Vec<&String> = absent
        .iter()
        .filter(|one| artifact(one).is_none())
        .collect();
    if let [first, ..] = unknown[..] {
        let why = drumfire_engine::absent(first);
        return Err(Refusal::new(Exit::PlanRefused, format!("`{first}`: {why}")));
    }
    Ok(absent
        .iter()
        .filter_map(artifact)
        .map(str::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_named_by_its_name_or_by_coordinates() {
        let of = |word: &str, action| of_name(word, action).map_err(|refusal| refusal.err);
        assert_eq!(
            of("jpgc-webdriver", JvmAction::Install).as_deref(),
            Ok("kg.apc:jmeter-plugins-webdriver:4.8.1")
        );
        assert_eq!(of("g:a:1", JvmAction::Install).as_deref(), Ok("g:a:1"));
        assert_eq!(of("g:a", JvmAction::Remove).as_deref(), Ok("g:a"));
        assert_eq!(
            (project("g:a"), project("g:a:1")),
            ("g:a".into(), "g:a".into())
        );
        for word in ["g:a", "jpgc-nothing", "bzm-rte"] {
            let why = of(word, JvmAction::Install).expect_err("it has no coordinates");
            assert!(
                why.contains(&format!("`{word}`")) && why.contains("user.classpath"),
                "{why}"
            );
        }
        assert!(is_plan("a/b.JMX") && !is_plan("jpgc-webdriver"));
    }
}
