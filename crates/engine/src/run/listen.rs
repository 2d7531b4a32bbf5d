//! Hands samples to their listeners and result files.

use drumfire_results::Sample;

use crate::run::context::Context;
use crate::run::journey::{Journey, SampleTargets, ToldListener};
use crate::run::roles::Act;
use crate::run::view::View;

/// Passes the sample to its listeners and result files.
fn record(cx: &mut Context, result: &mut Sample, reach: &SampleTargets) {
    note_variables(cx, result);
    for ToldListener { before, listener } in &reach.told {
        cx.worker.recorder.borrow_mut().write(result, before);
        listener.at_once(View::of(cx), result);
        if result.ignore {
            return; // the listener's error has ended the user
        }
    }
    write(cx, result, reach);
}

/// Passes the sample to its listeners and result files, where the user can wait for a listener.
pub async fn record_waiting(cx: &mut Context, result: &mut Sample, reach: &SampleTargets) {
    note_variables(cx, result);
    for ToldListener { before, listener } in &reach.told {
        cx.worker.recorder.borrow_mut().write(result, before);
        if let Act::Wait(work) = listener.turn(View::of(cx), result) {
            work.await;
        }
        if result.ignore {
            return;
        }
    }
    write(cx, result, reach);
}

fn note_variables(cx: &Context, result: &mut Sample) {
    let names = &cx.shared.program.sample_variables;
    if !names.is_empty() {
        result.variables = names
            .iter()
            .map(|slot| cx.vars.get(*slot).cloned())
            .collect();
    }
}

fn write(cx: &Context, result: &mut Sample, reach: &SampleTargets) {
    let mut recorder = cx.worker.recorder.borrow_mut();
    if reach.is_heard {
        recorder.record(result, &reach.outputs);
    } else {
        recorder.write(result, &reach.outputs);
    }
}

/// Passes the sample of a transaction without parent sample to the listeners of the sampler that ran last
/// (`TransactionController#notifyListeners`).
pub fn notify_independent_transaction(journey: &Journey, cx: &mut Context, mut sample: Sample) {
    if cx.branch.as_ref().is_some_and(|branch| branch.collects()) {
        return; // TestCompilerParallel#configureSampler removes the listeners
    }
    let Some(last) = cx.sampler else {
        tracing::warn!("Could not fetch SamplePackage");
        return;
    };
    record(cx, &mut sample, &journey.samplers[last as usize].reach);
}
