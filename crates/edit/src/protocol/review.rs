//! Compares a plan with another version of it, and takes over parts: to restore, to stage, and to resolve a conflict.

use std::collections::HashSet;
use std::path::Path;

use drumfire_jmx::{ComparedElement, Node, SettingChange, Tree, above, compared};
use drumfire_platform::files::read_regular;
use serde_json::Value;

use super::host::{Shared, read, written};
use super::methods as m;
use super::shown::type_name;
use super::sides::{Item, items};
use super::types::{Review, ReviewChange, ReviewElement, Versions as Panes};
use crate::operations::defaults::role;
use crate::operations::take::{Taken, Versions, take_element};
use crate::refused::{FILE, PARAMETERS, Refused, UNFIT, no_element};
use crate::session::Encoding;
use crate::tree::{Id, Model};

/// The result of a method, as JSON.
type Answer = Result<String, Refused>;

/// The version that `against` means if it is missing.
const HEAD: &str = "head";
/// The version that git would commit.
const INDEX: &str = "index";

impl Shared {
    /// Methods about other versions of a plan.
    pub(super) fn versions(&self, method: &str, parameters: Value) -> Answer {
        match method {
            "review" => written(&self.review(&read(parameters)?)?),
            "restore" => self.restore(&read(parameters)?),
            "stage" => self.stage(&read(parameters)?),
            _ => {
                let m::OfPlan { plan } = read(parameters)?;
                written(&self.panes(plan)?)
            }
        }
    }

    /// Another version of a plan.
    fn version(&self, plan: &Path, against: Option<&str>) -> Result<Model, Refused> {
        let (bytes, name) = match against.unwrap_or(HEAD) {
            HEAD => (self.program.committed(plan), "the last commit"),
            INDEX => (self.program.staged(plan), "the index of git"),
            file => {
                let path = plan.parent().unwrap_or(Path::new("")).join(file);
                let path = self.allowed(&path)?;
                let bytes = read_regular(&path).map_err(|error| {
                    Refused::new(FILE, format!("`{file}` cannot be read: {error}"))
                })?;
                (Some(bytes), file)
            }
        };
        let missing = || {
            Refused::new(FILE, format!("{name} has no such plan"))
                .hint("compare it with another file, or commit it first")
        };
        model(plan, &bytes.ok_or_else(missing)?, name)
    }

    fn review(&self, asked: &m::Review) -> Result<Review, Refused> {
        let (path, plan, revision) = self.current(asked.plan)?;
        let against = asked.against.as_deref();
        let other = self.version(&path, against)?;
        let index = self
            .program
            .staged(&path)
            .and_then(|bytes| model(&path, &bytes, INDEX).ok());
        let unstaged = index.as_ref().map(|index| Unstaged::of(index, &plan));
        let is_head = against.is_none_or(|against| against == HEAD);
        let (old, new) = (canonical(other.tree()), canonical(plan.tree()));
        let all = compared(&old, &new, self.program.shown());
        let mut is_shown: Vec<bool> = all.iter().map(ComparedElement::differs).collect();
        for at in (0..all.len()).rev() {
            if let Some(parent) = all[at].parent.filter(|_| is_shown[at]) {
                is_shown[parent] = true;
            }
        }
        let mut levels = vec![0; all.len()];
        let mut elements = Vec::new();
        for (at, element) in all.iter().enumerate() {
            levels[at] = element.parent.map(|parent| levels[parent] + 1).unwrap_or(0);
            if is_shown[at] {
                let is_staged = is_head
                    && element.differs()
                    && unstaged
                        .as_ref()
                        .is_some_and(|unstaged| !unstaged.holds(element));
                elements.push(ReviewElement {
                    staged: is_staged,
                    ..review_element(&plan, element, levels[at])
                });
            }
        }
        Ok(Review {
            revision,
            against: against.unwrap_or(HEAD).to_owned(),
            stageable: index.is_some() && is_head,
            elements,
        })
    }

    fn current(&self, plan: u64) -> Result<(std::path::PathBuf, Model, u64), Refused> {
        self.with(plan, |open| {
            let session = &open.session;
            Ok((
                session.path().to_owned(),
                session.model().clone(),
                session.revision(),
            ))
        })
    }

    fn restore(&self, asked: &m::Restore) -> Answer {
        let (path, _, _) = self.current(asked.plan)?;
        let other = self.version(&path, asked.against.as_deref())?;
        let ids: Vec<Id> = asked.id.into_iter().collect();
        self.change(asked.plan, (asked.revision, &ids), |session| {
            let model = session.model();
            let versions = Versions::of(model, &other);
            let element = match (asked.id, asked.old) {
                (Some(id), _) => {
                    let at = model.outline().index(id).ok_or_else(|| no_element(id))?;
                    versions.of_target(at)
                }
                (None, Some(at)) if names(&other, at) == asked.path => versions.of_source(at),
                _ => {
                    return Err(
                        Refused::unfit("the other version has changed").hint("compare again")
                    );
                }
            };
            let taken = match asked.setting.as_deref() {
                _ if element.target.is_none() || element.source.is_none() => Taken::Presence,
                Some("place") => Taken::Place,
                Some(setting) => Taken::Setting(setting),
                None => Taken::Settings,
            };
            let mut step = versions.take(element, taken)?;
            step.label = step.label.replacen("Take", "Restore", 1);
            session.make(step)
        })
    }

    /// Writes an element of the plan to git's index, beside what is there.
    fn stage(&self, asked: &m::Stage) -> Answer {
        let (path, plan, _) = self.current(asked.plan)?;
        let bytes = self.program.staged(&path).ok_or_else(|| {
            let name = path.file_name().unwrap_or_default().display();
            Refused::new(FILE, format!("git does not know `{name}`"))
                .hint(format!("add the whole file first: `git add {name}`"))
        })?;
        let mut index = model(&path, &bytes, "the index of git")?;
        let encoding = Encoding::of(&bytes, index.text())
            .ok_or_else(|| Refused::unfit("some bytes of the staged plan are no text"))?;
        let versions = Versions::of(&index, &plan);
        let element = match asked.id {
            Some(id) => {
                let at = plan.outline().index(id).ok_or_else(|| no_element(id))?;
                versions.of_source(at)
            }
            None => {
                let all = 0..index.outline().entries.len();
                all.map(|at| versions.of_target(at))
                    .filter(|element| element.source.is_none())
                    .find(|element| {
                        element
                            .target
                            .is_some_and(|at| names(&index, at) == asked.path)
                    })
                    .ok_or_else(|| Refused::unfit("the element is staged already"))?
            }
        };
        take_element(&mut index, &plan, element)?;
        self.program.stage(&path, &encoding.bytes(index.text()))?;
        Ok("null".to_owned())
    }

    /// The two sides of a conflict, with their common ancestor.
    fn panes(&self, plan: u64) -> Result<Panes, Refused> {
        let conflict = self.with(plan, |open| {
            Ok(open.session.sides().map(|sides| {
                let path = open.session.path().to_owned();
                (
                    path,
                    open.session.model().clone(),
                    open.session.revision(),
                    sides,
                )
            }))
        })?;
        let Some((path, ours, revision, sides)) = conflict else {
            return Ok(Panes::default());
        };
        let theirs = model(&path, sides.theirs.as_bytes(), "the file")?;
        let base = match &sides.base {
            Some(base) => model(&path, base.as_bytes(), "the common version").ok(),
            None => {
                let ancestor = self.program.ancestor(&path);
                ancestor.and_then(|bytes| model(&path, &bytes, "the common version").ok())
            }
        };
        let items = items(&ours, &theirs, base.as_ref(), self.program.shown());
        Ok(Panes {
            revision,
            has_base: base.is_some(),
            is_marked: sides.is_marked,
            items: items.into_iter().map(|item| item.told).collect(),
        })
    }

    /// Ends a conflict with a version for each value.
    pub(super) fn resolve_each(&self, asked: &m::Resolve) -> Answer {
        let path = self.current(asked.plan)?.0;
        let ancestor = self.program.ancestor(&path);
        self.change(asked.plan, (None, &[]), |session| {
            let none = || Refused::unfit("there is no conflict");
            let sides = session.sides().ok_or_else(none)?;
            if asked
                .revision
                .is_some_and(|seen| seen != session.revision())
            {
                return Err(
                    Refused::unfit("the plan has changed").hint("look at the conflict again")
                );
            }
            let mut ours = session.model().clone();
            let theirs = model(&path, sides.theirs.as_bytes(), "the file")?;
            let base = sides
                .base
                .as_deref()
                .map(str::as_bytes)
                .or(ancestor.as_deref())
                .and_then(|bytes| model(&path, bytes, "the common version").ok());
            let items = items(&ours, &theirs, base.as_ref(), |_, setting| {
                setting.value.clone()
            });
            let mut chosen: Vec<&Item> = Vec::new();
            for number in &asked.theirs {
                chosen.push(items.get(*number).ok_or_else(|| {
                    Refused::new(PARAMETERS, format!("there is no item {number}"))
                })?);
            }
            // Removals come last, when every element that stays has its place.
            chosen.sort_by_key(|item| (item.source.is_none(), item.source));
            for item in chosen {
                item.take(&mut ours, &theirs)?;
            }
            session.resolve_with(ours.text())
        })
    }
}

/// Reads a version of a plan.
fn model(path: &Path, bytes: &[u8], name: &str) -> Result<Model, Refused> {
    match drumfire_jmx::read(bytes, path) {
        Ok(read) => Ok(Model::new(path, read)),
        Err(_) => Err(Refused::new(
            UNFIT,
            format!("{name} has no plan that can be read"),
        )),
    }
}

/// The plan with the properties that JMeter sets by default, so that a version without them counts as equal.
fn canonical(tree: &Tree) -> Tree {
    let written = drumfire_jmx::write(tree);
    match drumfire_jmx::read(written.as_bytes(), &tree.source.path) {
        Ok(read) if count(&read.tree) == count(tree) => read.tree,
        _ => tree.clone(),
    }
}

fn count(tree: &Tree) -> usize {
    let mut count = 0;
    crate::tree::each(&tree.roots, &mut |_| count += 1);
    count
}

/// The names from the Test Plan down to an element.
fn names(model: &Model, at: usize) -> String {
    let outline = model.outline();
    if at >= outline.entries.len() {
        return String::new();
    }
    let up = outline.upwards(at);
    let mut names: Vec<&str> = up.map(|at| model.node_at(at).name.as_str()).collect();
    names.reverse();
    names.join(" > ")
}

/// The elements that differ between git's index and the plan.
struct Unstaged {
    /// Elements of the plan.
    elements: HashSet<usize>,
    /// The names of elements that only the index has.
    removed: HashSet<String>,
}

impl Unstaged {
    fn of(index: &Model, plan: &Model) -> Unstaged {
        let (old, new) = (canonical(index.tree()), canonical(plan.tree()));
        let mut unstaged = Unstaged {
            elements: HashSet::new(),
            removed: HashSet::new(),
        };
        for element in compared(&old, &new, |_, setting| setting.value.clone()) {
            match element.new {
                Some((at, _)) if element.differs() => drop(unstaged.elements.insert(at)),
                None => drop(unstaged.removed.insert(element.old_path)),
                _ => {}
            }
        }
        unstaged
    }

    fn holds(&self, element: &ComparedElement<'_>) -> bool {
        match element.new {
            Some((at, _)) => self.elements.contains(&at),
            None => self.removed.contains(&element.old_path),
        }
    }
}

fn review_element(plan: &Model, element: &ComparedElement<'_>, level: usize) -> ReviewElement {
    let node = element.node();
    let is_whole = element.is_added() || element.is_removed();
    let from = element
        .is_moved
        .then(|| above(&element.old_path).to_owned());
    ReviewElement {
        id: element.new.map(|(at, _)| plan.outline().entries[at].id),
        old: element.old.map(|(at, _)| at),
        path: element.path().to_owned(),
        level,
        name: node.name.to_string(),
        type_name: type_name(node),
        category: role(node)
            .map(drumfire_elements::Role::menu)
            .unwrap_or("Other")
            .to_owned(),
        marks: element.marks().into_iter().map(str::to_owned).collect(),
        from,
        changes: element
            .changes
            .iter()
            .map(|change| review_change(node, change, is_whole))
            .collect(),
        staged: false,
    }
}

pub(super) fn label(node: &Node, change: &SettingChange) -> String {
    drumfire_elements::label(&node.class, &change.top, &change.property).to_owned()
}

fn review_change(node: &Node, change: &SettingChange, is_whole: bool) -> ReviewChange {
    let [before, after] = if is_whole {
        [change.from.clone(), change.to.clone()]
    } else {
        change.values().map(str::to_owned)
    };
    ReviewChange {
        label: label(node, change),
        setting: change.setting.clone(),
        property: change.top.clone(),
        before,
        after,
    }
}
