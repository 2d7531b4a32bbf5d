//! `drumfire new`: writes a small plan to begin with.

pub mod offered;
mod user;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use drumfire_import::templates::TEMPLATES;

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::settings::options::{PropertyOptions, split_definition};
use crate::settings::settings;
use crate::whole_file;
use offered::{AnyTemplate, Offered};

/// The options of `new`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire new plan.jmx\n  drumfire new --list")]
pub struct NewArguments {
    /// The plan to write
    #[arg(required_unless_present = "list")]
    pub plan: Option<PathBuf>,
    /// The template: one of `--list`, or a name of JMeter's own templates
    #[arg(long, default_value = "http", value_parser = TemplateName)]
    pub template: String,
    /// Give a parameter of the template a value
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// List the templates with their parameters, also those of the JMeter that `JMETER_HOME` names
    #[arg(long)]
    pub list: bool,
    /// Overwrite files that exist
    #[arg(short = 'f', long)]
    pub force: bool,
}

/// Any name, with the own templates for help and completion.
#[derive(Clone)]
struct TemplateName;

impl TypedValueParser for TemplateName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            TEMPLATES
                .iter()
                .map(|one| PossibleValue::new(one.name).help(one.about)),
        ))
    }
}

/// Writes the plan and, for some templates, a data file beside it.
pub fn new(arguments: &NewArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let read = settings(&PropertyOptions::default(), &[], None, console)?;
    let offered = Offered::of(&read);
    let Some(plan) = arguments.plan.as_deref().filter(|_| !arguments.list) else {
        list(&offered, console);
        return Ok(Exit::Ok);
    };
    let template = offered
        .find(&arguments.template)
        .map_err(|(message, near)| {
            let refusal = Refusal::usage(message);
            match near {
                Some(near) => refusal.hint(format!("did you mean `{near}`?")),
                None => refusal.hint("list them: `drumfire new --list`"),
            }
        })?;
    let given: BTreeMap<String, String> = arguments
        .set
        .iter()
        .map(|text| split_definition(text))
        .collect();
    let data_file = data_file(plan);
    let made = template
        .made(&base_name(&data_file), &given)
        .map_err(|message| {
            Refusal::usage(message).hint("list the parameters: `drumfire new --list`")
        })?;
    let data = made.data.map(|content| (data_file, content));
    let files = std::iter::once(plan).chain(data.as_ref().map(|(file, _)| file.as_path()));
    for file in files {
        refuse_existing(file, arguments.force)?;
    }
    whole_file::write(plan, made.plan.as_bytes())?;
    console.line(&format!("wrote  {}", plan.display()));
    if let Some((file, content)) = &data {
        whole_file::write(file, content.as_bytes())?;
        console.line(&format!("wrote  {}", file.display()));
    }
    if !template.needs().is_empty() {
        console.line(&format!("needs  {}", template.needs()));
    }
    let options = match template {
        AnyTemplate::Own(own) if given.is_empty() => own.first_run,
        AnyTemplate::Own(_) | AnyTemplate::User(_) => "",
    };
    let line = format!("try    drumfire run {} {options}", plan.display());
    console.line(line.trim_end());
    Ok(Exit::Ok)
}

/// Lists the templates with their parameters.
fn list(offered: &Offered, console: &mut Console<'_>) {
    for template in offered.all() {
        let from = match template {
            AnyTemplate::Own(_) => "",
            AnyTemplate::User(_) => " (of your JMeter)",
        };
        console.line(&format!("{}{from}", template.name()));
        if !template.about().is_empty() {
            console.line(&format!("    {}", template.about()));
        }
        for (name, about, value) in template.parameters() {
            let about = if about.is_empty() {
                String::new()
            } else {
                format!("  {about}")
            };
            console.line(&format!("    --set {name}={value}{about}"));
        }
    }
}

/// The data file of a plan: the same name with `.csv`.
pub(super) fn data_file(plan: &Path) -> PathBuf {
    plan.with_extension("csv")
}

pub(super) fn base_name(file: &Path) -> String {
    file.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
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
