//! Users that end before their first sample, and whether a run sent anything at all.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::run::control::Stopping;
use crate::run::program::{GroupKind, Program};

/// Users that ended before the plan would have them end.
#[derive(Default)]
pub struct EarlyEnds {
    /// Users of the main thread groups that started.
    started: AtomicU64,
    /// Those of them that ended before their first sampler.
    without_sample: AtomicU64,
    /// Why the first user ended early.
    first: OnceLock<String>,
}

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

    /// Why the run sent nothing, or why all users of its main groups ended before their first sampler; `None` otherwise.
    pub fn nothing_sent(
        &self,
        samples: u64,
        program: &Program,
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
        Some(match reason {
            Some(reason) => format!("users ended before the first request: {reason}"),
            None => why_nobody_sends(program),
        })
    }
}

fn why_nobody_sends(program: &Program) -> String {
    let groups = &program.groups;
    let fault = groups.iter().find_map(|group| {
        let fault = group.shape.check().err()?;
        Some(format!("the thread group '{}' has {fault}", group.name))
    });
    let is_main = |kind: GroupKind| kind == GroupKind::Main;
    if groups.is_empty() {
        "the plan has no enabled thread group".to_owned()
    } else if let Some(fault) = fault {
        fault
    } else if groups.iter().all(|group| group.shape.users() == 0) {
        "every thread group has 0 users".to_owned()
    } else if groups.iter().all(|group| !group.has_samplers) {
        "no thread group has an enabled sampler".to_owned()
    } else if groups.iter().any(|group| is_main(group.kind)) {
        "no user reached a sampler".to_owned()
    } else {
        "the plan has no main thread group with a sampler".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(elements: &str) -> std::sync::Arc<Program> {
        let text = format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="g" testclass="TestPlan" testname="P"/><hashTree>{elements}</hashTree></hashTree></jmeterTestPlan>"#
        );
        let read = drumfire_jmx::read(text.as_bytes(), std::path::Path::new("p.jmx"));
        let tree = read.expect("a plan").tree;
        match crate::compile(tree, Default::default()) {
            Ok(compiled) => compiled.plan.program,
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
            |elements: &str| EarlyEnds::default().nothing_sent(0, &program(elements), Stopping::No);
        let none = why("").expect("nothing is sent");
        assert!(none.contains("no enabled thread group"), "{none}");
        let zero = why(&group(0, SAMPLE)).expect("nothing is sent");
        assert_eq!(zero, "every thread group has 0 users");
        let empty = why(&group(1, "")).expect("nothing is sent");
        assert_eq!(empty, "no thread group has an enabled sampler");
        let missed = why(&group(1, SAMPLE)).expect("nothing is sent");
        assert_eq!(missed, "no user reached a sampler");
    }

    #[test]
    fn users_that_all_end_at_once_have_sent_nothing_whatever_others_sent() {
        let early = EarlyEnds::default();
        let program = program(&group(2, SAMPLE));
        for _ in 0..2 {
            early.note_start();
            early.note_end(true, "no file");
        }
        let told = early.nothing_sent(5, &program, Stopping::No);
        assert_eq!(
            told.as_deref(),
            Some("all 2 users ended before the first request: no file")
        );
        early.note_start();
        assert_eq!(early.nothing_sent(5, &program, Stopping::No), None);
    }
}
