//! Takes a difference from another version of the plan: a setting, the values of an element, its place, or the element itself.
//! The same operation restores a committed version, stages a new one, and resolves conflicts.

use std::collections::{HashMap, HashSet};

use drumfire_jmx::{
    Prop, Props, Span, Tree, Value, add_xml, blanks_before, compared, item_name, line_end,
    own_path, set_enabled, set_name, write_property,
};

use super::set::taken_out;
use super::structure::{Branch, Target, insert, movable, relocate, remove};
use super::table;
use crate::refused::Refused;
use crate::tree::markup::{indented, with_line_ends};
use crate::tree::{Id, Model, Piece, Step, step};

/// Two versions of a plan, with the elements of one in the other.
pub struct Versions<'v> {
    /// The version that changes.
    target: &'v Model,
    /// The version that gives the difference.
    source: &'v Model,
    in_source: HashMap<usize, usize>,
    in_target: HashMap<usize, usize>,
    /// Elements of the target that stand elsewhere in the source.
    moved: HashSet<usize>,
}

/// An element of two versions, by its numbers in the order of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counterparts {
    /// In the version that changes.
    pub target: Option<usize>,
    /// In the version that gives the difference.
    pub source: Option<usize>,
}

/// The part of an element that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken<'t> {
    /// A setting, as its path, or `name`, `enabled`.
    Setting(&'t str),
    /// All settings, as the text of the element.
    Settings,
    /// The place among other elements.
    Place,
    /// That it is there, or that it is not.
    Presence,
}

impl<'v> Versions<'v> {
    /// Pairs the elements of two versions.
    pub fn of(target: &'v Model, source: &'v Model) -> Versions<'v> {
        let mut versions = Versions {
            target,
            source,
            in_source: HashMap::new(),
            in_target: HashMap::new(),
            moved: HashSet::new(),
        };
        for element in compared(target.tree(), source.tree(), |_, setting| {
            setting.value.clone()
        }) {
            if let (Some((old, _)), Some((new, _))) = (element.old, element.new) {
                versions.in_source.insert(old, new);
                versions.in_target.insert(new, old);
                if element.is_moved {
                    versions.moved.insert(old);
                }
            }
        }
        versions
    }

    /// The numbers of an element that is in the target.
    pub fn of_target(&self, at: usize) -> Counterparts {
        Counterparts {
            target: Some(at),
            source: self.in_source.get(&at).copied(),
        }
    }

    /// The numbers of an element that is in the source.
    pub fn of_source(&self, at: usize) -> Counterparts {
        Counterparts {
            target: self.in_target.get(&at).copied(),
            source: Some(at),
        }
    }

    /// The step that gives a part of an element in the target the source's version.
    ///
    /// # Errors
    /// The part cannot be taken alone.
    pub fn take(&self, element: Counterparts, taken: Taken<'_>) -> Result<Step, Refused> {
        movable(self.target)?;
        movable(self.source)?;
        match (element.target, element.source, taken) {
            (Some(target), None, Taken::Presence) => self.removal(target),
            (None, Some(source), Taken::Presence) => self.insertion(source),
            (Some(target), Some(source), Taken::Place) => self.place(target, source),
            (Some(target), Some(source), Taken::Settings) => self.settings(target, source),
            (Some(target), Some(source), Taken::Setting(path)) => {
                self.setting(target, source, path)
            }
            _ => Err(Refused::unfit("both versions have the same there")),
        }
    }

    fn id(&self, at: usize) -> Id {
        self.target.outline().entries[at].id
    }

    fn settings(&self, target: usize, source: usize) -> Result<Step, Refused> {
        let (old, new) = (self.target.node_at(target), self.source.node_at(source));
        let (target_text, other) = (self.target.text(), self.source.text());
        let xml = laid_as(
            (other, new.whole),
            blanks_before(target_text, old.whole.start),
            line_end(target_text),
        );
        let piece = Piece::new(old.whole.start, old.whole.end, xml);
        let pieces = vec![piece.with_ids(vec![self.id(target)])];
        Ok(step(format!("Take {}", old.name), target_text, pieces))
    }

    fn setting(&self, target: usize, source: usize, path: &str) -> Result<Step, Refused> {
        let (old, new) = (self.target.node_at(target), self.source.node_at(source));
        let tree = self.target.tree();
        let pieces = match path {
            "name" => set_name(tree, old, &new.name)
                .into_iter()
                .map(Piece::from)
                .collect(),
            "enabled" => set_enabled(tree, old, new.enabled)
                .into_iter()
                .map(Piece::from)
                .collect(),
            path => {
                let walk = SettingWalk {
                    tree,
                    source: self.source.tree(),
                    path,
                };
                walk.props((old.whole, &old.props), &new.props, ("", &old.class))
            }
        };
        if pieces.is_empty() {
            let message = format!("`{path}` cannot be taken alone");
            return Err(Refused::unfit(message).hint("take all values of the element"));
        }
        Ok(step(
            format!("Take {path} of {}", old.name),
            self.target.text(),
            pieces,
        ))
    }

    /// The place in the target that a place in the source corresponds to.
    fn target_of(&self, source: usize) -> Result<Target, Refused> {
        let outline = self.source.outline();
        let entry = &outline.entries[source];
        let parent = entry.parent.and_then(|parent| self.in_target.get(&parent));
        let Some(parent) = parent.copied() else {
            let above = entry
                .parent
                .map(|parent| self.source.node_at(parent).name.to_string());
            let message = format!(
                "`{}`, which holds it, is not there",
                above.unwrap_or_default()
            );
            return Err(Refused::unfit(message).hint("take that element first"));
        };
        let siblings = entry
            .parent
            .map(|parent| &outline.entries[parent].children[..])
            .unwrap_or(&[]);
        let mut index = 0;
        for sibling in siblings[..entry.place].iter().rev() {
            let counterpart = outline
                .index(*sibling)
                .and_then(|at| self.in_target.get(&at))
                .map(|at| &self.target.outline().entries[*at])
                .filter(|entry| entry.parent == Some(parent));
            if let Some(entry) = counterpart {
                index = entry.place + 1;
                break;
            }
        }
        Ok(Target {
            parent: self.id(parent),
            index,
        })
    }

    fn place(&self, target: usize, source: usize) -> Result<Step, Refused> {
        relocate(self.target, &[self.id(target)], self.target_of(source)?)
    }

    fn removal(&self, target: usize) -> Result<Step, Refused> {
        let below = self.target.outline().entries[target].below;
        let remaining = (target + 1..=target + below).find(|at| self.in_source.contains_key(at));
        if let Some(remaining) = remaining {
            let message = format!(
                "`{}` holds `{}`, which stands elsewhere in the other version",
                self.target.node_at(target).name,
                self.target.node_at(remaining).name
            );
            return Err(Refused::unfit(message).hint("take the place of that element first"));
        }
        remove(self.target, &[self.id(target)])
    }

    fn insertion(&self, source: usize) -> Result<Step, Refused> {
        let target = self.target_of(source)?;
        let outline = self.source.outline();
        let id = outline.entries[source].id;
        let below = outline.entries[source].below;
        // Elements below it that the target has stay where they are.
        let remaining: Vec<Id> = (source + 1..=source + below)
            .filter(|at| self.in_target.contains_key(at))
            .map(|at| outline.entries[at].id)
            .collect();
        let mut donor = self.source.clone();
        if !remaining.is_empty() {
            let mut removal = remove(&donor, &remaining)?;
            applied(&mut donor, &mut removal)?;
        }
        let Some(at) = donor.outline().index(id) else {
            return Err(Refused::unfit("the element cannot be taken alone"));
        };
        let target_line_end = line_end(self.target.text());
        let mut branch = Branch::of(&donor, at);
        // The target gives it numbers of its own.
        branch.ids = Vec::new();
        branch.xml = with_line_ends(&branch.xml, target_line_end);
        let node = donor.node_at(at);
        insert(
            self.target,
            target,
            &[branch],
            &[node],
            format!("Take {}", node.name),
        )
    }
}

/// Makes a step in a version of a plan that nobody edits.
///
/// # Errors
/// The text would no longer be a plan.
pub fn applied(model: &mut Model, step: &mut Step) -> Result<(), Refused> {
    let made = model.apply(step);
    made.map(drop).map_err(|faults| {
        let why = faults.first().map_or("", |fault| fault.message.as_str());
        Refused::unfit(format!("the file would no longer be a plan: {why}"))
    })
}

/// Takes an element with everything that differs in it, but without those below it, unless it is new or gone.
///
/// # Errors
/// A part cannot be taken.
pub fn take_element(
    target: &mut Model,
    source: &Model,
    element: Counterparts,
) -> Result<(), Refused> {
    let versions = Versions::of(target, source);
    if element.target.is_none() || element.source.is_none() {
        let mut taking = versions.take(element, Taken::Presence)?;
        return applied(target, &mut taking);
    }
    let id = element.target.map(|at| versions.id(at));
    let is_moved = element
        .target
        .is_some_and(|at| versions.moved.contains(&at));
    // The values can be taken also if the place cannot.
    if is_moved && let Ok(mut moved) = versions.take(element, Taken::Place) {
        applied(target, &mut moved)?;
    }
    let at = id.and_then(|id| target.outline().index(id));
    let versions = Versions::of(target, source);
    let element = Counterparts {
        target: at,
        ..element
    };
    let mut taking = versions.take(element, Taken::Settings)?;
    if taking
        .patches
        .iter()
        .all(|patch| patch.removed == patch.inserted)
    {
        return Ok(());
    }
    applied(target, &mut taking)
}

/// The text of an element or a property, indented as another place needs it.
fn laid_as((text, span): (&str, Span), indent: &str, end: &str) -> String {
    let xml = &text[span.start..span.end];
    let xml = indented(xml, blanks_before(text, span.start), indent);
    with_line_ends(&xml, end)
}

/// Finds a setting in two versions of an element.
struct SettingWalk<'t> {
    tree: &'t Tree,
    source: &'t Tree,
    path: &'t str,
}

impl SettingWalk<'_> {
    /// Whether the setting is a property, or within it.
    fn is_in(&self, own: &str) -> bool {
        let rest = self.path.strip_prefix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    fn props(
        &self,
        (whole, old): (Span, &Props),
        new: &Props,
        (path, class): (&str, &str),
    ) -> Vec<Piece> {
        let mut names: Vec<&str> = old.iter().map(|prop| prop.name.as_str()).collect();
        names.extend(
            new.iter()
                .map(|prop| prop.name.as_str())
                .filter(|name| !old.has(name)),
        );
        let mut pieces = Vec::new();
        for name in names
            .into_iter()
            .filter(|name| !name.starts_with("TestElement."))
        {
            let full_path = own_path(path, class, name);
            if !self.is_in(&full_path) {
                continue;
            }
            match (old.get(name), new.get(name)) {
                (Some(old), Some(new)) => pieces.extend(self.both(old, new, &full_path)),
                (Some(old), None) => pieces.push(taken_out(&self.tree.source.text, old.span)),
                (None, Some(new)) => {
                    let splice =
                        add_xml(self.tree, whole, old, &|indent: &str| self.xml(new, indent));
                    pieces.extend(splice.map(Piece::from));
                }
                (None, None) => {}
            }
        }
        pieces
    }

    /// A property of the source as XML for the target.
    fn xml(&self, prop: &Prop, indent: &str) -> String {
        let (target_text, other) = (&self.tree.source.text, &self.source.source.text);
        if prop.span == Span::default() {
            let xml = indented(&write_property(prop), "\n", indent);
            return with_line_ends(&xml, line_end(target_text));
        }
        laid_as((other, prop.span), indent, line_end(target_text))
    }

    fn both(&self, old: &Prop, new: &Prop, path: &str) -> Vec<Piece> {
        let text = &self.tree.source.text;
        let inner = match (&old.value, &new.value) {
            (Value::Element(own), Value::Element(other)) if own.class == other.class => {
                self.props((old.span, &own.props), &other.props, (path, &own.class))
            }
            (Value::List(own), Value::List(other)) if are_named(own) && are_named(other) => {
                self.items((old, own), other, path)
            }
            _ => Vec::new(),
        };
        if !inner.is_empty() {
            return inner;
        }
        let xml = self.xml(new, blanks_before(text, old.span.start));
        if text[old.span.start..old.span.end] == xml {
            return Vec::new();
        }
        vec![Piece::new(old.span.start, old.span.end, xml)]
    }

    /// Items that have names of their own, such as arguments and header fields, are taken one by one.
    fn items(&self, (list, old): (&Prop, &[Prop]), new: &[Prop], path: &str) -> Vec<Piece> {
        let text = &self.tree.source.text;
        let path_of = |item: &Prop| format!("{path}[{}]", item_name(item));
        let mut pieces = Vec::new();
        for item in old.iter().filter(|item| self.is_in(&path_of(item))) {
            match position_named(new, &item_name(item)) {
                None => pieces.push(taken_out(text, item.span)),
                Some(at) => {
                    let xml = self.xml(&new[at], blanks_before(text, item.span.start));
                    if text[item.span.start..item.span.end] != xml {
                        pieces.push(Piece::new(item.span.start, item.span.end, xml));
                    }
                }
            }
        }
        for (at, item) in new.iter().enumerate() {
            if !self.is_in(&path_of(item)) || position_named(old, &item_name(item)).is_some() {
                continue;
            }
            let before = new[..at].iter().rev();
            let index = before
                .filter_map(|item| position_named(old, &item_name(item)))
                .next()
                .map(|index| index + 1)
                .unwrap_or(0);
            pieces.push(table::inserted(
                self.tree,
                list,
                old,
                index,
                &|indent: &str| format!("{indent}{}", self.xml(item, indent)),
            ));
        }
        pieces
    }
}

/// The position of the item with this name.
fn position_named(items: &[Prop], name: &str) -> Option<usize> {
    items.iter().position(|item| item_name(item) == name)
}

/// Whether each item has a name that no other one has.
fn are_named(items: &[Prop]) -> bool {
    let mut names: Vec<String> = items.iter().map(item_name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    names.len() == all && names.iter().all(|name| !name.is_empty())
}
