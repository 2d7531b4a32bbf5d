//! Finds what names refer to: definitions, references and renames.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use drumfire_elements::controllers::module_controller::NODE_PATH;
use drumfire_jmx::{Node, Span, content_span};
use drumfire_refactor::{
    Joined, Occurrence, OccurrenceKind, PlanFile, RenameError, Renamed, Subject, base_name, leaves,
    project_root, rename_element, rename_variable,
};

use crate::document::Lines;
use crate::protocol::{
    DocumentHighlight, DocumentHighlightKind, Location, TextEdit, WorkspaceEdit,
};
use crate::uri;
use crate::workspace::{lines_of, location};

/// The thing that a position in a plan refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// A variable, a property, a function or a timer.
    Name(Occurrence),
    /// The name of an element, by the element's index.
    Element(usize),
    /// The path to the target of a Module Controller: names from the Test Plan down.
    Module(Vec<String>),
    File(PathBuf),
}

/// The thing that the text at an offset refers to, and the span of its name.
pub fn target(plan: &PlanFile, offset: usize) -> Option<(Named, Span)> {
    let around = |span: Span| span.start <= offset && offset <= span.end;
    if let Some(name) = plan.index().names.iter().find(|name| around(name.span)) {
        return Some((Named::Name(name.clone()), name.span));
    }
    let mut elements = plan.index().elements.iter().enumerate();
    let named = elements.find_map(|(at, element)| {
        let span = element.name_span.filter(|span| around(*span))?;
        Some((Named::Element(at), span))
    });
    if named.is_some() {
        return named;
    }
    let source = plan.tree.source.text.as_str();
    let leaf = leaves(&plan.tree)
        .into_iter()
        .find(|leaf| around(leaf.span))?;
    let span = content_span(source, leaf.span)?;
    if leaf.name == NODE_PATH.name {
        return Some((Named::Module(module_path(leaf.node)), span));
    }
    if leaf.value.trim().is_empty() || leaf.value.contains("${") || leaf.value.len() > 4_096 {
        return None;
    }
    let folder = plan.path.parent().unwrap_or(Path::new(""));
    let file = folder.join(leaf.value.trim());
    file.is_file().then_some((Named::File(file), span))
}

fn module_path(node: &Node) -> Vec<String> {
    let items = node.props.list(NODE_PATH.name).iter();
    items.map(|item| item.value.as_str().into_owned()).collect()
}

/// Whether a Module Controller's path ends at an element. JMeter writes the root of its own tree before the Test
/// Plan.
fn leads_to(way: &[String], element: &[&str]) -> bool {
    way == element || way.get(1..).is_some_and(|below| below == element)
}

/// The name under which a variable is set: `id` for `id_1`, if an element sets `id`.
fn own_name<'n>(joined: &Joined, name: &'n str) -> &'n str {
    let sets = |wanted: &str| {
        let mut all = joined.plans.iter().flat_map(|plan| &plan.index().names);
        all.any(|one| {
            one.subject == Subject::Variable
                && one.kind == OccurrenceKind::Set
                && one.name == wanted
        })
    };
    match base_name(name) {
        base if base != name && !sets(name) && sets(base) => base,
        _ => name,
    }
}

/// All occurrences of a name, by plan.
pub fn occurrences<'j>(
    joined: &'j Joined,
    wanted: &Occurrence,
) -> Vec<(&'j PlanFile, Vec<&'j Occurrence>)> {
    let name = own_name(joined, &wanted.name);
    let of_plan = |plan: &'j PlanFile| {
        let is_meant = |one: &&Occurrence| match wanted.subject {
            Subject::Variable => {
                one.subject == Subject::Variable
                    && (one.name == name
                        || drumfire_refactor::derived_suffix(&one.name, name).is_some())
            }
            subject => one.subject == subject && one.name == wanted.name,
        };
        (plan, plan.index().names.iter().filter(is_meant).collect())
    };
    joined.plans.iter().map(of_plan).collect()
}

/// Where a target is defined.
pub fn definitions(joined: &Joined, target: &Named) -> Vec<Location> {
    let Some(plan) = joined.plans.first() else {
        return Vec::new();
    };
    match target {
        Named::File(file) => location(file, &Lines::new(String::new()), Span::default())
            .into_iter()
            .collect(),
        Named::Element(_) => Vec::new(),
        Named::Module(path) => element_places(plan, |found| leads_to(path, found)),
        Named::Name(name) if name.subject == Subject::Timer => {
            element_places(plan, |found| found.last() == Some(&name.name.as_str()))
        }
        Named::Name(name) => {
            let mut locations = places(&occurrences(joined, name), |one| {
                one.kind == OccurrenceKind::Set
            });
            match name.subject {
                Subject::Variable => locations.extend(columns(joined, &name.name)),
                Subject::Property => locations.extend(setting(&plan.path, &name.name)),
                _ => {}
            }
            locations
        }
    }
}

fn element_places(plan: &PlanFile, is_meant: impl Fn(&[&str]) -> bool) -> Vec<Location> {
    let lines = lines_of(plan);
    let elements = plan.index().elements.iter().enumerate();
    elements
        .filter(|(at, _)| is_meant(&plan.index().path(*at)))
        .filter_map(|(_, element)| location(&plan.path, &lines, element.tag))
        .collect()
}

fn places(
    found: &[(&PlanFile, Vec<&Occurrence>)],
    is_wanted: impl Fn(&Occurrence) -> bool,
) -> Vec<Location> {
    let mut all = Vec::new();
    for (plan, names) in found {
        let renamed: Vec<_> = names.iter().filter(|one| is_wanted(one)).collect();
        if renamed.is_empty() {
            continue;
        }
        let lines = lines_of(plan);
        let places = renamed
            .iter()
            .filter_map(|one| location(&plan.path, &lines, one.span));
        all.extend(places);
    }
    all
}

/// The columns of CSV files whose header line sets a variable.
fn columns(joined: &Joined, name: &str) -> Vec<Location> {
    let mut files = BTreeSet::new();
    for plan in &joined.plans {
        let folder = plan.path.parent().unwrap_or(Path::new(""));
        let mut open: Vec<&Node> = plan.tree.roots.iter().collect();
        while let Some(node) = open.pop() {
            open.extend(&node.children);
            let facts = drumfire_elements::of_class(&node.class);
            let file = facts.and_then(|facts| facts.header_file(&node.props));
            files.extend(file.map(|file| folder.join(&*file)));
        }
    }
    files
        .into_iter()
        .filter_map(|file| {
            let text = drumfire_platform::files::read_regular_text(&file).ok()?;
            let line = text.lines().next()?;
            let (at, _) = line.match_indices(name).find(|(at, _)| {
                is_end(&line[at + name.len()..]) && (*at == 0 || is_end(&line[at - 1..]))
            })?;
            let span = Span::new(at, at + name.len());
            location(&file, &Lines::new(line.to_owned()), span)
        })
        .collect()
}

fn is_end(text: &str) -> bool {
    text.is_empty() || text.starts_with([',', ';', '\t', '|', '"', ' '])
}

/// The line of the project's file that sets a property.
fn setting(plan: &Path, name: &str) -> Option<Location> {
    let file = project_root(plan).join("drumfire.toml");
    let text = drumfire_platform::files::read_regular_text(&file).ok()?;
    let lines = Lines::new(text.clone());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let key = line.split('=').next().unwrap_or("").trim();
        if line.contains('=') && key.trim_matches(['"', '\'']) == name {
            let span = Span::new(start, start + line.trim_end().len());
            return location(&file, &lines, span);
        }
        start += line.len();
    }
    None
}

/// All references to a target.
pub fn references(joined: &Joined, target: &Named, with_definitions: bool) -> Vec<Location> {
    match target {
        Named::Name(name) => places(&occurrences(joined, name), |one| {
            with_definitions || one.kind == OccurrenceKind::Read
        }),
        Named::Element(at) => module_references(joined, *at),
        Named::Module(_) | Named::File(_) => Vec::new(),
    }
}

/// The Module Controllers whose target is an element of the first plan.
fn module_references(joined: &Joined, element: usize) -> Vec<Location> {
    let Some(plan) = joined.plans.first() else {
        return Vec::new();
    };
    let element_path = plan.index().path(element);
    let lines = lines_of(plan);
    let mut positions = Vec::new();
    for leaf in leaves(&plan.tree) {
        if leaf.name != NODE_PATH.name
            || leaf.value != element_path.last().copied().unwrap_or_default()
        {
            continue;
        }
        let is_meant = leads_to(&module_path(leaf.node), &element_path);
        if let Some(reference) = location(&plan.path, &lines, leaf.span).filter(|_| is_meant) {
            positions.push(reference);
        }
    }
    positions
}

/// The occurrences of a name within one plan.
pub fn highlights(plan: &PlanFile, lines: &Lines, wanted: &Occurrence) -> Vec<DocumentHighlight> {
    let joined = Joined::of(vec![plan.clone()]);
    let by_plan = occurrences(&joined, wanted);
    let names = by_plan.iter().flat_map(|(_, names)| names);
    names
        .map(|one| DocumentHighlight {
            range: lines.range(one.span),
            kind: match one.kind {
                OccurrenceKind::Set => DocumentHighlightKind::WRITE,
                OccurrenceKind::Read => DocumentHighlightKind::READ,
            },
        })
        .collect()
}

/// Renames a variable or an element in all plans that belong together.
pub fn rename(joined: &Joined, target: &Named, new: &str) -> Result<WorkspaceEdit, String> {
    let renamed = match target {
        Named::Name(name) if name.subject == Subject::Variable => {
            rename_variable(joined, own_name(joined, &name.name), new, true)
        }
        Named::Element(at) => {
            let path = joined.plans.first().map(|plan| plan.index().path(*at));
            rename_element(joined, &path.unwrap_or_default().join(" > "), new)
        }
        _ => return Err("only variables and elements can be renamed here".to_owned()),
    };
    let renamed = renamed.map_err(|RenameError { message, hint }| match hint {
        Some(hint) => format!("{message}. {hint}"),
        None => message,
    })?;
    edit(joined, &renamed)
}

fn edit(joined: &Joined, renamed: &Renamed) -> Result<WorkspaceEdit, String> {
    let mut changes: HashMap<String, Vec<TextEdit>> = HashMap::new();
    for change in &renamed.changes {
        let plan = joined.plans.iter().find(|plan| plan.path == change.path);
        let lines = match plan {
            Some(plan) => lines_of(plan),
            None => Lines::new(
                std::fs::read_to_string(&change.path)
                    .map_err(|error| format!("`{}`: {error}", change.path.display()))?,
            ),
        };
        let mut edits: Vec<TextEdit> = change
            .edits
            .iter()
            .map(|edit| TextEdit {
                range: lines.range(edit.span),
                new_text: edit.text.clone(),
            })
            .collect();
        edits.dedup();
        if let Some(uri) = uri::of(&change.path) {
            changes.insert(uri, edits);
        }
    }
    Ok(WorkspaceEdit { changes })
}
