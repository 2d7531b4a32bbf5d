//! Parallel Controller of BlazeMeter (`com.blazemeter.jmeter.controller.ParallelSampler`): runs all its children at once, once
//! each, and ends when the last of them has ended.
//!
//! Properties: `PARENT_SAMPLE` (one sample contains those of the children, which have no rows of their own),
//! `LIMIT_MAX_THREAD_NUMBER` and `MAX_THREAD_NUMBER` (how many children run at once). A separate user runs each child. It shares
//! variables, connections and cookies with the user that it belongs to. As in the plugin: elements that are themselves children
//! are not notified of iterations, controllers below begin anew each time, the thread group's action after a failed sample and
//! its duration do not apply to children, and one Parallel Controller within another does not run.
//!
//! Differences: a child sees other children's changes to variables when its next sampler begins, not within one; objects that
//! scripts put into variables are not shared; the thread's name follows the variables in the controller's name.

use drumfire_elements::controllers::parallel_controller;
use drumfire_expr::Template;

use crate::decode::Decoder;
use crate::run::controllers::ControllerKind;
use crate::run::journey::Parallel;
use crate::run::step::ControllerId;

pub const CLASS: &str = parallel_controller::CLASS;

/// The controller around each child.
pub fn branch_kind() -> ControllerKind {
    ControllerKind::Loop {
        loops: Template::raw("1"),
        forever: false,
    }
}

pub fn decode(d: &mut Decoder, branches: Vec<ControllerId>) -> Parallel {
    let limit = if d.bool(parallel_controller::LIMITS.name, false) {
        usize::try_from(d.int(parallel_controller::LIMIT.name, 6)).unwrap_or(1)
    } else {
        branches.len()
    };
    Parallel {
        branches,
        generates_parent: d.bool(parallel_controller::PARENT_SAMPLE.name, false),
        limit: limit.max(1),
    }
}
