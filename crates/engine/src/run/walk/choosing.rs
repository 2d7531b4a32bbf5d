//! Controllers that choose among their children: Interleave and Random, Switch, Throughput.

use super::{
    Child, ControllerId, ControllerKind, Extra, Interleave, REMOVED_BY_JUMP, Throughput, Walker,
};

/// Values of `ThroughputController.style`.
const BY_NUMBER: i32 = 0;
const BY_PERCENT: i32 = 1;

impl Walker<'_> {
    pub(super) fn interleave(&mut self, id: ControllerId) -> Interleave {
        match self.state(id).extra {
            Extra::Interleave(interleave) => interleave,
            _ => Interleave::default(),
        }
    }

    /// Whether all children were asked and none had a step (`InterleaveControl#setCurrentElement`).
    pub(super) fn interleave_has_come_round(&mut self, id: ControllerId, child: Child) -> bool {
        let Extra::Interleave(interleave) = &mut self.state(id).extra else {
            return false;
        };
        match interleave.search_start {
            None => interleave.search_start = Some(child),
            Some(start) if start == child && interleave.moved => {
                self.reinitialize(id);
                return true;
            }
            Some(_) => {}
        }
        false
    }

    pub(super) fn interleave_took_from_controller(&mut self, id: ControllerId) {
        let ControllerKind::Interleave { whole_children, .. } =
            self.journey.controllers[id as usize].kind
        else {
            return;
        };
        if let Extra::Interleave(interleave) = &mut self.state(id).extra {
            interleave.returned_one = true;
            if whole_children {
                interleave.search_start = None;
                return;
            }
        }
        self.increment_current(id);
        if let Extra::Interleave(interleave) = &mut self.state(id).extra {
            interleave.skip_next = true;
        }
    }

    /// `SwitchController#getSelectionAsInt`: by number, else by name, else the child called "default".
    pub(super) fn switch_target(&mut self, id: ControllerId, value: &str) -> u32 {
        if value.is_empty() {
            return 0;
        }
        if value.chars().all(char::is_numeric)
            && let Ok(index) = value.parse::<i32>()
        {
            return if (index as usize) < self.child_count(id) {
                index as u32
            } else {
                0
            };
        }
        let mut target = REMOVED_BY_JUMP;
        for index in 0..self.child_count(id) {
            let name = match self.child(id, index) {
                Child::Sampler(sampler) => &self.journey.samplers[sampler as usize].name,
                Child::Controller(child) => &self.journey.controllers[child as usize].name,
            };
            let name = name.eval(self.cx);
            if &*name == value {
                return index as u32;
            }
            if name.eq_ignore_ascii_case("default") {
                target = index as u32;
            }
        }
        target
    }

    /// Decides whether the controller runs in this iteration (`ThroughputController#iterationStart`).
    pub(super) fn decide_throughput(&mut self, id: ControllerId, throughput: &Throughput) {
        let per_thread = throughput.per_thread.get(self.cx);
        let by_number = throughput.style.get(self.cx) == BY_NUMBER;
        let (max, share) = if by_number {
            (self.throughput_max(throughput, per_thread), 0.0)
        } else {
            (0, self.throughput_share(throughput))
        };
        let decide = |executions: i32, iterations: i32| {
            if by_number {
                executions < max
            } else {
                let executed = 100.0 * f64::from(executions) + 50.0;
                executed / f64::from(iterations + 1) < f64::from(share)
            }
        };
        let Extra::Throughput {
            executions,
            iteration,
            run,
        } = &mut self.state(id).extra
        else {
            return;
        };
        if per_thread {
            *iteration += 1;
            *run = decide(*executions, *iteration);
            *executions += i32::from(*run);
            return;
        }
        let mut shared = throughput
            .shared
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        shared.1 += 1;
        *run = decide(shared.0, shared.1);
        shared.0 += i32::from(*run);
    }

    /// `ThroughputController#isDone`.
    pub(super) fn throughput_is_done(&mut self, id: ControllerId, throughput: &Throughput) -> bool {
        if self.child_count(id) == 0 {
            return true;
        }
        let style = throughput.style.get(self.cx);
        if style != BY_NUMBER {
            throughput.style.repeat(self.cx, 1);
            return style == BY_PERCENT && self.throughput_share(throughput) == 0.0;
        }
        let per_thread = throughput.per_thread.get(self.cx);
        let max = self.throughput_max(throughput, per_thread);
        let executions = match self.state(id).extra {
            Extra::Throughput { executions, .. } if per_thread => executions,
            _ => {
                throughput
                    .shared
                    .lock()
                    .unwrap_or_else(|broken| broken.into_inner())
                    .0
            }
        };
        let at_end = self.state(id).current as usize >= self.child_count(id);
        if executions >= max && at_end {
            return true;
        }
        throughput.max.repeat(self.cx, 1);
        if max == 0 {
            return true;
        }
        throughput.style.repeat(self.cx, 1);
        false
    }

    /// The number of executions, or this machine's part of it if all users share it.
    fn throughput_max(&mut self, throughput: &Throughput, per_thread: bool) -> i32 {
        let max: i32 = throughput.max.eval(self.cx).parse().unwrap_or(1);
        match u32::try_from(max) {
            Ok(total) if !per_thread => self.cx.shared.part.slots().users_of(total) as i32,
            _ => max,
        }
    }

    fn throughput_share(&mut self, throughput: &Throughput) -> f32 {
        throughput
            .share
            .eval(self.cx)
            .trim()
            .parse()
            .unwrap_or(100.0)
    }
}
