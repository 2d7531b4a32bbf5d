//! `cargo xtask optimize`: builds the program for this machine with profile-guided optimization.

use xtask::{profile, target};

/// Builds `optimized/drumfire` in cargo's target folder.
///
/// # Errors
/// As [`profile::record`] and [`profile::check`].
pub fn optimize() -> anyhow::Result<()> {
    let folder = std::path::absolute(target().join("optimized"))?;
    let recorded = profile::record(&folder)?;
    let built = profile::build(&folder, &profile::guided(&recorded))?;
    profile::check(&recorded, &built)?;
    let program = folder.join("drumfire");
    std::fs::copy(&built, &program)?;
    println!("{}", program.display());
    Ok(())
}
