//! The values in which the two sides of a conflict differ.

use drumfire_jmx::{ComparedElement, Node, Setting, ShownValue, above, compared, settings};

use super::review::label;
use super::shown::type_name;
use super::types::VersionItem;
use crate::operations::take::{Counterparts, Taken, Versions, applied};
use crate::refused::Refused;
use crate::tree::Model;

/// A value in which the two sides of a conflict differ.
pub struct Item {
    /// Its message.
    pub told: VersionItem,
    /// The number of the element in our version, before anything was taken.
    target: Option<usize>,
    /// The number of the element in their version; `None` if they do not have it.
    pub source: Option<usize>,
}

impl Item {
    /// Takes their version.
    ///
    /// # Errors
    /// It cannot be taken alone.
    pub fn take(&self, ours: &mut Model, theirs: &Model) -> Result<(), Refused> {
        let versions = Versions::of(ours, theirs);
        let present = self.told.id.and_then(|id| ours.outline().index(id));
        let element = match (self.source, present) {
            (Some(at), present) => Counterparts {
                target: present.or(versions.of_source(at).target),
                source: Some(at),
            },
            (None, Some(at)) => Counterparts {
                target: Some(at),
                source: None,
            },
            // It went with the element around it.
            (None, None) => return Ok(()),
        };
        let taken = match self.told.setting.as_str() {
            "presence" if self.target.is_none() && element.target.is_some() => return Ok(()),
            "presence" => Taken::Presence,
            "place" => Taken::Place,
            setting => Taken::Setting(setting),
        };
        let mut step = versions.take(element, taken)?;
        applied(ours, &mut step)
    }
}

/// All values in which two versions differ, with that of their common version, and which side a merge would take.
pub fn items(ours: &Model, theirs: &Model, base: Option<&Model>, shown: ShownValue) -> Vec<Item> {
    let ancestors =
        [ours, theirs].map(|side| base.map(|base| compared(base.tree(), side.tree(), plain)));
    let raw = compared(ours.tree(), theirs.tree(), plain);
    let as_shown = compared(ours.tree(), theirs.tree(), shown);
    let mut differing = Differing {
        ours,
        shown,
        items: Vec::new(),
    };
    for (raw, as_shown) in raw.iter().zip(&as_shown).filter(|(raw, _)| raw.differs()) {
        let base_to_ours = find(ancestors[0].as_deref(), raw.old);
        let base_to_theirs = find(ancestors[1].as_deref(), raw.new);
        if raw.is_added() || raw.is_removed() {
            differing.presence(raw, base_to_ours, base_to_theirs, base.is_some());
        } else {
            differing.values(raw, as_shown, base_to_ours, base_to_theirs);
        }
    }
    differing.items
}

/// The comparison of an element's common version with a side, in which it has a number.
fn find<'d>(list: Option<&'d [ComparedElement<'d>]>, element: Option<(usize, &Node)>) -> Done<'d> {
    let (at, _) = element?;
    let mut all = list?.iter();
    all.find(|one| one.new.is_some_and(|(own, _)| own == at))
}

fn plain(_: &Node, setting: &Setting) -> String {
    setting.value.clone()
}

struct Differing<'m> {
    ours: &'m Model,
    shown: ShownValue,
    items: Vec<Item>,
}

/// The comparison of an element's common version with a side.
type Done<'d> = Option<&'d ComparedElement<'d>>;

/// The side that alone did something.
fn alone(is_ours: bool, is_theirs: bool) -> Option<&'static str> {
    match (is_ours, is_theirs) {
        (true, false) => Some("ours"),
        (false, true) => Some("theirs"),
        _ => None,
    }
}

impl Differing<'_> {
    fn add(
        &mut self,
        element: &ComparedElement<'_>,
        (setting, label): (&str, String),
        [base, ours, theirs]: [String; 3],
        takes: Option<&str>,
    ) {
        let target = element.old.map(|(at, _)| at);
        self.items.push(Item {
            told: VersionItem {
                id: target.map(|at| self.ours.outline().entries[at].id),
                element: element.path().to_owned(),
                type_name: type_name(element.node()),
                setting: setting.to_owned(),
                label,
                base,
                ours,
                theirs,
                takes: takes.map(str::to_owned),
            },
            target,
            source: element.new.map(|(at, _)| at),
        });
    }

    /// An element that only one side has.
    fn presence(
        &mut self,
        element: &ComparedElement<'_>,
        own: Done<'_>,
        other: Done<'_>,
        has_base: bool,
    ) {
        let is_here = element.is_removed();
        let done = own.or(other);
        let was_there = done.is_some_and(|one| !one.is_added());
        let takes = match done {
            _ if !has_base => None,
            // It is new: the side that has it.
            _ if !was_there => alone(is_here, !is_here),
            // It is as it was: the side that removed it.
            Some(done) if !done.differs() => alone(!is_here, is_here),
            _ => None,
        };
        let values = [was_there, is_here, !is_here]
            .map(|is_there| if is_there { "there" } else { "not there" }.to_owned());
        self.add(element, ("presence", String::new()), values, takes);
    }

    /// The place and the settings of an element that both sides have.
    fn values(
        &mut self,
        element: &ComparedElement<'_>,
        told: &ComparedElement<'_>,
        own: Done<'_>,
        other: Done<'_>,
    ) {
        if element.is_moved {
            let [ours, theirs] = [own, other].map(|side| side.is_some_and(|one| one.is_moved));
            let before = own.map(|one| one.old_path.as_str()).unwrap_or("");
            let paths = [before, &element.old_path, &element.new_path];
            let values = paths.map(|path| above(path).to_owned());
            self.add(
                element,
                ("place", String::new()),
                values,
                alone(ours, theirs),
            );
        }
        let ancestor = own.and_then(|one| one.old).map(|(_, node)| node);
        for (change, shown) in element.changes.iter().zip(&told.changes) {
            let value = ancestor.map(|node| ancestor_value(node, &change.setting, plain));
            let takes = value.and_then(|value| alone(value == change.to, value == change.from));
            let before = ancestor.map(|node| ancestor_value(node, &change.setting, self.shown));
            let [ours, theirs] = shown.values().map(str::to_owned);
            let values = [before.unwrap_or_default(), ours, theirs];
            let label = label(element.node(), change);
            self.add(element, (&change.setting, label), values, takes);
        }
    }
}

fn ancestor_value(node: &Node, setting: &str, shown: ShownValue) -> String {
    if setting == "name" {
        return node.name.to_string();
    }
    let all = settings(node);
    let setting_now = all.iter().find(|one| one.path == setting);
    setting_now.map(|own| shown(node, own)).unwrap_or_default()
}
