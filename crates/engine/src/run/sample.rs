//! Stop 6, **sample**: one sampler in JMeter's order (`JMeterThread#executeSamplePackage`).

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_expr::Raised;
use drumfire_health::Stage;
use drumfire_results::{AssertionResult, Sample};
use recycle_box::RecycleBox;

use crate::run::action::{FailureAction, OnError};
use crate::run::context::Context;
use crate::run::debug::{Debugger, ElementKind, ElementTurn, SampleView, values};
use crate::run::failures::Failed;
use crate::run::journey::{Journey, Package, SampleTargets, Sampled};
use crate::run::listen::record_waiting;
use crate::run::roles::Act;
use crate::run::roles::AssertionRole;
use crate::run::roles::ResultScope;
use crate::run::sampler::SamplerTurn;
use crate::run::step::{ControllerId, SamplerId};
use crate::run::user::User;
use crate::run::view::View;
use crate::run::watched;

/// How deep sub-results of sub-results are judged (`JMeterThread#recurseAssertionChecks`).
const ASSERTED_LEVELS: i32 = 3;

/// Runs one sampler. `transaction` is the transaction with a parent sample that it is part of.
pub async fn sample(user: &mut User, id: SamplerId, transaction: Option<ControllerId>) {
    let journey = user.journey();
    let package = &journey.samplers[id as usize];
    begin(user, id, package);
    let mut timed = user.cx.worker.stages.begin();
    user.cx.facts.is_timed = timed.is_some();
    prepare(user, package).await;
    user.cx.worker.stages.lap(&mut timed, Stage::Prepare);
    user.cx.is_in_timers = !package.timers.is_empty();
    // The future that finds the due time is dropped before the user sleeps.
    if let Some(due) = due_after_timers(user, package).await {
        user.cx.sleep_until(due).await;
    }
    if user.cx.shared.control.is_paused() {
        Box::pin(user.cx.pause()).await;
    }
    if !user.cx.running() || gave_up(user, package) {
        return;
    }
    end_timers(user, &journey);
    let delay_us = user
        .cx
        .intended
        .map(|intended| intended.elapsed().as_micros() as u64);
    user.cx.worker.stages.skip(&mut timed);
    let turns = begin_turn(user);
    let result = take_turn_watched(user, package).await;
    user.cx.worker.stages.lap(&mut timed, Stage::Sampler);
    user.cx.end_interruptions();
    let has_given_up = gave_up(user, package);
    let Some(mut result) = result.filter(|_| !has_given_up) else {
        return count_skipped(user, turns);
    };
    result.delay_us = delay_us;
    if !result.ignore {
        let (in_group, in_all) = user.cx.active_users();
        result.set_thread_with_children(&user.cx.thread_name, in_group, in_all);
        if user.cx.shared.program.keeps_previous {
            user.cx.facts.previous = Some(Rc::new((*result).clone()));
        }
        let examined = examine(user, package, &mut result, &mut timed).await;
        user.cx.parsed.clear();
        if !examined {
            return count_skipped(user, turns);
        }
        let reach = if transaction.is_some() {
            &package.reach_in_transaction
        } else {
            &package.reach
        };
        notify(user, &mut result, reach, &package.ancestors, transaction).await;
        user.cx.worker.stages.lap(&mut timed, Stage::Record);
        if !result.success {
            obey(user, &reach.on_failure);
        }
    } else {
        user.cx.set_last_sample_ok(result.success);
    }
    act_on_failure(user, result.success);
    let is_recorded = result.written.is_counted();
    if !hand_on(user, result, transaction, turns) && !is_recorded {
        count_skipped(user, turns);
    }
}

/// Ends the part of a turn that belongs to timers, and starts the limits on the sample's time.
fn end_timers(user: &mut User, journey: &Journey) {
    let cx = &mut user.cx;
    // The clock is read only after a wait.
    cx.is_in_timers = cx.is_in_timers && cx.shared.overruns.is_over(cx.group, cx.clock());
    for limit in &journey.time_limits {
        limit.process(View::of(cx));
    }
}

/// Counts the beginning of a user's turn, and returns how many it counted: the samples of a Parallel Controller's children are parts of
/// its own, and have no turns.
fn begin_turn(user: &User) -> u64 {
    let branch = user.cx.branch.as_ref();
    if branch.is_some_and(|branch| branch.collects()) {
        return 0;
    }
    user.cx.worker.recorder.borrow().turns().begin();
    1
}

/// Counts turns that end without a sample of their own.
fn count_skipped(user: &User, turns: u64) {
    user.cx.worker.recorder.borrow().turns().skip(turns);
}

/// Tells the user's context which sampler is next.
fn begin(user: &mut User, id: SamplerId, package: &Package) {
    user.cx.facts.previous_sampler = user.cx.facts.sampler.replace(id);
    user.cx.facts.sample_number = user.cx.sample_number.wrapping_add(1);
    let element = package.sampler.element();
    let is_http = element.is_some_and(|element| element.as_request().is_some());
    user.cx.begin_slot_sample(is_http);
}

/// The sampler's own turn; a debugger may stop the user before it.
async fn take_turn_watched(user: &mut User, package: &Package) -> Option<Box<Sample>> {
    let debugging = &user.cx.shared.program.settings.debugging;
    match debugging.debugger().cloned() {
        Some(debugger) => Box::pin(take_turn_debugged(user, package, debugger)).await,
        None => take_turn(user, package).await,
    }
}

async fn take_turn_debugged(
    user: &mut User,
    package: &Package,
    debugger: Arc<dyn Debugger>,
) -> Option<Box<Sample>> {
    let turn = ElementTurn {
        part: ElementKind::Sampler,
        name: package.name.eval(&mut user.cx).to_string(),
        class: package.class.to_string(),
        place: package.place.as_deref().cloned(),
    };
    let before = watched::enter(&*debugger, &turn, &mut user.cx).await;
    let result = take_turn(user, package).await;
    debugger.after(&user.cx.thread_name, &turn, &before, &values(&user.cx.vars));
    result
}

async fn take_turn(user: &mut User, package: &Package) -> Option<Box<Sample>> {
    let sampler = match &package.sampler {
        Sampled::Element(sampler) => sampler,
        Sampled::Parallel(controller) => {
            let sample = Box::pin(controller.sample(user, &package.name)).await;
            return sample.map(Box::new);
        }
    };
    let (sample, room) = match sampler.turn(&mut user.cx, &package.name) {
        SamplerTurn::Done(sample) => return sample,
        SamplerTurn::Pause(sleep) => {
            sleep.await;
            return None;
        }
        SamplerTurn::Wait(work) => return work.await,
        SamplerTurn::Placed(mut work) => {
            let sample = work.as_mut().await;
            (sample, RecycleBox::vacate_pinned(work))
        }
    };
    user.cx.worker.room.futures.take_back(room);
    sample
}

/// Runs the pre-processors.
async fn prepare(user: &mut User, package: &Package) {
    for pre in &package.pre {
        if let Act::Wait(work) = pre.turn(View::of(&mut user.cx)) {
            work.await;
        }
    }
}

/// Runs post-processors, then assertions; false if one of them threw, which discards the sample.
async fn examine(
    user: &mut User,
    package: &Package,
    result: &mut Sample,
    timed: &mut Option<Instant>,
) -> bool {
    for post in &package.post {
        if let Act::Wait(work) = post.turn(View::of(&mut user.cx), result) {
            work.await;
        }
        if gave_up(user, package) {
            return false;
        }
    }
    if let Some(limit) = user.cx.take_limit_met() {
        result.success = false;
        result.message = limit.into();
    }
    user.cx.worker.stages.lap(timed, Stage::Extract);
    judge(&package.assertions, &mut user.cx, result).await;
    user.cx.worker.stages.lap(timed, Stage::Assert);
    if let Some(debugger) = user.cx.shared.program.settings.debugging.debugger() {
        debugger.sampled(&user.cx.thread_name, SampleView::of(result));
    }
    !gave_up(user, package)
}

/// Adds the sample to its transaction, if there is one, or else recycles it. Returns whether the transaction will be recorded with
/// it; then it holds the turns that the sample stands for.
fn hand_on(
    user: &mut User,
    result: Box<Sample>,
    transaction: Option<ControllerId>,
    turns: u64,
) -> bool {
    if let Some(transaction) = transaction
        && !result.ignore
        && let Some(run) = user.walk.parent_transaction(transaction)
    {
        return run.add(*result, turns);
    }
    user.cx.worker.room.take_sample_back(result);
    false
}

/// The end of the wait for all timers in scope, if there is one (`JMeterThread#delay`).
///
/// An arrival or a timer that keeps a schedule says when the sample should begin; the delays of other timers are added to
/// that. The wait then ends at exactly that time, not at the next whole millisecond.
async fn due_after_timers(user: &mut User, package: &Package) -> Option<Instant> {
    let arrival = user.cx.arrival.take();
    user.cx.facts.intended = arrival;
    if package.timers.is_empty() {
        return None;
    }
    user.cx.facts.intended = None;
    let mut total_ms = 0;
    let mut scheduled = arrival.map(|at| (at, 0));
    let factor = user.cx.shared.timer_factor;
    for timer in &package.timers {
        let mut delay_ms = match timer.turn(View::of(&mut user.cx)) {
            Act::Done(delay_ms) => delay_ms,
            Act::Wait(work) => work.await,
        };
        if factor != 1.0 && timer.has_factor() {
            delay_ms = (delay_ms as f32 * factor).round() as i64;
        }
        if let Some(at) = user.cx.facts.intended.take() {
            scheduled = Some((at, delay_ms));
        }
        total_ms += delay_ms;
    }
    let mut due = Instant::now() + Duration::from_millis(total_ms.max(0) as u64);
    if let Some((at, own_ms)) = scheduled {
        user.cx.worker.keep_schedules();
        let intended = at + Duration::from_millis((total_ms - own_ms).max(0) as u64);
        user.cx.facts.intended = Some(intended);
        if own_ms > 0 {
            due = intended;
        }
    }
    if total_ms <= 0 {
        return None;
    }
    if let Some(end_ms) = user.cx.end_ms
        && user.cx.clock().now_ms() + total_ms > end_ms
    {
        // The wait would outlast the schedule.
        user.cx.shared.early.note_wait(package, total_ms);
        user.cx.facts.alive = false;
        return None;
    }
    Some(due)
}

/// Whether an evaluation threw. JMeter then logs this, and the sampler has no result. The log line contains the sampler's
/// name. If evaluating that throws too, JMeter does not catch it, and the user ends (`JMeterThread#processSampler`).
fn gave_up(user: &mut User, package: &Package) -> bool {
    match user.cx.take_raised() {
        None => false,
        Some(Raised::StopThread(message)) => {
            tracing::info!("Stopping Thread: {message}");
            user.cx.facts.alive = false;
            true
        }
        Some(raised) => {
            let name = package.name.eval(&mut user.cx).into_value();
            tracing::error!("Error while processing sampler: '{name}'. {raised}");
            if user.cx.alive {
                let reason = raised.to_string();
                user.cx.note_failure(Failed::Sample, None, &reason);
            }
            if let Some(raised) = user.cx.take_raised() {
                tracing::error!("Test failed! {raised}");
                user.cx.end_by_error(&raised.to_string());
            }
            true
        }
    }
}

/// Judges a result with its assertions (`JMeterThread#checkAssertions`).
pub async fn judge(assertions: &[Arc<dyn AssertionRole>], cx: &mut Context, result: &mut Sample) {
    for assertion in assertions {
        let scope = assertion.applies_to(View::of(cx));
        if !matches!(scope, ResultScope::Children | ResultScope::Nothing) {
            let verdict = match assertion.turn(View::of(cx), result) {
                Act::Done(verdict) => verdict,
                Act::Wait(work) => work.await,
            };
            match unless_thrown(cx, verdict) {
                Some(verdict) => result.apply_assertion(verdict),
                None => return,
            }
        }
        if matches!(scope, ResultScope::Children | ResultScope::All) {
            Box::pin(judge_children(&**assertion, cx, result, ASSERTED_LEVELS)).await;
            if cx.has_raised() {
                return;
            }
        }
    }
    cx.set_last_sample_ok(result.success);
}

/// `JMeterThread#processAssertion`: an assertion that throws is an error of the sample, under a name of its own. `None` if its
/// exception has ended the user, which discards the sample.
fn unless_thrown(cx: &mut Context, verdict: AssertionResult) -> Option<AssertionResult> {
    let message = match cx.take_raised() {
        None => return Some(verdict),
        Some(Raised::StopThread(message)) => {
            format!("org.apache.jorphan.util.JMeterStopThreadException: {message}")
        }
        Some(raised) if cx.is_ended_by_error => {
            drumfire_expr::Scope::raise(cx, raised);
            return None;
        }
        Some(raised) => raised.to_string(),
    };
    tracing::error!("Exception processing Assertion. {message}");
    Some(AssertionResult {
        name: Some("Assertion failed! See log file.".into()),
        failure: false,
        error: true,
        message: Some(message.into()),
    })
}

async fn judge_children(
    assertion: &dyn AssertionRole,
    cx: &mut Context,
    parent: &mut Sample,
    level: i32,
) {
    if level < 0 {
        return;
    }
    let mut failed = false;
    for child in &mut parent.children {
        let verdict = assertion.turn(View::of(cx), child).finish().await;
        let Some(verdict) = unless_thrown(cx, verdict) else {
            return;
        };
        child.apply_assertion(verdict);
        Box::pin(judge_children(assertion, cx, child, level - 1)).await;
        if cx.has_raised() {
            return;
        }
        failed |= !child.success;
    }
    if failed && parent.success {
        parent.apply_assertion(AssertionResult {
            name: Some(assertion.row_name().eval(cx).into_value().into()),
            failure: true,
            error: false,
            message: Some("One or more sub-samples failed".into()),
        });
    }
}

/// Passes the sample to its listeners and to the open transactions that receive it.
async fn notify(
    user: &mut User,
    result: &mut Sample,
    reach: &SampleTargets,
    ancestors: &[ControllerId],
    transaction: Option<ControllerId>,
) {
    let journey = user.journey();
    if let Some(branch) = &mut user.cx.branch {
        if branch.collect(result) {
            return;
        }
        branch.note_above(result, |id| hears(&journey, id, ancestors, transaction));
    }
    record_waiting(&mut user.cx, result, reach).await;
    for &id in &user.walk.open_transactions {
        if !hears(&journey, id, ancestors, transaction) {
            continue;
        }
        let controller = &journey.controllers[id as usize];
        let include_timers = controller.includes_timers();
        if let Some(run) = user.walk.states[id as usize].independent() {
            run.add(result, include_timers);
        }
    }
}

/// Whether a Transaction Controller receives a sample. Being a listener, it receives the samples below its own parent
/// (`TestCompiler#saveSamplerConfigs`), except those that a parent transaction around the sample receives itself.
fn hears(
    journey: &Journey,
    id: ControllerId,
    ancestors: &[ControllerId],
    transaction: Option<ControllerId>,
) -> bool {
    let Some(above) = journey.controllers[id as usize].parent else {
        return false;
    };
    if !ancestors.contains(&above) {
        return false;
    }
    let Some(mut outer) = transaction else {
        return true;
    };
    loop {
        if outer == above {
            return false;
        }
        match journey.controllers[outer as usize].parent {
            Some(next) => outer = next,
            None => return true,
        }
    }
}

/// Judges the sample of a transaction with a parent sample and passes it to its listeners
/// (`JMeterThread#doEndTransactionSampler`). Inside another such transaction, it becomes part of that one's. A transaction that
/// is not done goes on with the same sample.
pub async fn tell_transaction(user: &mut User, id: ControllerId, outer: Option<ControllerId>) {
    let Some(run) = user.walk.parent_transaction(id) else {
        return;
    };
    let Some((mut result, turns)) = run.take_result() else {
        return;
    };
    let journey = user.journey();
    let Some(package) = &journey.transactions[id as usize] else {
        return count_skipped(user, turns);
    };
    let (in_group, in_all) = user.cx.active_users();
    result.set_thread(&user.cx.thread_name, in_group, in_all);
    judge(&package.assertions, &mut user.cx, &mut result).await;
    user.cx.parsed.clear();
    if let Some(outer) = outer {
        let outer = user.walk.parent_transaction(outer);
        if !outer.is_some_and(|run| run.add(*result, turns)) {
            count_skipped(user, turns);
        }
        return;
    }
    let mut ancestors = vec![id];
    while let Some(above) = journey.controllers[ancestors[ancestors.len() - 1] as usize].parent {
        ancestors.push(above);
    }
    let was_counted = result.written.is_counted();
    notify(user, &mut result, &package.reach, &ancestors, None).await;
    let is_new = result.written.is_counted() && !was_counted;
    if !(is_new && result.is_from_transaction()) {
        count_skipped(user, turns);
    }
    if is_new && !result.is_from_transaction() {
        // A transaction that is told before it is done looks like a sampler's sample, and counts as one.
        begin_turn(user);
    }
    if let Some(run) = user.walk.parent_transaction(id)
        && !run.is_done()
    {
        run.put_back(result);
    }
}

/// The thread group's action after a failed sample.
fn act_on_failure(user: &mut User, success: bool) {
    // A thread of a Parallel Controller does not get its thread group's action (`JMeterThreadParallel`).
    if success || user.cx.branch.is_some() {
        return;
    }
    match user.cx.on_error {
        OnError::Continue | OnError::StartNextLoop => {}
        OnError::StopThread => obey(user, &[FailureAction::StopThread]),
        OnError::StopTest => obey(user, &[FailureAction::StopTest]),
        OnError::StopTestNow => obey(user, &[FailureAction::StopTestNow]),
    }
}

/// Carries out the actions of a failed sample, as the end of `JMeterThread#executeSamplePackage` does.
fn obey(user: &mut User, actions: &[FailureAction]) {
    for action in actions {
        match action {
            FailureAction::StopThread => {
                tracing::info!("Stop Thread detected by thread: {}", user.cx.thread_name);
                user.cx.facts.alive = false;
            }
            FailureAction::StopTest => {
                tracing::info!("Shutdown Test detected by thread: {}", user.cx.thread_name);
                user.cx.facts.alive = false;
                user.cx.shared.stop(false);
            }
            FailureAction::StopTestNow => {
                tracing::info!("Stop Test Now detected by thread: {}", user.cx.thread_name);
                user.cx.facts.alive = false;
                user.cx.shared.stop(true);
            }
            FailureAction::Go(action) => user.cx.action = *action,
        }
    }
}

#[cfg(test)]
mod tests {
    use drumfire_expr::Template;

    use super::*;
    use crate::fixture::{one_user, one_user_with, user_of_plan};
    use crate::run::journey::BoundPlan;
    use crate::run::roles::{Assertion, Timer, TimerRole};
    use crate::run::step::Step;
    use crate::run::view::{AssertionView, TimerView};

    const SAMPLER: &str =
        r#"<DebugSampler guiclass="g" testclass="DebugSampler" testname="s"/><hashTree/>"#;

    fn on_runtime<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made");
        runtime.block_on(work)
    }

    /// Waits this many milliseconds; `timer.factor` applies or not.
    struct Fixed(i64, bool);

    impl Timer for Fixed {
        fn delay_ms(&self, _: &mut dyn drumfire_expr::Scope) -> i64 {
            self.0
        }

        fn is_modifiable(&self) -> bool {
            self.1
        }
    }

    /// Says when the sample should begin, and waits this many milliseconds for that.
    struct Scheduled(Instant, i64);

    impl TimerRole for Scheduled {
        fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
            cx.intend(self.0);
            Act::Done(self.1)
        }
    }

    fn timed(mut plan: BoundPlan, timers: Vec<Arc<dyn TimerRole>>) -> User {
        plan.journeys[0].samplers[0].timers = timers;
        user_of_plan(plan)
    }

    fn due(user: &mut User) -> Option<Instant> {
        let journey = user.journey();
        on_runtime(due_after_timers(user, &journey.samplers[0]))
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn timers_add_up_and_the_factor_is_for_those_that_take_it() {
        let plan = one_user_with(&[("timer.factor", "3")], 1, SAMPLER);
        let timers: [Arc<dyn TimerRole>; 2] =
            [Arc::new(Fixed(100, true)), Arc::new(Fixed(200, false))];
        let mut user = timed(plan, timers.into());
        let before = Instant::now();
        let due = due(&mut user).expect("there is a wait");
        assert!(before + ms(500) <= due && due <= Instant::now() + ms(500));
        assert_eq!(user.cx.intended, None);
    }

    #[test]
    fn timers_move_the_intended_start_of_an_arrival() {
        let mut user = timed(one_user(1, SAMPLER), vec![Arc::new(Fixed(40, false))]);
        let arrival = Instant::now() + ms(10_000);
        user.cx.arrival = Some(arrival);
        let due = due(&mut user).expect("there is a wait");
        assert_eq!(user.cx.intended, Some(arrival + ms(40)));
        assert!(due <= Instant::now() + ms(40));
    }

    #[test]
    fn a_timer_with_a_schedule_says_when_the_wait_ends() {
        let at = Instant::now() + ms(5_000);
        let timers: [Arc<dyn TimerRole>; 2] =
            [Arc::new(Scheduled(at, 30)), Arc::new(Fixed(20, false))];
        let mut user = timed(one_user(1, SAMPLER), timers.into());
        assert_eq!(due(&mut user), Some(at + ms(20)));
        assert_eq!(user.cx.intended, Some(at + ms(20)));
    }

    #[test]
    fn a_user_ends_rather_than_wait_past_its_end() {
        for (wait_ms, stays) in [(30_000, true), (90_000, false)] {
            let mut user = timed(one_user(1, SAMPLER), vec![Arc::new(Fixed(wait_ms, false))]);
            user.cx.facts.end_ms = Some(user.cx.clock().now_ms() + 60_000);
            assert_eq!(due(&mut user).is_some(), stays);
            assert_eq!(user.cx.alive, stays);
        }
    }

    #[test]
    fn an_ignored_sample_is_no_part_of_its_transaction() {
        let transaction = format!(
            r#"<TransactionController guiclass="g" testclass="TransactionController" testname="t"><boolProp name="TransactionController.parent">true</boolProp></TransactionController><hashTree>{SAMPLER}</hashTree>"#
        );
        let mut user = user_of_plan(one_user(1, &transaction));
        let journey = user.journey();
        let mut walker = user.walker(&journey);
        walker.initialize(0);
        assert_eq!(walker.next(0), Some(Step::Transaction(1)));
        for ignore in [true, false, true] {
            let sample = Sample {
                ignore,
                ..Sample::default()
            };
            hand_on(&mut user, Box::new(sample), Some(1), 1);
        }
        let run = user.walk.parent_transaction(1).expect("it is open");
        let result = run.take_result().expect("nobody has taken it");
        assert_eq!((result.0.children.len(), result.1), (1, 1));
    }

    /// Fails every result, with sub-results or not.
    struct Refusing(Template);

    impl Assertion for Refusing {
        fn check(&self, _: &mut AssertionView, _: &mut Sample) -> AssertionResult {
            AssertionResult {
                name: None,
                failure: true,
                error: false,
                message: None,
            }
        }

        fn scope(&self, _cx: &mut AssertionView) -> ResultScope {
            ResultScope::All
        }

        fn name(&self) -> &Template {
            &self.0
        }
    }

    #[test]
    fn assertions_judge_four_levels_of_sub_results() {
        let mut user = user_of_plan(one_user(1, SAMPLER));
        let refusing: Arc<dyn AssertionRole> = Arc::new(Refusing(Template::raw("r")));
        let mut result = Sample::default();
        for _ in 0..6 {
            result = Sample {
                children: vec![result],
                ..Sample::default()
            };
        }
        on_runtime(judge(&[refusing], &mut user.cx, &mut result));
        let levels = std::iter::successors(Some(&result), |sample| sample.children.first());
        let judged: Vec<usize> = levels.map(|sample| sample.assertions.len()).collect();
        assert_eq!(judged, [1, 1, 1, 1, 1, 0, 0]);
        assert!(!user.cx.last_sample_ok);
    }

    #[test]
    fn a_transaction_hears_the_samples_below_its_parent() {
        let transaction = |name: &str| {
            format!(
                r#"<TransactionController guiclass="g" testclass="TransactionController" testname="{name}"/><hashTree>{SAMPLER}</hashTree>"#
            )
        };
        let body = format!(
            r#"{}<GenericController guiclass="g" testclass="GenericController" testname="c"/><hashTree>{}</hashTree>"#,
            transaction("outer"),
            transaction("inner")
        );
        let plan = one_user(1, &body);
        let journey = &plan.journeys[0];
        let (outer, inner) = (1, 3);
        let (below_outer, below_inner) = ([1, 0], [3, 2, 0]);
        assert!(hears(journey, outer, &below_outer, None));
        assert!(hears(journey, outer, &below_inner, None));
        assert!(hears(journey, inner, &below_inner, None));
        assert!(!hears(journey, inner, &below_outer, None));
        assert!(!hears(journey, 0, &below_outer, None));
        // A parent transaction around the sample receives the sample itself.
        assert!(!hears(journey, inner, &below_inner, Some(inner)));
        assert!(hears(journey, inner, &below_inner, Some(outer)));
    }
}
