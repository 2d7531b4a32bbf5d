//! Finds the other programs that take CPU, and which of them is the target.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clocks::of_thread;
use crate::machine::{Machine, Process};

/// After each scan of all processes, wait this many times its CPU time before the next.
const PAUSE: u32 = 100;
/// The most programs to name.
const MOST_NAMED: usize = 3;
/// As a share of a core: programs that take less are not named.
const WORTH_NAMING: f64 = 0.05;
/// How many parents of a process are checked for the target's socket.
const MOST_PARENTS: usize = 8;
/// Programs that listen on behalf of a target whose own processes are in another network namespace.
const FORWARDERS: [&str; 4] = ["docker-proxy", "rootlessport", "slirp4netns", "pasta"];

/// Where the target runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Locality {
    /// On another machine, or nothing has been sent yet.
    #[default]
    Elsewhere,
    /// In this program, like the demo site.
    ThisProgram,
    /// On this machine.
    ThisMachine,
}

/// A program other than the generator, and the CPU it takes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BusyProgram {
    /// Its name, as the system shows it.
    pub name: String,
    /// Its process that takes the most CPU.
    pub process: u32,
    /// Cores that all processes of this name use.
    pub cores: f64,
    /// Whether it is the target, or one of its workers.
    pub is_target: bool,
}

/// How other programs used the CPU.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OtherPrograms {
    /// The programs that took most, at most three.
    pub programs: Vec<BusyProgram>,
    /// Cores that the target used, if it runs on this machine.
    pub cores_target: f64,
    /// Cores of programs that may be the target: this process may not read their open files.
    pub cores_unknown: f64,
    /// Cores of the generator's other processes, such as the agents of one machine.
    pub cores_family: f64,
    pub locality: Locality,
}

/// Scans the processes of this machine from time to time.
#[derive(Debug, Default)]
pub struct Programs {
    /// The processes at the last scan, and the time of the scan.
    last: Option<(Duration, HashMap<u32, Process>)>,
    again: Duration,
    /// The result of the last scan.
    found: OtherPrograms,
    /// Local ports that requests were sent to.
    ports: BTreeSet<u16>,
    /// Ports were noted since the listening sockets were looked up.
    has_new_ports: bool,
    /// The inodes of the sockets that listen on these ports.
    listeners: HashSet<u64>,
    /// Whether a process holds one of these sockets; `None` if that is unknown.
    holders: HashMap<u32, Option<bool>>,
    locality: Locality,
    own: OwnId,
}

/// The id of the generator's process.
#[derive(Debug, Clone, Copy)]
struct OwnId(u32);

impl Default for OwnId {
    fn default() -> OwnId {
        OwnId(std::process::id())
    }
}

impl Programs {
    /// Notes the ports of this machine to which requests were sent.
    pub fn note_targets(&mut self, ports: &[u16]) {
        let before = self.ports.len();
        self.ports.extend(ports);
        self.has_new_ports |= self.ports.len() > before;
    }

    /// Looks up which sockets listen on the noted ports. Linux walks its whole table of connections for that, which takes
    /// milliseconds of CPU on machines with much memory.
    fn find_targets(&mut self, machine: &Machine) {
        if !std::mem::take(&mut self.has_new_ports) {
            return;
        }
        self.listeners = machine.listeners(&self.ports);
        self.holders.clear();
        let own = machine.holds_any("self", &self.listeners);
        self.locality = match own {
            Some(true) => Locality::ThisProgram,
            _ => Locality::ThisMachine,
        };
    }

    /// Whether a first scan has been made, with which later scans are compared.
    pub fn has_looked(&self) -> bool {
        self.last.is_some()
    }

    /// The CPU that others used since the last scan. It scans only if `is_worth_it`, and not too often.
    pub fn at(&mut self, machine: &Machine, elapsed: Duration, is_worth_it: bool) -> OtherPrograms {
        self.find_targets(machine);
        let nothing = OtherPrograms {
            locality: self.locality,
            ..OtherPrograms::default()
        };
        if !is_worth_it {
            return nothing;
        }
        if self.last.is_some() && elapsed < self.again {
            return OtherPrograms {
                locality: self.locality,
                ..self.found.clone()
            };
        }
        let begin = of_thread();
        let now: HashMap<u32, Process> = machine
            .processes()
            .into_iter()
            .map(|process| (process.id, process))
            .collect();
        let then = self.last.take();
        let others = then
            .map(|(at, then)| self.shares(machine, elapsed.saturating_sub(at), &then, &now))
            .unwrap_or(nothing);
        self.last = Some((elapsed, now));
        self.again = elapsed + of_thread().saturating_sub(begin) * PAUSE;
        self.found = others.clone();
        others
    }

    fn shares(
        &mut self,
        machine: &Machine,
        length: Duration,
        then: &HashMap<u32, Process>,
        now: &HashMap<u32, Process>,
    ) -> OtherPrograms {
        let length_us = (length.as_micros() as f64).max(1.0);
        let mut others = OtherPrograms {
            locality: self.locality,
            ..OtherPrograms::default()
        };
        let starter = starter(now, self.own.0);
        let mut by_name: HashMap<(&str, bool), BusyProgram> = HashMap::new();
        let mut most: HashMap<(&str, bool), f64> = HashMap::new();
        for process in now.values() {
            let before = then
                .get(&process.id)
                .filter(|then| then.started == process.started)
                .map_or(0, |then| then.cpu_us);
            let cores = process.cpu_us.saturating_sub(before) as f64 / length_us;
            if process.id == self.own.0 || cores <= 0.0 {
                continue;
            }
            let is_target = self.is_target(machine, process, now, cores);
            let is_family = starter.is_some_and(|starter| is_below(now, process, starter));
            if is_family && is_target != Some(true) {
                others.cores_family += cores;
                continue;
            }
            match is_target {
                Some(true) => others.cores_target += cores,
                None => others.cores_unknown += cores,
                Some(false) => {}
            }
            let key = (process.name.as_str(), is_target == Some(true));
            let program = by_name.entry(key).or_default();
            program.cores += cores;
            let top = most.entry(key).or_default();
            if cores >= *top {
                *top = cores;
                program.process = process.id;
            }
        }
        let named = by_name
            .into_iter()
            .filter(|(_, program)| program.cores >= WORTH_NAMING);
        others.programs = named
            .map(|((name, is_target), program)| BusyProgram {
                name: name.to_owned(),
                is_target,
                ..program
            })
            .collect();
        others
            .programs
            .sort_by(|a, b| b.cores.total_cmp(&a.cores).then(a.name.cmp(&b.name)));
        others.programs.truncate(MOST_NAMED);
        others
    }

    /// Whether a process, or a parent that runs the same program, holds a socket on which the target listens; `None` if that is
    /// unknown.
    fn is_target(
        &mut self,
        machine: &Machine,
        process: &Process,
        all: &HashMap<u32, Process>,
        cores: f64,
    ) -> Option<bool> {
        if self.locality != Locality::ThisMachine || cores < WORTH_NAMING {
            return Some(false);
        }
        if self.listeners.is_empty() || FORWARDERS.contains(&process.name.as_str()) {
            return None;
        }
        let mut process = Some(process);
        let mut is_unknown = false;
        for _ in 0..MOST_PARENTS {
            let Some(at) = process else {
                break;
            };
            let listeners = &self.listeners;
            let holds = *self
                .holders
                .entry(at.id)
                .or_insert_with(|| machine.holds_any(&at.id.to_string(), listeners));
            match holds {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_unknown = true,
            }
            // Workers of a server often run the same program as the listener. Other children may be unrelated.
            process = all.get(&at.parent).filter(|parent| parent.name == at.name);
        }
        (!is_unknown).then_some(false)
    }
}

/// The process that started this one and runs the same program, as in a run with local agents.
fn starter(all: &HashMap<u32, Process>, own: u32) -> Option<u32> {
    let own = all.get(&own)?;
    let parent = all.get(&own.parent)?;
    (parent.name == own.name).then_some(parent.id)
}

/// Whether a process is the starter or one of its descendants.
fn is_below(all: &HashMap<u32, Process>, process: &Process, starter: u32) -> bool {
    let mut at = Some(process);
    for _ in 0..MOST_PARENTS {
        match at {
            Some(found) if found.id == starter => return true,
            Some(found) => at = all.get(&found.parent),
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn process(root: &Path, id: u32, parent: u32, name: &str, ticks: u64) {
        let folder = root.join(format!("proc/{id}"));
        fs::create_dir_all(folder.join("fd")).expect("there is room");
        let text =
            format!("{id} ({name}) S {parent} 1 1 0 -1 0 1 0 0 0 {ticks} 0 0 0 20 0 1 0 77 1 2\n");
        fs::write(folder.join("stat"), text).expect("there is room");
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_hours(seconds)
    }

    #[test]
    fn the_target_is_told_from_a_competitor() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path();
        let table = "  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 4711 1\n";
        fs::create_dir_all(root.join("proc/net")).expect("there is room");
        fs::write(root.join("proc/net/tcp"), table).expect("there is room");
        process(root, 50, 1, "site", 0);
        process(root, 51, 50, "site", 0);
        process(root, 60, 1, "rustc", 0);
        std::os::unix::fs::symlink("socket:[4711]", root.join("proc/50/fd/3")).expect("room");
        let machine = Machine::at(root);
        let mut programs = Programs::default();
        programs.note_targets(&[8080]);
        // The scans are an hour apart, so that the pause between scans does not matter: 360,000 ticks are one core.
        assert_eq!(programs.at(&machine, seconds(0), true).programs, []);
        process(root, 51, 50, "site", 180_000);
        process(root, 60, 1, "rustc", 360_000);
        let others = programs.at(&machine, seconds(1), true);
        assert_eq!(others.locality, Locality::ThisMachine);
        assert_eq!((others.cores_target, others.cores_unknown), (0.5, 0.0));
        let named: Vec<_> = others
            .programs
            .iter()
            .map(|program| (program.name.as_str(), program.cores, program.is_target))
            .collect();
        assert_eq!(named, [("rustc", 1.0, false), ("site", 0.5, true)]);
        assert_eq!(programs.at(&machine, seconds(2), false).programs, []);
    }

    #[test]
    fn agents_of_one_machine_are_one_generator() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path();
        let machine = Machine::at(root);
        let mut programs = Programs {
            own: OwnId(72),
            ..Programs::default()
        };
        let all = [
            (70, 1, "drumfire", 36_000),
            (71, 70, "sh", 0),
            (72, 70, "drumfire", 360_000),
            (73, 70, "drumfire", 180_000),
            (74, 71, "nats-server", 36_000),
            (75, 1, "drumfire", 90_000),
        ];
        for (id, parent, name, _) in all {
            process(root, id, parent, name, 0);
        }
        programs.at(&machine, seconds(0), true);
        for (id, parent, name, ticks) in all {
            process(root, id, parent, name, ticks);
        }
        let others = programs.at(&machine, seconds(1), true);
        assert!((others.cores_family - 0.7).abs() < 1e-9, "{others:?}");
        // Another run of the same program does not belong to this one.
        let named: Vec<u32> = others.programs.iter().map(|one| one.process).collect();
        assert_eq!(named, [75]);
        assert_eq!(starter(&HashMap::new(), 72), None);
    }
}
