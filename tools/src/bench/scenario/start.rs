//! The time until the first request.

use super::{Contender, Scenario, each};
use crate::bench::aim::Figure;
use crate::bench::made::Made;
use crate::bench::peers::LoadTester;

pub(super) fn all() -> Vec<Scenario> {
    let once = |program, plan: &str, case: &str| {
        Contender::new(program, plan)
            .case(case, 1)
            .with("loops", 1)
            .with("seconds", 600)
    };
    let mut entries = each(&[LoadTester::Drumfire, LoadTester::JMeter], |program| {
        once(program, "requests.jmx", "plain plan")
    });
    let large = Made::LargePlan;
    entries.push(once(LoadTester::Drumfire, &large.path(), "plan of 50 MB").needs(large));
    vec![
        Scenario {
            most_seconds: 1,
            ..Scenario::new(
                "start",
                "from the start of the process to its first request",
                entries,
            )
        }
        .at_most("plain plan", Figure::FirstSampleMs, 20.0)
        .at_most("plan of 50 MB", Figure::FirstSampleMs, 600.0)
        .at_most("plan of 50 MB", Figure::PeakMib, 200.0),
    ]
}
