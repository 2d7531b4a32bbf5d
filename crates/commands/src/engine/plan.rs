//! A compiled plan, and what the commands ask of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use drumfire_engine::BoundPlan;
use drumfire_jmx::{Diagnostic, Read, Tree};
use drumfire_results::CollectorSet;

use super::{
    BackendSpec, GroupView, MonitorSpec, PlanLabels, PlanView, Share, SplitView, SummaryLines,
};

/// A compiled plan and the tree that it was compiled from.
pub struct CompiledPlan {
    tree: Tree,
    pub(super) bound: BoundPlan,
}

impl CompiledPlan {
    /// Joins the warnings of reading the file to those of compiling it, or to the faults.
    pub(super) fn of(
        read: Read,
        compiled: Result<(BoundPlan, Vec<Diagnostic>), Vec<Diagnostic>>,
    ) -> Result<(CompiledPlan, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut findings = read.warnings;
        match compiled {
            Ok((bound, warnings)) => {
                findings.extend(warnings);
                let tree = read.tree;
                Ok((CompiledPlan { tree, bound }, findings))
            }
            Err(faults) => {
                findings.extend(faults);
                Err(findings)
            }
        }
    }

    /// The plan as data.
    pub fn describe(&self) -> PlanView {
        drumfire_engine::describe(&self.tree, &self.bound.program)
    }

    /// Whether the plan has throughput timers.
    pub fn has_rates(&self) -> bool {
        self.bound.program.has_rates
    }

    /// The thread groups, without the rest.
    pub fn groups(&self) -> Vec<GroupView> {
        drumfire_engine::groups(&self.bound.program)
    }

    /// The result files that a run writes.
    pub fn result_files(&self) -> Vec<PathBuf> {
        drumfire_engine::result_files(&self.bound.program)
    }

    /// The files that the plan names relative to its folder.
    pub fn files(&self) -> Vec<PathBuf> {
        drumfire_engine::plan_files(&self.tree, &self.bound.program)
    }

    /// Those of its files that elements read by a setting or a function. It costs less than [`Self::files`].
    pub fn read_files(&self) -> Vec<PathBuf> {
        drumfire_engine::read_files(&self.tree, &self.bound.program)
    }

    /// Those of its files from which machines need only the rows that they read.
    pub fn shared_row_files(&self) -> Vec<PathBuf> {
        drumfire_engine::shared_row_files(&self.tree, &self.bound.program)
    }

    /// How the plan divides among machines with these shares.
    pub fn split(&self, shares: &[Share]) -> SplitView {
        drumfire_engine::split(&self.tree, &self.bound.program, shares)
    }

    /// The labels that samples of the plan may have.
    pub fn labels(&self) -> PlanLabels {
        drumfire_engine::labels(&self.bound)
    }

    /// The Backend Listeners, in the order of their numbers.
    pub fn backends(&self) -> &[BackendSpec] {
        &self.bound.program.backends
    }

    /// The collectors of the Prometheus Listeners.
    pub fn collectors(&self) -> Vec<Arc<Mutex<CollectorSet>>> {
        self.bound.program.collectors.clone()
    }

    /// The target's metrics that the plan asks for.
    pub fn monitors(&self) -> Vec<MonitorSpec> {
        self.bound.program.monitors.clone()
    }

    /// The lines that the summarisers print.
    pub fn summary_lines(&self) -> SummaryLines {
        SummaryLines::of(&self.bound.program)
    }
}
