//! Counters and limits of the operating system, as Linux shows them below `/proc` and `/sys`.
//!
//! A value that the system does not show is zero among the counters and `None` among the limits, so that it does not look like a
//! cause.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sockets;

/// Clock ticks a second in `/proc/*/stat`: `USER_HZ`, which Linux fixes at 100 on all architectures in use.
const TICKS_PER_S: u64 = 100;

/// The operating system, read through its files.
#[derive(Debug, Clone)]
pub struct Machine {
    root: PathBuf,
}

/// Counters at one moment. All except sizes only grow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineCounters {
    /// CPU time that this process has used, in microseconds.
    pub process_cpu_us: u64,
    /// CPU time that all programs have used, on all cores, in microseconds.
    pub machine_cpu_us: u64,
    /// CPU time that all programs have used on each core, in microseconds.
    pub cores_us: Vec<u64>,
    /// CPU time of each thread of this process, by the thread's number, in microseconds.
    pub threads_us: Vec<(u32, u64)>,
    /// CPU time that the hypervisor gave to others while this machine had work for it, in microseconds.
    pub stolen_us: u64,
    /// Time that threads of this process spent in run queues, summed over threads, in microseconds. Threads that compile Java are
    /// left out, since no user waits for them.
    pub waited_us: u64,
    /// Time in which the exhausted CPU quota stopped the control group, in microseconds.
    pub throttled_us: u64,
    /// Memory of this process that is resident in RAM, in bytes.
    pub memory_bytes: u64,
    /// Packets that this machine dropped, incoming or outgoing.
    pub packets_dropped: u64,
    /// Sockets in TIME_WAIT on the whole machine.
    pub time_wait: u64,
}

/// A process of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub id: u32,
    pub parent: u32,
    pub name: String,
    /// CPU time it has used, in microseconds.
    pub cpu_us: u64,
    /// When it started, in clock ticks: process ids are reused.
    pub started: u64,
}

/// The hard limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Cores this process may use, by affinity and by its control group's quota.
    pub cores: f64,
    /// Open file descriptors (`RLIMIT_NOFILE`, soft).
    pub open_files: Option<u64>,
    /// The hard limit, up to which the process may raise its soft limit.
    pub open_files_hard: Option<u64>,
    /// Memory: of the control group, or of the machine, in bytes.
    pub memory_bytes: Option<u64>,
    /// First and last local port for connections (`ip_local_port_range`).
    pub ports: Option<(u16, u16)>,
    /// Ports in that range that are reserved (`ip_local_reserved_ports`).
    pub reserved_ports: u32,
    /// `tcp_tw_reuse`: 0 never, 1 always, 2 on loopback.
    pub time_wait_reuse: Option<u8>,
    /// `tcp_max_tw_buckets`: above this number, sockets in TIME_WAIT are destroyed at once.
    pub time_wait_buckets: Option<u64>,
    /// `tcp_fin_timeout` in seconds. It does not affect TIME_WAIT.
    pub fin_timeout_s: Option<u64>,
    /// `nf_conntrack_max`: the connections that the firewall can track.
    pub tracked_connections: Option<u64>,
    /// `nf_conntrack_tcp_timeout_time_wait` in seconds: how long the firewall tracks a connection that has ended.
    pub tracked_after_end_s: Option<u64>,
    /// The speed of the fastest interface to other machines, in bytes a second.
    pub link_bytes_per_s: Option<u64>,
    /// `fs.nr_open`: the value to which the hard limit of open files can be raised.
    pub nr_open: Option<u64>,
    /// `tcp_tw_recycle`, which Linux removed in 4.12.
    pub time_wait_recycle: Option<u8>,
    /// Whether the system shows no CPU counters of the machine. Then all counters except those of this process are zero.
    pub is_hidden: bool,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::at("/")
    }
}

/// How long this thread has been runnable without a CPU so far; `None` if the system does not report it.
pub fn time_in_queue() -> Option<Duration> {
    let text = text_of(Path::new("/proc/thread-self/schedstat")).ok()?;
    let waited_ns = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(waited_ns))
}

impl Machine {
    /// The system whose `proc` and `sys` are below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Machine {
        Machine { root: root.into() }
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        text_of(&self.root.join(path)).ok()
    }

    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.trim().parse().ok()
    }

    /// A table of sockets. Linux gives a page of it at a time.
    fn table(&self, path: &str) -> Option<BufReader<File>> {
        File::open(self.root.join(path)).ok().map(BufReader::new)
    }

    /// Reads all counters, from about ten small files.
    pub fn read(&self) -> MachineCounters {
        let stat = self.text("proc/stat").unwrap_or_default();
        let (machine_cpu_us, stolen_us) = core_cpu(&stat, "cpu").unwrap_or_default();
        let cores = (0..).map_while(|core| core_cpu(&stat, &format!("cpu{core}")));
        let (threads_us, waited_us) = self.threads();
        MachineCounters {
            process_cpu_us: self.process_cpu_us(),
            machine_cpu_us,
            cores_us: cores.map(|(used_us, _)| used_us).collect(),
            threads_us,
            stolen_us,
            waited_us,
            throttled_us: self
                .text("sys/fs/cgroup/cpu.stat")
                .and_then(|text| field(&text, "throttled_usec"))
                .unwrap_or(0),
            memory_bytes: self
                .text("proc/self/status")
                .and_then(|text| field(&text, "VmRSS:"))
                .map_or(0, |kib| kib * 1024),
            packets_dropped: self
                .text("proc/net/dev")
                .map_or(0, |text| packets_dropped(&text)),
            time_wait: self
                .text("proc/net/sockstat")
                .and_then(|text| time_wait(&text))
                .unwrap_or(0),
        }
    }

    /// The CPU time of this process, from its clock in nanoseconds: `stat` counts in ticks of 10 ms, which is too coarse for the
    /// start of a run.
    fn process_cpu_us(&self) -> u64 {
        if self.root == Path::new("/") {
            return crate::clocks::of_process().as_micros() as u64;
        }
        let text = self.text("proc/self/stat");
        text.and_then(|text| process_cpu(&text)).unwrap_or(0)
    }

    /// All processes that this one can see.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let Ok(folders) = fs::read_dir(self.root.join("proc")) else {
            return Vec::new();
        };
        let ids = folders
            .flatten()
            .filter_map(|folder| folder.file_name().to_string_lossy().parse::<u32>().ok());
        // A process that has ended in the meantime has no file.
        ids.filter_map(|id| process(id, &self.text(&format!("proc/{id}/stat"))?))
            .collect()
    }

    /// The inodes of sockets that listen on one of these ports.
    pub(crate) fn listeners(&self, ports: &BTreeSet<u16>) -> HashSet<u64> {
        ["proc/net/tcp", "proc/net/tcp6"]
            .iter()
            .filter_map(|path| self.table(path))
            .flat_map(|table| sockets::listeners(table, ports))
            .collect()
    }

    /// Whether a process has one of these sockets open; `None` if this process may not read its files.
    pub(crate) fn holds_any(&self, process: &str, sockets: &HashSet<u64>) -> Option<bool> {
        let files = fs::read_dir(self.root.join(format!("proc/{process}/fd"))).ok()?;
        let mut inodes = files.flatten().filter_map(|file| {
            let target = fs::read_link(file.path()).ok()?;
            let inode = target
                .to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?;
            inode.parse::<u64>().ok()
        });
        Some(inodes.any(|inode| sockets.contains(&inode)))
    }

    /// The CPU time of each thread, and the total time in run queues of all threads except Java's compilers: the first two
    /// numbers of `schedstat`, in nanoseconds.
    fn threads(&self) -> (Vec<(u32, u64)>, u64) {
        let Ok(threads) = fs::read_dir(self.root.join("proc/self/task")) else {
            return (Vec::new(), 0);
        };
        let mut used_us = Vec::new();
        let mut waited_ns = 0;
        for thread in threads.flatten() {
            let id = thread.file_name().to_string_lossy().parse();
            let text = text_of(&thread.path().join("schedstat"));
            let (Ok(id), Ok(text)) = (id, text) else {
                continue; // it has ended in the meantime
            };
            let mut numbers = text.split_whitespace().map(str::parse::<u64>);
            if let (Some(Ok(used)), Some(Ok(waited))) = (numbers.next(), numbers.next()) {
                used_us.push((id, used / 1000));
                if waited > 0 && !compiles_java(&thread.path()) {
                    waited_ns += waited;
                }
            }
        }
        (used_us, waited_ns / 1000)
    }

    /// The number of open file descriptors of this process. Since Linux 6.2 the folder's length states it; before that, all
    /// entries must be counted.
    pub fn open_files(&self) -> u64 {
        let folder = self.root.join("proc/self/fd");
        told_entries(&folder).unwrap_or_else(|| entries(&folder))
    }

    /// Sockets in TIME_WAIT to the remote address and port that has most of them. Those that `tcp_tw_reuse` frees at once are not
    /// counted.
    pub fn time_wait_to_one(&self, reuse: Option<u8>) -> u64 {
        if reuse == Some(1) {
            return 0;
        }
        let without_loopback = reuse == Some(2);
        ["proc/net/tcp", "proc/net/tcp6"]
            .iter()
            .filter_map(|path| self.table(path))
            .map(|table| sockets::most_time_wait(table, without_loopback))
            .max()
            .unwrap_or(0)
    }

    /// Reads all limits.
    pub fn limits(&self) -> Limits {
        let affinity = drumfire_platform::processes::cores() as f64;
        let (open_files, open_files_hard) = self
            .text("proc/self/limits")
            .map_or((None, None), |text| open_file_limits(&text));
        Limits {
            cores: self
                .text("sys/fs/cgroup/cpu.max")
                .and_then(|text| quota(&text))
                .map_or(affinity, |quota| quota.min(affinity)),
            open_files,
            open_files_hard,
            memory_bytes: self.memory_limit(),
            ports: self
                .text("proc/sys/net/ipv4/ip_local_port_range")
                .and_then(|text| ports(&text)),
            reserved_ports: self
                .text("proc/sys/net/ipv4/ip_local_reserved_ports")
                .map_or(0, |text| reserved(&text)),
            time_wait_reuse: self.small("proc/sys/net/ipv4/tcp_tw_reuse"),
            time_wait_buckets: self.number("proc/sys/net/ipv4/tcp_max_tw_buckets"),
            fin_timeout_s: self.number("proc/sys/net/ipv4/tcp_fin_timeout"),
            tracked_connections: self.number("proc/sys/net/netfilter/nf_conntrack_max"),
            tracked_after_end_s: self
                .number("proc/sys/net/netfilter/nf_conntrack_tcp_timeout_time_wait"),
            link_bytes_per_s: self.link_bytes_per_s(),
            nr_open: self.number("proc/sys/fs/nr_open"),
            time_wait_recycle: self.small("proc/sys/net/ipv4/tcp_tw_recycle"),
            is_hidden: File::open(self.root.join("proc/stat")).is_err(),
        }
    }

    fn small(&self, path: &str) -> Option<u8> {
        self.number(path)?.try_into().ok()
    }

    /// The speed of the fastest interface. `speed` is in megabits per second; it is missing or -1 if unknown, as for virtual
    /// interfaces.
    fn link_bytes_per_s(&self) -> Option<u64> {
        let interfaces = fs::read_dir(self.root.join("sys/class/net")).ok()?;
        interfaces
            .flatten()
            .filter_map(|interface| text_of(&interface.path().join("speed")).ok())
            .filter_map(|text| text.trim().parse::<u64>().ok())
            .filter(|megabits| *megabits > 0)
            .max()
            .map(|megabits| megabits * 1_000_000 / 8)
    }

    fn memory_limit(&self) -> Option<u64> {
        let machine = self
            .text("proc/meminfo")
            .and_then(|text| field(&text, "MemTotal:"))
            .map(|kib| kib * 1024);
        let group = self.group_memory().map(|group| group.limit_bytes);
        match (machine, group) {
            (Some(machine), Some(group)) => Some(machine.min(group)),
            (machine, group) => machine.or(group),
        }
    }
}

/// Reads a file of `/proc` or `/sys`. Its length is unknown beforehand, so a buffer with room for most files saves further reads.
fn text_of(path: &Path) -> io::Result<String> {
    /// The length of most of these files is below this.
    const ROOM: usize = 4096;
    let mut text = String::with_capacity(ROOM);
    // The limit has no effect except that the library does not ask for the file's length.
    File::open(path)?.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether a thread, given by its folder in `/proc`, is one of HotSpot's compiler threads. The kernel truncates their names.
fn compiles_java(thread: &Path) -> bool {
    let name = text_of(&thread.join("comm")).unwrap_or_default();
    name.starts_with("C1 Compiler") || name.starts_with("C2 Compiler")
}

/// The number of entries, from the length of a folder of `/proc`.
#[cfg(target_os = "linux")]
fn told_entries(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statfs(folder).ok()?;
    let told = fs::metadata(folder).ok()?.len();
    (system.f_type == rustix::fs::PROC_SUPER_MAGIC && told > 0).then_some(told)
}

#[cfg(not(target_os = "linux"))]
fn told_entries(_folder: &Path) -> Option<u64> {
    None
}

fn entries(folder: &Path) -> u64 {
    fs::read_dir(folder).map_or(0, |entries| entries.count() as u64)
}

/// The number after a word at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// User and system time. The second field is the program's name in parentheses, which may contain blanks.
fn process_cpu(text: &str) -> Option<u64> {
    let (_, after_name) = text.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) * (1_000_000 / TICKS_PER_S))
}

/// Parses a process from its `stat`.
fn process(id: u32, text: &str) -> Option<Process> {
    let (before, after_name) = text.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    Some(Process {
        id,
        parent: fields.get(1)?.parse().ok()?,
        name: name.to_owned(),
        cpu_us: process_cpu(text)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// Used and stolen time of the line `cpu`, or of a core's line: user nice system idle iowait irq softirq steal.
fn core_cpu(text: &str, name: &str) -> Option<(u64, u64)> {
    let ticks: Vec<u64> = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?
        .split_whitespace()
        .filter_map(|tick| tick.parse().ok())
        .collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    let us = 1_000_000 / TICKS_PER_S;
    Some(((user + nice + system + irq + softirq) * us, steal * us))
}

/// Dropped packets of all interfaces: the fourth number of each direction, which has eight numbers.
fn packets_dropped(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(_, numbers)| {
            let numbers: Vec<u64> = numbers
                .split_whitespace()
                .filter_map(|number| number.parse().ok())
                .collect();
            numbers.iter().skip(3).step_by(8).take(2).sum::<u64>()
        })
        .sum()
}

fn time_wait(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

fn open_file_limits(text: &str) -> (Option<u64>, Option<u64>) {
    let Some(line) = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))
    else {
        return (None, None);
    };
    let mut limits = line.split_whitespace().map(|limit| limit.parse().ok());
    (limits.next().flatten(), limits.next().flatten())
}

/// Parses `max 100000` or `50000 100000`: microseconds of CPU time per period in microseconds.
fn quota(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next()?.parse().ok()?;
    (period > 0.0).then_some(quota / period)
}

fn ports(text: &str) -> Option<(u16, u16)> {
    let mut words = text.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The number of ports in a list such as `8080,9000-9010`.
fn reserved(text: &str) -> u32 {
    text.trim()
        .split(',')
        .filter_map(|part| match part.split_once('-') {
            Some((first, last)) => {
                let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
                (last + 1).checked_sub(first)
            }
            None => part.parse::<u32>().ok().map(|_| 1),
        })
        .sum()
}

/// A number of cores with its noun. A quota may be a part of a core.
pub(crate) fn cores_told(cores: f64) -> String {
    if cores == 1.0 {
        "1 core".to_owned()
    } else {
        format!("{cores} cores")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with the given files.
    fn system(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it lies in a folder"))
                .expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        let machine = Machine::at(folder.path());
        (folder, machine)
    }

    #[test]
    fn counters_are_read_in_microseconds_and_bytes() {
        let (_folder, machine) = system(&[
            (
                "proc/self/stat",
                "77 (a (b) c) S 1 77 77 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 4 0 100 1 2",
            ),
            (
                "proc/stat",
                "cpu  100 1 20 900 5 2 3 40 0 0\ncpu0 1 1 1 9 9 1 1 7 0 0\ncpu1 2 0 0 0 0 0 0 0\n",
            ),
            ("proc/self/task/77/schedstat", "5000000 2000000 9\n"),
            ("proc/self/task/77/comm", "worker-0\n"),
            ("proc/self/task/78/schedstat", "1 1500000 9\n"),
            ("proc/self/task/79/schedstat", "2000000 9000000 9\n"),
            ("proc/self/task/79/comm", "C2 CompilerThre\n"),
            (
                "sys/fs/cgroup/cpu.stat",
                "usage_usec 9\nnr_throttled 3\nthrottled_usec 1234\n",
            ),
            ("proc/self/status", "Name:\tx\nVmRSS:\t    2048 kB\n"),
            ("proc/self/fd/0", ""),
            ("proc/self/fd/1", ""),
            (
                "proc/net/dev",
                "Inter-| Receive | Transmit\n face |bytes\n  lo: 9 9 0 2 0 0 0 0 9 9 0 3 0 0 0 0\neth0: 1 1 1 40 0 0 0 0 1 1 1 0 0 0 0 0\n",
            ),
            (
                "proc/net/sockstat",
                "sockets: used 9\nTCP: inuse 5 orphan 0 tw 321 alloc 9 mem 1\n",
            ),
        ]);
        let expected = MachineCounters {
            process_cpu_us: 3_000_000,
            machine_cpu_us: 1_260_000,
            cores_us: vec![50_000, 20_000],
            threads_us: vec![(77, 5000), (78, 0), (79, 2000)],
            stolen_us: 400_000,
            waited_us: 3500,
            throttled_us: 1234,
            memory_bytes: 2048 * 1024,
            packets_dropped: 45,
            time_wait: 321,
        };
        let mut reading = machine.read();
        reading.threads_us.sort_unstable();
        assert_eq!(reading, expected);
        assert_eq!(machine.open_files(), 2);
    }

    #[test]
    fn counters_that_a_system_lacks_are_none() {
        let (_folder, machine) = system(&[]);
        assert_eq!(machine.read(), MachineCounters::default());
        let limits = machine.limits();
        assert!(limits.cores >= 1.0);
        assert_eq!((limits.open_files, limits.ports), (None, None));
    }

    #[test]
    fn limits_are_those_of_the_group_where_it_has_less_than_the_machine() {
        let (_folder, machine) = system(&[
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "1048576\n"),
            ("proc/meminfo", "MemTotal:       16384 kB\n"),
            (
                "proc/self/limits",
                "Limit  Soft Hard Units\nMax open files            1024                 524288               files\n",
            ),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            (
                "proc/sys/net/ipv4/ip_local_reserved_ports",
                "40000,50000-50009\n",
            ),
            ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
            ("sys/class/net/eth0/speed", "10000\n"),
            ("sys/class/net/virbr0/speed", "-1\n"),
        ]);
        let limits = machine.limits();
        assert_eq!(limits.cores, 0.5);
        assert!(limits.is_hidden, "there is no `proc/stat`");
        assert_eq!(
            Machine::default().limits().is_hidden,
            !cfg!(target_os = "linux")
        );
        assert_eq!(limits.memory_bytes, Some(1_048_576));
        assert_eq!(
            (limits.open_files, limits.open_files_hard),
            (Some(1024), Some(524_288))
        );
        assert_eq!(
            (limits.ports, limits.reserved_ports),
            (Some((32768, 60999)), 11)
        );
        assert_eq!(limits.time_wait_reuse, Some(2));
        assert_eq!(limits.link_bytes_per_s, Some(1_250_000_000));
    }

    #[test]
    fn no_quota_is_no_limit() {
        assert_eq!(quota("max 100000\n"), None);
        assert_eq!(reserved("\n"), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_system_shows_what_counts() {
        let machine = Machine::default();
        let reading = machine.read();
        assert!(reading.memory_bytes > 0 && reading.machine_cpu_us > 0);
        // Other tests open and close files at the same time.
        let _files: Vec<_> = (0..500).map(|_| File::open("/dev/null")).collect();
        assert!((500..5_000).contains(&machine.open_files()));
    }
}
