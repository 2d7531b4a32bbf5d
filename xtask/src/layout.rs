//! `cargo xtask layout`: lists the functions that ordinary runs execute, so that the linker places them side by side.
//!
//! A run executes an eighth of the program. In the order of the crates, its functions are on every other page, and the system maps
//! code in pieces of 64 KiB and more, so that most of the program would be resident.
//!
//! Callgrind tells the addresses that runs execute, and the linker's map the section of each address. A section is listed by its
//! name without hashes, so that the list outlives changes of the code. Names of generic functions do not tell their instances
//! apart without the hash; if runs execute few of them, these are listed with it, and the rest follow behind all others.
//!
//! Those that each sample executes come first. A sample executes 80 KiB of code, more than a core's first cache holds, and where it
//! is spread over the functions of a whole run, it also needs more pages than the core translates without a walk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context as _;
use xtask::{ScratchFolder, root};

use crate::callgrind::{Bench, Counts, executions};

/// The linker script that `crates/cli/build.rs` passes on.
const LAYOUT: &str = "crates/cli/hot_code.ld";

/// Tells `crates/cli/build.rs` where the linker writes its map.
const LINK_MAP: &str = "DRUMFIRE_LINK_MAP";

/// Begins the section names of cold functions, some of which every run executes once.
const COLD: &str = "unlikely.";

/// Longer names are cut: they are of generic functions, whose instances differ only at the end.
const LONGEST_PATTERN: usize = 104;

/// The profiles whose programs are laid out. Their linkers inline other functions, and the hashes in names differ.
const PROFILES: [&str; 2] = ["release", "dist"];

/// A run with fewer samples does not tell which functions each of them executes.
const FEWEST_SAMPLES: u64 = 1_000;

/// Plans of the clone with their properties. They do what most plans do; functions that only others need stay where they are.
const RUNS: [(&str, &[&str]); 7] = [
    ("examples/quickstart.jmx", &["-Jseconds=3"]),
    ("examples/transactions.jmx", &[]),
    ("examples/data-driven.jmx", &[]),
    ("examples/api-smoke.jmx", &[]),
    ("examples/downloads.jmx", &["-Jmib=1"]),
    ("benches/requests.jmx", &["-Jseconds=3"]),
    ("benches/requests.jmx", &["-Jseconds=3", "-Jscheme=https"]),
];

/// Writes the linker script from runs of the program under Valgrind.
///
/// # Errors
/// Valgrind is missing, the program cannot be built, or a run fails.
pub fn record() -> anyhow::Result<()> {
    let mut functions = Vec::new();
    for profile in PROFILES {
        functions.extend(observe(profile)?.into_values());
    }
    let layout = Layout::of(&functions);
    fs::write(root().join(LAYOUT), layout.script())?;
    println!(
        "{LAYOUT}: {} functions of samples, {} of most runs, {} of others",
        layout.samples.len(),
        layout.most_runs.len(),
        layout.some_runs.len()
    );
    Ok(())
}

/// The functions of the program that this profile builds, with the runs and samples that execute each.
fn observe(profile: &str) -> anyhow::Result<BTreeMap<u64, Function>> {
    let folder = ScratchFolder::new("link-map")?;
    let map = folder.path().join("map");
    let bench = Bench::new("layout", profile, &[(LINK_MAP, &map)])?;
    let mut functions = functions(&fs::read_to_string(&map).context("the linker's map")?);
    for (plan, properties) in RUNS {
        println!("{profile}: {plan} {}", properties.join(" "));
        let options = ["--dump-instr=yes", "--dump-line=no"];
        count_run(&mut functions, &bench.run(&options, plan, properties)?);
    }
    Ok(functions)
}

/// A function of the program.
struct Function {
    /// That of its section.
    name: String,
    bytes: u64,
    /// How many runs executed it.
    runs: usize,
    /// Whether most samples of a run called it.
    is_of_samples: bool,
}

/// The functions in the linker's map, by their addresses: `a540 a540 1f 16 FILE:(.text.NAME)`, in hexadecimal.
fn functions(map: &str) -> BTreeMap<u64, Function> {
    let functions = map.lines().filter_map(|line| {
        let name = line
            .strip_suffix(')')?
            .rsplit_once(":(.text.")?
            .1
            .to_owned();
        let mut numbers = line.split_whitespace();
        let address = u64::from_str_radix(numbers.next()?, 16).ok()?;
        let bytes = u64::from_str_radix(numbers.nth(1)?, 16).ok()?;
        let function = Function {
            name,
            bytes,
            runs: 0,
            is_of_samples: false,
        };
        (bytes > 0).then_some((address, function))
    });
    functions.collect()
}

/// Adds what a run executed. A function is called as often as its first instruction is executed.
fn count_run(functions: &mut BTreeMap<u64, Function>, counts: &Counts) {
    let mut calls: BTreeMap<u64, u64> = BTreeMap::new();
    for execution in executions(&counts.text) {
        if let Some((start, function)) = functions.range(..=execution.address).next_back()
            && execution.address - start < function.bytes
        {
            let of_function = calls.entry(*start).or_default();
            if execution.address == *start {
                *of_function += execution.count;
            }
        }
    }
    let tells = counts.samples >= FEWEST_SAMPLES;
    for (start, calls) in calls {
        if let Some(function) = functions.get_mut(&start) {
            function.runs += 1;
            function.is_of_samples |= tells && calls > counts.samples / 2;
        }
    }
}

/// The patterns of sections, in the order of the program.
#[derive(Default)]
struct Layout {
    /// Functions that most samples of a run call.
    samples: BTreeSet<String>,
    /// Functions that most runs execute.
    most_runs: BTreeSet<String>,
    /// Functions that the others execute.
    some_runs: BTreeSet<String>,
    /// The instances of generic functions of which runs execute few. After a change of the compiler or a dependency, the hashes
    /// in the other lists match nothing, and all instances are here.
    instances: BTreeSet<String>,
}

impl Layout {
    fn of(functions: &[Function]) -> Layout {
        let mut alike: BTreeMap<String, Vec<&Function>> = BTreeMap::new();
        for function in functions {
            if let Some(pattern) = pattern(&function.name) {
                alike.entry(cut(pattern)).or_default().push(function);
            }
        }
        let mut layout = Layout::default();
        for (pattern, functions) in alike {
            layout.add(pattern, &functions);
        }
        layout
    }

    /// Adds the functions that one pattern matches, if a run executed one of them.
    fn add(&mut self, pattern: String, functions: &[&Function]) {
        let executed = || functions.iter().filter(|function| function.runs > 0);
        let most = executed().max_by_key(|function| (function.is_of_samples, function.runs));
        let all: u64 = functions.iter().map(|function| function.bytes).sum();
        let of_runs: u64 = executed().map(|function| function.bytes).sum();
        match most {
            None => {}
            Some(most) if of_runs * 2 >= all => drop(self.list(most).insert(pattern)),
            Some(_) => {
                for function in executed() {
                    self.list(function).insert(function.name.clone());
                }
                self.instances.insert(pattern);
            }
        }
    }

    /// The list for a function that runs executed.
    fn list(&mut self, function: &Function) -> &mut BTreeSet<String> {
        if function.is_of_samples {
            &mut self.samples
        } else if function.runs * 2 > RUNS.len() {
            &mut self.most_runs
        } else {
            &mut self.some_runs
        }
    }

    /// The script for the linker, which takes a section for the first list with a pattern that matches.
    fn script(&self) -> String {
        let lists = [
            &self.samples,
            &self.most_runs,
            &self.some_runs,
            &self.instances,
        ]
        .map(|patterns| {
            let patterns = patterns.iter();
            let lines: String = patterns.map(|one| format!("      .text.{one}\n")).collect();
            format!("    *(\n{lines}    )\n")
        });
        format!(
            "/* The functions that runs execute, made by `cargo xtask layout`: those of samples, of most runs, of others, and instances of \
             generic\n   functions of which runs execute few. A name that no longer exists matches nothing. */\nSECTIONS {{\n  \
             .text.run : {{\n{}  }}\n}}\nINSERT BEFORE .text;\n",
            lists.concat()
        )
    }
}

/// The section of a function, without what differs between compilers and profiles. `None` for functions of libraries that are
/// linked dynamically.
fn pattern(function: &str) -> Option<String> {
    if let Some(cold) = function.strip_prefix(COLD) {
        return Some(format!("{COLD}{}", pattern(cold)?));
    }
    if function.contains(['/', '@', ':', ' ']) || function.starts_with("0x") {
        return None;
    }
    if function.starts_with("_ZN") {
        let (path, _hash) = function.rsplit_once("17h")?;
        return Some(format!("{path}17h*"));
    }
    if let Some(path) = function.strip_prefix("_R") {
        return Some(format!("_R{}", without_crate_hashes(path)));
    }
    // AWS-LC has its version in names.
    let version = function.find("aws_lc_")? + "aws_lc_".len();
    let rest = function[version..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    Some(format!("{}*_{rest}", &function[..version]))
}

fn cut(pattern: String) -> String {
    match pattern.get(..LONGEST_PATTERN) {
        Some(start) => format!("{}*", start.trim_end_matches('*')),
        None => pattern,
    }
}

/// `NtCs4fqI2P2rA04_4core` without the hash of the crate: `NtCs*_4core`.
fn without_crate_hashes(path: &str) -> String {
    let mut parts = path.split("Cs");
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (hash, rest) = part.split_once('_').unwrap_or((part, ""));
        let is_hash = !hash.is_empty() && hash.chars().all(|c| c.is_ascii_alphanumeric());
        match is_hash {
            true => pattern.extend(["Cs*_", rest]),
            false => pattern.extend(["Cs", part]),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_differs_between_builds() {
        let of = |function: &str| pattern(function).unwrap_or_default();
        assert_eq!(
            of("_ZN4core3fmt5write17h0123456789abcdefE"),
            "_ZN4core3fmt5write17h*"
        );
        assert_eq!(
            of("_RNvNtCsgEmfK2I1SDS_4core3fmt5write"),
            "_RNvNtCs*_4core3fmt5write"
        );
        assert_eq!(of("unlikely._ZN1a3new17h01E"), "unlikely._ZN1a3new17h*");
        assert_eq!(of("aws_lc_0_47_0_SHA384_Final"), "aws_lc_*_SHA384_Final");
        assert_eq!(pattern("memcpy"), None);
        assert_eq!(pattern("0x000000000496b368"), None);
    }

    const MAP: &str = "  VMA  LMA  Size Align Out     In      Symbol
  100   100   300    16 .text.run
  100   100    80    16         /p/a.o:(.text._ZN1a3one17h0000000000000001E)
  100   100    80     1                 _ZN1a3one17h0000000000000001E
  180   180    10    16         /p/b.o:(.text._ZN1a3new17h0000000000000002E)
  190   190    90    16         /p/b.o:(.text._ZN1a3new17h0000000000000003E)
  220   220    10    16         /p/b.o:(.text.memcpy)
";

    /// The layout after runs of this many samples, with their counts.
    fn layout(runs: &[(u64, &str)]) -> Layout {
        let mut functions = functions(MAP);
        for (samples, text) in runs {
            let counts = Counts {
                text: (*text).to_owned(),
                samples: *samples,
            };
            count_run(&mut functions, &counts);
        }
        Layout::of(&functions.into_values().collect::<Vec<_>>())
    }

    fn names(list: &BTreeSet<String>) -> Vec<&str> {
        list.iter().map(String::as_str).collect()
    }

    /// Executes `one` often, and neither what it calls nor what stands between functions.
    const ONE: &str = "fn=(1) one\n0x100 900\n+0x7f 7\ncalls=1 0x300\n* 1\n0x225 1\n";

    #[test]
    fn functions_are_listed_by_the_runs_that_execute_them() {
        let layout_of_most = layout(&[(1, ONE); 4]);
        assert_eq!(names(&layout_of_most.most_runs), ["_ZN1a3one17h*"]);
        assert!(layout_of_most.some_runs.is_empty() && layout_of_most.instances.is_empty());
        let layout_of_one = layout(&[(1, ONE)]);
        assert!(layout_of_one.most_runs.is_empty());
        assert_eq!(names(&layout_of_one.some_runs), ["_ZN1a3one17h*"]);
    }

    #[test]
    fn functions_that_most_samples_call_are_told_from_others() {
        let of_samples = |samples| !layout(&[(samples, ONE)]).samples.is_empty();
        assert!(of_samples(1_700));
        assert!(!of_samples(1_800));
        assert!(!of_samples(900), "too few samples");
    }

    #[test]
    fn few_instances_are_listed_with_their_hashes() {
        let first = layout(&[(1, "0x185 1\n")]);
        assert_eq!(names(&first.some_runs), ["_ZN1a3new17h0000000000000002E"]);
        assert_eq!(names(&first.instances), ["_ZN1a3new17h*"]);
        let second = layout(&[(1, "0x195 1\n")]);
        assert_eq!(names(&second.some_runs), ["_ZN1a3new17h*"]);
        assert!(second.instances.is_empty());
    }

    #[test]
    fn the_layout_is_what_the_command_writes() {
        let written = fs::read_to_string(root().join(LAYOUT)).expect("it is in the clone");
        let lists = written.split("    *(\n").skip(1).map(|list| {
            let lines = list.lines().map(str::trim);
            let names = lines.filter_map(|line| line.strip_prefix(".text."));
            names.map(str::to_owned).collect()
        });
        let lists: Vec<BTreeSet<String>> = lists.collect();
        assert_eq!(lists.len(), 4);
        let [samples, most_runs, some_runs, instances] =
            [0, 1, 2, 3].map(|list| lists[list].clone());
        assert!(most_runs.len() > 1_000, "{}", most_runs.len());
        let layout = Layout {
            samples,
            most_runs,
            some_runs,
            instances,
        };
        assert_eq!(layout.script(), written);
    }
}
