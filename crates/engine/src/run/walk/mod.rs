//! Stop 5, **walk**: controllers and one user's state give the next step. The walk never waits; conditions may run functions.
//!
//! The rules are those of `GenericController` and its subclasses. JMeter recurses each time a child has no step to give.
//! Here the same passes are a loop. Where JMeter's stack overflows because no controller finds a sampler, which ends the
//! thread, the walk yields [`Step::Overflow`] after [`MAX_SPINS`] passes.

mod choosing;
pub mod condition;
mod critical_section;
mod driven;
mod looping;
mod transactions;
mod virtual_user;
mod weighted_switch;

use drumfire_expr::Scope;
use looping::{end_index, start_index};
use weighted_switch::SwitchWeights;

use crate::run::context::Context;
use crate::run::controllers::{ControllerKind, ForEach, Hook, Throughput, VirtualUser};
use crate::run::java::plan::{Ask, JavaEvent};
use crate::run::journey::Journey;
use crate::run::named_locks::Held;
use crate::run::roles::PreProcessorRole;
use crate::run::step::{Child, ControllerId, Step};
use crate::run::transaction::{IndependentTransaction, ParentTransaction};
use crate::run::view::View;

/// The stack of JMeter 5.6.3 overflows after 4,000 to 16,000 passes, depending on the controllers.
const MAX_SPINS: u32 = 10_000;
const REMOVED_BY_JUMP: u32 = u32::MAX;

/// One user's state of one controller; fields as in `GenericController`.
#[derive(Default)]
pub struct ControllerState {
    current: u32,
    /// `iterCount` or `loopCount`, whichever the class has.
    count: i32,
    loops: Option<i32>,
    done: bool,
    first: bool,
    break_loop: bool,
    /// The current pass was suspended for a step that is no sampler, and resumes where it was.
    paused: bool,
    /// How many of the controller's listeners were notified of the iteration that starts.
    told: u16,
    /// This user's children, once they differ from the plan's.
    children: Option<Vec<Child>>,
    pub extra: Extra,
}

#[derive(Default)]
pub enum Extra {
    #[default]
    None,
    Independent(Box<IndependentTransaction>),
    Parent(Box<ParentTransaction>),
    /// A parent transaction that was ended from outside, until the engine has taken its result.
    Ended(Box<ParentTransaction>),
    Interleave(Interleave),
    Throughput {
        executions: i32,
        iteration: i32,
        run: bool,
    },
    Runtime {
        started_ns: u64,
    },
    Critical(Option<Held>),
    Weighted(Box<SwitchWeights>),
    /// Whether the iteration at hand has begun.
    VirtualUser {
        arrived: bool,
    },
}

#[derive(Clone, Copy, Default)]
pub struct Interleave {
    skip_next: bool,
    search_start: Option<Child>,
    returned_one: bool,
    moved: bool,
}

/// One user's position in its thread group.
pub struct Walk {
    pub states: Box<[ControllerState]>,
    /// Transactions without parent sample that have begun and not ended.
    pub open_transactions: Vec<ControllerId>,
    spins: u32,
}

enum Flow {
    Give(Option<Step>),
    Again,
}

impl Walk {
    pub fn new(journey: &Journey) -> Walk {
        let states = journey
            .controllers
            .iter()
            .map(|controller| ControllerState {
                extra: Extra::of(&controller.kind),
                ..ControllerState::default()
            })
            .collect();
        Walk {
            states,
            open_transactions: Vec::new(),
            spins: 0,
        }
    }

    /// The data source that the user has to wait for ([`Step::Tell`]).
    pub fn told_now<'j>(
        &self,
        journey: &'j Journey,
        id: ControllerId,
    ) -> Option<&'j dyn PreProcessorRole> {
        let told = usize::from(self.states[id as usize].told);
        match journey.controllers[id as usize]
            .listeners
            .get(told.checked_sub(1)?)?
        {
            Hook::Rows(source) => Some(&**source),
            Hook::Thread | Hook::Controller(_) | Hook::Element(_) => None,
        }
    }

    /// The parent transaction run of `id`, while one is open.
    pub fn parent_transaction(&mut self, id: ControllerId) -> Option<&mut ParentTransaction> {
        match &mut self.states[id as usize].extra {
            Extra::Parent(run) | Extra::Ended(run) => Some(run),
            _ => None,
        }
    }

    /// Drops the runs of transactions that were ended from outside.
    pub fn forget_ended(&mut self) {
        for state in &mut self.states {
            if matches!(state.extra, Extra::Ended(_)) {
                state.extra = Extra::None;
            }
        }
    }
}

impl ControllerState {
    /// The open transaction of a Transaction Controller without parent sample.
    pub fn independent(&mut self) -> Option<&mut IndependentTransaction> {
        match &mut self.extra {
            Extra::Independent(run) => Some(run),
            _ => None,
        }
    }
}

impl Extra {
    fn of(kind: &ControllerKind) -> Extra {
        match kind {
            ControllerKind::Interleave { .. } => Extra::Interleave(Interleave::default()),
            ControllerKind::Throughput(_) => Extra::Throughput {
                executions: 0,
                iteration: -1,
                run: false,
            },
            ControllerKind::Runtime { .. } => Extra::Runtime { started_ns: 0 },
            ControllerKind::Critical { .. } => Extra::Critical(None),
            ControllerKind::VirtualUser(_) => Extra::VirtualUser { arrived: false },
            ControllerKind::Weighted(_) => Extra::Weighted(Box::default()),
            _ => Extra::None,
        }
    }
}

/// The walk of one user through its group, with what controllers may read and change.
pub struct Walker<'a> {
    pub journey: &'a Journey,
    pub cx: &'a mut Context,
    pub walk: &'a mut Walk,
}

impl Walker<'_> {
    /// `GenericController#initialize` of a controller and of everything below it.
    pub fn initialize(&mut self, id: ControllerId) {
        self.reset_current(id);
        let state = self.state(id);
        state.count = 0;
        state.done = false;
        state.first = true;
        state.paused = false;
        state.told = 0;
        if self.driven(id).is_some() {
            self.drive(id, Ask::Initialize);
            return;
        }
        self.initialize_children(id);
        match &self.journey.controllers[id as usize].kind {
            ControllerKind::ForEach(each) => self.state(id).count = start_index(each, self.cx),
            ControllerKind::RandomOrder => self.shuffle(id),
            ControllerKind::Interleave {
                across_threads: true,
                ..
            } => {
                let size = self.child_count(id).max(1) as u32;
                self.state(id).current = self.cx.thread_number() % size;
            }
            _ => {}
        }
    }

    fn initialize_children(&mut self, id: ControllerId) {
        for index in 0..self.child_count(id) {
            if let Child::Controller(child) = self.child(id, index) {
                self.initialize(child);
            }
        }
    }

    /// The next step of the controller, or `None` when this pass over it has ended.
    pub fn next(&mut self, id: ControllerId) -> Option<Step> {
        let mut passes = 0;
        let step = loop {
            self.write_index(id);
            passes += 1;
            self.walk.spins += 1;
            if self.walk.spins > MAX_SPINS {
                self.walk.spins = 0;
                break Some(Step::Overflow);
            }
            match self.pass(id) {
                Flow::Give(step) => break step,
                Flow::Again => {}
            }
        };
        if matches!(step, Some(Step::Sampler(_) | Step::Transaction(_))) {
            self.walk.spins = 0;
        }
        self.write_index(id);
        self.repeat_name(id, passes - 1);
        step
    }

    fn pass(&mut self, id: ControllerId) -> Flow {
        let resumes = std::mem::take(&mut self.state(id).paused);
        match &self.journey.controllers[id as usize].kind {
            ControllerKind::Weighted(weights) => self.pass_weighted(id, weights, resumes),
            ControllerKind::Driven(_) => self.pass_driven(id),
            kind if resumes && !matches!(kind, ControllerKind::Transaction { .. }) => {
                self.generic(id)
            }
            ControllerKind::Loop { forever, .. } => self.pass_loop(id, *forever),
            ControllerKind::While { .. } => self.pass_while(id),
            ControllerKind::If {
                condition,
                every_child,
                is_expression,
            } => {
                let asked = every_child.get(self.cx) || self.state(id).first;
                let name = &self.journey.controllers[id as usize].name;
                let holds = !asked || {
                    let is_script = !is_expression.get(self.cx);
                    condition::if_holds(self.cx, name, condition, is_script)
                };
                if holds {
                    return self.generic(id);
                }
                self.initialize_children(id);
                self.reinitialize(id);
                Flow::Give(None)
            }
            ControllerKind::Transaction { parent: true, .. } => {
                Flow::Give(self.next_with_parent(id))
            }
            ControllerKind::Transaction { parent: false, .. } => self.pass_without_parent(id),
            ControllerKind::ForEach(each) => self.pass_for_each(id, each),
            ControllerKind::Interleave { .. } => {
                if self.interleave(id).skip_next {
                    self.reinitialize(id);
                    return Flow::Give(None);
                }
                self.generic(id)
            }
            ControllerKind::Switch { value } => {
                if self.state(id).first {
                    let value = value.eval(self.cx).trim().to_owned();
                    self.state(id).current = self.switch_target(id, &value);
                }
                self.generic(id)
            }
            ControllerKind::Throughput(_) => match self.state(id).extra {
                Extra::Throughput { run: true, .. } => self.generic(id),
                _ => Flow::Give(None),
            },
            ControllerKind::Runtime { .. } => self.pass_runtime(id),
            ControllerKind::Critical { lock } => self.pass_critical(id, lock),
            ControllerKind::Parameterized(assignments) => {
                assignments.apply(self.cx);
                self.generic(id)
            }
            ControllerKind::VirtualUser(user) => {
                self.begin_virtual_user(id, user);
                self.generic(id)
            }
            ControllerKind::Simple
            | ControllerKind::OnceOnly
            | ControllerKind::RandomOrder
            | ControllerKind::OneIteration => self.generic(id),
        }
    }

    /// One pass of `GenericController#next`.
    fn generic(&mut self, id: ControllerId) -> Flow {
        if let Some(step) = self.fire_iteration_events(id) {
            self.state(id).paused = true;
            return Flow::Give(Some(step));
        }
        if self.is_done(id) {
            return Flow::Give(None);
        }
        let current = self.state(id).current as usize;
        if current >= self.child_count(id) {
            if self.child_count(id) == 0 {
                self.set_done(id);
                return Flow::Give(None);
            }
            return self.next_is_null(id);
        }
        let child = self.child(id, current);
        if self.interleave_has_come_round(id, child) {
            return Flow::Give(None);
        }
        match child {
            Child::Sampler(sampler) => {
                if let Extra::Interleave(interleave) = &mut self.state(id).extra {
                    interleave.skip_next = true;
                }
                self.increment_current(id);
                Flow::Give(Some(Step::Sampler(sampler)))
            }
            Child::Controller(child) => match self.next(child) {
                None => {
                    self.current_returned_null(id, child);
                    Flow::Again
                }
                Some(step) if step.is_pause() => {
                    self.state(id).paused = true;
                    Flow::Give(Some(step))
                }
                Some(step) => {
                    self.interleave_took_from_controller(id);
                    Flow::Give(Some(step))
                }
            },
        }
    }

    /// `nextIsNull`: the controller has come to its end.
    fn next_is_null(&mut self, id: ControllerId) -> Flow {
        match &self.journey.controllers[id as usize].kind {
            ControllerKind::Loop { forever, .. } => {
                self.reinitialize(id);
                if !self.end_of_loop(id) {
                    return Flow::Again;
                }
                if *forever {
                    self.reset_loop_count(id);
                } else {
                    self.set_done(id);
                }
            }
            ControllerKind::While { .. } => {
                self.reinitialize(id);
                if !self.end_of_while(id, true) {
                    return Flow::Again;
                }
                self.state(id).break_loop = false;
                self.state(id).count = 0;
            }
            ControllerKind::ForEach(each) => {
                self.reinitialize(id);
                let over = self.state(id).break_loop
                    || !self.has_next_input(id, each)
                    || self.state(id).count >= end_index(each, self.cx);
                if !over {
                    return Flow::Again;
                }
                self.state(id).break_loop = false;
                self.reset_loop_count(id);
            }
            ControllerKind::Interleave { .. } => {
                self.reset_current(id);
                return Flow::Again;
            }
            ControllerKind::Runtime { .. } => {
                self.reinitialize(id);
                if !self.runtime_over(id) {
                    return Flow::Again;
                }
                self.reset_loop_count(id);
            }
            ControllerKind::VirtualUser(user) => return self.end_virtual_user(id, user),
            ControllerKind::OneIteration => {
                self.reinitialize(id);
                self.set_done(id);
            }
            ControllerKind::OnceOnly => {}
            _ => self.reinitialize(id),
        }
        Flow::Give(None)
    }

    fn reinitialize(&mut self, id: ControllerId) {
        self.state(id).first = true;
        if let Extra::VirtualUser { arrived } = &mut self.state(id).extra {
            *arrived = false; // its iterations are counted when they begin
        } else {
            self.state(id).count += 1;
        }
        if let Extra::Critical(held) = &mut self.state(id).extra {
            *held = None;
        }
        if let Extra::Interleave(interleave) = &mut self.state(id).extra {
            *interleave = Interleave::default();
            return; // InterleaveControl keeps its place
        }
        self.reset_current(id);
        if matches!(
            self.journey.controllers[id as usize].kind,
            ControllerKind::RandomOrder
        ) {
            self.shuffle(id);
        }
    }

    fn is_done(&mut self, id: ControllerId) -> bool {
        match &self.journey.controllers[id as usize].kind {
            ControllerKind::If { .. } => false,
            ControllerKind::Driven(_) => self.drive(id, Ask::IsDone) == 1,
            ControllerKind::ForEach(each) => self.for_each_is_done(id, each),
            ControllerKind::Throughput(throughput) => self.throughput_is_done(id, throughput),
            ControllerKind::Runtime { seconds } => {
                let runs = crate::base::number::long(&seconds.eval(self.cx)) > 0
                    && self.child_count(id) > 0;
                !runs || self.state(id).done
            }
            _ => self.state(id).done,
        }
    }

    /// Whether the thread group's controller is done for good.
    pub fn root_is_done(&mut self) -> bool {
        self.is_done(0)
    }

    /// Whether a break has left the thread group's controller, which notices that when it is asked next.
    pub fn is_root_left(&self) -> bool {
        self.walk.states[0].break_loop
    }

    fn set_done(&mut self, id: ControllerId) {
        let is_loop = matches!(
            self.journey.controllers[id as usize].kind,
            ControllerKind::Loop { .. }
        );
        let state = self.state(id);
        if is_loop {
            state.loops = None;
        }
        if is_loop || matches!(state.extra, Extra::VirtualUser { .. }) {
            state.break_loop = false;
        }
        state.done = true;
    }

    fn current_returned_null(&mut self, id: ControllerId, child: ControllerId) {
        if self.is_done(child) {
            self.remove_current(id);
            return;
        }
        match self.journey.controllers[id as usize].kind {
            ControllerKind::Interleave {
                whole_children: false,
                ..
            } => {}
            _ => self.increment_current(id),
        }
    }

    fn increment_current(&mut self, id: ControllerId) {
        match self.journey.controllers[id as usize].kind {
            ControllerKind::Switch { .. } => self.state(id).current = REMOVED_BY_JUMP,
            ControllerKind::Interleave { random, .. } => {
                let state = self.state(id);
                state.current += 1;
                if let Extra::Interleave(interleave) = &mut state.extra {
                    interleave.skip_next |= interleave.returned_one;
                    interleave.moved = true;
                }
                if random {
                    self.reset_current(id);
                }
            }
            _ => self.state(id).current += 1,
        }
    }

    fn reset_current(&mut self, id: ControllerId) {
        self.state(id).current = match self.journey.controllers[id as usize].kind {
            ControllerKind::Interleave { random: true, .. } if self.child_count(id) > 0 => {
                let size = self.child_count(id);
                self.cx.random().index(size) as u32
            }
            _ => 0,
        };
    }

    fn remove_current(&mut self, id: ControllerId) {
        let planned = &self.journey.controllers[id as usize].children;
        let state = &mut self.walk.states[id as usize];
        let children = state.children.get_or_insert_with(|| planned.to_vec());
        children.remove(state.current as usize);
    }

    fn shuffle(&mut self, id: ControllerId) {
        let planned = &self.journey.controllers[id as usize].children;
        let state = &mut self.walk.states[id as usize];
        let children = state.children.get_or_insert_with(|| planned.to_vec());
        for last in (1..children.len()).rev() {
            children.swap(last, self.cx.random().index(last + 1));
        }
    }

    fn state(&mut self, id: ControllerId) -> &mut ControllerState {
        &mut self.walk.states[id as usize]
    }

    fn child_count(&self, id: ControllerId) -> usize {
        match &self.walk.states[id as usize].children {
            Some(children) => children.len(),
            None => self.journey.controllers[id as usize].children.len(),
        }
    }

    fn child(&self, id: ControllerId, index: usize) -> Child {
        match &self.walk.states[id as usize].children {
            Some(children) => children[index],
            None => self.journey.controllers[id as usize].children[index],
        }
    }
}

// Iterations and jumps.
impl Walker<'_> {
    /// Notifies the listeners that an iteration starts. Returns a step if the user has to wait for one of them.
    fn fire_iteration_events(&mut self, id: ControllerId) -> Option<Step> {
        if !self.state(id).first {
            return None;
        }
        let iteration = self.iteration_count(id);
        let controller = &self.journey.controllers[id as usize];
        let told = std::mem::take(&mut self.state(id).told);
        for (index, hook) in controller.listeners.iter().enumerate().skip(told.into()) {
            match hook {
                Hook::Thread => self.start_thread_iteration(),
                Hook::Controller(child) => {
                    let of_loop = matches!(controller.kind, ControllerKind::Loop { .. });
                    self.iteration_started_above(*child, iteration, of_loop);
                }
                Hook::Rows(_) => {
                    self.state(id).told = index as u16 + 1;
                    return Some(Step::Tell(id));
                }
                Hook::Element(element) => element.iteration_start(View::of(self.cx), iteration),
            }
        }
        self.state(id).first = false;
        None
    }

    /// `JMeterThread#notifyTestListeners`: a new iteration of the thread group.
    pub(super) fn start_thread_iteration(&mut self) {
        let cx = &mut *self.cx;
        cx.facts.iteration += 1;
        let (same_user, resets) = (cx.same_user, cx.shared.reset_state);
        if let Some(slot) = cx.opened_slot() {
            slot.begin_iteration(same_user, resets);
        }
        for listener in &self.journey.iteration_listeners {
            listener.thread_iteration_start(cx);
        }
        cx.tell_java(&self.journey.java, JavaEvent::ThreadIteration(cx.iteration));
    }

    fn iteration_count(&mut self, id: ControllerId) -> i32 {
        let count = self.state(id).count;
        match self.journey.controllers[id as usize].kind {
            ControllerKind::Loop { .. }
            | ControllerKind::ForEach(_)
            | ControllerKind::Runtime { .. } => count + 1,
            _ => count,
        }
    }

    /// `LoopIterationListener#iterationStart` of a controller: its nearest controller above starts an iteration.
    fn iteration_started_above(&mut self, id: ControllerId, iteration: i32, of_loop: bool) {
        match &self.journey.controllers[id as usize].kind {
            ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach(_) => {
                self.reinitialize(id);
                self.reset_loop_count(id);
            }
            ControllerKind::OnceOnly if iteration == i32::from(of_loop) => self.reinitialize(id),
            ControllerKind::Throughput(throughput) => self.decide_throughput(id, throughput),
            ControllerKind::Driven(_) => {
                let count = iteration;
                self.drive(id, Ask::Iteration { count, of_loop });
            }
            _ => {}
        }
    }

    fn reset_loop_count(&mut self, id: ControllerId) {
        let count = match &self.journey.controllers[id as usize].kind {
            ControllerKind::ForEach(each) => start_index(each, self.cx),
            _ => 0,
        };
        let state = self.state(id);
        state.count = count;
        state.loops = None;
        if let Extra::Runtime { started_ns } = &mut state.extra {
            *started_ns = 0;
        }
    }

    /// `triggerEndOfLoop`: the flow leaves this controller before its end.
    pub fn trigger_end_of_loop(&mut self, id: ControllerId) {
        match self.journey.controllers[id as usize].kind {
            ControllerKind::Transaction { parent: false, .. } => {
                self.end_independent(id, true);
                self.reinitialize(id);
            }
            ControllerKind::Transaction { parent: true, .. } => {
                self.end_parent(id);
                self.reinitialize(id);
            }
            ControllerKind::If { .. } => {
                self.initialize_children(id);
                self.reinitialize(id);
            }
            ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach(_)
            | ControllerKind::Runtime { .. } => {
                self.reinitialize(id);
                self.reset_loop_count(id);
            }
            ControllerKind::Driven(_) => {
                self.drive(id, Ask::EndOfLoop);
            }
            _ => self.reinitialize(id),
        }
    }

    /// `IteratingController#startNextLoop`.
    pub fn start_next_loop(&mut self, id: ControllerId) {
        if self.driven(id).is_some() {
            self.drive(id, Ask::StartNextLoop);
        } else if !matches!(
            self.journey.controllers[id as usize].kind,
            ControllerKind::OneIteration
        ) {
            self.reinitialize(id);
        }
    }

    /// `IteratingController#breakLoop`.
    pub fn break_loop(&mut self, id: ControllerId) {
        if self.driven(id).is_some() {
            self.drive(id, Ask::BreakLoop);
            return;
        }
        self.state(id).break_loop = true;
        self.state(id).first = true;
        self.reset_current(id);
        self.reset_loop_count(id);
    }

    /// Whether `id` is an `IteratingController` below the thread group (Loop, While, ForEach).
    pub fn is_iterating(&self, id: ControllerId) -> bool {
        if let Some(driven) = self.driven(id) {
            return driven.iterates;
        }
        matches!(
            self.journey.controllers[id as usize].kind,
            ControllerKind::Loop { .. }
                | ControllerKind::While { .. }
                | ControllerKind::ForEach(_)
                | ControllerKind::VirtualUser(_)
        )
    }

    /// `updateIterationIndex`, at the beginning and the end of each pass.
    fn write_index(&mut self, id: ControllerId) {
        let Some(slot) = self.journey.controllers[id as usize].index_variable else {
            if self.is_named_anew(id) {
                let name = &self.journey.controllers[id as usize].name;
                let name = format!("__jm__{}__idx", &*name.eval(self.cx));
                let count = drumfire_expr::numeral(self.state(id).count);
                self.cx.vars.set_named(&name, count);
            }
            return;
        };
        let begun = matches!(self.state(id).extra, Extra::VirtualUser { .. });
        let count = self.state(id).count - i32::from(begun);
        // Most passes find the number that they write.
        let current = self.cx.vars.get(slot);
        if !current.is_some_and(|current| drumfire_expr::is_numeral(current, count)) {
            self.cx.vars.set(slot, drumfire_expr::numeral(count));
        }
    }
}

// Names with functions.
impl Walker<'_> {
    /// Whether the name of the controller's index variable has to be evaluated.
    fn is_named_anew(&self, id: ControllerId) -> bool {
        let controller = &self.journey.controllers[id as usize];
        let has_index = matches!(
            controller.kind,
            ControllerKind::Loop { .. } | ControllerKind::While { .. } | ControllerKind::ForEach(_)
        );
        id != 0 && has_index && controller.name.literal().is_none()
    }

    /// Evaluates the name as often as JMeter does when the recursion that these passes are there returns.
    fn repeat_name(&mut self, id: ControllerId, times: usize) {
        if times > 0 && self.is_named_anew(id) {
            let name = &self.journey.controllers[id as usize].name;
            name.repeat(self.cx, times);
        }
    }
}

#[cfg(test)]
mod tests;
