//! `drumfire new`: writes a small plan to begin with.

use std::path::{Path, PathBuf};

use drumfire_import::templates::{self, TEMPLATES};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::whole_file;

/// The options of `new`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire new plan.jmx")]
pub struct NewArguments {
    /// The plan to write
    pub plan: PathBuf,
    /// The kind of plan
    #[arg(long, default_value = "http", value_parser = names())]
    pub template: String,
    /// Overwrite files that exist
    #[arg(short = 'f', long)]
    pub force: bool,
}

fn names() -> clap::builder::PossibleValuesParser {
    let values = TEMPLATES
        .iter()
        .map(|template| clap::builder::PossibleValue::new(template.name).help(template.about));
    clap::builder::PossibleValuesParser::new(values)
}

/// Writes the plan and, for some templates, a data file beside it.
pub fn new(arguments: &NewArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let Some(template) = templates::named(&arguments.template) else {
        return Err(Refusal::usage(format!(
            "there is no template `{}`",
            arguments.template
        )));
    };
    let data = template
        .data
        .map(|content| (data_file(&arguments.plan), content));
    let files = std::iter::once(&arguments.plan).chain(data.as_ref().map(|(file, _)| file));
    for file in files {
        refuse_existing(file, arguments.force)?;
    }
    let name = data
        .as_ref()
        .map_or_else(String::new, |(file, _)| base_name(file));
    let plan = drumfire_jmx::write(&template.tree(&name));
    whole_file::write(&arguments.plan, plan.as_bytes())?;
    console.line(&format!("wrote  {}", arguments.plan.display()));
    if let Some((file, content)) = &data {
        whole_file::write(file, content.as_bytes())?;
        console.line(&format!("wrote  {}", file.display()));
    }
    if !template.needs.is_empty() {
        console.line(&format!("needs  {}", template.needs));
    }
    console.line(&format!(
        "try    drumfire run {} {}",
        arguments.plan.display(),
        template.first_run
    ));
    Ok(Exit::Ok)
}

/// The data file of a plan: the same name with `.csv`.
pub(super) fn data_file(plan: &Path) -> PathBuf {
    plan.with_extension("csv")
}

pub(super) fn base_name(file: &Path) -> String {
    file.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Refuses to overwrite an existing file unless `force` is set.
pub(super) fn refuse_existing(file: &Path, force: bool) -> Result<(), Refusal> {
    if file.exists() && !force {
        Err(Refusal {
            exit: Exit::Usage,
            out: String::new(),
            err: format!(
                "error: `{}` exists\nhint: add `--force` to overwrite it\n",
                file.display()
            ),
        })
    } else {
        Ok(())
    }
}
