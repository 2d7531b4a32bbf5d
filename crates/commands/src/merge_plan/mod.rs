//! `drumfire merge-plan`: git's merge driver for plans.

pub mod arguments;

use std::path::Path;

use drumfire_jmx::{Conflict, Tree};
use similar::{ChangeTag, TextDiff};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::merge_plan::arguments::MergePlanArguments;
use crate::refusal::Refusal;
use crate::whole_file;

/// Merges two plans by their structure. On conflicts, the plan contains git's markers around both versions, and
/// the exit code is 1.
pub fn merge_plan(
    arguments: &MergePlanArguments,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let path = arguments.path.as_ref().unwrap_or(&arguments.ours);
    // git passes an empty ancestor if both sides added the file
    let is_new = std::fs::metadata(&arguments.base).is_ok_and(|file| file.len() == 0);
    let ours = canonical(&arguments.ours, path, console)?;
    let theirs = canonical(&arguments.theirs, path, console)?;
    let base = if is_new {
        Tree {
            roots: Vec::new().into(),
            ..ours.clone()
        }
    } else {
        canonical(&arguments.base, path, console)?
    };
    let merged = drumfire_jmx::merge(&base, &ours, &theirs);
    let text = if merged.conflicts.is_empty() {
        drumfire_jmx::write(&merged.ours)
    } else {
        marked(
            &drumfire_jmx::write(&merged.ours),
            &drumfire_jmx::write(&merged.theirs),
        )
    };
    let output = arguments.output.as_ref().unwrap_or(&arguments.ours);
    whole_file::write(output, text.as_bytes())?;
    if merged.conflicts.is_empty() {
        return Ok(Exit::Ok);
    }
    console.print_error(&conflict_lines(&merged.conflicts, path));
    Ok(Exit::RunFailed)
}

/// The plan in the form in which JMeter saves it, so that differences in form do not count as changes.
fn canonical(file: &Path, shown: &Path, console: &Console<'_>) -> Result<Tree, Refusal> {
    let bytes = drumfire_platform::files::read_regular(file)
        .map_err(|error| Refusal::unreadable(Exit::RunFailed, file, &error))?;
    let read = drumfire_jmx::read(&bytes, shown)
        .and_then(|read| drumfire_jmx::read(drumfire_jmx::write(&read.tree).as_bytes(), shown));
    match read {
        Ok(read) => Ok(read.tree),
        Err(faults) => Err(console.refusal_of(&faults)),
    }
}

fn conflict_lines(conflicts: &[Conflict], path: &Path) -> String {
    let mut text = String::new();
    for conflict in conflicts {
        text.push_str(&format!(
            "conflict in {}: {} {}: ours {}, theirs {}\n",
            path.display(),
            conflict.element,
            conflict.setting,
            quoted(&conflict.ours),
            quoted(&conflict.theirs)
        ));
    }
    text
}

fn quoted(value: &str) -> String {
    const LONGEST: usize = 60;
    let line = value.replace('\n', "\\n");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}

/// Both versions, with git's conflict markers where they differ.
fn marked(ours: &str, theirs: &str) -> String {
    let diff = TextDiff::from_lines(ours, theirs);
    let mut text = String::new();
    let (mut left, mut right) = (String::new(), String::new());
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => left.push_str(change.value()),
            ChangeTag::Insert => right.push_str(change.value()),
            ChangeTag::Equal => {
                flush(&mut text, &mut left, &mut right);
                text.push_str(change.value());
            }
        }
    }
    flush(&mut text, &mut left, &mut right);
    text
}

fn flush(text: &mut String, left: &mut String, right: &mut String) {
    if !left.is_empty() || !right.is_empty() {
        text.push_str(&format!(
            "<<<<<<< ours\n{left}=======\n{right}>>>>>>> theirs\n"
        ));
        left.clear();
        right.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_stand_between_markers() {
        assert_eq!(
            marked("a\nb\nc\n", "a\nx\nc\n"),
            "a\n<<<<<<< ours\nb\n=======\nx\n>>>>>>> theirs\nc\n"
        );
    }
}
