//! Starts the workers of a run.

use std::sync::Arc;

use drumfire_platform::causes::cause;
use drumfire_results::{ResultWriter, SummariserSettings};

use super::LABEL_BYTES;
use super::start_error::MORE_THREADS;
use crate::run::journey::BoundPlan;
use crate::run::ledger::Ledger;
use crate::run::shared::Shared;
use crate::run::workers::{self, RecorderParts};

/// Starts a worker for each handover of the ledger, or fewer with a warning if the system refuses more threads.
pub(super) fn start_workers(
    shared: &Arc<Shared>,
    plan: &Arc<BoundPlan>,
    writer: &ResultWriter,
    ledger: &Ledger,
) -> std::io::Result<(Vec<workers::Handle>, Option<String>)> {
    let lookup = crate::base::properties::lookup(&shared.program.settings.properties);
    let settings = SummariserSettings::from_properties(&lookup);
    let label_bytes = lookup(LABEL_BYTES).and_then(|bytes| bytes.trim().parse().ok());
    let wanted = ledger.handovers().len();
    let (runtimes, mut refused) = workers::runtimes(wanted)?;
    let mut workers = Vec::with_capacity(wanted);
    for (index, (runtime, handover)) in runtimes.into_iter().zip(ledger.handovers()).enumerate() {
        let parts = RecorderParts {
            inlet: writer.inlet(),
            handover: handover.clone(),
            ignore_transactions: settings.ignore_transactions,
            label_bytes,
        };
        match workers::start(index, runtime, shared.clone(), plan.clone(), parts) {
            Ok(worker) => workers.push(worker),
            Err(error) if workers.is_empty() => return Err(error),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let count = workers.len();
    workers.iter().for_each(|worker| worker.begin(count));
    let warning = refused.map(|error| {
        format!(
            "only {count} of {wanted} workers run, the system refused more: {}; {MORE_THREADS}",
            cause(&error)
        )
    });
    Ok((workers, warning))
}
