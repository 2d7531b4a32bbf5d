//! `cargo xtask layout`: lists the functions that ordinary runs execute, so that the linker places them side by side.
//!
//! A run executes an eighth of the program. In the order of the crates, its functions are on every other page, and the system maps
//! code in pieces of 64 KiB and more, so that most of the program would be resident.
//!
//! Callgrind tells the addresses that runs execute, and the linker's map the section of each address. A section is listed by its
//! name without hashes, so that the list outlives changes of the code. Names of generic functions do not tell their instances
//! apart without the hash; if runs execute few of them, these are listed with it, and the rest follow behind all others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use xtask::{ScratchFolder, cargo, root, run, target};

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

/// The demo site, which is ended when dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

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
        "{LAYOUT}: {} functions of most runs, {} of others",
        layout.most_runs.len(),
        layout.some_runs.len()
    );
    Ok(())
}

/// The functions of the program that this profile builds, with the number of runs that execute each.
fn observe(profile: &str) -> anyhow::Result<BTreeMap<u64, Function>> {
    let folder = ScratchFolder::new("layout")?;
    let map = folder.path().join("map");
    let mut build = cargo();
    build.args(["build", "--profile", profile, "--package", "drumfire"]);
    run(build.env(LINK_MAP, &map))?;
    let program = std::path::absolute(target())?
        .join(profile)
        .join("drumfire");
    let mut functions = functions(&fs::read_to_string(&map).context("the linker's map")?);
    let [http, https] = [free_port()?, free_port()?];
    let _demo = demo(&program, http, https)?;
    for (plan, properties) in RUNS {
        println!("{profile}: {plan} {}", properties.join(" "));
        let counts = folder.path().join("counts");
        let port = if properties.contains(&"-Jscheme=https") {
            https
        } else {
            http
        };
        let mut command = Command::new("valgrind");
        command
            .args(["--quiet", "--tool=callgrind", "--dump-instr=yes"])
            .arg("--compress-pos=no")
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(&program)
            .args(["run", "-l", "rows.jtl", "--report", "page.html"])
            .arg(root().join(plan))
            .args([format!("-Jdemo.port={http}"), format!("-Jport={port}")])
            .args(properties)
            .current_dir(folder.path())
            .stdout(Stdio::null());
        run(&mut command)?;
        count_run(&mut functions, &fs::read_to_string(&counts)?);
    }
    Ok(functions)
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

fn demo(program: &Path, http: u16, https: u16) -> anyhow::Result<Demo> {
    let mut command = Command::new(program);
    command.args(["demo", "--port", &http.to_string()]);
    command.args(["--https-port", &https.to_string()]);
    let demo = Demo(command.stdout(Stdio::null()).spawn().context("the demo")?);
    let deadline = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect((Ipv4Addr::LOCALHOST, https)).is_err() {
        if Instant::now() > deadline {
            bail!("the demo site does not answer on port {https}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(demo)
}

/// A function of the program: the name of its section, its length, and how many runs executed it.
struct Function {
    name: String,
    bytes: u64,
    runs: usize,
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
        let runs = 0;
        (bytes > 0).then_some((address, Function { name, bytes, runs }))
    });
    functions.collect()
}

/// Counts a run for each function with an address in Callgrind's counts: `0xa540 12 7`.
fn count_run(functions: &mut BTreeMap<u64, Function>, counts: &str) {
    let addresses = counts.lines().filter_map(|line| {
        let digits = line.strip_prefix("0x")?.split(' ').next()?;
        u64::from_str_radix(digits, 16).ok()
    });
    let mut executed = BTreeSet::new();
    for address in addresses {
        if let Some((start, function)) = functions.range(..=address).next_back()
            && address - start < function.bytes
        {
            executed.insert(*start);
        }
    }
    for start in executed {
        if let Some(function) = functions.get_mut(&start) {
            function.runs += 1;
        }
    }
}

/// The patterns of sections, in the order of the program.
#[derive(Default)]
struct Layout {
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
        let runs = executed().map(|function| function.runs).max();
        let all: u64 = functions.iter().map(|function| function.bytes).sum();
        let of_runs: u64 = executed().map(|function| function.bytes).sum();
        match runs {
            None => {}
            Some(runs) if of_runs * 2 >= all => drop(self.of_runs(runs).insert(pattern)),
            Some(_) => {
                for function in executed() {
                    self.of_runs(function.runs).insert(function.name.clone());
                }
                self.instances.insert(pattern);
            }
        }
    }

    fn of_runs(&mut self, runs: usize) -> &mut BTreeSet<String> {
        if runs * 2 > RUNS.len() {
            &mut self.most_runs
        } else {
            &mut self.some_runs
        }
    }

    /// The script for the linker, which takes a section for the first list with a pattern that matches.
    fn script(&self) -> String {
        let lists = [&self.most_runs, &self.some_runs, &self.instances].map(|patterns| {
            let patterns = patterns.iter();
            let lines: String = patterns.map(|one| format!("      .text.{one}\n")).collect();
            format!("    *(\n{lines}    )\n")
        });
        format!(
            "/* The functions that runs execute, made by `cargo xtask layout`: those of most runs, those of others, and instances of \
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

    /// The layout after each run executed the addresses of a line.
    fn layout(counts: &[&str]) -> [Vec<String>; 3] {
        let mut functions = functions(MAP);
        for counts in counts {
            count_run(&mut functions, counts);
        }
        let Layout {
            most_runs,
            some_runs,
            instances,
        } = Layout::of(&functions.into_values().collect::<Vec<_>>());
        [most_runs, some_runs, instances].map(|list| list.into_iter().collect())
    }

    #[test]
    fn functions_are_listed_by_the_runs_that_execute_them() {
        let run = "fn=(1)\n0x100 7 2\n0x17f 7 2\ncalls=1 0x300 0\n0x300 1 1\n0x225 1 1\n";
        let [most, some, instances] = layout(&[run; 4]);
        assert_eq!(most, ["_ZN1a3one17h*"]);
        assert!(some.is_empty() && instances.is_empty());
        let [most, some, _] = layout(&[run]);
        assert!(most.is_empty());
        assert_eq!(some, ["_ZN1a3one17h*"]);
    }

    #[test]
    fn few_instances_are_listed_with_their_hashes() {
        let [_, some, instances] = layout(&["0x185 1 1\n"]);
        assert_eq!(some, ["_ZN1a3new17h0000000000000002E"]);
        assert_eq!(instances, ["_ZN1a3new17h*"]);
        let [_, some, instances] = layout(&["0x195 1 1\n"]);
        assert_eq!(some, ["_ZN1a3new17h*"]);
        assert!(instances.is_empty());
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
        assert_eq!(lists.len(), 3);
        let [most_runs, some_runs, instances] = [0, 1, 2].map(|list| lists[list].clone());
        assert!(most_runs.len() > 1_000, "{}", most_runs.len());
        let layout = Layout {
            most_runs,
            some_runs,
            instances,
        };
        assert_eq!(layout.script(), written);
    }
}
