//! `cargo xtask layout`: lists the functions that ordinary runs execute, so that the linker places them side by side.
//!
//! A run executes an eighth of the program. In the order of the crates, its functions are on every other page, and the system maps
//! code in pieces of 64 KiB and more, so that most of the program would be resident.

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use xtask::{ScratchFolder, cargo, root, run, target};

/// The linker script that `crates/cli/build.rs` passes on.
const LAYOUT: &str = "crates/cli/hot_code.ld";

/// Longer names are cut: they are of generic functions, whose instances differ only at the end.
const LONGEST_PATTERN: usize = 104;

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
    run(cargo().args(["build", "--release", "--package", "drumfire"]))?;
    let program = std::path::absolute(target())?.join("release/drumfire");
    let folder = ScratchFolder::new("layout")?;
    let [http, https] = [free_port()?, free_port()?];
    let _demo = demo(&program, http, https)?;
    let mut patterns = BTreeSet::new();
    for (plan, properties) in RUNS {
        println!("{plan} {}", properties.join(" "));
        let counts = folder.path().join("counts");
        let port = if properties.contains(&"-Jscheme=https") {
            https
        } else {
            http
        };
        let mut command = Command::new("valgrind");
        command
            .args(["--quiet", "--tool=callgrind", "--demangle=no"])
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(&program)
            .args(["run", "-l", "rows.jtl"])
            .arg(root().join(plan))
            .args([format!("-Jdemo.port={http}"), format!("-Jport={port}")])
            .args(properties)
            .current_dir(folder.path())
            .stdout(Stdio::null());
        run(&mut command)?;
        let counts = fs::read_to_string(&counts)?;
        patterns.extend(functions(&counts).filter_map(pattern).map(cut));
    }
    fs::write(root().join(LAYOUT), script(&patterns))?;
    println!("{LAYOUT}: {} functions", patterns.len());
    Ok(())
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

/// The names in Callgrind's counts: `fn=(12) name`, and `cfn=` for a function that is called. A name is written once.
fn functions(counts: &str) -> impl Iterator<Item = &str> {
    counts.lines().filter_map(|line| {
        let rest = line.strip_prefix('c').unwrap_or(line);
        let (_, name) = rest.strip_prefix("fn=")?.split_once(' ')?;
        // `'2` marks a recursion.
        name.split('\'').next()
    })
}

/// The section of a function, without what differs between compilers and profiles. `None` for functions of libraries that are
/// linked dynamically.
fn pattern(function: &str) -> Option<String> {
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

fn script(patterns: &BTreeSet<String>) -> String {
    let sections: String = patterns
        .iter()
        .map(|pattern| format!("      .text.{pattern}\n"))
        .collect();
    format!(
        "/* The functions that ordinary runs execute, made by `cargo xtask layout`. The linker places them side by side; a name that no\n   \
         longer exists matches nothing. */\nSECTIONS {{\n  .text.run : {{\n    *(\n{sections}    )\n  }}\n}}\nINSERT BEFORE .text;\n"
    )
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
        assert_eq!(of("aws_lc_0_47_0_SHA384_Final"), "aws_lc_*_SHA384_Final");
        assert_eq!(pattern("memcpy"), None);
        assert_eq!(pattern("0x000000000496b368"), None);
    }

    #[test]
    fn the_layout_is_what_the_command_writes() {
        let written = fs::read_to_string(root().join(LAYOUT)).expect("it is in the clone");
        let lines = written.lines().map(str::trim);
        let patterns: BTreeSet<String> = lines
            .filter_map(|line| line.strip_prefix(".text."))
            .filter(|name| *name != "run : {")
            .map(str::to_owned)
            .collect();
        assert!(patterns.len() > 1_000, "{}", patterns.len());
        assert_eq!(script(&patterns), written);
        assert!(
            patterns
                .iter()
                .all(|pattern| cut(pattern.clone()).len() <= LONGEST_PATTERN + 1)
        );
    }

    #[test]
    fn functions_are_read_from_counts() {
        let counts = "ob=(1) /p\nfn=(1) a'2\n1 2\ncfn=(2) b\ncalls=1 3\nfn=(2)\n";
        let names: Vec<&str> = functions(counts).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
