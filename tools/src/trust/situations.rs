//! The staged situations: healthy runs, and the same runs with one fault each.

use std::time::Duration;

use super::plans::{PlanLoad, arrivals, ask, debug, groovy, precise, request, users};

/// The load of most situations.
const STEADY: PlanLoad = PlanLoad::of(4, 6, 20);

/// A run with a particular disturbance, and the verdict that it should get.
pub struct Situation {
    pub name: &'static str,
    /// One sentence for the matrix in docs/trust.md.
    pub story: &'static str,
    pub plan: fn() -> String,
    pub target: StagedTarget,
    pub staging: &'static [Staging],
    /// Arguments after `drumfire run plan.jmx`.
    pub options: &'static [&'static str],
    pub needs_java: bool,
    /// The acceptable grades.
    pub grades: &'static [&'static str],
    /// The reason that must come first; `None` for a healthy run.
    pub reason: Option<&'static str>,
}

/// How the target behaves.
#[derive(Debug, Clone, Copy)]
pub enum StagedTarget {
    /// It answers a few bytes immediately.
    Quick,
    /// It answers this many bytes.
    Long(usize),
    /// It sleeps before each response.
    Slow(Duration),
    /// It computes before each response.
    Busy(Duration),
    /// It answers nothing between these two times.
    Stalled(Duration, Duration),
    /// It answers every request with an error.
    Failing,
}

/// The disturbance of a run.
#[derive(Debug, Clone, Copy)]
pub enum Staging {
    /// The generator is suspended at a time, for a duration.
    Stop(Duration, Duration),
    /// Other programs use all cores between these two times.
    Compete(Duration, Duration),
    /// The generator has this many local ports, in a private network with its own target.
    Ports(u32),
    /// The generator may open this many files.
    Files(u32),
    /// The results go through a pipe that accepts this many bytes per second.
    Pipe(u64),
    /// The results go to a disk of this many KiB.
    Disk(u32),
    /// The system's clock, as the generator sees it, jumps forward by this many seconds, three seconds after the
    /// start.
    Clock(i32),
    /// Java's heap has this many MiB.
    Heap(u32),
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const VALID: &[&str] = &["VALID"];
const SHORT: &[&str] = &["too short to judge"];
const INVALID: &[&str] = &["INVALID"];
const DEGRADED: &[&str] = &["DEGRADED"];
/// The size of the loss depends on how the system shares its cores.
const SPOILED: &[&str] = &["DEGRADED", "INVALID"];

const HERE: Option<&str> = None;

/// A healthy run with the steady load. Other situations are defined by their differences from it.
const HEALTHY: Situation = Situation {
    name: "steady",
    story: "4 users, a quick target",
    plan: || users(STEADY, &ask()),
    target: StagedTarget::Quick,
    staging: &[],
    options: &[],
    needs_java: false,
    grades: VALID,
    reason: HERE,
};

const HOLDS: &str = "${__groovy(long t = System.nanoTime() + 300000000L; while (System.nanoTime() < t) {}; 'held')}";
const DOES_NOT: &str =
    "${__groovy(long t = System.nanoTime() + 1000000L; while (System.nanoTime() < t) {}; 'held')}";
const GARBAGE: &str = "def all = []; for (int i = 0; i < 60; i++) { all << new byte[1 << 20] }; System.gc(); all.size()";
const NO_GARBAGE: &str = "def all = []; for (int i = 0; i < 60; i++) { all << i }; all.size()";
const MD5: &str = r#"<boolProp name="HTTPSampler.md5">true</boolProp>"#;

/// All situations. Each healthy one is paired with its twin that has one fault.
pub const SITUATIONS: [(Situation, Situation); 20] = [
    (
        HEALTHY,
        Situation {
            name: "stopped",
            story: "the same, stopped for 2 s",
            staging: &[Staging::Stop(s(2), s(2))],
            grades: INVALID,
            reason: Some("the generator was stopped"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "one-sample",
            story: "one sample",
            plan: || users(PlanLoad::of(1, 0, 0), &ask()),
            target: StagedTarget::Slow(ms(400)),
            grades: SHORT,
            ..HEALTHY
        },
        Situation {
            name: "one-sample-stopped",
            story: "the same, stopped for 0.9 s meanwhile",
            plan: || users(PlanLoad::of(1, 0, 0), &ask()),
            target: StagedTarget::Slow(ms(400)),
            staging: &[Staging::Stop(ms(200), ms(900))],
            grades: INVALID,
            reason: Some("the generator was stopped"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "tenth-of-a-second",
            story: "5 users, 0.1 s",
            plan: || users(PlanLoad::of(5, 0, 0), &ask()),
            target: StagedTarget::Slow(ms(100)),
            grades: SHORT,
            ..HEALTHY
        },
        Situation {
            name: "tenth-of-a-second-rows-lost",
            story: "the same, its results on a full disk",
            plan: || users(PlanLoad::of(60, 0, 0), &ask()),
            target: StagedTarget::Slow(ms(100)),
            staging: &[Staging::Disk(4)],
            grades: INVALID,
            reason: Some("results were lost"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "ten-users",
            story: "10 users for 5 s",
            plan: || users(PlanLoad::of(10, 5, 20), &ask()),
            ..HEALTHY
        },
        Situation {
            name: "ten-users-competitor",
            story: "the same, while other programs use all cores",
            plan: || users(PlanLoad::of(10, 5, 20), &ask()),
            staging: &[Staging::Compete(s(0), s(6))],
            grades: SPOILED,
            reason: Some("CPU taken by other programs"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "target-busy",
            story: "the target, on this machine, uses the CPU",
            plan: || users(PlanLoad::of(4, 6, 5), &ask()),
            target: StagedTarget::Busy(ms(20)),
            ..HEALTHY
        },
        Situation {
            name: "target-busy-stopped",
            story: "the same, stopped for 2 s",
            plan: || users(PlanLoad::of(4, 6, 5), &ask()),
            target: StagedTarget::Busy(ms(20)),
            staging: &[Staging::Stop(s(2), s(2))],
            grades: INVALID,
            reason: Some("the generator was stopped"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "downloads",
            story: "downloads of 8 MiB with their MD5",
            plan: || users(PlanLoad::of(2, 6, 200), &request("load", true, MD5)),
            target: StagedTarget::Long(8 << 20),
            ..HEALTHY
        },
        Situation {
            name: "downloads-competitor",
            story: "the same, while other programs use all cores",
            plan: || users(PlanLoad::of(2, 6, 200), &request("load", true, MD5)),
            target: StagedTarget::Long(8 << 20),
            staging: &[Staging::Compete(s(0), s(7))],
            grades: SPOILED,
            reason: Some("CPU taken by other programs"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "many-labels",
            story: "500 labels",
            plan: || users(PlanLoad::of(20, 6, 10), &many_labels()),
            ..HEALTHY
        },
        Situation {
            name: "many-labels-stopped",
            story: "the same, stopped for 1 s",
            plan: || users(PlanLoad::of(20, 6, 10), &many_labels()),
            staging: &[Staging::Stop(s(3), s(1))],
            grades: INVALID,
            reason: Some("the generator was stopped"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "ramp-up",
            story: "40 users, one after the other over 5 s",
            plan: || users(RAMP, &ask()),
            ..HEALTHY
        },
        Situation {
            name: "ramp-up-competitor",
            story: "the same, while other programs use all cores from 2 to 5 s",
            plan: || users(RAMP, &ask()),
            staging: &[Staging::Compete(s(2), s(5))],
            grades: SPOILED,
            reason: Some("CPU taken by other programs"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "thinkers",
            story: "users who pause for 4 s",
            plan: || users(PlanLoad::of(20, 20, 4000), &ask()),
            ..HEALTHY
        },
        Situation {
            name: "stall",
            story: "the target answers nothing for 15 s: the target's doing, told as a remark",
            plan: || users(PlanLoad::of(4, 24, 20), &ask()),
            target: StagedTarget::Stalled(s(4), s(19)),
            grades: VALID,
            reason: Some("the target answered nothing"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "ports-kept",
            story: "20 local ports, connections kept",
            staging: &[Staging::Ports(20)],
            ..HEALTHY
        },
        Situation {
            name: "ports-out",
            story: "the same, 2 local ports",
            staging: &[Staging::Ports(2)],
            grades: INVALID,
            reason: Some("local ports used up"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "files-enough",
            story: "100 users, 400 files allowed",
            plan: || users(PlanLoad::of(100, 5, 100), &ask()),
            staging: &[Staging::Files(400)],
            ..HEALTHY
        },
        Situation {
            name: "files-out",
            story: "the same, 64 files allowed",
            plan: || users(PlanLoad::of(100, 5, 100), &ask()),
            staging: &[Staging::Files(64)],
            grades: INVALID,
            reason: Some("open files at their limit"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "disk-fast",
            story: "results with bodies of 1 MiB, a fast disk",
            plan: || users(PlanLoad::of(4, 6, 20), &ask()),
            target: StagedTarget::Long(1 << 20),
            staging: &[Staging::Pipe(u64::MAX)],
            options: WITH_BODIES,
            ..HEALTHY
        },
        Situation {
            name: "disk-slow",
            story: "the same, a disk that takes 4 MiB a second",
            plan: || users(PlanLoad::of(4, 6, 0), &ask()),
            target: StagedTarget::Long(1 << 20),
            staging: &[Staging::Pipe(4 << 20)],
            options: WITH_BODIES,
            grades: SPOILED,
            reason: Some("the disk did not keep up with the results"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "disk-room",
            story: "a disk with 16 MiB",
            staging: &[Staging::Disk(16 << 10)],
            ..HEALTHY
        },
        Situation {
            name: "disk-full",
            story: "the same, with 16 KiB",
            staging: &[Staging::Disk(16)],
            grades: INVALID,
            reason: Some("results were lost"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "groovy",
            story: "a Groovy script and a heap of 256 MiB, from Java's first second on",
            plan: || users(PlanLoad::of(2, 8, 100), &groovy("script", NO_GARBAGE)),
            staging: &[Staging::Heap(256)],
            needs_java: true,
            ..HEALTHY
        },
        Situation {
            name: "garbage",
            story: "the same, and each script makes 60 MiB of garbage and has it collected",
            plan: || users(PlanLoad::of(2, 8, 0), &groovy("script", GARBAGE)),
            staging: &[Staging::Heap(256)],
            needs_java: true,
            grades: SPOILED,
            reason: Some("garbage collection held up scripts"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "function-short",
            story: "a function that computes for 1 ms",
            plan: || users(PlanLoad::of(8, 8, 500), &debug(DOES_NOT)),
            needs_java: true,
            ..HEALTHY
        },
        Situation {
            name: "function-long",
            story: "the same, for 300 ms",
            plan: || users(PlanLoad::of(8, 8, 500), &debug(HOLDS)),
            needs_java: true,
            grades: SPOILED,
            reason: Some("an event loop was held up"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "arrivals",
            story: "an open model of 50 arrivals a second, at its rate",
            plan: || arrivals(50, 5, 100, &ask()),
            target: StagedTarget::Slow(ms(100)),
            ..HEALTHY
        },
        Situation {
            name: "arrivals-left-out",
            story: "the same, with 2 users at most",
            plan: || arrivals(50, 5, 2, &ask()),
            target: StagedTarget::Slow(ms(100)),
            grades: DEGRADED,
            reason: Some("arrivals were due and did not start"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "rate",
            story: "a schedule of 50 samples a second for 30 users",
            plan: || users(PlanLoad::of(30, 6, 0), &(precise(50) + &ask())),
            target: StagedTarget::Slow(ms(100)),
            ..HEALTHY
        },
        Situation {
            name: "rate-not-reached",
            story: "the same, for 2 users",
            plan: || users(PlanLoad::of(2, 6, 0), &(precise(50) + &ask())),
            target: StagedTarget::Slow(ms(100)),
            grades: DEGRADED,
            reason: Some("the schedule's rate was not reached"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "cpu-left",
            story: "20 users who ask no target, with pauses",
            plan: || users(PlanLoad::of(20, 5, 50), &debug("debug")),
            ..HEALTHY
        },
        Situation {
            name: "cpu-used-up",
            story: "the same, without pauses",
            plan: || users(PlanLoad::of(20, 5, 0), &debug("debug")),
            grades: SPOILED,
            reason: Some("the generator used all its CPU"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "clock-kept",
            story: "a clock that is not set",
            staging: &[Staging::Clock(0)],
            ..HEALTHY
        },
        Situation {
            name: "clock-set",
            story: "the same, set an hour ahead",
            staging: &[Staging::Clock(3600)],
            grades: DEGRADED,
            reason: Some("the system's clock was set"),
            ..HEALTHY
        },
    ),
    (
        Situation {
            name: "failures",
            story: "a target that answers 500 to everything",
            target: StagedTarget::Failing,
            ..HEALTHY
        },
        Situation {
            name: "failures-stopped",
            story: "the same, stopped for 1 s",
            target: StagedTarget::Failing,
            staging: &[Staging::Stop(s(3), s(1))],
            grades: INVALID,
            reason: Some("the generator was stopped"),
            ..HEALTHY
        },
    ),
];

const RAMP: PlanLoad = PlanLoad {
    users: 40,
    ramp_s: 5,
    seconds: 8,
    pause_ms: 50,
};

const WITH_BODIES: &[&str] = &[
    "-Jjmeter.save.saveservice.output_format=xml",
    "-Jjmeter.save.saveservice.response_data=true",
];

fn many_labels() -> String {
    (0..500)
        .map(|label| request(&format!("ask {label}"), true, ""))
        .collect()
}
