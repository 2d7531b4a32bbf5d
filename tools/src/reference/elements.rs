//! Generates the page of elements. The catalogue lists them, and the doc comment beside the code of each describes it.
//!
//! A doc comment is used if it begins with the element's name as users see it, its class in parentheses, and a colon or a full
//! stop: `` If Controller (`IfController`): runs its children if … ``.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use drumfire_elements::{ElementFacts, of_class};
use drumfire_engine::elements::{ElementClass, Role, Rung, entries, entry};

const HEAD: &str = "\
# Elements

<!-- Made by `cargo xtask gen` from the doc comments in crates/engine/src, the catalogue there and the facts in crates/elements. -->

The elements of plans: their effect here, the properties of the plan file that they read, and their differences from JMeter 5.6.3.
`drumfire check plan.jmx` tells it of the elements of a plan.
";

/// The sections, in page order.
const SECTIONS: [&str; 9] = [
    "Plan and thread groups",
    "Controllers",
    "Samplers",
    "Configuration",
    "Timers",
    "Pre-processors",
    "Post-processors",
    "Assertions",
    "Listeners",
];

/// The section of an element: chosen by its role, or by the folder of its code if the role is too general.
fn section(role: Role, folder: &str) -> &'static str {
    match (role, folder) {
        (Role::Plan | Role::ThreadGroup, _) => "Plan and thread groups",
        (Role::Controller, _) => "Controllers",
        (Role::Sampler, _) => "Samplers",
        (_, "timers") => "Timers",
        (_, "pre") => "Pre-processors",
        (_, "post") => "Post-processors",
        (_, "assertions") => "Assertions",
        (_, "listeners") => "Listeners",
        _ => "Configuration",
    }
}

/// Generates the page.
///
/// # Errors
/// A source cannot be read, or a native element has no doc comment.
pub fn page(root: &Path) -> anyhow::Result<String> {
    let engine = root.join("crates/engine/src");
    let docs = docs(&[
        engine.join("elements"),
        engine.join("bind"),
        engine.join("resolve"),
    ])?;
    let mut page = HEAD.to_owned();
    let mut untold = Vec::new();
    let mut sections: BTreeMap<&str, BTreeMap<String, &Doc>> = BTreeMap::new();
    for entry in entries().iter().filter(|entry| entry.rung == Rung::Native) {
        match docs.get(entry.class) {
            Some(doc) => {
                let section = sections.entry(section(entry.role, &doc.folder));
                section.or_default().insert(doc.title.to_lowercase(), doc);
            }
            None => untold.push(entry.class),
        }
    }
    for title in SECTIONS {
        let _ = write!(page, "\n## {title}\n");
        for doc in sections.get(title).into_iter().flat_map(BTreeMap::values) {
            let _ = write!(
                page,
                "\n### {}\n\n`{}`",
                doc.title,
                doc.classes.join("`, `")
            );
            let _ = write!(page, "\n\n{}\n", doc.text);
            settings(&mut page, &doc.classes);
        }
    }
    if !untold.is_empty() {
        bail!(
            "no doc comment begins with 'NAME (`CLASS`): ' for {}",
            untold.join(", ")
        );
    }
    others(&mut page);
    Ok(page)
}

/// The table of the properties that the element's form shows.
fn settings(page: &mut String, classes: &[String]) {
    let mut rows: Vec<String> = Vec::new();
    let facts = classes.iter().filter_map(|class| of_class(class));
    for property in facts.flat_map(ElementFacts::properties) {
        let default = match property.default {
            "" => String::new(),
            value => format!("`{}`", value.replace('\n', " ")),
        };
        let effect = match property.differs {
            "" => property.help.to_owned(),
            differs => format!("{} Differs from JMeter: {differs}", property.help),
        };
        let cells = [property.label.to_owned(), default, effect]
            .map(|cell| cell.replace('|', "\\|"))
            .join(" | ");
        let row = format!("| `{}` | {cells} |", property.name);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    if !rows.is_empty() {
        page.push_str(
            "\n| property | in JMeter's window | default | effect |\n|---|---|---|---|\n",
        );
        page.push_str(&(rows.join("\n") + "\n"));
    }
}

/// The elements that are not native.
fn others(page: &mut String) {
    page.push_str("\n## Others\n\n| class | how it is run | why |\n|---|---|---|\n");
    for ElementClass {
        class, rung, why, ..
    } in entries().iter().filter(|entry| entry.rung != Rung::Native)
    {
        let how = match rung {
            Rung::Jvm => "needs a JVM",
            Rung::Skipped => "skipped",
            _ => "refused",
        };
        let _ = writeln!(page, "| `{class}` | {how} | {why} |");
    }
}

/// The documentation of one element, or of several similar ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Doc {
    title: String,
    classes: Vec<String>,
    text: String,
    /// The folder of the source file.
    folder: String,
}

/// All Rust files below a folder with their texts, sorted by name.
pub fn sources(folder: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).with_context(|| next.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path)?;
                found.push((path, text));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The doc comments of elements, by class.
fn docs(folders: &[PathBuf]) -> anyhow::Result<BTreeMap<String, Doc>> {
    let mut docs = BTreeMap::new();
    let mut all = Vec::new();
    for folder in folders {
        all.extend(sources(folder)?);
    }
    for (path, source) in all {
        let folder = path.parent().and_then(Path::file_name);
        let folder = folder.unwrap_or_default().to_string_lossy();
        for doc in comments(&source)
            .iter()
            .filter_map(|text| parse(text, &folder))
        {
            for class in doc.classes.iter().filter(|class| entry(class).is_some()) {
                if let Some(Doc { title, .. }) = docs.insert(class.clone(), doc.clone()) {
                    bail!("{}: {class} was told already, as {title}", path.display());
                }
            }
        }
    }
    Ok(docs)
}

/// The doc comments of a source file, each as one text.
fn comments(source: &str) -> Vec<String> {
    let mut comments = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    for line in source.lines() {
        let line = line.trim_start();
        let text = line
            .strip_prefix("//!")
            .or_else(|| line.strip_prefix("///"));
        match text {
            Some(text) => current.push(text.strip_prefix(' ').unwrap_or(text)),
            None if !current.is_empty() => comments.push(std::mem::take(&mut current).join("\n")),
            None => {}
        }
    }
    comments.push(current.join("\n"));
    comments
}

/// The documentation of an element, if the comment has the required form.
fn parse(comment: &str, folder: &str) -> Option<Doc> {
    let (title, rest) = comment.split_once(" (`")?;
    let (classes, rest) = rest.split_once("`)")?;
    let text = rest.strip_prefix([':', '.'])?.trim_start();
    // The sections after the text are for callers of the code.
    let text = text.split("\n\n# ").next().unwrap_or(text);
    if title.len() > 60 || !title.chars().all(is_title) {
        return None;
    }
    let classes: Vec<String> = classes.split("`, `").map(str::to_owned).collect();
    if classes
        .iter()
        .any(|class| class.contains('#') || !class.chars().all(is_class))
    {
        return None;
    }
    Some(Doc {
        title: title.to_owned(),
        classes,
        text: sentence(&unlinked(text)),
        folder: folder.to_owned(),
    })
}

fn is_title(c: char) -> bool {
    c.is_alphanumeric() || " -()/,@".contains(c)
}

fn is_class(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.".contains(c)
}

/// The text with its first letter capitalised.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// Turns links to code into code: ``[`Field`]`` becomes `` `Field` ``.
fn unlinked(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_comment_is_a_title_its_classes_and_a_text() {
        let source = "//! Constant Timer (`ConstantTimer`): the same delay.\n//!\n//! Property: `x`, see [`Y`].\n//!\n//! # Errors\n//! None.\n\nuse a;\n\n/// A list (of things).\nfn f() {}\n";
        let found: Vec<_> = comments(source)
            .iter()
            .filter_map(|text| parse(text, "timers"))
            .collect();
        assert_eq!(
            found,
            [Doc {
                title: "Constant Timer".to_owned(),
                classes: vec!["ConstantTimer".to_owned()],
                text: "The same delay.\n\nProperty: `x`, see `Y`.".to_owned(),
                folder: "timers".to_owned(),
            }]
        );
    }

    #[test]
    fn names_of_rules_are_not_elements() {
        assert_eq!(
            parse(
                "All timers in scope (`JMeterThread#delay`): then one wait.",
                ""
            ),
            None
        );
        assert_eq!(parse("How it is done (`JMeterThread`), and why.", ""), None);
    }
}
