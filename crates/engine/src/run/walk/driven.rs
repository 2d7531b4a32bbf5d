//! Controllers that are driven from outside of the walk. A Java object of a class that the engine does not know decides what
//! comes next, and asks the walk for the children's steps.

use super::{Flow, Walk, Walker};
use crate::run::context::Context;
use crate::run::controllers::{ControllerKind, Hook, JavaController};
use crate::run::java::plan::{Ask, NOTHING};
use crate::run::java::visit::{ControllerChildren, VisitedUser};
use crate::run::journey::Journey;
use crate::run::step::{Child, ControllerId, Step};
use crate::run::view::View;

/// The walk below a controller.
struct WalkBelow<'a> {
    journey: &'a Journey,
    walk: &'a mut Walk,
    id: ControllerId,
}

impl WalkBelow<'_> {
    fn children_of(&self) -> &[Child] {
        &self.journey.controllers[self.id as usize].children
    }

    fn walker<'b>(&'b mut self, user: &'b mut dyn VisitedUser) -> Option<Walker<'b>> {
        Some(Walker {
            journey: self.journey,
            cx: user.as_any().downcast_mut::<Context>()?,
            walk: self.walk,
        })
    }
}

impl ControllerChildren for WalkBelow<'_> {
    fn children(&mut self, user: &mut dyn VisitedUser) -> Vec<(Option<i32>, String)> {
        let Some(cx) = user.as_any().downcast_mut::<Context>() else {
            return Vec::new();
        };
        let name = |child: &Child| match child {
            Child::Sampler(sampler) => {
                let package = &self.journey.samplers[*sampler as usize];
                let step = Step::Sampler(*sampler).code();
                (Some(step), package.name.eval(cx).into_string())
            }
            Child::Controller(controller) => {
                let controller = &self.journey.controllers[*controller as usize];
                (None, controller.name.eval(cx).into_string())
            }
        };
        self.children_of().iter().map(name).collect()
    }

    fn ask(&mut self, user: &mut dyn VisitedUser, place: usize, ask: Ask) -> i32 {
        let Some(Child::Controller(child)) = self.children_of().get(place).copied() else {
            return NOTHING;
        };
        let Some(mut walker) = self.walker(user) else {
            return NOTHING;
        };
        match ask {
            Ask::Next => return walker.next(child).map(Step::code).unwrap_or(NOTHING),
            Ask::IsDone => return walker.is_done(child).into(),
            Ask::Initialize => walker.initialize(child),
            Ask::EndOfLoop => walker.trigger_end_of_loop(child),
            Ask::StartNextLoop => walker.start_next_loop(child),
            Ask::BreakLoop => walker.break_loop(child),
            Ask::Iteration { .. } => {}
        }
        0
    }

    fn tell(&mut self, user: &mut dyn VisitedUser, count: i32, of_loop: bool) {
        let controller = &self.journey.controllers[self.id as usize];
        let Some(mut walker) = self.walker(user) else {
            return;
        };
        for hook in &controller.listeners {
            match hook {
                Hook::Controller(child) => walker.iteration_started_above(*child, count, of_loop),
                Hook::Element(element) => element.iteration_start(View::of(walker.cx), count),
                Hook::Rows(_) => tracing::error!(
                    "a data set that users must wait for is below a controller of a Java class, where it gives no rows"
                ),
                Hook::Thread => walker.start_thread_iteration(),
            }
        }
    }
}

impl Walker<'_> {
    /// The controller's driver; `None` if it is not such a controller.
    pub(super) fn driven(&self, id: ControllerId) -> Option<&JavaController> {
        match &self.journey.controllers[id as usize].kind {
            ControllerKind::Driven(driven) => Some(driven),
            _ => None,
        }
    }

    /// Asks a controller that is driven from outside, and returns its answer.
    pub(super) fn drive(&mut self, id: ControllerId, ask: Ask) -> i32 {
        let journey = self.journey;
        let ControllerKind::Driven(driven) = &journey.controllers[id as usize].kind else {
            return NOTHING;
        };
        let mut below = WalkBelow {
            journey,
            walk: self.walk,
            id,
        };
        driven.driver.ask(self.cx, &mut below, ask)
    }

    pub(super) fn pass_driven(&mut self, id: ControllerId) -> Flow {
        Flow::Give(Step::of_code(self.drive(id, Ask::Next)))
    }
}
