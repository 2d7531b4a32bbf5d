//! `cargo xtask trust`: stages situations over loopback and checks whether the verdict on each is right.
//!
//! Half of them are healthy runs. Each has a twin with one fault. A healthy run must be VALID or too short to judge, and a fault
//! must be reported as the cause. A run that other activity on this machine disturbed proves nothing and is staged again.

mod plans;
mod situations;
mod stage;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use situations::{SITUATIONS, Situation};
pub use stage::Neighbour;
use stage::{half_a_core, stage};

/// How many times a disturbed situation is staged again.
const MOST_DISTURBED: u32 = 3;
/// Remarks that a healthy run may have.
const REMARKS: [&str; 3] = [
    "the target runs on this machine",
    "Java was warming up",
    "the run was too short",
];
/// Reasons that other programs on this machine can cause.
const DISTURBANCES: [&str; 2] = ["CPU taken by other programs", "CPU kept by the hypervisor"];

#[derive(Debug)]
struct TrustOptions {
    /// The situations to stage; empty for all.
    names: Vec<String>,
    /// How many times each is staged.
    times: u32,
    /// Whether a process that uses half a core runs beside each situation.
    neighbour: bool,
    /// The program to run; `None` to build a release.
    program: Option<PathBuf>,
}

/// Stages the situations with these names, or all.
pub fn trust(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["half-a-core"] => {
            half_a_core();
            return Ok(());
        }
        ["matrix"] => {
            print!("{}", matrix());
            return Ok(());
        }
        _ => {}
    }
    let options = options(words)?;
    let program = match &options.program {
        Some(program) => program.canonicalize()?,
        None => build()?,
    };
    let _neighbour = if options.neighbour {
        Some(Neighbour::start()?)
    } else {
        None
    };
    let mut counts = Counts::default();
    for situation in chosen(&options) {
        for _ in 0..options.times {
            counts.add(&one(situation, &program)?);
        }
    }
    println!(
        "{} of {} right, {} wrong, {} disturbed, {} skipped",
        counts.right,
        counts.right + counts.wrong,
        counts.wrong,
        counts.disturbed,
        counts.skipped
    );
    if counts.wrong > 0 {
        bail!("the verdict is wrong in {} runs", counts.wrong);
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Counts {
    right: u32,
    wrong: u32,
    disturbed: u32,
    skipped: u32,
}

impl Counts {
    fn add(&mut self, finding: &Finding) {
        *match finding {
            Finding::Right => &mut self.right,
            Finding::Wrong => &mut self.wrong,
            Finding::Disturbed => &mut self.disturbed,
            Finding::Skipped => &mut self.skipped,
        } += 1;
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Finding {
    Right,
    Wrong,
    /// Other programs on this machine disturbed every attempt.
    Disturbed,
    /// It cannot be staged here.
    Skipped,
}

fn options(words: &[&str]) -> anyhow::Result<TrustOptions> {
    let mut options = TrustOptions {
        names: Vec::new(),
        times: 1,
        neighbour: false,
        program: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--times" => {
                let times = words.next().context("--times needs a number")?;
                options.times = times.parse().context("--times")?;
            }
            "--neighbour" => options.neighbour = true,
            "--program" => {
                let program = words.next().context("--program needs a file")?;
                options.program = Some(PathBuf::from(program));
            }
            name if all().any(|situation| situation.name == name) => {
                options.names.push(name.to_owned());
            }
            other => {
                bail!("there is no situation `{other}`: `cargo xtask trust matrix` lists them")
            }
        }
    }
    Ok(options)
}

fn all() -> impl Iterator<Item = &'static Situation> {
    SITUATIONS
        .iter()
        .flat_map(|(healthy, fault)| [healthy, fault])
}

fn chosen(options: &TrustOptions) -> impl Iterator<Item = &'static Situation> {
    let names = &options.names;
    all().filter(|situation| names.is_empty() || names.iter().any(|name| name == situation.name))
}

/// Builds a release. A debug build would exhaust the CPU even in a healthy run.
pub fn build() -> anyhow::Result<PathBuf> {
    xtask::run(xtask::cargo().args(["build", "--release", "--package", "drumfire"]))?;
    Ok(xtask::target().join("release/drumfire"))
}

fn has_java() -> bool {
    let home = std::env::var_os("JMETER_HOME");
    let java = Command::new("java").arg("-version").output();
    home.is_some() && java.is_ok_and(|output| output.status.success())
}

/// Stages a situation, repeats it while something else disturbs it, and prints the result.
fn one(situation: &Situation, program: &Path) -> anyhow::Result<Finding> {
    if situation.needs_java && !has_java() {
        println!("skipped    {}: no Java, or no JMETER_HOME", situation.name);
        return Ok(Finding::Skipped);
    }
    let mut told = String::new();
    for _ in 0..=MOST_DISTURBED {
        let finished = stage(situation, program)?;
        let Some(verdict) = Told::of(&finished.out) else {
            println!("wrong      {}: no verdict: {finished:?}", situation.name);
            return Ok(Finding::Wrong);
        };
        told = verdict.text.clone();
        if verdict.is_right(situation) {
            println!("right      {}: {}", situation.name, verdict.short());
            return Ok(Finding::Right);
        }
        if !verdict.is_disturbed(situation) {
            println!("wrong      {}: {told}", situation.name);
            return Ok(Finding::Wrong);
        }
    }
    println!("disturbed  {}: {told}", situation.name);
    Ok(Finding::Disturbed)
}

/// A verdict as printed on the terminal.
#[derive(Debug)]
struct Told {
    text: String,
    grade: String,
    /// The titles of the reasons.
    reasons: Vec<String>,
}

impl Told {
    fn of(out: &str) -> Option<Told> {
        let (_, after) = out.rsplit_once("\nverdict  ")?;
        let mut lines = after.lines();
        let grade = lines.next()?.to_owned();
        let lines: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
        // Below a reason stands its remedy. Other lines are no reasons.
        let is_remedy = |line: &str| line.starts_with("    ");
        let pairs = lines.windows(2);
        let reasons = pairs
            .filter(|pair| !is_remedy(pair[0]) && is_remedy(pair[1]))
            .filter_map(|pair| pair[0].trim().split([',', ':']).next());
        Some(Told {
            reasons: reasons.map(str::to_owned).collect(),
            text: format!("{grade}\n{}", lines.join("\n")),
            grade,
        })
    }

    /// The reasons, without the remarks that a healthy run may have.
    fn told(&self) -> impl Iterator<Item = &str> {
        let reasons = self.reasons.iter().map(String::as_str);
        reasons.filter(|reason| !REMARKS.contains(reason))
    }

    fn is_right(&self, situation: &Situation) -> bool {
        let is_grade = situation.grades.contains(&self.grade.as_str());
        is_grade && self.told().next() == situation.reason
    }

    /// Whether other programs disturbed a run for which no such disturbance was staged.
    fn is_disturbed(&self, situation: &Situation) -> bool {
        let mut told = self.told();
        told.any(|reason| DISTURBANCES.contains(&reason) && situation.reason != Some(reason))
    }

    fn short(&self) -> String {
        let told: Vec<&str> = self.told().collect();
        if told.is_empty() {
            self.grade.clone()
        } else {
            format!("{}, {}", self.grade, told.join("; "))
        }
    }
}

/// The table of docs/trust.md.
fn matrix() -> String {
    let mut text = String::from(
        "| healthy | verdict | with one fault | verdict and cause |\n|---|---|---|---|\n",
    );
    for (healthy, fault) in &SITUATIONS {
        text += &format!(
            "| `{}`: {} | {} | `{}`: {} | {}: {} |\n",
            healthy.name,
            healthy.story,
            healthy.grades.join(" or "),
            fault.name,
            fault.story,
            fault.grades.join(" or "),
            fault.reason.unwrap_or_default()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_situation_has_a_name_of_its_own() {
        let mut names: Vec<_> = all().map(|situation| situation.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 40);
    }

    #[test]
    fn the_page_has_the_matrix() {
        let page = std::fs::read_to_string(xtask::root().join("docs/trust.md"));
        let page = page.expect("docs/trust.md is there");
        assert!(
            page.contains(&matrix()),
            "docs/trust.md has no longer what `cargo xtask trust matrix` prints"
        );
    }

    #[test]
    fn a_verdict_is_read_from_what_the_terminal_shows() {
        let out = "samples 3\nverdict  DEGRADED\n  of p99 (9 ms) 1 ms passed in the generator\n  the generator was stopped, 2-4 s: nothing ran for 900 ms\n    look for it\n  the target runs on this machine, all the time: it\n    run elsewhere\nlog x\n";
        let told = Told::of(out).expect("there is a verdict");
        assert_eq!(told.grade, "DEGRADED");
        assert_eq!(
            told.told().collect::<Vec<_>>(),
            ["the generator was stopped"]
        );
        assert!(Told::of("samples 3\n").is_none());
    }
}
