//! `cargo xtask fuzz`: runs the targets of `fuzz/` in sequence, each for a limited time.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use xtask::{root, run};

const TARGETS: &str = "fuzz/fuzz_targets";
/// Inputs of earlier runs, each of which reaches code that no other input reaches.
const PACKED: &str = "fuzz/corpus.tar.xz";
const DEFAULT_SECONDS: u32 = 60;

/// The task for each target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Fuzz for this many seconds.
    Fuzz(u32),
    /// Remove the inputs that reach no new code, and pack the others.
    Pack,
}

/// Fuzzes the named targets, or all of them, for `--seconds` each. The corpus of a target grows in `fuzz/corpus/TARGET`; if that
/// folder is missing, the packed corpus is unpacked first. `--pack` packs it again.
///
/// # Errors
/// cargo-fuzz or tar is missing, a target is unknown, or a target finds a failing input.
pub fn fuzz(words: &[&str]) -> anyhow::Result<()> {
    let (work, named) = options(words)?;
    let installed = Command::new("cargo")
        .args(["fuzz", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        bail!("cargo-fuzz is missing: run `cargo install cargo-fuzz`");
    }
    let root = root();
    if root.join(PACKED).exists() && !root.join("fuzz/corpus").exists() {
        run(Command::new("tar")
            .current_dir(&root)
            .args(["-C", "fuzz", "-xJf", PACKED]))?;
    }
    for target in chosen(&named, &targets()?)? {
        println!("fuzz {target}");
        run(&mut command(&target, work, &root))?;
    }
    match work {
        Work::Pack => run(&mut pack(&root)),
        Work::Fuzz(_) => Ok(()),
    }
}

/// Parses the arguments: what to do, and the names of the targets.
fn options<'w>(words: &[&'w str]) -> anyhow::Result<(Work, Vec<&'w str>)> {
    let (mut work, mut named) = (Work::Fuzz(DEFAULT_SECONDS), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--seconds" => {
                let value = words.next().context("--seconds needs a number")?;
                let seconds = value.parse();
                work = Work::Fuzz(seconds.with_context(|| format!("--seconds {value}"))?);
            }
            "--pack" => work = Work::Pack,
            option if option.starts_with('-') => bail!("fuzz has no option `{option}`"),
            target => named.push(target),
        }
    }
    Ok((work, named))
}

/// All targets, sorted by name.
fn targets() -> anyhow::Result<Vec<String>> {
    let files = std::fs::read_dir(root().join(TARGETS)).context(TARGETS)?;
    let names = files.flatten().filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        Some(name.strip_suffix(".rs")?.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

fn chosen(named: &[&str], all: &[String]) -> anyhow::Result<Vec<String>> {
    if let Some(unknown) = named
        .iter()
        .find(|name| !all.iter().any(|known| known == *name))
    {
        bail!("unknown target `{unknown}`; choose from {}", all.join(", "));
    }
    let is_chosen = |target: &&String| named.is_empty() || named.contains(&target.as_str());
    Ok(all.iter().filter(is_chosen).cloned().collect())
}

/// The command for a target. `-s none` works without a nightly compiler. Seeds are only read.
fn command(target: &str, work: Work, root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root);
    let corpus = format!("fuzz/corpus/{target}");
    // cargo-fuzz creates its own default folder, but not one that is named.
    let _ = std::fs::create_dir_all(root.join(&corpus));
    let Work::Fuzz(seconds) = work else {
        command.args(["fuzz", "cmin", "-s", "none", target]);
        command.arg(corpus);
        return command;
    };
    command.args(["fuzz", "run", "-s", "none", target]);
    command.arg(corpus);
    let seeds = format!("fuzz/seeds/{target}");
    if root.join(&seeds).is_dir() {
        command.arg(seeds);
    }
    if target == "jmx" {
        command.args(["compat", "examples"]);
    }
    command
        .arg("--")
        .arg(format!("-max_total_time={seconds}"))
        .args(["-timeout=10", "-rss_limit_mb=1024"]);
    command
}

/// The command that packs the corpora. The same inputs give the same bytes.
fn pack(root: &Path) -> Command {
    let mut command = Command::new("tar");
    command
        .current_dir(root)
        .args(["-C", "fuzz", "--sort=name", "--mtime=@0"])
        .args(["--owner=0", "--group=0", "--numeric-owner"])
        .args(["-cJf", PACKED, "corpus"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_the_files_of_their_folder() {
        let all = targets().expect("the folder exists");
        assert!(all.iter().any(|name| name == "jmx"), "{all:?}");
        assert_eq!(chosen(&[], &all).expect("all"), all);
        assert_eq!(chosen(&["jmx"], &all).expect("one"), ["jmx"]);
        let Err(error) = chosen(&["elsewhere"], &all) else {
            panic!("there is no such target");
        };
        assert!(
            error
                .to_string()
                .starts_with("unknown target `elsewhere`; choose from ")
        );
    }

    #[test]
    fn the_work_on_a_target_is_an_option() {
        let chosen = options(&["jmx", "--seconds", "5"]).expect("valid");
        assert_eq!(chosen, (Work::Fuzz(5), vec!["jmx"]));
        let packed = options(&["--pack"]).expect("valid");
        assert_eq!(packed, (Work::Pack, Vec::new()));
        assert!(options(&["--seconds"]).is_err() && options(&["--second", "5"]).is_err());
    }
}
