//! Renames a variable in all plans that belong together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use drumfire_jmx::{Splice, did_you_mean, escaped, spliced_text};

use crate::joined::{Joined, PlanFile};
use crate::names::{OccurrenceKind, Subject, base_name, derived_suffix};

/// The new text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// The edits that produce the text.
    pub edits: Vec<Splice>,
    /// The whole new text.
    pub text: String,
    /// Whether the file is a plan, not a CSV file.
    pub is_plan: bool,
}

/// The outcome of a rename.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renamed {
    /// The files that change.
    pub changes: Vec<FileChange>,
    /// Positions that the user should check.
    pub notes: Vec<String>,
}

/// Why a rename was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameError {
    /// The reason, with the positions.
    pub message: String,
    /// The remedy, as a sentence.
    pub hint: Option<String>,
}

impl RenameError {
    pub(crate) fn new(message: impl Into<String>) -> RenameError {
        RenameError {
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> RenameError {
        self.hint = Some(hint.into());
        self
    }
}

/// Renames a variable with its parts (`name_1`, `name_matchNr`). With `headers`, columns of CSV files that name it are also
/// renamed.
///
/// # Errors
/// The variable does not exist, the new name is taken or invalid, or a name that is computed at run time might refer to the
/// variable.
pub fn rename_variable(
    joined: &Joined,
    old: &str,
    new: &str,
    headers: bool,
) -> Result<Renamed, RenameError> {
    proper(new)?;
    if old == new {
        return Err(RenameError::new(format!("`{old}` has this name already")));
    }
    for plan in &joined.plans {
        editable(plan)?;
    }
    let columns = csv_columns(joined, old);
    if columns.is_empty() {
        check_exists(joined, old)?;
    } else if !headers {
        let files: Vec<String> = columns
            .keys()
            .map(|file| format!("`{}`", file.display()))
            .collect();
        let message = format!(
            "the first line of {} names the variable `{old}`",
            files.join(", ")
        );
        return Err(RenameError::new(message).hint("add `--csv` to change that line too"));
    }
    whole(joined, old)?;
    free(joined, new)?;
    reached(joined, old)?;
    let has_parts = joined.plans.iter().any(|plan| {
        let sets = |one: &&crate::Occurrence| one.name == old && one.has_parts;
        plan.index().variable(old).any(|one| sets(&one))
    });
    let mut renamed = Renamed::default();
    for plan in &joined.plans {
        let mut edits = Vec::new();
        for one in plan.index().variable(old) {
            let suffix = derived_suffix(&one.name, old).unwrap_or_default();
            if suffix.is_empty() || has_parts {
                edits.push(Splice {
                    span: one.span,
                    text: escaped(&format!("{new}{suffix}")),
                });
            }
        }
        note_scripts(plan, old, &mut renamed.notes);
        renamed.changes.extend(changed(plan, edits)?);
    }
    for (path, line) in columns {
        renamed.changes.push(header_change(path, &line, old, new)?);
    }
    Ok(renamed)
}

/// Applies edits to a plan's file and checks that the result is still a plan.
pub(crate) fn changed(
    plan: &PlanFile,
    edits: Vec<Splice>,
) -> Result<Option<FileChange>, RenameError> {
    if edits.is_empty() {
        return Ok(None);
    }
    let text = spliced_text(&plan.tree.source.text, &edits);
    if drumfire_jmx::read(text.as_bytes(), &plan.path).is_err() {
        let path = plan.path.display();
        return Err(RenameError::new(format!(
            "the change would make `{path}` unreadable as a plan"
        )));
    }
    Ok(Some(FileChange {
        path: plan.path.clone(),
        edits,
        text,
        is_plan: true,
    }))
}

/// Refuses plans of JMeter 1.x: their texts are encoded, so the positions would be wrong.
pub(crate) fn editable(plan: &PlanFile) -> Result<(), RenameError> {
    match plan.tree.version.as_str() {
        "1.0" => {
            let path = plan.path.display();
            let refused = RenameError::new(format!("`{path}` has the format of an old JMeter"));
            Err(refused.hint(format!("run `drumfire fmt {path}` first")))
        }
        _ => Ok(()),
    }
}

/// Whether a text is usable as a variable name everywhere.
fn proper(name: &str) -> Result<(), RenameError> {
    if name.is_empty() || name.starts_with("__") || name.contains(is_odd) {
        let refused = RenameError::new(format!("`{name}` cannot be the name of a variable"));
        return Err(refused.hint("write letters, digits, `_`, `.` and `-`"));
    }
    Ok(())
}

fn is_odd(sign: char) -> bool {
    sign.is_whitespace() || sign.is_control() || "${}(),;<>\"'\\|&".contains(sign)
}

fn check_exists(joined: &Joined, old: &str) -> Result<(), RenameError> {
    if joined
        .plans
        .iter()
        .any(|plan| plan.index().variable(old).any(|one| one.name == old))
    {
        return Ok(());
    }
    let all = joined.plans.iter().flat_map(|plan| &plan.index().names);
    let names: BTreeSet<&str> = all
        .filter(|one| one.subject == Subject::Variable)
        .map(|one| one.name.as_str())
        .collect();
    let refused = RenameError::new(format!("no plan here names a variable `{old}`"));
    Err(match did_you_mean(old, names.iter().copied()) {
        Some(near) => refused.hint(format!("did you mean `{near}`?")),
        None => refused,
    })
}

/// Refuses to rename a part such as `name_1`, which an extractor sets along with the variable.
fn whole(joined: &Joined, old: &str) -> Result<(), RenameError> {
    let all = || joined.plans.iter().flat_map(|plan| &plan.index().names);
    let sets = |name: &str| {
        let mut of_name = all().filter(|one| one.subject == Subject::Variable && one.name == name);
        of_name.any(|one| one.kind == OccurrenceKind::Set)
    };
    let base = base_name(old);
    if base != old && sets(base) && !sets(old) {
        let refused = RenameError::new(format!("`{old}` is a part of the variable `{base}`"));
        return Err(refused.hint(format!("rename `{base}`: its parts go with it")));
    }
    Ok(())
}

/// Refuses a name that is already in use, so that two variables do not become one.
fn free(joined: &Joined, new: &str) -> Result<(), RenameError> {
    for plan in &joined.plans {
        if let Some(one) = plan.index().variable(new).next() {
            let message = format!(
                "`{new}` is used already, {}",
                place(plan, one.span.start, one.element)
            );
            return Err(RenameError::new(message).hint("choose another name"));
        }
    }
    Ok(())
}

/// Refuses the rename if a name that is computed at run time might refer to the variable.
fn reached(joined: &Joined, old: &str) -> Result<(), RenameError> {
    let mut places = Vec::new();
    for plan in &joined.plans {
        for computed in &plan.index().computed {
            let prefix = computed.prefix.as_str();
            let parts = format!("{old}_");
            let reaches =
                !prefix.is_empty() && (old.starts_with(prefix) || prefix.starts_with(&parts));
            if computed.subject == Subject::Variable && reaches {
                places.push(format!(
                    "`{prefix}…` {}",
                    place(plan, computed.span.start, computed.element)
                ));
            }
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    places.truncate(5);
    let message = format!(
        "a name that is built while the test runs may be `{old}`: {}",
        places.join("; ")
    );
    Err(RenameError::new(message).hint("write the full name there first"))
}

/// The position as `in file:line, Plan > Group > Element`.
pub(crate) fn place(plan: &PlanFile, offset: usize, element: usize) -> String {
    let (line, _) = plan.tree.source.line_column(offset);
    let path = plan.index().path(element).join(" > ");
    format!("in {}:{line}, {path}", plan.path.display())
}

/// Notes scripts, which may refer to variables in ways that cannot be recognised here.
fn note_scripts(plan: &PlanFile, old: &str, notes: &mut Vec<String>) {
    let mut number = 0;
    let mut open: Vec<&drumfire_jmx::Node> = plan.tree.roots.iter().rev().collect();
    while let Some(node) = open.pop() {
        let script_number = number;
        number += 1;
        open.extend(node.children.iter().rev());
        let Some(facts) =
            drumfire_elements::of_class(&node.class).filter(|facts| facts.is_script())
        else {
            continue;
        };
        let note = |what: &str| format!("{what} {}", place(plan, node.span.start, script_number));
        let mut files = facts.script_files().map(|name| node.props.str(name));
        let file = files.find(|file| !file.is_empty());
        if let Some(file) = file {
            notes.push(note(&format!("the script file `{file}` was not searched:")));
        }
        let locals = [
            format!("def {old} "),
            format!("def {old}="),
            format!("String {old} "),
        ];
        let texts = node.props.iter().map(|prop| prop.value.as_str());
        if texts
            .into_iter()
            .any(|text| locals.iter().any(|local| text.contains(local)))
        {
            notes.push(note(&format!(
                "a script has a variable `{old}` of its own, which kept its name:"
            )));
        }
    }
}

/// The CSV files whose header line names the variable, with that line.
fn csv_columns(joined: &Joined, old: &str) -> BTreeMap<PathBuf, String> {
    let mut columns = BTreeMap::new();
    for plan in &joined.plans {
        let folder = plan.path.parent().unwrap_or(Path::new(""));
        let mut open: Vec<&drumfire_jmx::Node> = plan.tree.roots.iter().collect();
        while let Some(node) = open.pop() {
            open.extend(&node.children);
            let facts = drumfire_elements::of_class(&node.class);
            let Some(file) = facts.and_then(|facts| facts.header_file(&node.props)) else {
                continue;
            };
            let file = folder.join(&*file);
            let Ok(text) = drumfire_platform::files::read_regular_text(&file) else {
                continue;
            };
            let line = text.lines().next().unwrap_or_default();
            if column_spans(line)
                .iter()
                .any(|span| &line[span.clone()] == old)
            {
                columns.insert(file, line.to_owned());
            }
        }
    }
    columns
}

/// The columns of a line, for any separator.
fn column_spans(line: &str) -> Vec<std::ops::Range<usize>> {
    let mut spans = Vec::new();
    let mut from = 0;
    for (at, sign) in line.char_indices().chain([(line.len(), ',')]) {
        if matches!(sign, ',' | ';' | '\t' | '|' | '"') {
            let inside = &line[from..at];
            let start = from + (inside.len() - inside.trim_start().len());
            spans.push(start..start + inside.trim().len());
            from = at + sign.len_utf8();
        }
    }
    spans
}

fn header_change(
    path: PathBuf,
    line: &str,
    old: &str,
    new: &str,
) -> Result<FileChange, RenameError> {
    let text = drumfire_platform::files::read_regular_text(&path)
        .map_err(|error| RenameError::new(format!("`{}`: {error}", path.display())))?;
    let spans = column_spans(line);
    let edits: Vec<Splice> = spans
        .into_iter()
        .filter(|span| &line[span.clone()] == old)
        .map(|span| Splice {
            span: drumfire_jmx::Span::new(span.start, span.end),
            text: new.to_owned(),
        })
        .collect();
    let text = spliced_text(&text, &edits);
    Ok(FileChange {
        path,
        edits,
        text,
        is_plan: false,
    })
}
