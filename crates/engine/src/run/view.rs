//! The views of a user, one per role. A type says what an element of its role may see and change.
//!
//! | view | sets variables | sees the run | and |
//! |---|---|---|---|
//! | [`PreProcessorView`], also of elements that iterations notify | yes | yes | limits and changes the sample to come, ends the user |
//! | [`PostProcessorView`] | yes | yes | fails the sample at hand |
//! | [`AssertionView`] | no | no | |
//! | [`TimerView`] | no | yes | says when the sample should begin |
//! | [`ListenerView`] | yes | yes | |
//!
//! Texts of a plan may contain functions that set variables, so every view can evaluate texts.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use drumfire_expr::{
    Level, PopRequest, Properties, Raised, Random, Scope, ScriptCall, Value, Vars,
};
use drumfire_java::charset::Charset;
use ref_cast::{RefCastCustom, ref_cast_custom};

use crate::base::clock::Clock;
use crate::run::alarm::Wait;
use crate::run::context::{Context, StateId, UserFacts};
use crate::run::java::plan::JavaEvent;
use crate::run::java::visit::VisitedUser;
use crate::run::parsed::Parsed;
use crate::run::sampler::SeenSampler;
use crate::run::shared::Shared;
use crate::run::slots::UserSlot;
use crate::run::statics::Statics;
use crate::run::supply::Supply;
use crate::run::visited::look_at;

/// A user as elements of the role `R` see it. Every role reads its [facts](UserFacts), evaluates texts, parses results, and has a
/// state of its own. In memory a view is the context, so it costs nothing.
#[derive(RefCastCustom)]
#[repr(transparent)]
pub struct View<R> {
    pub(in crate::run) user: Context,
    role: PhantomData<R>,
}

/// The role of pre-processors, and of elements that are notified when an iteration starts.
pub enum PreProcessing {}
/// The role of post-processors.
pub enum PostProcessing {}
/// The role of assertions.
pub enum Judging {}
/// The role of timers.
pub enum Timing {}
/// The role of listeners.
pub enum Listening {}

pub type PreProcessorView = View<PreProcessing>;
pub type PostProcessorView = View<PostProcessing>;
pub type AssertionView = View<Judging>;
pub type TimerView = View<Timing>;
pub type ListenerView = View<Listening>;

/// Roles whose elements set variables.
pub trait SetsVariables {}

impl SetsVariables for PreProcessing {}
impl SetsVariables for PostProcessing {}
impl SetsVariables for Listening {}

/// Roles whose elements see the run, and may stop it.
pub trait SeesRun {}

impl SeesRun for PreProcessing {}
impl SeesRun for PostProcessing {}
impl SeesRun for Timing {}
impl SeesRun for Listening {}

impl<R> Deref for View<R> {
    type Target = UserFacts;

    fn deref(&self) -> &UserFacts {
        &self.user
    }
}

impl<R> View<R> {
    /// A user as elements of this role see it.
    #[ref_cast_custom]
    pub fn of(user: &mut Context) -> &mut View<R>;

    pub fn vars(&self) -> &Vars {
        &self.user.vars
    }

    /// See [`Context::own_variable`].
    pub fn own_variable(&self, name: &str) -> Option<&str> {
        self.user.own_variable(name)
    }

    /// The parsed parts of the result at hand, shared by all elements that read them.
    pub fn parsed(&mut self) -> &mut Parsed {
        &mut self.user.parsed
    }

    pub fn default_charset(&self) -> Option<&Charset> {
        self.user.parsed.default_charset.as_deref()
    }

    pub fn clock(&self) -> Clock {
        self.user.clock()
    }

    pub fn random(&mut self) -> &mut Random {
        self.user.random()
    }

    /// Raises an exception in the sample at hand.
    pub fn raise(&mut self, raised: Raised) {
        self.user.raise(raised);
    }

    /// See [`Context::state`].
    pub fn state<T: 'static>(&mut self, id: StateId, make: impl FnOnce() -> T) -> &mut T {
        self.user.state(id, make)
    }

    /// See [`Context::take_state`].
    pub fn take_state<T: 'static>(&mut self, id: StateId) -> Option<Box<T>> {
        self.user.take_state(id)
    }

    pub fn put_state<T: 'static>(&mut self, id: StateId, state: Box<T>) {
        self.user.put_state(id, state);
    }

    /// The values of the run that elements of one class share.
    pub fn statics(&self) -> &Statics {
        &self.user.shared.statics
    }

    /// The user as Java code sees it. Whatever its role, that code may change all of it, as in JMeter.
    pub fn visited(&mut self) -> &mut dyn VisitedUser {
        &mut self.user
    }
}

impl<R: SetsVariables> View<R> {
    pub fn vars_mut(&mut self) -> &mut Vars {
        &mut self.user.vars
    }
}

impl<R: SeesRun> View<R> {
    pub fn shared(&self) -> &Arc<Shared> {
        &self.user.shared
    }

    /// Identifies the user's worker among those of the run.
    pub fn worker_id(&self) -> usize {
        Rc::as_ptr(&self.user.worker) as usize
    }

    /// See [`Context::attend`].
    pub fn attend<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
        self.user.attend(work)
    }
}

impl PreProcessorView {
    /// See [`Context::interrupt_at`].
    pub fn interrupt_at(&mut self, at: Instant) {
        self.user.interrupt_at(at);
    }

    /// See [`Context::first_value`].
    pub async fn first_value(&self, queue: &str, timeout_s: i64) -> Option<Arc<str>> {
        self.user.first_value(queue, timeout_s).await
    }

    /// See [`Context::slot_mut`].
    pub fn slot_mut(&mut self) -> &mut dyn UserSlot {
        self.user.slot_mut()
    }

    /// See [`Context::tell_java`].
    pub fn tell_java(&mut self, elements: &[u32], event: JavaEvent) {
        self.user.tell_java(elements, event);
    }
}

impl PostProcessorView {
    /// See [`Context::fail_by_limit`].
    pub fn fail_by_limit(&mut self, message: String) {
        self.user.fail_by_limit(message);
    }

    /// Whether the searches of the element at hand run in the pool.
    pub fn searches_apart(&self) -> bool {
        self.user.searches_apart
    }

    /// Calls `look` with the sampler whose result is at hand.
    pub fn look_at_sampler(&mut self, look: impl FnOnce(&mut Self, SeenSampler<'_>)) {
        let sampler = self.sampler;
        look_at(&mut self.user, sampler, |user, seen| {
            look(View::of(user), seen);
            Some(())
        });
    }
}

impl TimerView {
    pub fn supply(&self) -> &Supply {
        self.user.supply()
    }

    /// See [`Context::running`].
    pub fn running(&self) -> bool {
        self.user.running()
    }

    /// See [`Context::intend`].
    pub fn intend(&mut self, at: Instant) {
        self.user.intend(at);
    }

    pub fn wait_until(&self, due: Instant) -> Wait {
        self.user.worker.alarms.wait_until(due)
    }

    /// Completes when the run is told to stop.
    pub fn stopped(&self) -> impl Future<Output = ()> {
        self.user.worker.stop.notified()
    }

    /// See [`Context::interruption`].
    pub fn interruption(&self) -> impl Future<Output = ()> + use<> {
        self.user.interruption()
    }

    /// See [`Context::interrupt_waits`].
    pub fn interrupt_waits(&mut self) {
        self.user.interrupt_waits();
    }
}

/// Texts see the whole user, whatever the role of their element.
impl<R> Scope for View<R> {
    fn vars(&self) -> &Vars {
        self.user.vars()
    }
    fn vars_mut(&mut self) -> &mut Vars {
        self.user.vars_mut()
    }
    fn given_variable(&self, name: &str) -> Option<Value> {
        self.user.given_variable(name)
    }
    fn properties(&self) -> &Properties {
        self.user.properties()
    }
    fn thread_number(&self) -> u32 {
        self.user.thread_number()
    }
    fn thread_name(&self) -> &str {
        self.user.thread_name()
    }
    fn thread_group_name(&self) -> &str {
        self.user.thread_group_name()
    }
    fn has_sampler(&self) -> bool {
        self.user.has_sampler()
    }
    fn sampler_name(&mut self) -> Option<Value> {
        self.user.sampler_name()
    }
    fn iteration(&self) -> u32 {
        self.user.iteration()
    }
    fn previous_response(&self) -> Option<Cow<'_, str>> {
        self.user.previous_response()
    }
    fn test_plan_name(&self) -> &str {
        self.user.test_plan_name()
    }
    fn base_dir(&self) -> &Path {
        self.user.base_dir()
    }
    fn now_ms(&self) -> i64 {
        self.user.now_ms()
    }
    fn random(&mut self) -> &mut Random {
        self.user.random()
    }
    fn nesting(&mut self) -> &mut usize {
        self.user.nesting()
    }
    fn shared_count(&mut self, instance: u32) -> Option<i32> {
        self.user.shared_count(instance)
    }
    fn pop(&mut self, request: &PopRequest<'_>) -> Option<Arc<str>> {
        self.user.pop(request)
    }
    fn log(&mut self, level: Level, message: &str) {
        self.user.log(level, message)
    }
    fn log_failure(&mut self, level: Level, message: &str) {
        self.user.log_failure(level, message)
    }
    fn end_call(&mut self, function: &'static str, element: Option<&Arc<str>>, has_thrown: bool) {
        self.user.end_call(function, element, has_thrown)
    }
    fn evaluates_again(&self) -> bool {
        self.user.evaluates_again()
    }
    fn raise(&mut self, raised: Raised) {
        self.user.raise(raised)
    }
    fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<String, Raised> {
        self.user.run_script(call)
    }
}
