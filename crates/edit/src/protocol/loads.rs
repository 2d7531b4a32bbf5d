//! Runs of whole plans with their load.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::host::{Shared, lock, written};
use super::types::Load;
use crate::program::RunningLoad;
use crate::refused::{BUSY, NO_RUN, Refused};

/// The runs with load that go on, or whose pages are open, by plan.
#[derive(Default)]
pub struct Loads {
    /// A run is about to begin.
    begins: bool,
    all: BTreeMap<u64, Arc<dyn RunningLoad>>,
}

impl Loads {
    fn is_busy(&self) -> bool {
        self.begins || self.all.values().any(|run| !run.is_over())
    }

    /// Ends all runs.
    pub fn stop(&self) {
        self.all.values().for_each(|run| run.stop());
    }

    fn get(&self, plan: u64) -> Option<&Arc<dyn RunningLoad>> {
        self.all.get(&plan).filter(|run| !run.is_over())
    }
}

impl Shared {
    pub(super) fn load(self: &Arc<Self>, plan: u64) -> Result<String, Refused> {
        let (path, is_dirty) = self.with(plan, |open| {
            Ok((open.session.path().to_owned(), open.session.is_dirty()))
        })?;
        if is_dirty {
            let refused = Refused::unfit("the plan has unsaved changes");
            return Err(refused.hint("save it first"));
        }
        self.check_load(plan)?;
        {
            let mut loads = lock(&self.loads);
            if loads.is_busy() {
                let refused = Refused::new(BUSY, "a plan runs with its load already");
                return Err(refused.hint("end it with `load_stop`, or close its page"));
            }
            loads.begins = true;
        }
        let host = Arc::downgrade(self);
        let ended = move |message: Option<String>| {
            if let Some(host) = host.upgrade() {
                let parameters = json!({"plan": plan, "message": message});
                host.notify("load_ended", &parameters.to_string());
            }
        };
        let run = self.program.load(&path, Box::new(ended));
        let mut loads = lock(&self.loads);
        loads.begins = false;
        let run = run?;
        let url = run.url().to_owned();
        loads.all.insert(plan, run);
        drop(loads);
        let parameters = json!({"plan": plan, "url": url});
        self.notify("load_started", &parameters.to_string());
        written(&Load { url })
    }

    /// Refuses a plan that cannot run, before its page opens.
    fn check_load(&self, plan: u64) -> Result<(), Refused> {
        let inspectee = self.inspectee(plan)?;
        let inspection = self.program.inspect(&inspectee.path, &inspectee.tree);
        let fault = inspection.findings.into_iter().find(|one| one.is_error());
        let Some(fault) = fault else { return Ok(()) };
        let refused = Refused::new(NO_RUN, fault.message);
        Err(match fault.help {
            Some(help) => refused.hint(help),
            None => refused,
        })
    }

    pub(super) fn load_stop(&self, plan: u64) -> Result<String, Refused> {
        if let Some(run) = lock(&self.loads).get(plan) {
            run.stop();
        }
        Ok("null".to_owned())
    }

    pub(super) fn load_state(&self, plan: u64) -> Result<String, Refused> {
        let loads = lock(&self.loads);
        let state = loads.get(plan).map(|run| Load {
            url: run.url().to_owned(),
        });
        written(&state)
    }
}
