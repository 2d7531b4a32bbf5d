//! Runs of the program under Valgrind's Callgrind, and what its files of counts say.

use std::collections::HashMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use xtask::{ScratchFolder, cargo, root, run, target};

/// The optimized program with the demo site that it runs against. Dropping it ends the site.
pub struct Bench {
    program: PathBuf,
    folder: ScratchFolder,
    http: u16,
    https: u16,
    demo: Child,
}

/// The counts of one run.
pub struct Counts {
    /// The content of Callgrind's file.
    pub text: String,
    /// The number of samples.
    pub samples: u64,
}

impl Bench {
    /// Builds the program of a profile of cargo, with these environment variables, and starts the site.
    ///
    /// # Errors
    /// The build fails, or the site does not answer.
    pub fn new(name: &str, profile: &str, variables: &[(&str, &Path)]) -> anyhow::Result<Bench> {
        let mut build = cargo();
        build.args(["build", "--profile", profile, "--package", "drumfire"]);
        run(build.envs(variables.iter().copied()))?;
        let program = std::path::absolute(target())?
            .join(profile)
            .join("drumfire");
        let [http, https] = [free_port()?, free_port()?];
        let mut command = Command::new(&program);
        command.args(["demo", "--port", &http.to_string()]);
        command.args(["--https-port", &https.to_string()]);
        let bench = Bench {
            folder: ScratchFolder::new(name)?,
            demo: command.stdout(Stdio::null()).spawn().context("the demo")?,
            program,
            http,
            https,
        };
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, https)).is_err() {
            if Instant::now() > deadline {
                bail!("the demo site does not answer on port {https}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(bench)
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs a plan of the clone with these options for Callgrind and properties for the plan.
    ///
    /// # Errors
    /// Valgrind is missing, or the run fails.
    pub fn run(&self, options: &[&str], plan: &str, properties: &[&str]) -> anyhow::Result<Counts> {
        let folder = self.folder.path();
        let (counts, rows) = (folder.join("counts"), folder.join("rows.jtl"));
        let is_secure = properties.contains(&"-Jscheme=https");
        let port = if is_secure { self.https } else { self.http };
        let mut command = Command::new("valgrind");
        command
            .args(["--quiet", "--tool=callgrind"])
            .args(options)
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .arg(&self.program)
            .args(["run", "-f", "--report", "page.html", "-l"])
            .arg(&rows)
            .arg(root().join(plan))
            .args([
                format!("-Jdemo.port={}", self.http),
                format!("-Jport={port}"),
            ])
            .args(properties)
            .current_dir(folder)
            .stdout(Stdio::null());
        run(&mut command)?;
        let rows = fs::read_to_string(&rows)?;
        Ok(Counts {
            text: fs::read_to_string(&counts)?,
            samples: (rows.lines().count() as u64).saturating_sub(1),
        })
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.demo.kill();
        let _ = self.demo.wait();
    }
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// An instruction of a run.
pub struct Execution<'c> {
    pub function: &'c str,
    pub address: u64,
    /// How often it was executed.
    pub count: u64,
}

/// The instructions in a file of Callgrind whose positions are addresses only, in order (`callgrind-format`).
pub fn executions(counts: &str) -> impl Iterator<Item = Execution<'_>> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let (mut function, mut address) = ("", 0);
    let mut is_of_call = false;
    counts.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix("fn=") {
            function = named(&mut names, name);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            named(&mut names, name);
        } else if line.starts_with("calls=") {
            is_of_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let (position, count) = line.split_once(' ')?;
            address = moved(address, position)?;
            // After a call comes what its callee executed.
            if !std::mem::take(&mut is_of_call) {
                return Some(Execution {
                    function,
                    address,
                    count: count.trim().parse().ok()?,
                });
            }
        }
        None
    })
}

/// A name in a file of counts: `(12) name` when it first occurs, `(12)` later. `'2` at the end marks a recursion.
fn named<'c>(names: &mut HashMap<&'c str, &'c str>, text: &'c str) -> &'c str {
    let (number, name) = text.split_once(' ').unwrap_or((text, ""));
    if !name.is_empty() {
        names.insert(number, name.split('\'').next().unwrap_or(name));
    }
    names.get(number).copied().unwrap_or_default()
}

/// The address that a position stands for: absolute, or relative to the one before.
fn moved(address: u64, position: &str) -> Option<u64> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match position.split_at_checked(1)? {
        ("*", _) => Some(address),
        ("+", by) => address.checked_add(number(by)?),
        ("-", by) => address.checked_sub(number(by)?),
        _ => number(position),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_with_their_functions() {
        let text = "ob=(1) /p\nfn=(1) a'2\n0x10 2\n+3 5\ncfn=(2) b\ncalls=7 0x40\n* 900\n+0x10 1\nfn=(2)\n0x40 4\n-16 3\n";
        let executed: Vec<_> = executions(text)
            .map(|one| (one.function, one.address, one.count))
            .collect();
        let expected = [
            ("a", 0x10, 2),
            ("a", 0x13, 5),
            ("a", 0x23, 1),
            ("b", 0x40, 4),
            ("b", 0x30, 3),
        ];
        assert_eq!(executed, expected);
    }
}
