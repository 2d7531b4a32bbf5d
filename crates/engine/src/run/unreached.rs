//! Controllers that kept all users from the samplers in them.

use crate::run::controllers::{Controller, ControllerKind};
use crate::run::journey::BoundPlan;
use crate::run::program::GroupKind;

/// The most controllers to list.
const MOST: usize = 3;

/// Why no user reached a sampler, although users started: the outermost controllers that may skip what is in them.
pub fn why(plan: &BoundPlan) -> Option<String> {
    let mut reasons: Vec<String> = Vec::new();
    for (group, journey) in plan.program.groups.iter().zip(&plan.journeys) {
        if group.kind != GroupKind::Main {
            continue;
        }
        if group.loops == Some(0) {
            add(
                &mut reasons,
                format!("the thread group `{}` has no iteration", group.name),
            );
            continue;
        }
        for package in &journey.samplers {
            // The thread group's own loop is the last of them.
            let above = package.ancestors.iter().rev().skip(1);
            let mut above = above.map(|id| &journey.controllers[*id as usize]);
            if let Some(reason) = above.find_map(skipped) {
                add(&mut reasons, reason);
            }
        }
    }
    let more = reasons.len().saturating_sub(MOST);
    reasons.truncate(MOST);
    let more = match more {
        0 => String::new(),
        more => format!("; and {more} more controllers like these"),
    };
    (!reasons.is_empty()).then(|| format!("{}{more}", reasons.join("; ")))
}

fn add(reasons: &mut Vec<String>, reason: String) {
    if !reasons.contains(&reason) {
        reasons.push(reason);
    }
}

/// How the controller skipped what is in it; `None` for one that never does.
fn skipped(controller: &Controller) -> Option<String> {
    let name = controller.name.source();
    Some(match &controller.kind {
        ControllerKind::If { .. } => {
            format!("the condition of the If Controller `{name}` was false")
        }
        ControllerKind::While { .. } => {
            format!("the condition of the While Controller `{name}` was false")
        }
        ControllerKind::Loop { .. } => format!("the Loop Controller `{name}` has no iteration"),
        ControllerKind::ForEach(_) => format!("the ForEach Controller `{name}` found no variable"),
        ControllerKind::Switch { .. } => format!("the Switch Controller `{name}` chose nothing"),
        ControllerKind::Weighted(_) => {
            format!("the Weighted Switch Controller `{name}` chose nothing")
        }
        ControllerKind::Throughput(_) => {
            format!("the Throughput Controller `{name}` let no iteration in")
        }
        ControllerKind::Runtime { .. } => format!("the Runtime Controller `{name}` had no time"),
        ControllerKind::Driven(_) => format!("the controller `{name}` chose nothing"),
        ControllerKind::Simple
        | ControllerKind::OnceOnly
        | ControllerKind::Transaction { .. }
        | ControllerKind::Interleave { .. }
        | ControllerKind::RandomOrder
        | ControllerKind::Critical { .. }
        | ControllerKind::Parameterized(_)
        | ControllerKind::VirtualUser(_)
        | ControllerKind::OneIteration => return None,
    })
}
