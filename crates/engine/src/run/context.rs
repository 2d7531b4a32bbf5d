//! The view that templates and elements have of one virtual user.

use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Deref;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use drumfire_expr::{
    Level, PopRequest, Properties, Raised, Random, Scope, ScriptCall, Text, Value, Vars,
};
use drumfire_results::Sample;

use crate::base::clock::Clock;
use crate::run::action::Action;
use crate::run::action::OnError;
use crate::run::alarm::Wait;
use crate::run::branch::Branch;
use crate::run::control::Stopping;
use crate::run::failures::Failed;
use crate::run::fleet::LeaseRequest;
use crate::run::java::host::Java;
use crate::run::java::plan::JavaEvent;
use crate::run::java::visit::Visit;
use crate::run::named_locks::LockUser;
use crate::run::orders::Halt;
use crate::run::own_variables::{LAST_SAMPLE_OK, SAME_USER, USER_TOKEN};
use crate::run::parsed::Parsed;
use crate::run::pops::value_in_time;
use crate::run::shared::Shared;
use crate::run::slots::UserSlot;
use crate::run::step::SamplerId;
use crate::run::supply::Supply;
use crate::run::user_state::SampleLimits;
use crate::run::worker::Worker;

/// The index of an element's per-user state in [`Context`], assigned while the plan is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateId(pub u32);

/// One user, as the run and its samplers see it; elements of other roles have a view (`run/view.rs`). Elements change its variables
/// and the parsed parts of its results, and read its [facts](UserFacts); anything else is a method.
pub struct Context {
    pub vars: Vars,
    /// The parsed parts of the result at hand, shared by all elements that read them.
    pub parsed: Parsed,
    pub shared: Arc<Shared>,
    pub worker: Rc<Worker>,
    pub(in crate::run) facts: UserFacts,
    /// The sampler's name is being evaluated for a function.
    is_naming: bool,
    /// True while the settings of the sampler at hand are evaluated for code that inspects them. A script in one of these
    /// settings sees only the sampler's name.
    pub(in crate::run) is_described: bool,
    /// Whether the searches of the element at hand run in the pool (`Searches::turn`).
    pub(in crate::run) searches_apart: bool,
    /// The limits on the sample at hand, if it has any.
    pub(in crate::run) limits: Option<Box<SampleLimits>>,
    /// The action after this sample (`JMeterContext#setTestLogicalAction`).
    pub(in crate::run) action: Action,
    /// An order reduced the number of users, and this one is to end.
    surplus: Cell<bool>,
    /// How often users of this worker had been taken over by other machines when this one began.
    releases: u32,
    /// The thread group's action after a failed sample.
    pub(in crate::run) on_error: OnError,
    /// A wait for a value consumed the interruption of a stop (`InterruptedException`), which then interrupts nothing else.
    interruption_is_spent: Cell<bool>,
    /// When the next sample should begin, if it is the first one after an arrival.
    pub(in crate::run) arrival: Option<Instant>,
    /// Whether the user is in the timers before its sampler, or was when its thread group should have ended.
    pub(in crate::run) is_in_timers: bool,
    /// The samplers' state of this user, opened when an element first uses it.
    pub(in crate::run) slot: OnceCell<Box<dyn UserSlot>>,
    /// The Java host's state of this user.
    pub(in crate::run) java: Option<Box<dyn Any>>,
    /// Links it to the user it belongs to, if it runs a child of a Parallel Controller.
    pub(in crate::run) branch: Option<Box<Branch>>,
    /// The owner of the locks that it takes.
    pub(in crate::run) lock_user: LockUser,
    random: Random,
    /// How deeply the texts of `__eval` are nested that it is evaluating.
    nesting: usize,
    raised: Option<Box<Raised>>,
    /// The function that is being called has logged a failure.
    has_function_failed: bool,
    states: Box<[Option<Box<dyn Any>>]>,
}

/// What elements may read of a user. Only the run changes it.
pub struct UserFacts {
    pub thread_name: Rc<str>,
    pub group_name: Rc<str>,
    /// Index of the thread group in the program.
    pub group: usize,
    /// From 0, as `JMeterContext#getThreadNum`.
    pub number: u32,
    pub iteration: u32,
    /// `JMeterThread.last_sample_ok`.
    pub last_sample_ok: bool,
    /// The sampler at hand, or the last one (`JMeterThread.PACKAGE_OBJECT`).
    pub sampler: Option<SamplerId>,
    /// The one before it (`JMeterContext#getPreviousSampler`).
    pub previous_sampler: Option<SamplerId>,
    /// Counts the samplers that have run, including those without a result. It wraps around.
    pub sample_number: u32,
    /// The last sample, if something in the plan reads it.
    pub previous: Option<Rc<Sample>>,
    /// False once this user is to end after the step at hand (`JMeterThread#running`).
    pub alive: bool,
    /// Whether an error has ended the user that JMeter's thread does not survive.
    pub is_ended_by_error: bool,
    /// When the thread group's duration ends, in milliseconds since the epoch.
    pub end_ms: Option<i64>,
    pub same_user: bool,
    /// Whether samples and sleeps are interrupted when the duration ends.
    pub interrupted_at_end: bool,
    /// A wait was interrupted. All later ones end at once, as in a Java thread that stays interrupted.
    pub interrupted: bool,
    /// When the sample at hand should begin, according to the schedule of arrivals or of a timer.
    pub intended: Option<Instant>,
    /// Whether the parts of the sample at hand are timed.
    pub is_timed: bool,
}

impl Deref for Context {
    type Target = UserFacts;

    fn deref(&self) -> &UserFacts {
        &self.facts
    }
}

/// The identity of a user.
pub struct Identity {
    pub thread_name: Rc<str>,
    pub group_name: Rc<str>,
    pub group: usize,
    pub number: u32,
    pub same_user: bool,
    /// The action after a failed sample.
    pub on_error: OnError,
    pub end_ms: Option<i64>,
    /// Whether samples and sleeps are interrupted at the end.
    pub interrupted_at_end: bool,
}

impl Context {
    /// One of `OWN_VARIABLES`, if the user has it now.
    pub fn own_variable(&self, name: &str) -> Option<&str> {
        let flag = |value| Some(if value { "true" } else { "false" });
        match name {
            LAST_SAMPLE_OK => flag(self.last_sample_ok),
            SAME_USER => flag(self.same_user),
            USER_TOKEN if self.slot.get().is_some_and(|slot| slot.has_token()) => {
                Some(&self.thread_name)
            }
            _ => None,
        }
    }

    pub fn new(shared: &Arc<Shared>, worker: &Rc<Worker>, identity: Identity) -> Context {
        let states = (0..shared.program.state_count).map(|_| None).collect();
        Context {
            vars: worker.initial_vars(shared),
            parsed: Parsed::new(worker.default_charset.clone()),
            shared: shared.clone(),
            worker: worker.clone(),
            lock_user: (identity.group as u32, identity.number),
            on_error: identity.on_error,
            facts: UserFacts {
                thread_name: identity.thread_name,
                group_name: identity.group_name,
                group: identity.group,
                number: identity.number,
                iteration: 0,
                last_sample_ok: true,
                sampler: None,
                previous_sampler: None,
                sample_number: 0,
                previous: None,
                alive: true,
                is_ended_by_error: false,
                end_ms: identity.end_ms,
                same_user: identity.same_user,
                interrupted_at_end: identity.interrupted_at_end,
                interrupted: false,
                intended: None,
                is_timed: false,
            },
            is_naming: false,
            is_described: false,
            searches_apart: false,
            limits: None,
            action: Action::Continue,
            surplus: Cell::new(false),
            releases: worker.releases(),
            interruption_is_spent: Cell::new(false),
            arrival: None,
            is_in_timers: false,
            slot: OnceCell::new(),
            java: None,
            branch: None,
            random: worker.new_random(),
            nesting: 0,
            raised: None,
            has_function_failed: false,
            states,
        }
    }

    /// Ends the user after the step at hand.
    pub fn end(&mut self) {
        self.facts.alive = false;
    }

    /// Ends the user after the step at hand, and the user that it belongs to if it runs a child of a Parallel Controller.
    pub fn end_with_parent(&mut self) {
        self.end();
        if let Some(branch) = &mut self.branch {
            branch.stops_user = true;
        }
    }

    /// Interrupts all later waits, as those of a Java thread that stays interrupted.
    pub fn interrupt_waits(&mut self) {
        self.facts.interrupted = true;
    }

    /// Sets when the sample at hand should begin, according to a timer's schedule.
    pub fn intend(&mut self, at: Instant) {
        self.facts.intended = Some(at);
    }

    /// Whether the searches of the element at hand run in the pool.
    pub fn searches_apart(&self) -> bool {
        self.searches_apart
    }

    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// This user's state of an element, created on first use.
    pub fn state<T: 'static>(&mut self, id: StateId, make: impl FnOnce() -> T) -> &mut T {
        let state = self.states[id.0 as usize].get_or_insert_with(|| Box::new(make()));
        state
            .downcast_mut()
            .expect("a state id belongs to one element, which keeps one type in it")
    }

    /// Takes an element's state out, for work that also needs the context. Return it with [`Context::put_state`].
    pub fn take_state<T: 'static>(&mut self, id: StateId) -> Option<Box<T>> {
        self.states[id.0 as usize]
            .take()
            .and_then(|state| state.downcast().ok())
    }

    pub fn put_state<T: 'static>(&mut self, id: StateId, state: Box<T>) {
        self.states[id.0 as usize] = Some(state);
    }

    /// Stores whether the last sample succeeded, also in a variable if the plan names that (`JMeterThread#setLastSampleOk`).
    pub fn set_last_sample_ok(&mut self, ok: bool) {
        if let Some(slot) = self.shared.last_sample_ok
            && (ok != self.last_sample_ok || self.vars.get(slot).is_none())
        {
            self.vars
                .set(slot, if ok { "true" } else { "false" }.into());
        }
        self.facts.last_sample_ok = ok;
    }

    /// The label of the sampler at hand, made of its evaluated name.
    pub fn label(&self, name: Text<'_>) -> Rc<str> {
        match self.sampler {
            Some(sampler) => self.worker.room.label((self.group, sampler), name),
            None => name.into_value(),
        }
    }

    /// The state that the users of this user's thread group share.
    pub fn supply(&self) -> &Supply {
        &self.shared.supplies[self.group]
    }

    /// The running users of the thread group, and of all groups. Children of a Parallel Controller count as a separate group.
    pub fn active_users(&self) -> (u32, u32) {
        let (in_group, in_all) = self.shared.counts.active(self.group);
        let in_group = self
            .branch
            .as_ref()
            .map_or(in_group, |branch| branch.live.get());
        (in_group, in_all)
    }

    /// Whether a dynamic thread group needs no more of its users.
    pub fn limit_reached(&self) -> bool {
        self.supply().limit_reached()
    }

    /// Whether this user goes on: neither it nor the run was told to stop.
    pub fn running(&self) -> bool {
        let stopped = self.shared.supplies.get(self.group);
        self.alive
            && !self.shared.control.stopping()
            && !stopped.is_some_and(Supply::is_stopped)
            && !self.is_surplus()
            && self.told_to_halt().is_none()
    }

    /// Whether an order reduced the number of users and this one is to end, or another machine goes on with it. A Parallel
    /// Controller's children end with their user.
    fn is_surplus(&self) -> bool {
        if !self.surplus.get()
            && self.branch.is_none()
            && (self.worker.take_surplus(self.group) || self.is_released())
        {
            self.surplus.set(true);
        }
        self.surplus.get()
    }

    /// Whether another machine has taken this user over.
    fn is_released(&self) -> bool {
        let Some(kind) = self.worker.released(self.number, self.releases) else {
            return false;
        };
        self.shared.program.groups[self.group].moves_users(kind) && self.supply().order().is_none()
    }

    /// How a script ordered this user to end, if one did.
    fn told_to_halt(&self) -> Option<Halt> {
        self.shared.orders.of(self.group, &self.thread_name)
    }

    /// Whether the sample at hand is to be interrupted.
    fn breaks_off(&self) -> bool {
        !self.interruption_is_spent.get()
            && (self.shared.control.state() == Stopping::Now
                || self.told_to_halt() >= Some(Halt::BreakOff))
    }

    /// Whether a wait between samples ends early. A shutdown lets it run to its end (`JMeterThread#delay`), unless the user of
    /// the program asked for a fast one.
    fn wakes_early(&self) -> bool {
        match self.shared.control.state() {
            Stopping::Now => true,
            Stopping::Shutdown
                if self.shared.control.is_hurried() || self.shared.shutdown_is_fast =>
            {
                true
            }
            _ => self.is_surplus() || self.told_to_halt() >= Some(Halt::Now),
        }
    }

    /// Waits while the run is paused. A user whose duration ends meanwhile ends.
    pub async fn pause(&mut self) {
        let worker = self.worker.clone();
        // The schedule goes on during the pause, but the next sample's lateness is not measured.
        self.facts.intended = None;
        loop {
            let (stop, ordered) = (worker.stop.notified(), worker.orders.notified());
            if !self.shared.control.is_paused() || !self.running() {
                return;
            }
            let end = self.end_ms.map(|end_ms| self.clock().instant(end_ms));
            let over = async {
                match end {
                    Some(end) => worker.alarms.wait_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = over => {
                    self.facts.alive = false;
                    return;
                }
                () = stop => {}
                () = ordered => {}
            }
        }
    }

    /// Notifies elements that Java runs of an event of this user.
    pub fn tell_java(&mut self, elements: &[u32], event: JavaEvent) {
        if elements.is_empty() {
            return;
        }
        let worker = self.worker.clone();
        if let Java::Host(host) = &worker.program.settings.java {
            host.happens(&mut Visit::new(self), event, elements);
        }
    }

    /// Records a failure that no row shows, in the element of this name, or else in the sampler at hand.
    #[cold]
    pub fn note_failure(&self, failed: Failed, element: Option<&Arc<str>>, reason: &str) {
        let element = element.cloned().or_else(|| {
            let sampler = self.sampler?;
            let seen = self.worker.samplers.find(self.group, sampler)?;
            Some(seen.name.source().into())
        });
        let element = element.unwrap_or_else(|| (*self.group_name).into());
        self.shared.failures.note(failed, &element, reason);
    }

    /// Ends the user after an error that JMeter's thread does not survive.
    pub fn end_by_error(&mut self, reason: &str) {
        self.note_failure(Failed::User, None, reason);
        self.facts.alive = false;
        self.facts.is_ended_by_error = true;
    }

    /// Whether an evaluation has raised an exception since the last [`Context::take_raised`].
    pub fn has_raised(&self) -> bool {
        self.raised.is_some()
    }

    /// Takes the last exception that an evaluation has raised since the last call.
    pub fn take_raised(&mut self) -> Option<Raised> {
        self.raised.take().map(|raised| *raised)
    }

    /// Completes when a sleep is to be interrupted: at once if the sleep begins after the end, like `Thread#sleep` in an
    /// interrupted thread.
    pub fn interruption(&self) -> impl Future<Output = ()> + use<> {
        let wait = self.interruption_wait(true);
        async move {
            match wait {
                Some(wait) => wait.await,
                None => std::future::pending().await,
            }
        }
    }

    /// Waits for the next time at which the sample at hand is interrupted. Past times are ignored, except that the end of the
    /// schedule still interrupts a sleep.
    fn interruption_wait(&self, of_sleep: bool) -> Option<Wait> {
        if self.interruptions().is_empty() && !self.interrupted_at_end {
            return None;
        }
        let now = Instant::now();
        let end_ms = self.end_ms.filter(|_| self.interrupted_at_end);
        let end = end_ms.map(|end_ms| self.clock().instant(end_ms));
        let limits = self.interruptions().iter().copied().filter(|at| *at > now);
        let next = limits.chain(end.filter(|at| of_sleep || *at > now)).min()?;
        Some(self.worker.alarms.wait_until(next))
    }

    /// Runs a sampler's work to its end, or returns `None` if the run is told to stop now or the sample is interrupted first.
    pub fn attend<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
        self.attend_until(work, self.interruption_wait(false))
    }

    /// Runs a part of an exchange that must end by `deadline`, if there is one; see [`Context::attend`].
    pub async fn attend_by<T>(
        &self,
        deadline: Option<Instant>,
        work: impl Future<Output = T>,
    ) -> Result<T, Unfinished> {
        let mut end = deadline.map(|at| self.worker.alarms.wait_until(at));
        let mut work = std::pin::pin!(work);
        // The deadline comes first: a server that floods the connection never makes the work wait.
        let timed = std::future::poll_fn(|task| {
            if let Some(end) = &mut end
                && Pin::new(end).poll(task).is_ready()
            {
                return Poll::Ready(None);
            }
            work.as_mut().poll(task).map(Some)
        });
        match self.attend(timed).await {
            Some(Some(done)) => Ok(done),
            Some(None) => Err(Unfinished::TooLong),
            None => Err(Unfinished::Interrupted),
        }
    }

    /// Sleeps until `due` on behalf of a sampler; false if the sleep was interrupted.
    pub async fn attend_sleep(&self, due: Instant) -> bool {
        let sleep = self.worker.alarms.wait_until(due);
        let interruption = self.interruption_wait(true);
        self.attend_until(sleep, interruption).await.is_some()
    }

    /// Waits for work that a sampler runs in other tasks. Returns `None` if the wait was interrupted, even if that work is
    /// done by then. Time limits of the sample do not apply to it.
    pub async fn attend_others<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let end_ms = self.end_ms.filter(|_| self.interrupted_at_end);
        let end = end_ms
            .map(|end_ms| self.clock().instant(end_ms))
            .filter(|end| *end > Instant::now())
            .map(|end| self.worker.alarms.wait_until(end));
        let done = self.attend_until(work, end).await;
        done.filter(|_| !self.breaks_off())
    }

    async fn attend_until<T>(
        &self,
        work: impl Future<Output = T>,
        mut interruption: Option<Wait>,
    ) -> Option<T> {
        let mut work = std::pin::pin!(work);
        // A stop wakes this task (`Worker::wake_tasks`).
        std::future::poll_fn(|task| {
            if let Poll::Ready(output) = work.as_mut().poll(task) {
                return Poll::Ready(Some(output));
            }
            if self.breaks_off() {
                return Poll::Ready(None);
            }
            match &mut interruption {
                Some(at) => Pin::new(at).poll(task).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Waits for the first value of a queue and removes it. Returns `None` if no value came in time, and `INTERRUPTED` if the
    /// wait was interrupted.
    pub async fn first_value(&self, queue: &str, timeout_s: i64) -> Option<Arc<str>> {
        let fifos = self.shared.properties.fifos();
        let value = value_in_time(fifos, &self.worker.alarms, queue, timeout_s);
        match self.attend(value).await {
            Some(value) => value,
            None => self.interrupted_value(),
        }
    }

    fn interrupted_value(&self) -> Option<Arc<str>> {
        self.interruption_is_spent.set(true);
        Some("INTERRUPTED".into())
    }

    /// Does the same during a function call, where users of the same call take turns. A user without a fiber does not wait.
    fn first_value_of_call(&self, request: &PopRequest<'_>) -> Option<Arc<str>> {
        let turns = self.shared.pop_turns.of(request.instance);
        let fifos = self.shared.properties.fifos();
        let in_turn = async {
            let _turn = turns.lock().await;
            value_in_time(fifos, &self.worker.alarms, request.queue, request.timeout_s).await
        };
        match drumfire_fiber::wait(self.attend(in_turn)) {
            Some(Some(value)) => value,
            Some(None) => self.interrupted_value(),
            None => fifos.pop(request.queue),
        }
    }

    /// Waits `ms` milliseconds from now; see [`Context::sleep_until`].
    pub fn sleep_ms(&mut self, ms: i64) -> Sleep<'_> {
        self.sleep_until(Instant::now() + Duration::from_millis(ms.max(0) as u64))
    }

    /// Waits until `due`. Ends early when the run is told to stop now, since nothing would be sent afterwards.
    pub fn sleep_until(&mut self, due: Instant) -> Sleep<'_> {
        if self.interrupted || !self.running() || due <= Instant::now() {
            return Sleep {
                cx: self,
                wait: None,
                interruption: None,
            };
        }
        let wait = Some(self.worker.alarms.wait_until(due));
        let interruption = self.interruption_wait(true).map(Box::new);
        Sleep {
            cx: self,
            wait,
            interruption,
        }
    }
}

/// Why a part of an exchange has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The run was told to stop now, or a Sample Timeout expired.
    Interrupted,
    /// The exchange took longer than it may in all.
    TooLong,
}

/// A user's wait; see [`Context::sleep_until`]. It is kept small because most users wait most of the time.
#[must_use]
pub struct Sleep<'c> {
    cx: &'c mut Context,
    /// `None` once it is over.
    wait: Option<Wait>,
    /// When it is interrupted. Boxed, because only few waits can be.
    interruption: Option<Box<Wait>>,
}

impl Future for Sleep<'_> {
    type Output = ();

    /// A stop of the run wakes the task (`Worker::wake_tasks`).
    fn poll(mut self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<()> {
        let Sleep {
            cx,
            wait,
            interruption,
        } = &mut *self;
        let Some(on_time) = wait else {
            return Poll::Ready(());
        };
        if Pin::new(&mut *on_time).poll(task).is_ready() {
            cx.worker.record_lateness(on_time.due());
        } else if !cx.wakes_early() {
            let interruption = interruption.as_mut().map(Pin::new);
            if !interruption.is_some_and(|at| at.poll(task).is_ready()) {
                return Poll::Pending;
            }
            cx.facts.interrupted = true;
        }
        (*wait, *interruption) = (None, None);
        Poll::Ready(())
    }
}

#[cfg(test)]
impl Context {
    /// Facts to change in a test.
    pub fn facts_mut(&mut self) -> &mut UserFacts {
        &mut self.facts
    }

    /// Lets the searches of a test run in the pool.
    pub fn set_searches_apart(&mut self, is_apart: bool) {
        self.searches_apart = is_apart;
    }

    /// Ends the limits of the sample at hand.
    pub fn end_sample(&mut self) {
        self.end_interruptions();
    }
}

impl Scope for Context {
    fn shared_count(&mut self, instance: u32) -> Option<i32> {
        let shared = self.shared.clone();
        let fleet = shared.part.shared_with()?;
        let leased = shared.part.counts.of(instance);
        let request = LeaseRequest {
            element: &format!("__counter {instance}"),
            length: None,
            is_recycled: true,
        };
        match leased.next(fleet, &request) {
            Ok(place) => Some((place.unwrap_or_default() as i32).wrapping_add(1)),
            Err(reason) => {
                self.raise(Raised::exception(reason.to_string()));
                Some(0)
            }
        }
    }
    fn pop(&mut self, request: &PopRequest<'_>) -> Option<Arc<str>> {
        self.first_value_of_call(request)
    }
    fn vars(&self) -> &Vars {
        &self.vars
    }
    fn vars_mut(&mut self) -> &mut Vars {
        &mut self.vars
    }
    fn given_variable(&self, name: &str) -> Option<Value> {
        Context::own_variable(self, name).map(Value::from)
    }
    fn properties(&self) -> &Properties {
        &self.shared.properties
    }
    fn thread_number(&self) -> u32 {
        self.number
    }
    fn thread_name(&self) -> &str {
        &self.thread_name
    }
    fn thread_group_name(&self) -> &str {
        &self.group_name
    }
    fn has_sampler(&self) -> bool {
        self.sampler.is_some()
    }
    fn sampler_name(&mut self) -> Option<Value> {
        let worker = self.worker.clone();
        let seen = worker.samplers.find(self.group, self.sampler?)?;
        if std::mem::replace(&mut self.is_naming, true) {
            // `SamplerName` in the name of a sampler calls itself until JMeter's stack overflows.
            self.end_by_error(
                "java.lang.StackOverflowError: a sampler's name contains its own name",
            );
            self.raise(Raised::exception("java.lang.StackOverflowError"));
            return None;
        }
        let name = seen.name.eval(self).into_value();
        self.is_naming = false;
        Some(name)
    }
    fn iteration(&self) -> u32 {
        self.iteration
    }
    fn previous_response(&self) -> Option<Cow<'_, str>> {
        self.previous.as_ref().map(|sample| {
            Cow::Owned(
                crate::base::body::text(sample, self.parsed.default_charset.as_deref())
                    .into_owned(),
            )
        })
    }
    fn test_plan_name(&self) -> &str {
        &self.shared.program.script
    }
    fn base_dir(&self) -> &Path {
        &self.shared.program.base_dir
    }
    fn now_ms(&self) -> i64 {
        self.clock().now_ms()
    }
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn nesting(&mut self) -> &mut usize {
        &mut self.nesting
    }
    fn log(&mut self, level: Level, message: &str) {
        crate::base::log::write(level, message);
    }
    fn log_failure(&mut self, level: Level, message: &str) {
        self.has_function_failed = true;
        self.log(level, message);
    }
    fn evaluates_again(&self) -> bool {
        !self.shared.caches_functions
    }
    fn end_call(&mut self, function: &'static str, element: Option<&Arc<str>>, has_thrown: bool) {
        if std::mem::take(&mut self.has_function_failed) || has_thrown {
            self.note_failure(Failed::Function(function), element, "");
        }
    }
    fn raise(&mut self, raised: Raised) {
        self.raised = Some(Box::new(raised));
    }
    fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<String, Raised> {
        let worker = self.worker.clone();
        match &worker.program.settings.java {
            Java::Host(host) => {
                let mut visit = Visit::new(self);
                let began = Instant::now();
                let text = host.script(&mut visit, call);
                visit.note_time(began.elapsed());
                text
            }
            Java::Absent(why) => Err(Raised::exception(format!("a script needs Java: {why}"))),
        }
    }
}
