//! Plans and elements from templates.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::host::{Shared, read, written};
use super::template_messages::{InsertTemplate, NewPlan};
use crate::operations::paste;
use crate::operations::structure::Target;
use crate::refused::{FILE, PARAMETERS, Refused};

/// The name of the data file beside a plan.
fn data_file(plan: &Path) -> PathBuf {
    plan.with_extension("csv")
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, content: &[u8]) -> Result<(), Refused> {
    let made = File::options().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(content))
        .map_err(|error| {
            let why = match error.kind() {
                std::io::ErrorKind::AlreadyExists => "it exists already".to_owned(),
                _ => error.to_string(),
            };
            let message = format!("`{}` cannot be written: {why}", path.display());
            Refused::new(FILE, message).hint("choose another name")
        })
}

impl Shared {
    /// Methods about templates.
    pub(super) fn templates(&self, method: &str, parameters: Value) -> Result<String, Refused> {
        match method {
            "templates" => written(&self.program.templates(&self.folder())),
            "new_plan" => {
                let number = self.new_plan(&read(parameters)?)?;
                self.with(number, |open| written(&open.opened()))
            }
            _ => {
                let asked: InsertTemplate = read(parameters)?;
                let made =
                    self.program
                        .template(&self.folder(), &asked.template, "", &asked.values)?;
                let Some(text) = made.part else {
                    let message = format!("the template `{}` is a whole plan", asked.template);
                    return Err(Refused::unfit(message).hint("make a new plan from it"));
                };
                let target = Target {
                    parent: asked.parent,
                    index: asked.index.unwrap_or(usize::MAX),
                };
                self.change(asked.plan, (asked.revision, &[asked.parent]), |session| {
                    let step = paste::paste(session.model(), target, &text, &*self.program)?;
                    session.make(step)
                })
            }
        }
    }

    /// The folder of new plans.
    fn folder(&self) -> PathBuf {
        let first = self.folders().first();
        first.cloned().unwrap_or_else(|| PathBuf::from("."))
    }

    /// Writes a plan and its data, and opens it.
    fn new_plan(&self, own: &NewPlan) -> Result<u64, Refused> {
        let path = self.folder().join(own.path.trim());
        let is_plan = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"));
        if !is_plan {
            let message = format!("`{}` is no name of a plan", own.path);
            return Err(Refused::new(PARAMETERS, message).hint("end it with `.jmx`"));
        }
        // The file is not there; its folder is.
        let folder = path.parent().unwrap_or(Path::new("."));
        let folder = self.allowed(folder)?;
        let path = folder.join(path.file_name().unwrap_or_default());
        let data = data_file(&path);
        let name = data.file_name().unwrap_or_default().to_string_lossy();
        let made = self
            .program
            .template(&self.folder(), &own.template, &name, &own.values)?;
        if let Some(content) = made.data {
            write_new(&data, content.as_bytes())?;
        }
        if let Err(refused) = write_new(&path, made.plan.as_bytes()) {
            if made.data.is_some() {
                // It was made just now.
                let _ = std::fs::remove_file(&data);
            }
            return Err(refused);
        }
        self.open(&path, None)
    }
}
