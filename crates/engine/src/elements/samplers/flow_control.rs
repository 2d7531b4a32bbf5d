//! Flow Control Action (`TestAction`): pauses, stops users or the run, or changes the course of a loop. It makes no
//! sample.
//!
//! Properties: `ActionProcessor.action` (0 stop, 1 pause, 2 stop now, 3 next thread iteration, 4 next iteration of the
//! current loop, 5 break the current loop), `ActionProcessor.target` (0 this thread, 2 the test),
//! `ActionProcessor.duration` in milliseconds.

use drumfire_elements::samplers::flow_control_action as facts;
use drumfire_expr::Template;
use drumfire_java::values;

use crate::decode::Decoder;
use crate::decode::setting::WholeNumber;
use crate::run::action::Action;
use crate::run::context::Context;
use crate::run::java::visit::VisitedUser as _;
use crate::run::sampler::{Sampler, SamplerTurn};

const TARGET_THREAD: i32 = 0;
const TARGET_TEST: i32 = 2;

enum Deed {
    Pause,
    Stop {
        now: bool,
    },
    Go(Action),
    /// An action number JMeter does not know either.
    Nothing,
}

pub struct FlowControlAction {
    action: WholeNumber,
    target: WholeNumber,
    duration: Template,
}

pub fn decode(d: &mut Decoder) -> FlowControlAction {
    FlowControlAction {
        action: WholeNumber::decode(d, facts::ACTION.name, 0),
        target: WholeNumber::decode(d, facts::TARGET.name, 0),
        duration: d.template(facts::DURATION.name),
    }
}

impl Deed {
    fn of(action: i32) -> Deed {
        match action {
            0 => Deed::Stop { now: false },
            1 => Deed::Pause,
            2 => Deed::Stop { now: true },
            3 => Deed::Go(Action::NextThreadIteration),
            4 => Deed::Go(Action::NextLoopIteration),
            5 => Deed::Go(Action::BreakLoop),
            _ => Deed::Nothing,
        }
    }
}

impl Sampler for FlowControlAction {
    fn turn<'a>(&'a self, cx: &'a mut Context, _: &'a Template) -> SamplerTurn<'a> {
        let target = self.target.get(cx);
        match Deed::of(self.action.get(cx)) {
            Deed::Pause => {
                let pause_ms = self.pause_ms(cx);
                return SamplerTurn::Pause(cx.sleep_ms(pause_ms));
            }
            Deed::Stop { .. } if target == TARGET_THREAD => {
                cx.end_with_parent();
            }
            Deed::Stop { now } if target == TARGET_TEST => {
                cx.end();
                cx.shared.stop(now);
            }
            Deed::Go(action) => cx.set_action(action),
            Deed::Stop { .. } | Deed::Nothing => {}
        }
        SamplerTurn::Done(None)
    }
}

impl FlowControlAction {
    /// The pause never outlasts the thread group's schedule (`TimerService#adjustDelay`).
    fn pause_ms(&self, cx: &mut Context) -> i64 {
        let text = self.duration.eval(cx);
        let Some(mut pause_ms) = values::parse_long(&text) else {
            tracing::warn!("Could not parse number: '{}'", &*text);
            return 0;
        };
        if let Some(end_ms) = cx.end_ms {
            pause_ms = pause_ms.min(end_ms - cx.clock().now_ms());
        }
        pause_ms
    }
}
