//! `drumfire show` and `drumfire diff`: print plans as text, and how two plans differ in meaning.

mod page;
pub mod secrets;

use std::path::{Path, PathBuf};

use drumfire_jmx::{Difference, ShownValue, Tree};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::git;
use crate::refusal::Refusal;
use crate::terminal::escape;
use crate::whole_file;

/// The options of `show`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire show plan.jmx")]
pub struct ShowArguments {
    /// The plan (.jmx)
    pub plan: PathBuf,
    /// Show passwords, tokens and cookies unmasked
    #[arg(long)]
    pub show_secrets: bool,
}

/// The options of `diff`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire diff before.jmx after.jmx")]
pub struct DiffArguments {
    /// The earlier plan (.jmx); alone, the later one, compared with git's last commit
    pub old: PathBuf,
    /// The later plan
    pub new: Option<PathBuf>,
    /// Write the differences as one HTML page
    #[arg(long = "report", alias = "html", value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Show passwords, tokens and cookies unmasked
    #[arg(long)]
    pub show_secrets: bool,
}

/// Prints the outline of a plan.
pub fn show(arguments: &ShowArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let tree = tree(&arguments.plan, console)?;
    let text = drumfire_jmx::outline_with(&tree, shown(arguments.show_secrets));
    print(&text, arguments.show_secrets, console);
    Ok(Exit::Ok)
}

/// Prints the differences. The exit code is 0 if the plans mean the same, else 1.
pub fn diff(arguments: &DiffArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let later = arguments.new.as_ref().unwrap_or(&arguments.old);
    let old = match arguments.new {
        Some(_) => tree(&arguments.old, console)?,
        None => committed(later, console)?,
    };
    let (old, new) = (canonical(&old), canonical(&tree(later, console)?));
    let shown = shown(arguments.show_secrets);
    if let Some(file) = &arguments.report {
        let before = match arguments.new {
            Some(_) => arguments.old.display().to_string(),
            None => "the last commit".to_owned(),
        };
        let names = [before, later.display().to_string()];
        let elements = drumfire_jmx::compared(&old, &new, shown);
        let html = page::page(&elements, &names, !arguments.show_secrets);
        whole_file::write(file, html.as_bytes())?;
    }
    let differences = drumfire_jmx::differences_with(&old, &new, shown);
    let text = lines(&differences, console);
    print(&text, arguments.show_secrets, console);
    Ok(if differences.is_empty() {
        Exit::Ok
    } else {
        Exit::RunFailed
    })
}

/// How settings are shown.
fn shown(with_secrets: bool) -> ShownValue {
    if with_secrets {
        |_, setting| setting.value.clone()
    } else {
        secrets::masked
    }
}

fn print(text: &str, with_secrets: bool, console: &mut Console<'_>) {
    if with_secrets {
        console.print_as_it_is(&escape::text(text))
    } else {
        console.print(text)
    }
}

fn tree(plan: &Path, console: &Console<'_>) -> Result<Tree, Refusal> {
    match drumfire_jmx::read_file(plan) {
        Ok(read) => Ok(read.tree),
        Err(faults) => Err(console.refusal_of(&faults)),
    }
}

/// The plan as the last commit of its repository has it.
fn committed(plan: &Path, console: &Console<'_>) -> Result<Tree, Refusal> {
    let whole = std::path::absolute(plan).unwrap_or_else(|_| plan.to_owned());
    let Some(bytes) = git::committed(&whole) else {
        let message = format!("no commit has `{}`", plan.display());
        return Err(
            Refusal::run_failed(message).hint("name two plans: the earlier and the later one")
        );
    };
    match drumfire_jmx::read(&bytes, plan) {
        Ok(read) => Ok(read.tree),
        Err(faults) => Err(console.refusal_of(&faults)),
    }
}

/// The tree with the properties that JMeter sets by default, so that a plan without them counts as
/// equal.
fn canonical(tree: &Tree) -> Tree {
    let written = drumfire_jmx::write(tree);
    match drumfire_jmx::read(written.as_bytes(), &tree.source.path) {
        Ok(read) => read.tree,
        Err(_) => tree.clone(),
    }
}

fn lines(differences: &[Difference], console: &Console<'_>) -> String {
    let style = console.style;
    let mut text = String::new();
    let mut last = "";
    for difference in differences {
        match difference {
            Difference::Added { element } => {
                text.push_str(&format!("{}    {element}\n", style.green("added")))
            }
            Difference::Removed { element } => {
                text.push_str(&format!("{}  {element}\n", style.red("removed")))
            }
            Difference::Moved { from, to } if from == to => {
                text.push_str(&format!("{}    {to}\n", style.yellow("moved")));
            }
            Difference::Moved { from, to } => {
                text.push_str(&format!(
                    "{}    {from}\n      to {to}\n",
                    style.yellow("moved")
                ));
            }
            Difference::Changed {
                element,
                setting,
                from,
                to,
            } => {
                if last != element {
                    text.push_str(&format!("{}  {element}\n", style.yellow("changed")));
                }
                text.push_str(&format!("    {setting}: {} -> {}\n", cut(from), cut(to)));
            }
        }
        last = match difference {
            Difference::Changed { element, .. } => element,
            _ => "",
        };
    }
    text
}

/// A value on one line; long values are cut.
fn cut(value: &str) -> String {
    const LONGEST: usize = 60;
    if value.is_empty() {
        return "(nothing)".to_owned();
    }
    let line = value.replace('\n', "\\n");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
