//! Resolves the jars that projects and all their dependencies need at run time.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;

use crate::model::Models;
use crate::pom::{Dependency, Exclusion};
use crate::version::{highest, is_range};
use crate::{Artifact, MavenError, Repositories, Surroundings, WantedJar};

/// Kinds of dependencies whose file is a jar.
const JARS: [&str; 7] = [
    "jar",
    "bundle",
    "ejb",
    "maven-plugin",
    "test-jar",
    "java-source",
    "javadoc",
];

/// How many artifacts a search may lead to. A server that answers every path with the same POM could name new ones without end.
const MOST_ARTIFACTS: usize = 10_000;

/// A jar that a class path needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Its coordinates.
    pub artifact: Artifact,
    /// The file in the local repository.
    pub jar: PathBuf,
}

/// A project in the tree of dependencies.
struct DependencyNode {
    artifact: Artifact,
    /// Whether it has a jar; otherwise it is only a list of dependencies.
    has_jar: bool,
    children: Vec<usize>,
}

/// A dependency that is still to be resolved.
struct WantedArtifact {
    artifact: Artifact,
    kind: String,
    parent: Option<usize>,
    exclusions: Rc<Vec<Exclusion>>,
}

/// Resolves the jars of `roots` and of everything they need at run time, in the order of Maven's class paths, and downloads
/// those that the local repository lacks. Projects of the groups in `without` are left out with their dependencies.
///
/// # Errors
/// A POM or a jar cannot be read or downloaded.
pub fn resolve(
    roots: &[Artifact],
    without: &[&str],
    repositories: &Repositories,
    surroundings: &Surroundings,
) -> Result<Vec<Resolved>, MavenError> {
    let mut search = Search {
        models: Models::new(repositories, surroundings),
        repositories,
        nodes: Vec::new(),
        taken: HashSet::new(),
        waiting: VecDeque::new(),
    };
    let exclusions = without.iter().map(|group| Exclusion {
        group: (*group).to_owned(),
        name: "*".to_owned(),
    });
    let exclusions: Rc<Vec<Exclusion>> = Rc::new(exclusions.collect());
    for root in roots {
        search.want(WantedArtifact {
            artifact: root.clone(),
            kind: "jar".to_owned(),
            parent: None,
            exclusions: Rc::clone(&exclusions),
        });
    }
    while let Some(wish) = search.waiting.pop_front() {
        search.visit(wish)?;
    }
    let artifacts = search.in_order();
    let wanted: Vec<_> = artifacts
        .iter()
        .map(|artifact| WantedJar {
            artifact,
            sha256: None,
            bytes: None,
        })
        .collect();
    let jars = repositories.jars(&wanted)?;
    let resolved = artifacts.into_iter().zip(jars);
    Ok(resolved
        .map(|(artifact, jar)| Resolved { artifact, jar })
        .collect())
}

struct Search<'r> {
    models: Models<'r>,
    repositories: &'r Repositories,
    nodes: Vec<DependencyNode>,
    /// Group, name, kind and classifier of the chosen artifacts. The search is breadth-first, so the nearest one comes
    /// first.
    taken: HashSet<(String, String, String, Option<String>)>,
    waiting: VecDeque<WantedArtifact>,
}

impl Search<'_> {
    fn want(&mut self, wish: WantedArtifact) {
        if self.take(&wish) {
            self.waiting.push_back(wish);
        }
    }

    /// Marks an artifact as chosen, whatever its version; false if a nearer one was chosen before.
    fn take(&mut self, wish: &WantedArtifact) -> bool {
        let artifact = &wish.artifact;
        self.taken.insert((
            artifact.group.clone(),
            artifact.name.clone(),
            wish.kind.clone(),
            artifact.classifier.clone(),
        ))
    }

    fn check_count(&self, artifact: &Artifact) -> Result<(), MavenError> {
        if self.taken.len() <= MOST_ARTIFACTS {
            return Ok(());
        }
        Err(MavenError::Pom {
            artifact: artifact.to_string(),
            why: format!("the search led to more than {MOST_ARTIFACTS} artifacts"),
        })
    }

    fn visit(&mut self, mut wish: WantedArtifact) -> Result<(), MavenError> {
        self.check_count(&wish.artifact)?;
        self.choose_version(&mut wish.artifact)?;
        let mut model = self.models.get(&wish.artifact)?;
        let mut names = BTreeSet::from([wish.artifact.clone()]);
        while let Some(moved) = model.as_ref().and_then(|model| model.relocation.clone()) {
            let old = wish.artifact.clone();
            wish.artifact = Artifact {
                group: moved.group.unwrap_or_else(|| old.group.clone()),
                name: moved.name.unwrap_or_else(|| old.name.clone()),
                version: moved.version.unwrap_or_else(|| old.version.clone()),
                classifier: old.classifier.clone(),
            };
            let wrong = |why: String| MavenError::Pom {
                artifact: old.to_string(),
                why,
            };
            if !wish.artifact.is_usable() {
                let why = format!("it has moved to {}, which is not a project", wish.artifact);
                return Err(wrong(why));
            }
            if !names.insert(wish.artifact.clone()) {
                return Err(wrong("its relocations form a cycle".to_owned()));
            }
            if !self.take(&wish) {
                return Ok(());
            }
            self.check_count(&wish.artifact)?;
            model = self.models.get(&wish.artifact)?;
        }
        let at = self.nodes.len();
        self.nodes.push(DependencyNode {
            artifact: wish.artifact.clone(),
            has_jar: JARS.contains(&wish.kind.as_str()),
            children: Vec::new(),
        });
        if let Some(parent) = wish.parent {
            self.nodes[parent].children.push(at);
        }
        for dependency in model.iter().flat_map(|model| &model.dependencies) {
            self.follow(dependency, at, &wish.exclusions)?;
        }
        Ok(())
    }

    fn follow(
        &mut self,
        dependency: &Dependency,
        parent: usize,
        exclusions: &Rc<Vec<Exclusion>>,
    ) -> Result<(), MavenError> {
        let is_needed = matches!(
            dependency.scope.as_deref(),
            None | Some("compile" | "runtime")
        );
        let is_optional = dependency.optional.as_deref() == Some("true");
        let (group, name) = (dependency.group.as_str(), dependency.name.as_str());
        if !is_needed || is_optional || exclusions.iter().any(|one| one.covers(group, name)) {
            return Ok(());
        }
        let classifier = match (dependency.kind(), &dependency.classifier) {
            ("test-jar", None) => Some("tests".to_owned()),
            (_, classifier) => classifier.clone(),
        };
        let owner = &self.nodes[parent].artifact;
        let wrong = |why: String| MavenError::Pom {
            artifact: owner.to_string(),
            why,
        };
        let Some(version) = dependency.version.clone() else {
            return Err(wrong(format!(
                "its dependency {group}:{name} has no version"
            )));
        };
        let artifact = Artifact {
            group: group.to_owned(),
            name: name.to_owned(),
            version,
            classifier,
        };
        let is_checked = is_range(&artifact.version) || artifact.is_usable();
        if !is_checked {
            return Err(wrong(format!(
                "its dependency {artifact} has no usable coordinates"
            )));
        }
        let exclusions = if dependency.exclusions.is_empty() {
            Rc::clone(exclusions)
        } else {
            Rc::new([exclusions.as_slice(), &dependency.exclusions].concat())
        };
        self.want(WantedArtifact {
            artifact,
            kind: dependency.kind().to_owned(),
            parent: Some(parent),
            exclusions,
        });
        Ok(())
    }

    /// Replaces a version range with the highest published version in it.
    fn choose_version(&self, artifact: &mut Artifact) -> Result<(), MavenError> {
        if !is_range(&artifact.version) {
            return Ok(());
        }
        let (group, name) = artifact.project();
        let versions = self.repositories.versions(group, name);
        let Some(version) = highest(&artifact.version, &versions) else {
            return Err(MavenError::Pom {
                artifact: artifact.to_string(),
                why: format!(
                    "none of its {} published versions is in this range",
                    versions.len()
                ),
            });
        };
        artifact.version = version.to_owned();
        Ok(())
    }

    /// The jars, each project before its dependencies.
    fn in_order(&self) -> Vec<Artifact> {
        let mut is_child = vec![false; self.nodes.len()];
        for child in self.nodes.iter().flat_map(|node| &node.children) {
            is_child[*child] = true;
        }
        let mut waiting: Vec<usize> = (0..self.nodes.len())
            .filter(|at| !is_child[*at])
            .rev()
            .collect();
        let mut found = Vec::new();
        while let Some(at) = waiting.pop() {
            let node = &self.nodes[at];
            if node.has_jar {
                found.push(node.artifact.clone());
            }
            waiting.extend(node.children.iter().rev());
        }
        found
    }
}
