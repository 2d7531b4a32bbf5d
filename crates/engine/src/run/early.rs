//! Users that end before their first sample, and whether a run sent anything at all.

use std::sync::atomic::Ordering;

use crate::run::control::Stopping;
use crate::run::held::EarlyEnds;
use crate::run::journey::{BoundPlan, Package};
use crate::run::overruns::seconds;
use crate::run::program::GroupKind;
use crate::run::unreached;

impl EarlyEnds {
    /// Records that a user of a main thread group has started.
    pub fn note_start(&self) {
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a user ends early. `is_unused` says that it belongs to a main thread group and has reached no sampler.
    pub fn note_end(&self, is_unused: bool, reason: &str) {
        if is_unused {
            self.without_sample.fetch_add(1, Ordering::Relaxed);
        }
        self.first.get_or_init(|| reason.to_owned());
    }

    /// Records that a sampler of a main thread group had its turn.
    pub fn note_reached(&self) {
        self.is_reached.store(true, Ordering::Relaxed);
    }

    /// Records that a user ends, because its timers would have waited beyond its duration.
    pub fn note_wait(&self, package: &Package, ms: i64) {
        self.too_long.get_or_init(|| {
            let names: Vec<String> = package
                .timer_names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect();
            let (timers, wait) = match names.len() {
                1 => ("timer", "waits"),
                _ => ("timers", "wait"),
            };
            format!(
                "the {timers} {} {wait} {} before `{}`, which is longer than the users run; shorten the wait or raise the duration",
                names.join(", "),
                seconds(ms),
                package.name.source()
            )
        });
    }

    /// Why the run sent nothing, or why all users of its main groups ended before their first sampler; `None` otherwise.
    pub fn nothing_sent(
        &self,
        samples: u64,
        plan: &BoundPlan,
        stopping: Stopping,
    ) -> Option<String> {
        let started = self.started.load(Ordering::Relaxed);
        let without_sample = self.without_sample.load(Ordering::Relaxed);
        let reason = self.first.get();
        if let Some(reason) = reason
            && started > 0
            && without_sample == started
        {
            let who = match started {
                1 => "the only user".to_owned(),
                users => format!("all {users} users"),
            };
            return Some(format!("{who} ended before the first request: {reason}"));
        }
        if samples > 0 {
            return None;
        }
        if stopping != Stopping::No {
            return Some("the run was stopped before the first request".to_owned());
        }
        let is_reached = self.is_reached.load(Ordering::Relaxed);
        Some(match (reason, self.too_long.get()) {
            (Some(reason), _) => format!("users ended before the first request: {reason}"),
            (None, Some(wait)) if !is_reached => wait.clone(),
            _ => why_nobody_sends(plan, started > 0, is_reached),
        })
    }
}

fn why_nobody_sends(plan: &BoundPlan, has_started: bool, is_reached: bool) -> String {
    let groups = &plan.program.groups;
    let fault = groups.iter().find_map(|group| {
        let fault = group.shape.check().err()?;
        Some(format!("the thread group '{}' has {fault}", group.name))
    });
    if groups.is_empty() {
        "the plan has no enabled thread group".to_owned()
    } else if let Some(fault) = fault {
        fault
    } else if groups.iter().all(|group| group.shape.users() == 0) {
        "every thread group has 0 users".to_owned()
    } else if groups.iter().all(|group| !group.has_samplers) {
        "no thread group has an enabled sampler".to_owned()
    } else if !groups.iter().any(|group| is_main(group.kind)) {
        "the plan has no main thread group with a sampler".to_owned()
    } else if !has_started {
        "no user started before the end of the run".to_owned()
    } else if is_reached {
        why_nothing_ended(plan)
    } else {
        unreached::why(plan).unwrap_or_else(|| "no user reached a sampler".to_owned())
    }
}

fn is_main(kind: GroupKind) -> bool {
    kind == GroupKind::Main
}

/// Why samplers had their turn and there is no sample.
fn why_nothing_ended(plan: &BoundPlan) -> String {
    let mut samplers = plan.journeys.iter().flat_map(|journey| &journey.samplers);
    if samplers.all(|package| package.class.ends_with(".TestAction")) {
        "the only enabled samplers are Flow Control Actions, which send nothing".to_owned()
    } else {
        "no sample ended before the end of the run".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(elements: &str) -> BoundPlan {
        let text = drumfire_testkit::plans::plan(elements);
        let read = drumfire_jmx::read(text.as_bytes(), std::path::Path::new("p.jmx"));
        let tree = read.expect("a plan").tree;
        match crate::compile(tree, Default::default()) {
            Ok(compiled) => compiled.plan,
            Err(faults) => panic!("{faults:?}"),
        }
    }

    fn group(users: u32, inside: &str) -> String {
        format!(
            r#"<ThreadGroup guiclass="g" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">{users}</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree>{inside}</hashTree>"#
        )
    }

    const SAMPLE: &str =
        r#"<DebugSampler guiclass="g" testclass="DebugSampler" testname="s"/><hashTree/>"#;

    #[test]
    fn a_run_without_samples_says_why() {
        let why =
            |elements: &str| EarlyEnds::default().nothing_sent(0, &plan(elements), Stopping::No);
        let none = why("").expect("nothing is sent");
        assert!(none.contains("no enabled thread group"), "{none}");
        let zero = why(&group(0, SAMPLE)).expect("nothing is sent");
        assert_eq!(zero, "every thread group has 0 users");
        let empty = why(&group(1, "")).expect("nothing is sent");
        assert_eq!(empty, "no thread group has an enabled sampler");
        let missed = why(&group(1, SAMPLE)).expect("nothing is sent");
        assert_eq!(missed, "no user started before the end of the run");
    }

    /// The reason to give for a run whose users started and reached no sampler, or whose samplers made no sample.
    fn of_users(elements: &str, is_reached: bool) -> String {
        let early = EarlyEnds::default();
        early.note_start();
        if is_reached {
            early.note_reached();
        }
        let told = early.nothing_sent(0, &plan(&group(1, elements)), Stopping::No);
        told.expect("nothing is sent")
    }

    #[test]
    fn controllers_that_let_no_user_in_are_named() {
        let never = format!(
            r#"<IfController guiclass="g" testclass="IfController" testname="On sale"><stringProp name="IfController.condition">false</stringProp></IfController><hashTree>{SAMPLE}</hashTree>"#
        );
        assert_eq!(
            of_users(&never, false),
            "the condition of the If Controller `On sale` was false"
        );
        let none = format!(
            r#"<LoopController guiclass="g" testclass="LoopController" testname="Again"><stringProp name="LoopController.loops">0</stringProp></LoopController><hashTree>{never}</hashTree>"#
        );
        assert_eq!(
            of_users(&none, false),
            "the Loop Controller `Again` has no iteration"
        );
    }

    #[test]
    fn flow_control_actions_alone_are_named() {
        let pause =
            r#"<TestAction guiclass="g" testclass="TestAction" testname="Pause"/><hashTree/>"#;
        assert_eq!(
            of_users(pause, true),
            "the only enabled samplers are Flow Control Actions, which send nothing"
        );
        assert_eq!(
            of_users(SAMPLE, true),
            "no sample ended before the end of the run"
        );
    }

    #[test]
    fn users_that_all_end_at_once_have_sent_nothing_whatever_others_sent() {
        let early = EarlyEnds::default();
        let plan = plan(&group(2, SAMPLE));
        for _ in 0..2 {
            early.note_start();
            early.note_end(true, "no file");
        }
        let told = early.nothing_sent(5, &plan, Stopping::No);
        assert_eq!(
            told.as_deref(),
            Some("all 2 users ended before the first request: no file")
        );
        early.note_start();
        assert_eq!(early.nothing_sent(5, &plan, Stopping::No), None);
    }
}
