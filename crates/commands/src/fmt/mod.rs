//! `drumfire fmt`: rewrites plans in the form in which JMeter 5.6.3 saves them.

use std::path::{Path, PathBuf};

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::whole_file;

/// The options of `fmt`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire fmt plan.jmx")]
pub struct FmtArguments {
    /// Plans (.jmx)
    #[arg(required = true)]
    pub plans: Vec<PathBuf>,
    /// Change nothing; end with exit code 1 if a plan would change
    #[arg(long)]
    pub check: bool,
}

/// The outcome of one plan.
enum Formatted {
    Already,
    Differs(String),
}

/// Rewrites each plan whose form differs. It goes on after a plan that cannot be read.
pub fn fmt(arguments: &FmtArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let (mut changed, mut refused) = (0_usize, false);
    for plan in &arguments.plans {
        match formatted(plan) {
            Ok(Formatted::Already) => {}
            Ok(Formatted::Differs(text)) => {
                changed += 1;
                if arguments.check {
                    console.line(&format!("would format  {}", plan.display()));
                } else {
                    whole_file::write(plan, text.as_bytes())?;
                    console.line(&format!("formatted  {}", plan.display()));
                }
            }
            Err(faults) => {
                refused = true;
                let rendered = console.render(&faults);
                console.print_error(&rendered);
            }
        }
    }
    Ok(match refused {
        true => Exit::PlanRefused,
        false if arguments.check && changed > 0 => Exit::RunFailed,
        false => Exit::Ok,
    })
}

fn formatted(plan: &Path) -> Result<Formatted, Vec<drumfire_jmx::Diagnostic>> {
    let bytes = drumfire_platform::files::read_regular(plan)
        .map_err(|error| vec![drumfire_jmx::Diagnostic::from_io(plan, &error)])?;
    let read = drumfire_jmx::read(&bytes, plan)?;
    let text = drumfire_jmx::write(&read.tree);
    Ok(if text.as_bytes() == bytes {
        Formatted::Already
    } else {
        Formatted::Differs(text)
    })
}
