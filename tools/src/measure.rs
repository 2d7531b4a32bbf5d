//! What a program cost: CPU time and peak memory, as the kernel counts them.
//!
//! The kernel adds up the costs of all children a process has waited for, so each program is run by a fresh process of
//! ours (`measure`) that has no other child.

use std::path::Path;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use nix::sys::resource::{UsageWho, getrusage};

/// What a program cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub wall_us: u64,
    pub user_us: u64,
    pub system_us: u64,
    pub peak_kib: u64,
    /// When it was started, since the Unix epoch.
    pub began_ms: u64,
}

/// Runs a command and writes what it cost into a file.
pub fn measure(report: &Path, command: &[&str]) -> anyhow::Result<()> {
    let [program, words @ ..] = command else {
        bail!("measure needs a command")
    };
    let began = Instant::now();
    let began_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
    let status = Command::new(program)
        .args(words)
        .status()
        .with_context(|| (*program).to_owned())?;
    let wall_us = began.elapsed().as_micros() as u64;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let us = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64;
    let cost = Cost {
        wall_us,
        user_us: us(usage.user_time()),
        system_us: us(usage.system_time()),
        peak_kib: usage.max_rss() as u64,
        began_ms,
    };
    std::fs::write(report, cost.text())?;
    if !status.success() {
        bail!("{program}: {status}");
    }
    Ok(())
}

/// Runs a command in a folder by a process of its own; gives what it printed and what it cost.
pub fn measured(command: &[String], folder: &Path) -> anyhow::Result<(String, Cost)> {
    let report = folder.join("cost");
    let own = std::env::current_exe()?;
    let mut outer = Command::new(own);
    outer
        .arg("measure")
        .arg(&report)
        .args(command)
        .current_dir(folder);
    let output = outer.output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!(
            "{command:?}: {}\n{said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let cost = Cost::read(&std::fs::read_to_string(&report)?)
        .context("the cost of a program cannot be read")?;
    Ok((said, cost))
}

impl Cost {
    fn text(self) -> String {
        format!(
            "wall_us {}\nuser_us {}\nsystem_us {}\npeak_kib {}\nbegan_ms {}\n",
            self.wall_us, self.user_us, self.system_us, self.peak_kib, self.began_ms
        )
    }

    fn read(text: &str) -> Option<Cost> {
        let value = |name: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
            pairs
                .find(|(known, _)| *known == name)
                .and_then(|(_, value)| value.parse().ok())
        };
        Some(Cost {
            wall_us: value("wall_us")?,
            user_us: value("user_us")?,
            system_us: value("system_us")?,
            peak_kib: value("peak_kib")?,
            began_ms: value("began_ms")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_survive_writing() {
        let cost = Cost {
            wall_us: 1,
            user_us: 2,
            system_us: 3,
            peak_kib: 4,
            began_ms: 5,
        };
        assert_eq!(Cost::read(&cost.text()), Some(cost));
        assert_eq!(Cost::read("wall_us 1\n"), None);
    }
}
