#[cfg(target_os = "linux")]
use {
    rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    std::collections::BTreeMap,
    std::mem::MaybeUninit,
    std::path::Path,
};

use super::*;

fn nowhere() -> (tempfile::TempDir, Machine) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let machine = Machine::at(folder.path());
    (folder, machine)
}

fn at(elapsed_ms: u64, samples: u64) -> EngineCounters {
    EngineCounters {
        elapsed: Duration::from_millis(elapsed_ms),
        samples,
        users: 3,
        ..EngineCounters::default()
    }
}

#[test]
fn a_run_that_ends_before_the_first_moment_looks_at_no_other_program() {
    let (folder, machine) = nowhere();
    std::fs::create_dir_all(folder.path().join("proc")).expect("there is room");
    let locality = |end_ms| {
        let mut watch = Watch::start(machine.clone(), Duration::from_millis(100));
        watch.note_targets(&[8080]);
        watch.observe(&at(end_ms - 1, 1));
        watch.end(&at(end_ms, 1))[0].locality
    };
    assert_eq!(locality(9), Locality::Elsewhere);
    assert_eq!(locality(900), Locality::ThisMachine);
}

#[test]
fn seconds_follow_each_other_and_a_short_rest_belongs_to_the_last() {
    let (_folder, machine) = nowhere();
    let mut watch = Watch::start(machine, Duration::from_millis(100));
    for tenth in 1..=23 {
        watch.observe(&at(tenth * 100, tenth * 10));
    }
    let seconds = watch.end(&at(2350, 240));
    let spans: Vec<_> = seconds
        .iter()
        .map(|second| (second.from_ms, second.to_ms, second.samples))
        .collect();
    assert_eq!(spans, [(0, 1000, 100), (1000, 2350, 140)]);
    assert!(seconds.iter().all(|second| second.frozen_ms == 0));
}

#[test]
fn a_clock_that_is_set_is_noticed_once() {
    let (_folder, machine) = nowhere();
    let mut watch = Watch::start(machine, SECOND);
    for (elapsed_ms, start_ms) in [(1000, 50_000), (2000, 50_001), (3000, 55_000)] {
        watch.observe(&EngineCounters {
            start_by_clock_ms: Some(start_ms),
            ..at(elapsed_ms, 1)
        });
    }
    let steps: Vec<_> = watch
        .end(&at(4000, 1))
        .iter()
        .map(|second| second.clock_step_ms)
        .collect();
    assert_eq!(steps, [0, 1, 4999, 0]);
}

#[test]
fn a_gap_between_moments_is_a_freeze() {
    let (_folder, machine) = nowhere();
    let mut watch = Watch::start(machine, Duration::from_millis(100));
    watch.observe(&at(100, 1));
    watch.observe(&at(3100, 1));
    let seconds = watch.end(&at(3700, 2));
    assert_eq!(seconds[0].frozen_ms, 2900);
    assert_eq!(seconds[1].frozen_ms, 0);
}

#[test]
fn the_busiest_thread_is_the_one_that_gained_most() {
    let reading = |threads: &[(u32, u64)]| MachineCounters {
        threads_us: threads.to_vec(),
        ..MachineCounters::default()
    };
    let (then, now) = (
        reading(&[(1, 700), (2, 10)]),
        reading(&[(2, 60), (3, 90), (1, 720)]),
    );
    assert_eq!(busiest_thread(&now, &then), 90);
    assert_eq!(busiest_thread(&then, &then), 0);
}

#[test]
fn sums_are_told_by_what_a_second_added() {
    let (_folder, machine) = nowhere();
    let mut watch = Watch::start(machine, SECOND);
    let moment = |elapsed_ms, opened, port, garbage_ms| EngineCounters {
        connections: Opened {
            opened,
            ..Opened::default()
        },
        lacking: Shortages {
            port,
            ..Shortages::default()
        },
        garbage: Duration::from_millis(garbage_ms),
        arrivals: Arrivals {
            due: 10 * opened,
            left_out: port,
        },
        ..at(elapsed_ms, 1)
    };
    watch.observe(&moment(1000, 5, 0, 10));
    let seconds = watch.end(&moment(2000, 7, 3, 60));
    let seen: Vec<_> = seconds
        .iter()
        .map(|second| {
            (
                second.connections.opened,
                second.lacking.port,
                second.garbage_ms,
            )
        })
        .collect();
    assert_eq!(seen, [(5, 0, 10), (2, 3, 50)]);
    let arrivals = |second: &Second| (second.arrivals.due, second.arrivals.left_out);
    assert_eq!(arrivals(&seconds[1]), (20, 3));
    let both = seconds[0].merged(&seconds[1]);
    assert_eq!(arrivals(&both), (70, 3));
    assert_eq!(
        (both.connections.opened, both.lacking.port, both.garbage_ms),
        (7, 3, 60)
    );
}

#[test]
fn other_programs_are_looked_at_with_the_first_moment() {
    let (_folder, machine) = nowhere();
    let mut watch = Watch::start(machine, Duration::from_millis(100));
    assert!(!watch.programs.has_looked());
    assert!(watch.observe(&at(100, 1)).is_none());
    assert!(watch.programs.has_looked());
}

#[test]
fn each_core_is_told_of() {
    let (folder, machine) = nowhere();
    let ticks = |first, second| {
        let text = format!(
            "cpu  0 0 0 0 0 0 0 0\ncpu0 {first} 0 0 9 0 0 0 0\ncpu1 0 0 {second} 9 0 0 0 0\n"
        );
        std::fs::write(folder.path().join("proc/stat"), text).expect("there is room");
    };
    std::fs::create_dir(folder.path().join("proc")).expect("there is room");
    ticks(0, 50);
    let mut watch = Watch::start(machine, SECOND);
    ticks(80, 60);
    watch.observe(&at(1000, 1));
    ticks(80, 160);
    let seconds = watch.end(&at(2000, 2));
    assert_eq!(seconds[0].each_core, [0.8, 0.1]);
    assert_eq!(seconds[1].each_core, [0.0, 1.0]);
    let merged = seconds[0].merged(&seconds[1]).each_core;
    assert_eq!(merged, [0.4, 0.55]);
}

#[test]
fn a_long_run_is_kept_in_bounded_space() {
    let (_folder, machine) = nowhere();
    let mut watch = Watch::start(machine, SECOND);
    let length_s = 3 * MOST_SECONDS as u64;
    for second in 1..=length_s {
        watch.observe(&at(second * 1000, second));
    }
    let seconds = watch.end(&at(length_s * 1000, length_s));
    assert!(seconds.len() <= MOST_SECONDS);
    assert_eq!(
        seconds.iter().map(|second| second.samples).sum::<u64>(),
        length_s
    );
    assert_eq!(seconds[0].from_ms, 0);
    assert!(
        seconds
            .windows(2)
            .all(|pair| pair[0].to_ms == pair[1].from_ms)
    );
}

/// Files of a system with many sockets: those that change during a run, and the limits.
#[cfg(target_os = "linux")]
const COUNTERS: [(&str, &str); 5] = [
    ("proc/stat", "cpu  1 1 1 9 0 0 0 0\n"),
    ("proc/self/status", "VmRSS: 9 kB\n"),
    ("proc/self/task/7/schedstat", "1 0 1\n"),
    ("proc/net/dev", "lo: 1\n"),
    ("proc/net/sockstat", "TCP: inuse 1 orphan 0 tw 50000\n"),
];
#[cfg(target_os = "linux")]
const LIMITS: [(&str, &str); 7] = [
    ("proc/meminfo", "MemTotal: 9 kB\n"),
    ("proc/self/cgroup", "0::/\n"),
    ("proc/self/limits", "Max open files 9 9 files\n"),
    ("proc/sys/net/ipv4/ip_local_port_range", "32768 60999\n"),
    ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
    ("sys/fs/cgroup/cpu.max", "max 100000\n"),
    ("sys/class/net/eth0/speed", "100\n"),
];
#[cfg(target_os = "linux")]
const SOCKETS: (&str, &str) = ("proc/net/tcp", "sl local rem st\n");

/// Does the work and returns how often it opened each of the files.
#[cfg(target_os = "linux")]
fn opened(folder: &Path, work: impl FnOnce()) -> BTreeMap<&'static str, u32> {
    let inbox = inotify::init(CreateFlags::NONBLOCK).expect("Linux has it");
    let files = COUNTERS.iter().chain(&LIMITS).chain([&SOCKETS]);
    let mut names = BTreeMap::new();
    for (name, _) in files {
        // The system joins equal events that follow each other; the end of each use keeps them apart.
        let uses = WatchFlags::OPEN | WatchFlags::CLOSE_NOWRITE;
        let id = inotify::add_watch(&inbox, folder.join(name), uses);
        names.insert(id.expect("the file is there"), *name);
    }
    work();
    let mut room = [MaybeUninit::uninit(); 8192];
    let mut events = inotify::Reader::new(&inbox, &mut room);
    let mut counts = BTreeMap::new();
    while let Ok(event) = events.next() {
        if event.events().contains(ReadFlags::OPEN) {
            *counts.entry(names[&event.wd()]).or_default() += 1;
        }
    }
    counts
}

#[cfg(target_os = "linux")]
#[test]
fn a_short_run_reads_each_limit_once_and_no_table_of_sockets() {
    let (folder, machine) = nowhere();
    for (name, text) in COUNTERS.iter().chain(&LIMITS).chain([&SOCKETS]) {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("there is room");
        std::fs::write(file, text).expect("there is room");
    }
    let mut watch = None;
    let pace = Duration::from_millis(100);
    let at_start = opened(folder.path(), || {
        watch = Some(Watch::start(machine.clone(), pace));
    });
    let names = |of: &[(&'static str, &str)]| of.iter().map(|(name, _)| (*name, 1)).collect();
    let counters: BTreeMap<_, _> = names(&COUNTERS);
    let mut both: BTreeMap<_, _> = names(&[&COUNTERS[..], &LIMITS].concat());
    // The limits tell whether it may be read.
    both.insert("proc/stat", 2);
    assert_eq!(at_start, both);
    let mut watch = watch.expect("it was started");
    let at_end = opened(folder.path(), || {
        watch.end(&at(9, 1));
    });
    assert_eq!(at_end, counters);
    assert_eq!(watch.limits().open_files, Some(9));
    let later = opened(folder.path(), || {
        watch.end(&at(2000, 2));
    });
    assert_eq!(later.get(SOCKETS.0), Some(&1));
}
