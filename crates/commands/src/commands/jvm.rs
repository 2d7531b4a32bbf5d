//! `drumfire jvm`: reports which Java and which jars scripts and Java elements run with.

use super::inputs::settings;
use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::jmeter;
use crate::options::{JvmOptions, Refusal};

/// Installs what is missing, if asked to, and prints what there is.
pub fn jvm<E: Engine>(
    options: &JvmOptions,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let settings = settings(&options.properties, &[], None, console)?;
    let text = engine
        .java(&settings, options.install)
        .map_err(|why| jmeter::meaning::failed(&why, Exit::RunFailed))?;
    console.print(&text);
    Ok(Exit::Ok)
}
