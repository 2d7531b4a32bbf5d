//! Resolves POMs with everything they inherit: parents, imported lists of versions, properties.

use std::collections::HashMap;
use std::rc::Rc;

use crate::pom::{Dependency, Pom, PomCoordinates, PomPart, Values};
use crate::profile::{Surroundings, apply};
use crate::{Artifact, MavenError, Repositories};

/// How deep parents and imports may be nested.
const MOST_DEEP: usize = 64;
/// How deep references between properties are resolved.
const MOST_NESTED: usize = 32;
/// How many references one text may lead to.
const MOST_FILLED: usize = 1_000;
/// The longest text with references, in bytes. Longer ones are no coordinates.
const MOST_TEXT_BYTES: usize = 4 << 10;

/// A project as its dependents see it.
pub(crate) struct Model {
    pub dependencies: Vec<Dependency>,
    pub managed: Vec<Dependency>,
    /// The project's new coordinates, if it has moved.
    pub relocation: Option<PomCoordinates>,
}

/// Reads POMs, each project once.
pub(crate) struct Models<'r> {
    repositories: &'r Repositories,
    java: Values,
    known: HashMap<Artifact, Option<Rc<Model>>>,
    /// The projects whose imports are being read, outermost first.
    open: Vec<Artifact>,
}

impl<'r> Models<'r> {
    pub fn new(repositories: &'r Repositories, surroundings: &Surroundings) -> Models<'r> {
        Models {
            repositories,
            java: surroundings.properties(),
            known: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// The model of a project; `None` if it has no POM.
    pub fn get(&mut self, artifact: &Artifact) -> Result<Option<Rc<Model>>, MavenError> {
        let project = Artifact {
            classifier: None,
            ..artifact.clone()
        };
        if let Some(known) = self.known.get(&project) {
            return Ok(known.clone());
        }
        if self.open.contains(&project) {
            return Err(wrong(artifact, "its imports form a cycle"));
        }
        if self.open.len() > MOST_DEEP {
            return Err(wrong(
                artifact,
                format!("its imports are nested more than {MOST_DEEP} deep"),
            ));
        }
        self.open.push(project.clone());
        let model = match self.chain(&project)? {
            Some(chain) => Some(Rc::new(self.build(&project, chain)?)),
            None => None,
        };
        self.open.pop();
        self.known.insert(project, model.clone());
        Ok(model)
    }

    /// The POM, its parent, the parent's parent and so on; `None` without a POM.
    fn chain(&self, artifact: &Artifact) -> Result<Option<Vec<Pom>>, MavenError> {
        let mut chain: Vec<Pom> = Vec::new();
        let mut read: Vec<Artifact> = Vec::new();
        let mut next = artifact.clone();
        loop {
            let Some(text) = self.repositories.pom(&next)? else {
                if chain.is_empty() {
                    return Ok(None);
                }
                return Err(wrong(
                    artifact,
                    format!("its parent {next} is in none of the repositories"),
                ));
            };
            let pom = Pom::parse(&text).map_err(|why| wrong(&next, why))?;
            let parent = pom.parent.clone();
            chain.push(pom);
            let Some(parent) = parent else {
                return Ok(Some(chain));
            };
            read.push(next.clone());
            next = match (parent.group, parent.name, parent.version) {
                (Some(group), Some(name), Some(version)) => Artifact {
                    group,
                    name,
                    version,
                    classifier: None,
                },
                _ => return Err(wrong(&next, "its parent has no full coordinates")),
            };
            if !next.is_usable() {
                return Err(wrong(artifact, format!("its parent {next} cannot be used")));
            }
            if read.contains(&next) {
                return Err(wrong(artifact, "its parents form a cycle"));
            }
            if read.len() > MOST_DEEP {
                return Err(wrong(
                    artifact,
                    format!("it has more than {MOST_DEEP} parents"),
                ));
            }
        }
    }

    fn build(&mut self, artifact: &Artifact, chain: Vec<Pom>) -> Result<Model, MavenError> {
        let mut whole = PomPart::default();
        for pom in &chain {
            inherit(&mut whole, apply(pom, &self.java));
        }
        let values = self.values(artifact, &chain, &whole.properties);
        let fill = |dependency: &mut Dependency| {
            for text in dependency.texts() {
                *text = filled(text, &values);
            }
        };
        whole.dependencies.iter_mut().for_each(fill);
        whole.managed.iter_mut().for_each(fill);
        let managed = self.import(artifact, whole.managed)?;
        for dependency in &mut whole.dependencies {
            manage(dependency, &managed);
        }
        let relocation = chain[0].relocation.clone().map(|mut names| {
            for name in [&mut names.group, &mut names.name, &mut names.version]
                .into_iter()
                .flatten()
            {
                *name = filled(name, &values);
            }
            names
        });
        Ok(Model {
            dependencies: whole.dependencies,
            managed,
            relocation,
        })
    }

    /// Everything that `${…}` may refer to in a project.
    fn values(&self, artifact: &Artifact, chain: &[Pom], properties: &Values) -> Values {
        let mut values = self.java.clone();
        values.extend(properties.clone());
        let mut names = vec![
            ("groupId", artifact.group.clone()),
            ("artifactId", artifact.name.clone()),
            ("version", artifact.version.clone()),
            (
                "packaging",
                chain[0]
                    .packaging
                    .clone()
                    .unwrap_or_else(|| "jar".to_owned()),
            ),
        ];
        if let Some(parent) = &chain[0].parent {
            let parts = [
                ("parent.groupId", &parent.group),
                ("parent.artifactId", &parent.name),
                ("parent.version", &parent.version),
            ];
            names.extend(parts.map(|(name, value)| (name, value.clone().unwrap_or_default())));
        }
        for (name, value) in names {
            for prefix in ["project.", "pom.", ""] {
                values.insert(format!("{prefix}{name}"), value.clone());
            }
        }
        values
    }

    /// A managed list, with the lists that it imports appended; its own entries take precedence.
    fn import(
        &mut self,
        artifact: &Artifact,
        listed: Vec<Dependency>,
    ) -> Result<Vec<Dependency>, MavenError> {
        let (imports, mut managed): (Vec<_>, Vec<_>) = listed
            .into_iter()
            .partition(|one| one.kind() == "pom" && one.scope.as_deref() == Some("import"));
        for import in imports {
            let Some(version) = import.version else {
                return Err(wrong(
                    artifact,
                    format!(
                        "it imports {}:{} without a version",
                        import.group, import.name
                    ),
                ));
            };
            let from = Artifact {
                group: import.group,
                name: import.name,
                version,
                classifier: None,
            };
            if !from.is_usable() {
                return Err(wrong(
                    artifact,
                    format!("it imports {from}, which is not a project"),
                ));
            }
            let Some(model) = self.get(&from)? else {
                return Err(wrong(
                    artifact,
                    format!("it imports {from}, which is in none of the repositories"),
                ));
            };
            merge(&mut managed, &model.managed);
        }
        Ok(managed)
    }
}

fn wrong(artifact: &Artifact, why: impl Into<String>) -> MavenError {
    MavenError::Pom {
        artifact: artifact.to_string(),
        why: why.into(),
    }
}

/// Adds a parent's settings to its child; the child's own take precedence.
fn inherit(child: &mut PomPart, parent: PomPart) {
    for (name, value) in parent.properties {
        child.properties.entry(name).or_insert(value);
    }
    merge(&mut child.dependencies, &parent.dependencies);
    merge(&mut child.managed, &parent.managed);
}

/// Adds the dependencies that are not in the list yet.
fn merge(into: &mut Vec<Dependency>, from: &[Dependency]) {
    for one in from {
        if !into.iter().any(|known| known.key() == one.key()) {
            into.push(one.clone());
        }
    }
}

/// Completes a dependency with the values of the managed list.
fn manage(dependency: &mut Dependency, managed: &[Dependency]) {
    let Some(rule) = managed.iter().find(|rule| rule.key() == dependency.key()) else {
        return;
    };
    fill(&mut dependency.version, &rule.version);
    fill(&mut dependency.scope, &rule.scope);
    fill(&mut dependency.optional, &rule.optional);
    if dependency.exclusions.is_empty() {
        dependency.exclusions.clone_from(&rule.exclusions);
    }
}

fn fill(own: &mut Option<String>, rule: &Option<String>) {
    if own.is_none() {
        own.clone_from(rule);
    }
}

/// Replaces `${…}`. A name without a value stays, and so does one within its own value. A text that would become too long stays as
/// it is.
fn filled(text: &str, values: &Values) -> String {
    let mut filling = Filling {
        values,
        open: Vec::new(),
        left: MOST_FILLED,
        filled: String::new(),
    };
    filling.fill(text);
    if filling.filled.len() > MOST_TEXT_BYTES {
        return text.to_owned();
    }
    filling.filled
}

/// A text whose references are being replaced.
struct Filling<'v> {
    values: &'v Values,
    /// The names whose values are being filled in, outermost first.
    open: Vec<&'v str>,
    /// How many more references may be replaced.
    left: usize,
    filled: String,
}

impl<'v> Filling<'v> {
    fn fill(&mut self, text: &str) {
        let values = self.values;
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            if self.filled.len() > MOST_TEXT_BYTES {
                return;
            }
            let Some(length) = rest[start..].find('}') else {
                break;
            };
            self.filled.push_str(&rest[..start]);
            let reference = &rest[start..=start + length];
            let value = values.get_key_value(&reference[2..length]);
            match value.filter(|(name, _)| self.may_fill(name)) {
                Some((name, value)) => {
                    self.left -= 1;
                    self.open.push(name);
                    self.fill(value);
                    self.open.pop();
                }
                None => self.filled.push_str(reference),
            }
            rest = &rest[start + length + 1..];
        }
        self.filled.push_str(rest);
    }

    fn may_fill(&self, name: &str) -> bool {
        self.left > 0 && self.open.len() < MOST_NESTED && !self.open.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_filled_in_and_circles_end() {
        let values: Values = [("a", "1.${b}"), ("b", "2"), ("c", "${c}")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        assert_eq!(filled("v${a}-${none}", &values), "v1.2-${none}");
        assert_eq!(filled("${c}", &values), "${c}");
        assert_eq!(filled("${a", &values), "${a");
        // Each value names all others twice: without an end, more texts than there are atoms.
        let all: String = (0..40)
            .map(|number| format!("${{p{number}}}${{p{number}}}"))
            .collect();
        let circular: Values = (0..40)
            .map(|number| (format!("p{number}"), all.clone()))
            .collect();
        assert_eq!(filled("${p0}", &circular), "${p0}");
    }
}
