//! `cargo xtask faults`: stages every kind of failure against the program over loopback. Each fault has a name, the outcome
//! before it was fixed, and the outcome now.

pub mod bench;
mod endings;
mod endless;
mod fleet;
mod http2;
mod inputs;
mod leaks;
mod limits;
mod losses;
mod memory;
mod outputs;
pub mod scripts;
mod servers;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail};
use xtask::{cargo, root, run};

/// A fault.
pub struct Fault {
    /// The name by which it is selected.
    pub name: &'static str,
    /// Whether it takes only a second or two, so that it can run for every change.
    pub is_quick: bool,
    /// The outcome before it was fixed.
    pub before: &'static str,
    /// The outcome now, which `stage` checks.
    pub after: &'static str,
    /// Stages the fault with the program.
    pub stage: fn(&bench::FaultBench) -> anyhow::Result<()>,
}

/// Selects all faults of distributed runs, whose names begin with it.
const FLEET: &str = "fleet";

/// All faults, grouped by the part of the system that they affect.
const FAULTS: [&[Fault]; 12] = [
    endings::FAULTS,
    inputs::FAULTS,
    outputs::FAULTS,
    losses::FAULTS,
    servers::FAULTS,
    limits::FAULTS,
    memory::FAULTS,
    http2::FAULTS,
    endless::FAULTS,
    scripts::FAULTS,
    leaks::FAULTS,
    fleet::FAULTS,
];

/// Which faults to stage, and how often.
#[derive(Debug, PartialEq)]
struct FaultSelection<'w> {
    names: Vec<&'w str>,
    program: Option<PathBuf>,
    only_quick: bool,
    only_list: bool,
    times: u32,
}

/// Stages the faults with these names, those of `fleet`, or all; `--quick` selects those that run for every change.
///
/// # Errors
/// The program cannot be built, a name is unknown, or a fault is not handled.
pub fn faults(words: &[&str]) -> anyhow::Result<()> {
    let choice = read(words)?;
    let chosen = chosen(&choice)?;
    if choice.only_list {
        for fault in chosen {
            println!(
                "{}\n  before  {}\n  after   {}",
                fault.name, fault.before, fault.after
            );
        }
        return Ok(());
    }
    let program = match &choice.program {
        Some(program) => std::path::absolute(program)?,
        None => built()?,
    };
    let bench = bench::FaultBench::new(program);
    let mut failed = Vec::new();
    for fault in &chosen {
        let since = Instant::now();
        let staged = (0..choice.times).try_for_each(|_| (fault.stage)(&bench));
        let ms = since.elapsed().as_millis();
        match staged {
            Ok(()) => println!("ok      {:<32} {ms:>6} ms  {}", fault.name, fault.after),
            Err(error) => {
                println!("FAILED  {:<32} {ms:>6} ms  {error:#}", fault.name);
                failed.push(fault.name);
            }
        }
    }
    let count = chosen.len();
    println!("{} of {count} handled", count - failed.len());
    if !failed.is_empty() {
        bail!("not handled: {}", failed.join(", "));
    }
    Ok(())
}

fn read<'w>(words: &[&'w str]) -> anyhow::Result<FaultSelection<'w>> {
    let mut choice = FaultSelection {
        names: Vec::new(),
        program: None,
        only_quick: false,
        only_list: false,
        times: 1,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} needs a value"))
        };
        match *word {
            "--quick" => choice.only_quick = true,
            "--list" => choice.only_list = true,
            "--program" => choice.program = Some(PathBuf::from(value()?)),
            "--times" => choice.times = value()?.parse()?,
            name => choice.names.push(name),
        }
    }
    Ok(choice)
}

fn chosen(choice: &FaultSelection) -> anyhow::Result<Vec<&'static Fault>> {
    let all = || FAULTS.iter().copied().flatten();
    for name in &choice.names {
        if *name != FLEET && !all().any(|fault| fault.name == *name) {
            let known: Vec<&str> = all().map(|fault| fault.name).collect();
            bail!("unknown fault `{name}`; choose from {}", known.join(", "));
        }
    }
    let is_chosen = |fault: &&Fault| {
        if choice.names.is_empty() {
            fault.is_quick || !choice.only_quick
        } else {
            let is_of_fleet = fault.name.starts_with(FLEET) && choice.names.contains(&FLEET);
            choice.names.contains(&fault.name) || is_of_fleet
        }
    };
    Ok(all().filter(is_chosen).collect())
}

/// The release build of the program.
pub fn built() -> anyhow::Result<PathBuf> {
    run(cargo().args(["build", "--quiet", "--release", "--package", "drumfire"]))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/drumfire"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_names_of_their_own() {
        let mut names: Vec<&str> = FAULTS
            .iter()
            .copied()
            .flatten()
            .map(|fault| fault.name)
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn faults_are_chosen_by_name_or_by_how_quick_they_are() {
        let all = chosen(&read(&[]).expect("words")).expect("known").len();
        let quick = chosen(&read(&["--quick"]).expect("words")).expect("known");
        assert!(quick.len() < all && quick.iter().all(|fault| fault.is_quick));
        let one = read(&["exit-3", "--times", "10"]).expect("words");
        assert_eq!(chosen(&one).expect("known").len(), 1);
        assert_eq!(one.times, 10);
        let fleet = chosen(&read(&["fleet"]).expect("words")).expect("known");
        assert_eq!(fleet.len(), fleet::FAULTS.len());
        assert!(chosen(&read(&["nonsense"]).expect("words")).is_err());
    }
}
