//! Many users, schedules, limited cores, and long runs.

use nix::sys::resource::{Resource, getrlimit};

use super::{Contender, Scenario};
use crate::bench::aim::Figure;
use crate::bench::made::Made;
use crate::bench::peers::{LoadTester, PACE_PER_SECOND};
use crate::measure::RunPart;

/// The users of the largest case with connections: close to the number of ports of one address.
const MANY_USERS: u32 = 28_000;
/// The users of the largest case without connections.
const IDLE_USERS: u32 = 100_000;
/// How many files a process has open besides its connections.
const OTHER_FILES: u64 = 256;

/// The number of connected users that the limit of open files allows, at most [`MANY_USERS`].
pub(super) fn connected_users() -> u32 {
    let allowed = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(_, hard)| hard);
    let fitting = u32::try_from(allowed.saturating_sub(OTHER_FILES)).unwrap_or(u32::MAX);
    fitting.clamp(1, MANY_USERS)
}

pub(super) fn all() -> Vec<Scenario> {
    vec![
        users(),
        ramp_up(),
        pacing(),
        stall(),
        neighbours(),
        rows(),
        workers(),
        long(),
    ]
}

fn users() -> Scenario {
    // Exclude the time in which users connect, and that in which they end.
    let counted = |from_s, to_s| Some(RunPart { from_s, to_s });
    const MANY: &str = "many with connections";
    let connected = connected_users();
    let entries = vec![
        // The same request rate, so that the costs can be compared.
        Contender {
            counted: counted(2, 40),
            ..thinking("100 with connections", 100, 50)
        },
        // Each user sends its first request within 30 s, because JMeter rounds the interval between starts to whole
        // milliseconds.
        Contender {
            seconds: 82,
            counted: counted(35, 80),
            ..thinking(MANY, connected, 10_000)
        },
        idle("100 without", 100),
        idle("100000 without", IDLE_USERS),
    ];
    Scenario {
        least_seconds: 42,
        ..Scenario::new(
            "users",
            "memory of 28,000 users that think 10 s, or as many as files may be open, and their CPU once all are connected",
            entries,
        )
    }
    .at_most(MANY, Figure::UserKib("100 with connections"), 2.0)
    .at_most(MANY, Figure::CpuToCase("100 with connections"), 1.3)
    .at_most("100000 without", Figure::UserKib("100 without"), 2.0)
}

/// The think times vary. With equal ones all users would send in step, and waking a worker for a hundred users at once is
/// cheap.
fn thinking(case: &str, users: u32, mean_ms: u32) -> Contender {
    Contender::new(LoadTester::Drumfire, "users.jmx")
        .case(case, users)
        .with("think_ms", mean_ms / 2)
        .with("spread_ms", mean_ms)
        .with("ramp_up", if users > 100 { 20 } else { 0 })
        // By default JMeter closes a connection after a minute.
        .with("httpclient4.time_to_live", 600_000)
}

/// All users think from the first second on.
fn idle(case: &str, users: u32) -> Contender {
    Contender {
        seconds: 15,
        connects: false,
        ..Contender::new(LoadTester::Drumfire, "idle.jmx")
            .case(case, users)
            .with("think_ms", 10_000)
    }
}

/// The users of `benches/ramp.jmx` that follow a pace.
const PACED_USERS: u32 = 50;

/// A paced group with and without another group that is starting users, to show how much the starts disturb the pace.
fn ramp_up() -> Scenario {
    const MANY: &str = "many start";
    // The paced users need connections as well.
    let connected = connected_users() - PACED_USERS.min(connected_users() - 1);
    Scenario {
        least_seconds: 12,
        ..Scenario::new(
            "rampup",
            "many users start within 10 s beside a thousand paced requests a second: 28,000, or as many as files may be open",
            vec![paced("1 starts", 1), paced(MANY, connected)],
        )
    }
    .at_most(MANY, Figure::LateBeyondCase("1 starts"), 200.0)
}

fn paced(case: &str, users: u32) -> Contender {
    Contender::new(LoadTester::Drumfire, "ramp.jmx")
        .case(case, users)
        .with("rate", 1_000)
}

fn pacing() -> Scenario {
    let paced = |program, plan, case: &str| {
        Contender::new(program, plan)
            .case(case, 100)
            .with("rate", PACE_PER_SECOND)
    };
    Scenario::new(
        "pacing",
        "5,000 requests a second, as a schedule has them; vegeta has them evenly spaced",
        vec![
            paced(
                LoadTester::Drumfire,
                "pacing.jmx",
                "Precise Throughput Timer",
            ),
            paced(LoadTester::Drumfire, "open.jmx", "open model"),
            paced(LoadTester::Vegeta, "open.jmx", "open model"),
        ],
    )
    .at_most("open model", Figure::LateTo(LoadTester::Vegeta), 1.0)
    .at_most("Precise Throughput Timer", Figure::LateUs, 200.0)
    .at_most("open model", Figure::LateUs, 200.0)
}

fn stall() -> Scenario {
    let entry = Contender {
        stalls: true,
        ..Contender::new(LoadTester::Drumfire, "open.jmx")
            .case("open model", 100)
            .with("rate", 1_000)
    };
    Scenario {
        least_seconds: 5,
        ..Scenario::new(
            "stall",
            "the server answers nobody for a second: response times show it, the generator is not late",
            vec![entry],
        )
    }
    .at_least("open model", Figure::LongestMs, 990.0)
    .at_most("open model", Figure::LateUs, 1_000.0)
}

/// Paced users that share a worker with users of one long operation. The case is the property that enables those users.
fn neighbours() -> Scenario {
    const ALONE: &str = "alone";
    const CASES: [(&str, u32); 9] = [
        ("regex", 1),
        ("md5", 2),
        ("css", 2),
        ("xpath", 2),
        ("json", 1),
        ("gzip", 2),
        ("groovy", 2),
        ("tls", 100),
        ("rows", 1),
    ];
    let rows = Made::Data(10_000_000);
    let paced = |case: &str| {
        // One core means one worker.
        Contender {
            cores: 1,
            ..Contender::new(LoadTester::Drumfire, "neighbours.jmx").case(case, 100)
        }
        .with("data", format!("@FOLDER@/{}", rows.path()))
        .with("tls_port", "@TLS_PORT@")
    };
    let mut entries = vec![paced(ALONE)];
    for (case, users) in CASES {
        let entry = paced(case).with(case, users);
        entries.push(match case {
            "md5" => entry.needs(Made::BigBody),
            "json" => entry.needs(Made::LargeJson),
            "rows" => entry.needs(rows),
            _ => entry,
        });
    }
    let scenario = Scenario {
        least_seconds: 5,
        ..Scenario::new(
            "neighbours",
            "500 paced requests a second on the worker of users whose work takes long: the generator is not late",
            entries,
        )
    }
    .at_most(ALONE, Figure::LateUs, 2_000.0);
    CASES.iter().fold(scenario, |scenario, (case, _)| {
        scenario.at_most(case, Figure::LateUs, 2_000.0)
    })
}

fn rows() -> Scenario {
    let rows = |case: &str, writes_results: bool| Contender {
        writes_results,
        ..Contender::new(LoadTester::Drumfire, "rows.jmx")
            .case(case, 10)
            .with("loops", 100_000)
            .with("seconds", 600)
    };
    Scenario {
        most_seconds: 1,
        ..Scenario::new(
            "rows",
            "a million samples that do nothing, with a results file and without",
            vec![rows("with rows", true), rows("without", false)],
        )
    }
    .at_most("with rows", Figure::CpuBeyondCase("without"), 0.5)
}

fn workers() -> Scenario {
    Scenario::new(
        "workers",
        "the same requests on one core and on all",
        vec![on("one core", 1), on("all cores", 0)],
    )
    .at_most("all cores", Figure::CpuToCase("one core"), 1.1)
}

fn on(case: &str, cores: u32) -> Contender {
    Contender {
        cores,
        ..Contender::new(LoadTester::Drumfire, "requests.jmx").case(case, 10)
    }
}

fn long() -> Scenario {
    Scenario {
        on_request: true,
        ..Scenario::new(
            "long",
            "5,000 requests a second for one minute and for thirty",
            vec![lasting("1 minute", 1), lasting("30 minutes", 30)],
        )
    }
    .at_most("30 minutes", Figure::CpuToCase("1 minute"), 1.2)
    .at_most("30 minutes", Figure::PeakToCase("1 minute"), 1.1)
}

fn lasting(case: &str, minutes: u32) -> Contender {
    Contender {
        seconds: minutes * 60,
        ..Contender::new(LoadTester::Drumfire, "pacing.jmx")
            .case(case, 10)
            .with("rate", 5_000)
            // Like JMeter's, the timer generates the arrivals of a whole period at once, which takes memory.
            .with("period", 60)
    }
}
