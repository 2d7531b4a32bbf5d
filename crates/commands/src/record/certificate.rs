//! The recording proxy's certificate authority: where it is, what it covers, and its removal.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use drumfire_platform::causes::cause;
use drumfire_recorder::{ANY_DOMAIN, Certificate};

use super::arguments::CaAction;
use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;

/// The folder of the user's authority: `$XDG_DATA_HOME/drumfire/recorder` or `~/.local/share/drumfire/recorder`.
pub fn folder(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, Refusal> {
    let data = variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(Path::new(&variable("HOME")?).join(".local/share")));
    match data {
        Some(data) => Ok(data.join("drumfire/recorder")),
        None => Err(Refusal::run_failed(
            "there is no folder for the certificate: set `HOME` or `XDG_DATA_HOME`".to_owned(),
        )),
    }
}

/// Shows or removes the authority.
pub fn certificate(wish: CaAction, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let folder = folder(console.variable)?;
    match (wish, drumfire_recorder::authority(&folder)) {
        (CaAction::Show, Some(certificate)) => {
            console.print(&format!("certificate  {}\n", told(&certificate)));
        }
        (_, None) => console.line("there is no certificate authority for recordings"),
        (CaAction::Remove, Some(certificate)) => {
            let removed = drumfire_recorder::remove_authority(&folder);
            removed.map_err(|error| {
                let message = format!(
                    "`{}` cannot be deleted: {}",
                    folder.display(),
                    cause(&error)
                );
                Refusal::run_failed(message)
            })?;
            console.print(&format!(
                "removed      {}\nRemove it from the authorities of your browsers, too\n",
                certificate.file.display()
            ));
        }
    }
    Ok(Exit::Ok)
}

/// Describes where a certificate is and what it covers, in one line.
pub fn told(certificate: &Certificate) -> String {
    let domains = if certificate
        .domains
        .iter()
        .any(|domain| domain == ANY_DOMAIN)
    {
        "all domains".to_owned()
    } else {
        certificate.domains.join(", ")
    };
    format!(
        "{} for {domains}, valid until {}",
        certificate.file.display(),
        certificate.ends
    )
}
