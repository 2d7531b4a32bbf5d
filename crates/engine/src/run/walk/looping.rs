//! Controllers that repeat their children: Loop, While, ForEach, Runtime.

use super::{ControllerId, ControllerKind, Extra, Flow, ForEach, Walker};
use crate::base::number;
use crate::run::context::Context;

impl Walker<'_> {
    pub(super) fn pass_loop(&mut self, id: ControllerId, forever: bool) -> Flow {
        if !self.end_of_loop(id) {
            return self.generic(id);
        }
        if !forever {
            self.set_done(id);
        }
        self.state(id).break_loop = false;
        Flow::Give(None)
    }

    pub(super) fn pass_while(&mut self, id: ControllerId) -> Flow {
        if !self.state(id).first || !self.end_of_while(id, false) {
            return self.generic(id);
        }
        self.state(id).break_loop = false;
        self.state(id).count = 0;
        Flow::Give(None)
    }

    pub(super) fn pass_for_each(&mut self, id: ControllerId, each: &ForEach) -> Flow {
        if !self.state(id).break_loop && self.has_input(id, each) {
            return self.generic(id);
        }
        self.state(id).break_loop = false;
        self.reinitialize(id);
        self.reset_loop_count(id);
        Flow::Give(None)
    }

    pub(super) fn end_of_loop(&mut self, id: ControllerId) -> bool {
        let loops = self.loops(id);
        let state = self.state(id);
        state.break_loop || (loops > -1 && state.count >= loops)
    }

    /// The number of loops (`LoopController#getLoops`): cached while the loop runs, but evaluated again if 0 or infinite.
    pub(super) fn loops(&mut self, id: ControllerId) -> i32 {
        match self.state(id).loops {
            Some(loops) if loops != 0 && loops != -1 => loops,
            _ => {
                let ControllerKind::Loop { loops, .. } =
                    &self.journey.controllers[id as usize].kind
                else {
                    return 0;
                };
                let loops = number::int(&loops.eval(self.cx));
                self.state(id).loops = Some(loops);
                loops
            }
        }
    }

    pub(super) fn end_of_while(&mut self, id: ControllerId, loop_end: bool) -> bool {
        if self.state(id).break_loop {
            return true;
        }
        let ControllerKind::While { condition } = &self.journey.controllers[id as usize].kind
        else {
            return true;
        };
        let text = condition.eval(self.cx);
        let condition = text.trim();
        if (loop_end && condition.is_empty()) || condition.eq_ignore_ascii_case("LAST") {
            return !self.cx.last_sample_ok;
        }
        condition.eq_ignore_ascii_case("false")
    }

    fn input_name(&mut self, id: ControllerId, each: &ForEach) -> String {
        each.input.repeat(self.cx, 1); // ForeachController asks for its length first
        self.next_name(id, each)
    }

    fn next_name(&mut self, id: ControllerId, each: &ForEach) -> String {
        let mut name = String::new();
        each.input.eval_into(self.cx, &mut name);
        name.push_str(each.separator);
        let mut digits = itoa::Buffer::new();
        name.push_str(digits.format(self.state(id).count + 1));
        name
    }

    pub(super) fn has_input(&mut self, id: ControllerId, each: &ForEach) -> bool {
        let name = self.input_name(id, each);
        self.cx.vars.get_named(&name).is_some()
    }

    /// `ForeachController#endOfArguments`.
    pub(super) fn has_next_input(&mut self, id: ControllerId, each: &ForEach) -> bool {
        let name = self.next_name(id, each);
        self.cx.vars.get_named(&name).is_some()
    }

    /// Whether the loop is done (`ForeachController#isDone`). This also stores the current value in the output variable.
    pub(super) fn for_each_is_done(&mut self, id: ControllerId, each: &ForEach) -> bool {
        if self.state(id).count >= end_index(each, self.cx) {
            return true;
        }
        let name = self.input_name(id, each);
        let Some(value) = self.cx.vars.get_named(&name).cloned() else {
            return self.state(id).done;
        };
        let output = each.output.eval(self.cx).into_string();
        self.cx.vars.set_named(&output, value);
        false
    }

    pub(super) fn pass_runtime(&mut self, id: ControllerId) -> Flow {
        let now_ns = self.cx.clock().now_ns();
        if let Extra::Runtime { started_ns } = &mut self.state(id).extra
            && *started_ns == 0
        {
            *started_ns = now_ns;
        }
        if self.runtime_over(id) {
            self.reinitialize(id);
            self.reset_loop_count(id);
            return Flow::Give(None);
        }
        self.generic(id)
    }

    pub(super) fn runtime_over(&mut self, id: ControllerId) -> bool {
        let ControllerKind::Runtime { seconds } = &self.journey.controllers[id as usize].kind
        else {
            return true;
        };
        let seconds = number::long(&seconds.eval(self.cx));
        let now_ns = self.cx.clock().now_ns();
        match self.state(id).extra {
            Extra::Runtime { started_ns } => {
                (now_ns.saturating_sub(started_ns) / 1_000_000_000) as i64 >= seconds
            }
            _ => true,
        }
    }
}

pub(super) fn start_index(each: &ForEach, cx: &mut Context) -> i32 {
    each.start
        .as_ref()
        .map_or(0, |index| number::int(&index.eval(cx)))
}

pub(super) fn end_index(each: &ForEach, cx: &mut Context) -> i32 {
    each.end
        .as_ref()
        .map_or(i32::MAX, |index| number::int(&index.eval(cx)))
}
