//! Realistic plans: several related requests, and elements that process their responses.

use super::{Contender, Scenario, each};
use crate::bench::aim::Figure::{Cpu, CpuIn, CpuToCase, LateUs, PeakTo, SamplesToCase};
use crate::bench::peers::LoadTester;

/// The case of the program that only requests a page of 510 bytes.
const BARE: &str = "one static page";
const SCRIPT: &str = "shop";

pub(super) fn all() -> Vec<Scenario> {
    vec![shop(), work(), open(), live()]
}

/// The same script in the language of each program; wrk only sends requests.
fn shop() -> Scenario {
    let programs = [
        LoadTester::Drumfire,
        LoadTester::K6,
        LoadTester::Gatling,
        LoadTester::Locust,
        LoadTester::Artillery,
        LoadTester::Loadr,
        LoadTester::JMeter,
    ];
    let mut entries = each(&programs, |program| Contender {
        path: "/store/",
        // The other programs do not write a line for each request, so our program does not either. JMeter's samples are
        // counted from its file.
        writes_results: program == LoadTester::JMeter,
        ..Contender::new(program, "shop.jmx").case(SCRIPT, 10)
    });
    entries.push(Contender::new(LoadTester::Wrk, "shop.jmx").case(BARE, 10));
    Scenario {
        least_seconds: 5,
        ..Scenario::new(
            "shop",
            "three requests, a regular expression, a JSONPath, two assertions, every page different; wrk asks for one static page",
            entries,
        )
    }
    .at_most(SCRIPT, CpuIn(LoadTester::Wrk, BARE), 1.2)
    .at_most(SCRIPT, Cpu(LoadTester::Loadr), 0.4)
    .at_most(SCRIPT, Cpu(LoadTester::K6), 0.2)
    .at_most(SCRIPT, Cpu(LoadTester::Gatling), 0.111)
    .at_most(SCRIPT, Cpu(LoadTester::JMeter), 0.111)
    .at_most(SCRIPT, PeakTo(LoadTester::Loadr), 1.0)
}

/// Each case compared with JMeter. The case is the property that enables its thread group.
fn work() -> Scenario {
    /// Case, users, and the highest allowed ratio of CPU per sample to JMeter.
    const CASES: [(&str, u32, f64); 6] = [
        ("login", 10, 0.125),
        ("pages", 2, 0.2),
        ("cached", 2, 0.2),
        ("groovy", 10, 0.5),
        ("documents", 2, 0.2),
        ("multipart", 2, 0.5),
    ];
    let mut entries = Vec::new();
    for (case, users, _) in CASES {
        entries.extend(each(
            &[LoadTester::Drumfire, LoadTester::JMeter],
            |program| {
                Contender::new(program, "work.jmx")
                    .case(case, users)
                    .with("folder", "@FOLDER@/html")
                    .with(case, users)
            },
        ));
    }
    let scenario = Scenario {
        // Java's JIT compiler needs some time.
        least_seconds: 10,
        ..Scenario::new(
            "work",
            "log-in with accounts and cookies; a page with 30 images, without and with a cache; a JSON API with Groovy; XPath and CSS on 100 KiB; an upload of 1 MiB",
            entries,
        )
    };
    CASES.iter().fold(scenario, |scenario, (case, _, most)| {
        scenario.at_most(case, Cpu(LoadTester::JMeter), *most)
    })
}

/// An even pace at a rate that one machine can just sustain. As in JMeter, each arrival is a user with its own connection.
fn open() -> Scenario {
    const FAST: &str = "20,000 a second";
    let entry = Contender::new(LoadTester::Drumfire, "open.jmx")
        .case(FAST, 100)
        .with("rate", 2_000)
        .with("requests", 10);
    Scenario::new(
        "open",
        "20,000 requests a second by an Open Model Thread Group: 2,000 arrivals, each with a connection and ten requests",
        vec![entry],
    )
    .at_most(FAST, LateUs, 1_000.0)
}

/// An even pace with the live page and two outputs enabled. They must cost no sample, and little CPU.
fn live() -> Scenario {
    const ALONE: &str = "alone";
    const WATCHED: &str = "live page and two outputs";
    const OUTPUTS: &str =
        "influxdb=http://127.0.0.1:@PORT@/upload?db=jmeter;json=@FOLDER@/live.jsonl";
    let entry = |case| {
        Contender::new(LoadTester::Drumfire, "open.jmx")
            .case(case, 100)
            .with("rate", 5_000)
    };
    let watched = entry(WATCHED)
        .with("drumfire.ui", "127.0.0.1:0")
        .with("drumfire.out", OUTPUTS);
    let scenario = Scenario::new(
        "live",
        "5,000 requests a second with the live page and two outputs, and without",
        vec![entry(ALONE), watched],
    );
    // Long enough that starting and ending the page matter little.
    Scenario {
        least_seconds: 20,
        ..scenario
    }
    .at_most(WATCHED, CpuToCase(ALONE), 1.05)
    .at_least(WATCHED, SamplesToCase(ALONE), 1.0)
    .at_most(WATCHED, SamplesToCase(ALONE), 1.0)
}
