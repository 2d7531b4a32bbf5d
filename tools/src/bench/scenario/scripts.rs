//! The cost of scripts, and their effect on other users. All cases start Java, so its start cancels out in the
//! differences.

use super::{Contender, Scenario, each};
use crate::bench::aim::Figure::{CpuBeyondCase, FirstSampleMs, LateToCase, Rate};
use crate::bench::peers::LoadTester;

const BOTH: [LoadTester; 2] = [LoadTester::Drumfire, LoadTester::JMeter];
/// The number of users in the group that a case of `benches/scripts.jmx` runs.
const USERS: u32 = 2;
/// A call costs more until Java has compiled frequently executed code.
const WARM_SECONDS: u32 = 20;

pub(super) fn all() -> Vec<Scenario> {
    vec![first(), calls(), sleepers(), ranking()]
}

fn run(program: LoadTester, case: &str, group: &'static str) -> Contender {
    Contender::new(program, "scripts.jmx")
        .case(case, USERS)
        .with("pages", "@FOLDER@/html")
        .with(group, USERS)
}

/// The script is a pre-processor, so the sample begins when the script has finished.
fn first() -> Scenario {
    const FIRST: &str = "first script";
    let entries = each(&BOTH, |program| {
        Contender {
            prepares_java: true,
            ..Contender::new(program, "first_script.jmx").case(FIRST, 1)
        }
        .with("variables", 1)
        .with("loops", 1)
    });
    Scenario {
        most_seconds: 1,
        ..Scenario::new(
            "first-script",
            "from the start of the process to the end of its first Groovy script, Java's classes being prepared",
            entries,
        )
    }
    .at_most(FIRST, FirstSampleMs, 300.0)
}

fn calls() -> Scenario {
    const NOTHING: &str = "no script";
    const EMPTY: &str = "empty script";
    let mut entries = Vec::new();
    for (case, group) in [
        (NOTHING, "nothing"),
        (EMPTY, "empty"),
        ("get and put", "variables"),
        ("prev", "prev"),
    ] {
        entries.extend(each(&BOTH, |program| Contender {
            // JMeter's samples are counted from its file.
            writes_results: program == LoadTester::JMeter,
            ..run(program, case, group)
        }));
    }
    Scenario {
        least_seconds: WARM_SECONDS,
        ..Scenario::new(
            "scripts",
            "a Groovy script at each sample that does nothing",
            entries,
        )
    }
    // Calling an empty script takes 0.08 us from C.
    .at_most(EMPTY, CpuBeyondCase(NOTHING), 1.08)
    .at_most("get and put", CpuBeyondCase(EMPTY), 1.0)
    .at_most("prev", CpuBeyondCase(EMPTY), 1.0)
}

fn sleepers() -> Scenario {
    const ALONE: &str = "nobody sleeps";
    Scenario {
        least_seconds: 10,
        ..Scenario::new(
            "sleepers",
            "a thousand paced requests a second beside users whose scripts sleep for a second",
            vec![beside(ALONE, 0), beside("100 sleep", 100)],
        )
    }
    .at_most("100 sleep", LateToCase(ALONE), 1.25)
}

fn beside(case: &str, users: u32) -> Contender {
    Contender::new(LoadTester::Drumfire, "sleepers.jmx")
        .case(case, users)
        .with("rate", 1_000)
}

/// Elements that find the same token in the same HTML page.
fn ranking() -> Scenario {
    const EXTRACTORS: &str = "extractors.jmx";
    const SCRIPTS: &str = "scripts.jmx";
    const CASES: [(&str, &str, &str); 6] = [
        ("Boundary", EXTRACTORS, "boundary"),
        ("Regex", EXTRACTORS, "regex"),
        ("JSR223", SCRIPTS, "groovy"),
        ("CSS", EXTRACTORS, "css"),
        ("BeanShell", SCRIPTS, "beanshell"),
        ("XPath", EXTRACTORS, "xpath_of_html"),
    ];
    let mut entries = Vec::new();
    for (case, plan, group) in CASES {
        entries.extend(each(&BOTH, |program| Contender {
            plan: plan.to_owned(),
            ..run(program, case, group)
        }));
    }
    let scenario = Scenario {
        least_seconds: 10,
        on_request: true,
        ..Scenario::new(
            "ranking",
            "post-processors that find a token in a page of 16 KiB of HTML; the rate counts",
            entries,
        )
    };
    CASES.iter().fold(scenario, |scenario, (case, ..)| {
        scenario.at_least(case, Rate(LoadTester::JMeter), 1.0)
    })
}
