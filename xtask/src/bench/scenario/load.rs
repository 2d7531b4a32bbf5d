//! Many users, schedules, cores, and long runs.

use super::{Entry, Scenario};
use crate::bench::aim::Figure;
use crate::bench::peers::Program;

/// Users of the largest case.
const MANY_USERS: u32 = 20_000;

pub(super) fn all() -> Vec<Scenario> {
    vec![
        users(),
        ramp_up(),
        pacing(),
        stall(),
        rows(),
        workers(),
        long(),
    ]
}

fn users() -> Scenario {
    let thinking = |case: &str, users: u32, think_ms: u32| {
        Entry::new(Program::Drumfire, "users.jmx")
            .case(case, users)
            .with("think_ms", think_ms)
            .with("ramp_up", if users > 100 { 20 } else { 0 })
    };
    let idle = |case: &str, users: u32| {
        Entry::new(Program::Drumfire, "idle.jmx")
            .case(case, users)
            .with("think_ms", 10_000)
    };
    let entries = vec![
        // The same rate of requests for the ratio of their costs.
        thinking("100 with connections", 100, 50),
        thinking("20000 with connections", MANY_USERS, 10_000),
        idle("100 without", 100),
        idle("100000 without", 5 * MANY_USERS),
    ];
    Scenario {
        // Ramp-up of 20 s (JMeter rounds the distance of starts to whole milliseconds), then two rounds of requests.
        least_seconds: 42,
        ..Scenario::new(
            "users",
            "memory and CPU of many users that think 10 s",
            entries,
        )
    }
    .at_most(
        "20000 with connections",
        Figure::UserKib("100 with connections"),
        12.0,
    )
    .at_most(
        "20000 with connections",
        Figure::CpuToCase("100 with connections"),
        1.3,
    )
    .at_most("100000 without", Figure::UserKib("100 without"), 2.0)
}

/// A paced group beside one whose users start: what the starts do to the pace shows.
fn ramp_up() -> Scenario {
    let paced = |case: &str, users: u32| {
        Entry::new(Program::Drumfire, "ramp.jmx")
            .case(case, users)
            .with("rate", 1_000)
    };
    Scenario {
        least_seconds: 12,
        ..Scenario::new(
            "rampup",
            "20,000 users start within 10 s beside a thousand paced requests a second",
            vec![paced("1 starts", 1), paced("20000 start", MANY_USERS)],
        )
    }
    .at_most("20000 start", Figure::LateBeyondCase("1 starts"), 200.0)
}

fn pacing() -> Scenario {
    let paced = |plan, case: &str| {
        Entry::new(Program::Drumfire, plan)
            .case(case, 100)
            .with("rate", 5_000)
    };
    Scenario::new(
        "pacing",
        "5,000 requests a second, as a schedule has them",
        vec![
            paced("pacing.jmx", "Precise Throughput Timer"),
            paced("open.jmx", "open model"),
        ],
    )
    .at_most("Precise Throughput Timer", Figure::LateUs, 200.0)
    .at_most("open model", Figure::LateUs, 200.0)
}

fn stall() -> Scenario {
    let entry = Entry {
        stalls: true,
        ..Entry::new(Program::Drumfire, "open.jmx")
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

fn rows() -> Scenario {
    let rows = |case: &str, writes_results: bool| Entry {
        writes_results,
        ..Entry::new(Program::Drumfire, "rows.jmx")
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
    let on = |case: &str, cores: u32| Entry {
        cores,
        ..Entry::new(Program::Drumfire, "requests.jmx").case(case, 10)
    };
    Scenario::new(
        "workers",
        "the same requests on one core and on all",
        vec![on("one core", 1), on("all cores", 0)],
    )
    .at_most("all cores", Figure::CpuToCase("one core"), 1.2)
}

fn long() -> Scenario {
    let lasting = |case: &str, minutes: u32| Entry {
        seconds: minutes * 60,
        ..Entry::new(Program::Drumfire, "pacing.jmx")
            .case(case, 10)
            .with("rate", 5_000)
    };
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
