//! How cost grows: the same work with an increasing number of one thing. The case is that number.

use super::load::connected_users;
use super::{Contender, Reads, Scenario};
use crate::bench::aim::Figure::{CpuToCase, PeakToCase, Time, UserKib};
use crate::bench::made::Made;
use crate::bench::peers::LoadTester;

/// The number of samples in a case where only the count matters.
const SAMPLES: u64 = 200_000;

pub(super) fn all() -> Vec<Scenario> {
    vec![
        users(),
        idle(),
        labels(),
        samplers(),
        body(),
        data(),
        extractors(),
        minutes(),
        results(),
        compared(),
        merged(),
        scripts(),
    ]
}

/// A scenario whose cases are drawn as a curve over `axis`.
fn curve(
    name: &'static str,
    axis: &'static str,
    about: &'static str,
    entries: Vec<Contender>,
) -> Scenario {
    Scenario {
        on_request: true,
        axis: Some(axis),
        ..Scenario::new(name, about, entries)
    }
}

fn entry(program: LoadTester, plan: impl Into<String>, count: u64) -> Contender {
    Contender::new(program, plan).case(count, 10)
}

fn users() -> Scenario {
    let peers = [LoadTester::Drumfire, LoadTester::K6, LoadTester::JMeter];
    let mut entries = Vec::new();
    for (users, programs) in [
        (10, &peers[..]),
        (100, &peers[..]),
        (1_000, &peers[..]),
        (10_000, &peers[..1]),
        (connected_users(), &peers[..1]),
    ] {
        entries.extend(super::each(programs, |program| {
            Contender::new(program, "requests.jmx").case(users, users)
        }));
    }
    curve(
        "growth-users",
        "users",
        "users that ask as fast as they can, a connection each",
        entries,
    )
    .at_most("1000", CpuToCase("10"), 1.3)
    .at_most("10000", CpuToCase("10"), 1.5)
}

fn idle() -> Scenario {
    let idle = |program: LoadTester, users: u32| Contender {
        connects: false,
        ..Contender::new(program, "idle.jmx")
            .case(users, users)
            .with("think_ms", 2_000)
    };
    let mut entries: Vec<Contender> = [1_000, 10_000, 100_000, 1_000_000]
        .map(|users| idle(LoadTester::Drumfire, users))
        .into();
    entries.push(idle(LoadTester::JMeter, 1_000));
    Scenario {
        least_seconds: 10,
        ..curve(
            "growth-idle",
            "users",
            "users that think and ask nobody",
            entries,
        )
    }
    .at_most("1000000", UserKib("1000"), 2.0)
}

/// Runs a fixed number of samples that do nothing, whatever duration the command line sets.
fn counted(entry: Contender, loops: u64) -> Contender {
    entry.with("loops", loops.max(1)).with("seconds", 600)
}

fn labels() -> Scenario {
    let entries = [1, 10, 100, 1_000, 10_000].map(|labels| {
        let entry = entry(LoadTester::Drumfire, "growth.jmx", labels).with("labelled", 10);
        counted(entry.with("labels", labels), SAMPLES / 10)
    });
    Scenario {
        most_seconds: 1,
        ..curve(
            "growth-labels",
            "labels",
            "200,000 samples under so many names",
            entries.into(),
        )
    }
    .at_most("1000", CpuToCase("1"), 1.3)
}

fn samplers() -> Scenario {
    let entries = [1, 10, 100, 1_000, 10_000].map(|count| {
        let made = Made::Samplers(count);
        let entry = entry(LoadTester::Drumfire, made.path(), count).needs(made);
        counted(entry, SAMPLES / count / 10)
    });
    Scenario {
        most_seconds: 1,
        ..curve(
            "growth-samplers",
            "samplers of the plan",
            "200,000 samples by a plan with so many samplers",
            entries.into(),
        )
    }
    .at_most("1000", CpuToCase("1"), 1.5)
}

fn body() -> Scenario {
    let entries = [0, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 100 << 20].map(|bytes| {
        let made = Made::Body(bytes);
        entry(LoadTester::Drumfire, "requests.jmx", bytes)
            .needs(made)
            .with("path", format!("/body-{bytes}"))
    });
    curve(
        "growth-body",
        "bytes of a body",
        "bodies of so many bytes that nothing reads",
        entries.into(),
    )
    .at_most("104857600", PeakToCase("1024"), 1.2)
}

fn data() -> Scenario {
    let entries = [10, 1_000, 100_000, 10_000_000].map(|rows| {
        let made = Made::Data(rows);
        let entry = entry(LoadTester::Drumfire, "growth.jmx", rows)
            .needs(made)
            .with("reading", 10)
            .with("data", format!("@FOLDER@/{}", made.path()));
        counted(entry, SAMPLES / 10)
    });
    Scenario {
        most_seconds: 1,
        ..curve(
            "growth-data",
            "rows of the CSV file",
            "200,000 samples, each with a row of a CSV file of so many",
            entries.into(),
        )
    }
    .at_most("10000000", PeakToCase("10"), 1.5)
    .at_most("10000000", CpuToCase("10"), 1.3)
}

fn extractors() -> Scenario {
    let programs = [LoadTester::Drumfire, LoadTester::JMeter];
    let entries = [0, 1, 2, 5, 10, 20].map(|count| {
        let made = Made::Extractors(count);
        super::each(&programs, |program| {
            entry(program, made.path(), count)
                .needs(made)
                .with("path", "/page.html")
        })
    });
    curve(
        "growth-extractors",
        "extractors",
        "a page of 16 KiB with so many extractors, half of them regular expressions",
        entries.into_iter().flatten().collect(),
    )
}

fn minutes() -> Scenario {
    let entries = [1, 5, 60].map(|minutes| Contender {
        seconds: minutes * 60,
        ..Contender::new(LoadTester::Drumfire, "pacing.jmx")
            .case(minutes, 10)
            .with("rate", 1_000)
            .with("period", 60)
    });
    curve(
        "growth-minutes",
        "minutes",
        "1,000 requests a second for so many minutes",
        entries.into(),
    )
    .at_most("60", CpuToCase("1"), 1.1)
    .at_most("60", PeakToCase("1"), 1.2)
}

/// Runs a command on result files of increasing size, compared with reading their lines.
fn files(name: &'static str, about: &'static str, reads: Reads) -> Scenario {
    let mut entries = Vec::new();
    for rows in [100_000, 1_000_000, 10_000_000] {
        let made = Made::Results(rows);
        for program in [LoadTester::Drumfire, LoadTester::Wc] {
            entries.push(Contender {
                reads: Some(reads),
                ..entry(program, made.path(), rows).needs(made)
            });
        }
    }
    Scenario {
        most_seconds: 1,
        ..curve(name, "rows of the result file", about, entries)
    }
    .at_most("10000000", PeakToCase("100000"), 1.5)
    .at_most("10000000", Time(LoadTester::Wc), 20.0)
}

fn results() -> Scenario {
    let about = "a report from a result file of so many rows; wc counts its lines";
    files("growth-results", about, Reads::Report)
}

fn compared() -> Scenario {
    let about = "a result file of so many rows compared with itself; wc counts its lines once";
    files("growth-compare", about, Reads::Compare)
}

fn merged() -> Scenario {
    let about = "a result file of so many rows added to itself; wc counts its lines once";
    files("growth-merge", about, Reads::Merge)
}

/// Scripts whose text changes with each sample, so that each is compiled again; BeanShell and JavaScript are interpreted.
fn scripts() -> Scenario {
    let entries = [1, 5, 60].map(|minutes| Contender {
        seconds: minutes * 60,
        prepares_java: true,
        ..Contender::new(LoadTester::Drumfire, "metaspace.jmx").case(minutes, 3)
    });
    curve(
        "growth-scripts",
        "minutes",
        "Groovy whose text changes at each sample, BeanShell and JavaScript, each twenty times a second, for so many minutes",
        entries.into(),
    )
    .at_most("60", CpuToCase("5"), 1.2)
    .at_most("60", PeakToCase("5"), 1.2)
}
