//! `drumfire set`: changes settings of a plan by name.

use crate::terminal::format::counted;
use std::path::PathBuf;

use drumfire_jmx::{Edit, EditError};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::whole_file;

/// The options of `set`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire set plan.jmx 'Users>num_threads=50'")]
pub struct SetArguments {
    /// The plan (.jmx), which is changed in place
    pub plan: PathBuf,
    /// Changes such as 'Users>num_threads=50' or 'HTTP*>enabled=false'; `drumfire show` lists the settings
    #[arg(required = true, value_name = "ELEMENT>SETTING=VALUE")]
    pub changes: Vec<String>,
}

/// Makes all changes or none.
pub fn set(arguments: &SetArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let usage = |why: EditError| Refusal::new(Exit::Usage, why.to_string());
    let edits = arguments.changes.iter().map(|text| Edit::parse(text));
    let edits = edits.collect::<Result<Vec<_>, _>>().map_err(usage)?;
    let mut tree = match drumfire_jmx::read_file(&arguments.plan) {
        Ok(read) => read.tree,
        Err(faults) => return Err(console.refusal_of(&faults)),
    };
    let mut lines = String::new();
    for (edit, text) in edits.iter().zip(&arguments.changes) {
        let count = edit.apply(&mut tree).map_err(usage)?;
        let elements = counted(count as u64, "element");
        lines.push_str(&format!("changed  {elements}: {text}\n"));
    }
    let plan = drumfire_jmx::write(&tree);
    whole_file::write(&arguments.plan, plan.as_bytes())
        .map_err(|why| Refusal::new(Exit::RunFailed, why))?;
    console.print(&lines);
    Ok(Exit::Ok)
}
