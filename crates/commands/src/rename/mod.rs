//! `drumfire rename`: renames a variable or an element in all plans that belong together.

pub mod arguments;

use crate::terminal::format::counted;
use drumfire_refactor::{Joined, RenameError, Renamed, rename_element, rename_variable};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::rename::arguments::{RenameArguments, RenamedThing};
use crate::whole_file;

/// Changes all files or none.
pub fn rename(arguments: &RenameArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let joined = Joined::around(&arguments.plan).map_err(|faults| console.refusal_of(&faults))?;
    let (old, new) = (arguments.old.as_str(), arguments.new.as_str());
    let renamed = match arguments.what {
        RenamedThing::Var => rename_variable(&joined, old, new, arguments.csv),
        RenamedThing::Element => rename_element(&joined, old, new),
    };
    let renamed = renamed.map_err(refusal)?;
    if !arguments.dry_run {
        write(&renamed)?;
    }
    let verb = if arguments.dry_run {
        "would change"
    } else {
        "changed"
    };
    for change in &renamed.changes {
        let places = counted(change.edits.len() as u64, "place");
        console.line(&format!("{verb}  {}: {places}", shown(&change.path)));
    }
    for note in &renamed.notes {
        console.warn(note);
    }
    Ok(Exit::Ok)
}

fn refusal(refused: RenameError) -> Refusal {
    let mut refusal = Refusal::usage(refused.message);
    if let Some(hint) = refused.hint {
        refusal.err.push_str(&format!("hint: {hint}\n"));
    }
    refusal
}

/// Writes all files. If one cannot be written, it restores those before it.
fn write(renamed: &Renamed) -> Result<(), Refusal> {
    let mut before = Vec::new();
    for change in &renamed.changes {
        let old = std::fs::read(&change.path).unwrap_or_default();
        let new = if change.is_plan {
            drumfire_jmx::spliced(&old, &change.edits)
        } else {
            change.text.clone().into_bytes()
        };
        match whole_file::write(&change.path, &new) {
            Ok(()) => before.push((&change.path, old)),
            Err(why) => {
                for (path, old) in &before {
                    whole_file::write(path, old)?;
                }
                return Err(Refusal::run_failed(why));
            }
        }
    }
    Ok(())
}

/// The path relative to the working folder, if it is below it.
fn shown(path: &std::path::Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let short = path.strip_prefix(&here).unwrap_or(path);
    short.display().to_string()
}
