//! Measures the CPU time and the peak memory of a program, as counted by the kernel.
//!
//! The kernel adds up the costs of all children that a process has waited for. Therefore each program is run by a new
//! process of this program (`measure`) that has no other child.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};

/// The cost of a program. Time and CPU cover only a part of its run if only that part counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub wall_us: u64,
    pub user_us: u64,
    pub system_us: u64,
    pub peak_kib: u64,
    /// When the program was started, since the Unix epoch.
    pub began_ms: u64,
}

/// A part of a run, in whole seconds from its start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPart {
    pub from_s: u32,
    pub to_s: u32,
}

impl RunPart {
    fn text(part: Option<RunPart>) -> String {
        part.map(|part| format!("{}-{}", part.from_s, part.to_s))
            .unwrap_or("all".to_owned())
    }

    fn read(text: &str) -> anyhow::Result<Option<RunPart>> {
        if text == "all" {
            return Ok(None);
        }
        let (from, to) = text.split_once('-').context("a part is FROM-TO, or all")?;
        Ok(Some(RunPart {
            from_s: from.parse()?,
            to_s: to.parse()?,
        }))
    }
}

/// Runs a command and writes its cost to a file, for the whole run or for a part of it.
pub fn measure(report: &Path, part: &str, command: &[&str]) -> anyhow::Result<()> {
    let [program, words @ ..] = command else {
        bail!("measure needs a command")
    };
    let part = RunPart::read(part)?;
    let began = Instant::now();
    let began_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
    let mut child = Command::new(program)
        .args(words)
        .spawn()
        .with_context(|| (*program).to_owned())?;
    let cost_of_part = part.map(|part| watch(&child, began, part)).transpose()?;
    let status = child.wait()?;
    let wall_us = began.elapsed().as_micros() as u64;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cost = Cost {
        peak_kib: usage.max_rss() as u64,
        began_ms,
        ..cost_of_part.unwrap_or(Cost {
            wall_us,
            user_us: us(usage.user_time()),
            system_us: us(usage.system_time()),
            ..Cost::default()
        })
    };
    std::fs::write(report, cost.text())?;
    if !status.success() {
        bail!("{program}: {status}");
    }
    Ok(())
}

fn us(time: nix::sys::time::TimeVal) -> u64 {
    (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64
}

/// Measures the cost of a part of the run.
fn watch(child: &Child, began: Instant, part: RunPart) -> anyhow::Result<Cost> {
    let at = |seconds: u32| {
        let due = Duration::from_secs(seconds.into());
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        Ok::<_, anyhow::Error>((began.elapsed(), cpu_us(child.id())?))
    };
    let (from, (user_before, system_before)) = at(part.from_s)?;
    let (to, (user_us, system_us)) = at(part.to_s)?;
    Ok(Cost {
        wall_us: (to - from).as_micros() as u64,
        user_us: user_us - user_before,
        system_us: system_us - system_before,
        ..Cost::default()
    })
}

/// The CPU time of a process so far, in user and kernel mode, in microseconds (proc_pid_stat(5) has it in clock ticks).
fn cpu_us(process: u32) -> anyhow::Result<(u64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let per_second = sysconf(SysconfVar::CLK_TCK)?.context("the clock has no ticks")? as u64;
    // The program's name may contain anything, even the `)` that ends it.
    let rest = stat.rsplit_once(')').context("no process")?.1;
    let ticks = |field: usize| {
        let text = rest.split_whitespace().nth(field - 3);
        Ok::<u64, anyhow::Error>(text.context("a process without times")?.parse()?)
    };
    let us = |ticks: u64| ticks * 1_000_000 / per_second;
    Ok((us(ticks(14)?), us(ticks(15)?)))
}

/// Runs a command in a folder through a separate process. Returns its output and its cost, for the whole run or for a part
/// of it.
pub fn measured(
    command: &[String],
    folder: &Path,
    part: Option<RunPart>,
) -> anyhow::Result<(String, Cost)> {
    let report = folder.join("cost");
    let own = std::env::current_exe()?;
    let mut outer = Command::new(own);
    outer
        .arg("measure")
        .arg(&report)
        .arg(RunPart::text(part))
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

    #[test]
    fn parts_survive_the_command_line() {
        let part = Some(RunPart {
            from_s: 5,
            to_s: 40,
        });
        assert_eq!(RunPart::read(&RunPart::text(part)).unwrap(), part);
        assert_eq!(RunPart::read(&RunPart::text(None)).unwrap(), None);
        RunPart::read("5").unwrap_err();
    }

    #[test]
    fn the_cpu_of_a_process_is_what_it_has_used() {
        let (user_before, system_before) = cpu_us(std::process::id()).unwrap();
        let began = Instant::now();
        let mut sum = 0_u64;
        // A tick may be 10 ms; other tests of this process can only add to it.
        while cpu_us(std::process::id()).unwrap().0 < user_before + 20_000 {
            sum = std::hint::black_box((0..100_000).sum());
        }
        assert!(sum > 0);
        // At least one of the two ticks has passed, at best on all cores at once.
        let cores = std::thread::available_parallelism().unwrap().get() as u32;
        assert!(began.elapsed() * cores >= Duration::from_millis(10));
        assert!(cpu_us(std::process::id()).unwrap().1 >= system_before);
        cpu_us(0).unwrap_err();
    }
}
