//! `drumfire set`: changes settings of a plan by name.

use crate::terminal::format::counted;
use std::path::{Path, PathBuf};

use drumfire_elements::{Kind, Property, Saved};
use drumfire_jmx::{Diagnostic, Edit, EditError, Node, PossibleSetting, Prop, Tree, Value};

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

/// Makes all changes or none. Bytes of the file that belong to none of them stay as they are.
pub fn set(arguments: &SetArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let edits = arguments
        .changes
        .iter()
        .map(|text| Edit::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(usage)?;
    let plan = arguments.plan.as_path();
    let mut bytes = drumfire_platform::files::read_regular(plan)
        .map_err(|error| console.refusal_of(&[Diagnostic::from_io(plan, &error)]))?;
    let mut tree = read(&bytes, plan, console)?;
    let mut lines = String::new();
    for (edit, text) in edits.iter().zip(&arguments.changes) {
        let elements = edit.splices(&tree, &possible).map_err(usage)?;
        let count = counted(elements.len() as u64, "element");
        lines.push_str(&format!("changed  {count}: {text}\n"));
        bytes = drumfire_jmx::spliced(&bytes, &elements.concat());
        tree = read(&bytes, plan, console)?;
        if !edit.is_made(&tree) {
            let message = format!("`{text}` cannot be written in the form that the plan has");
            let hint = format!("Rewrite it first: `drumfire fmt {}`", plan.display());
            return Err(Refusal::run_failed(message).hint(hint));
        }
    }
    whole_file::write(plan, &bytes)?;
    console.print(&lines);
    Ok(Exit::Ok)
}

/// An edit that cannot be made, as a refusal.
fn usage(why: EditError) -> Refusal {
    Refusal::usage(why.to_string())
}

/// The settings that an element may have, by the facts of its class.
fn possible(node: &Node) -> Vec<PossibleSetting> {
    let facts = drumfire_elements::of_form(&node.class, &node.gui_class);
    let fields = facts.into_iter().flat_map(|facts| facts.properties());
    let mut all = Vec::new();
    for field in fields {
        match field.kind {
            Kind::Element(item) => {
                let inner = item.fields.iter();
                all.extend(inner.filter_map(|inner| possible_setting(Some(field.name), inner)));
            }
            _ => all.extend(possible_setting(None, field)),
        }
    }
    all
}

fn possible_setting(within: Option<&'static str>, field: &Property) -> Option<PossibleSetting> {
    let value = match field.saved {
        Saved::BoolProp => Value::Bool(false),
        Saved::IntProp => Value::Int(0),
        Saved::LongProp => Value::Long(0),
        Saved::FloatProp | Saved::DoubleProp | Saved::StringProp => Value::Str(String::new()),
        Saved::CollectionProp | Saved::ElementProp | Saved::ObjProp => return None,
    };
    let prop = Prop::new(field.name, value);
    Some(PossibleSetting { within, prop })
}

fn read(bytes: &[u8], plan: &Path, console: &Console<'_>) -> Result<Tree, Refusal> {
    let read = drumfire_jmx::read(bytes, plan);
    read.map(|read| read.tree)
        .map_err(|faults| console.refusal_of(&faults))
}
