//! Synchronizing Timer (`SyncTimer`): holds users until a number of them have arrived, then releases them at once.
//!
//! Properties: `groupSize` (evaluated once, before the run; 0 means all users of the thread group), `timeoutInMs` (0
//! waits until the thread group's schedule ends). When one user's time is up, all waiting users continue
//! (`CyclicBarrier`). If several machines run the plan, each gathers its part of the group among its own users.
//! Difference: a shutdown ends the wait; in JMeter it lasts until the missing users arrive.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drumfire_elements::timers::synchronizing_timer as facts;
use drumfire_expr::{Raised, Template};
use drumfire_java::values;
use tokio::sync::Semaphore;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::roles::{Act, TimerRole};
use crate::run::view::TimerView;

struct SyncTimer {
    name: Template,
    /// Evaluated for each sample, too, without effect.
    group_size: Template,
    timeout: Template,
    barrier: Barrier,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let (group_size, timeout) = (
        d.template(facts::GROUP_SIZE.name),
        d.template(facts::TIMEOUT.name),
    );
    let whole = values::property_int(&d.now(&group_size));
    d.now(&timeout); // JMeter prepares the timer when the test starts
    let share = &d.settings().share;
    let (slots, machines) = (share.slots.clone(), share.count);
    let size = match u32::try_from(whole) {
        Ok(users) => slots.users_of(users) as i32,
        Err(_) => whole,
    };
    if whole > 0 && size == 0 {
        let message = format!(
            "Synchronizing Timer '{}' gathers {whole} users, which {machines} agents cannot share",
            d.element.name
        );
        d.refuse(
            "sync-timer-agents",
            message,
            "raise `groupSize` to the number of agents or more, or use fewer agents",
        );
    }
    if size < 0 {
        let message = format!(
            "Synchronizing Timer '{}' has a negative group size: {size}",
            d.element.name
        );
        d.refuse(
            "sync-timer-size",
            message,
            "JMeter does not start such a plan; use 0 for all users of the thread group",
        );
    }
    Roles::timer(SyncTimer {
        name: d.name(),
        group_size,
        timeout,
        barrier: Barrier::new(size.max(0) as u32),
    })
}

impl TimerRole for SyncTimer {
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
        Act::wait(async {
            self.wait(cx).await;
            0
        })
    }
}

impl SyncTimer {
    /// `SyncTimer#delay`.
    async fn wait(&self, cx: &mut TimerView) {
        self.group_size.repeat(cx, 1);
        let timeout_ms = values::property_long(&self.timeout.eval(cx));
        if timeout_ms < 0 {
            self.barrier.release();
            let name = self.name.eval(cx).into_string();
            cx.raise(Raised::exception(format!(
                "java.lang.IllegalArgumentException: Negative value for timeout:{timeout_ms} in Synchronizing Timer {name}"
            )));
            return;
        }
        if cx.interrupted {
            self.barrier.release();
            return;
        }
        let group_threads = match cx.shared().supplies.get(cx.group) {
            Some(_) => {
                let users = cx.shared().shape(cx.group).users();
                cx.shared().part.slots().users_of(users)
            }
            None => 1,
        };
        let Some(meeting) = self.barrier.arrive(group_threads) else {
            return;
        };
        let limit_ms = wait_ms(
            timeout_ms,
            cx.end_ms.map(|end_ms| end_ms - cx.clock().now_ms()),
        );
        let stop = cx.stopped();
        if !cx.running() {
            self.barrier.break_up(&meeting);
            return;
        }
        tokio::select! {
            biased;
            _ = meeting.acquire() => {} // an error means that the semaphore was closed, which releases the users
            () = after(limit_ms) => {
                if self.barrier.break_up(&meeting) {
                    let name = self.name.eval(cx);
                    tracing::warn!("SyncTimer {} timeouted waiting for users after: {timeout_ms}ms", &*name);
                }
            }
            () = stop => {
                self.barrier.break_up(&meeting);
            }
        }
    }
}

/// How long to wait: `TimerService#adjustDelay`. `None` means without limit.
fn wait_ms(timeout_ms: i64, until_end_ms: Option<i64>) -> Option<u64> {
    let own_ms = (timeout_ms > 0).then_some(timeout_ms);
    let ms = match (own_ms, until_end_ms) {
        (Some(own_ms), Some(end_ms)) => own_ms.min(end_ms),
        (own_ms, end_ms) => own_ms.or(end_ms)?,
    };
    Some(ms.max(0) as u64)
}

async fn after(ms: Option<u64>) {
    match ms {
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => std::future::pending().await,
    }
}

/// The users that wait together; it is closed to release them.
type Meeting = Arc<Semaphore>;

/// Java's `CyclicBarrier`, for users of all workers.
struct Barrier(Mutex<BarrierState>);

struct BarrierState {
    /// How many must arrive; 0 until the first user says how many its thread group has.
    parties: u32,
    waiting: u32,
    meeting: Meeting,
}

impl BarrierState {
    fn release(&mut self) {
        self.waiting = 0;
        std::mem::replace(&mut self.meeting, Arc::new(Semaphore::new(0))).close();
    }
}

impl Barrier {
    fn new(parties: u32) -> Barrier {
        Barrier(Mutex::new(BarrierState {
            parties,
            waiting: 0,
            meeting: Arc::new(Semaphore::new(0)),
        }))
    }

    fn state(&self) -> MutexGuard<'_, BarrierState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A user arrives. Returns `None` for the last one, which releases all.
    fn arrive(&self, group_threads: u32) -> Option<Meeting> {
        let mut state = self.state();
        if state.parties == 0 {
            state.parties = group_threads.max(1);
        }
        state.waiting += 1;
        if state.waiting >= state.parties {
            state.release();
            return None;
        }
        Some(state.meeting.clone())
    }

    /// Releases all waiting users.
    fn release(&self) {
        self.state().release();
    }

    /// Releases all users of that meeting; false if they are already released.
    fn break_up(&self, meeting: &Meeting) -> bool {
        let mut state = self.state();
        let is_open = Arc::ptr_eq(&state.meeting, meeting);
        if is_open {
            state.release();
        }
        is_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    fn timer(size: &str, timeout: &str) -> (Roles, Context) {
        let xml = format!(
            r#"<SyncTimer guiclass="TestBeanGUI" testclass="SyncTimer" testname="s"><intProp name="groupSize">{size}</intProp><longProp name="timeoutInMs">{timeout}</longProp></SyncTimer>"#
        );
        fixture::decode(&xml, decode)
    }

    fn run(roles: &Roles, cx: &mut Context) {
        let timer = roles.timer.clone().expect("it is a timer");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime can be built");
        runtime.block_on(timer.turn(View::of(cx)).finish());
    }

    #[test]
    fn the_last_one_lets_all_go_and_the_next_meeting_begins() {
        let barrier = Barrier::new(3);
        let first = barrier.arrive(9).expect("two are missing");
        let second = barrier.arrive(9).expect("one is missing");
        assert!(Arc::ptr_eq(&first, &second) && !first.is_closed());
        assert!(barrier.arrive(9).is_none());
        assert!(first.is_closed());
        assert!(!barrier.break_up(&first), "it is over");
        assert!(!barrier.arrive(9).expect("two are missing").is_closed());
    }

    #[test]
    fn size_0_is_the_thread_groups() {
        let barrier = Barrier::new(0);
        assert!(barrier.arrive(2).is_some());
        assert!(barrier.arrive(5).is_none(), "the first group's size stays");
        assert!(Barrier::new(0).arrive(1).is_none());
    }

    #[test]
    fn one_who_waits_no_longer_lets_all_go() {
        let barrier = Barrier::new(3);
        let meeting = barrier.arrive(3).expect("two are missing");
        barrier.arrive(3);
        assert!(barrier.break_up(&meeting));
        assert!(meeting.is_closed());
        assert!(barrier.arrive(3).is_some());
    }

    #[test]
    fn the_schedule_limits_the_wait() {
        assert_eq!(wait_ms(0, None), None);
        assert_eq!(wait_ms(0, Some(70)), Some(70));
        assert_eq!(wait_ms(50, Some(70)), Some(50));
        assert_eq!(wait_ms(50, Some(-3)), Some(0));
    }

    #[test]
    fn the_wait_ends_after_the_timeout() {
        let (roles, mut cx) = timer("2", "30");
        let start = std::time::Instant::now();
        run(&roles, &mut cx);
        assert!(start.elapsed() >= Duration::from_millis(30));
        assert_eq!(cx.take_raised().map(|raised| raised.to_string()), None);
    }

    #[test]
    fn a_negative_timeout_throws() {
        let (roles, mut cx) = timer("2", "-1");
        run(&roles, &mut cx);
        let Some(Raised::Exception(message)) = cx.take_raised() else {
            panic!("it throws")
        };
        let message = message.to_string();
        assert!(
            message.ends_with("Negative value for timeout:-1 in Synchronizing Timer s"),
            "{message}"
        );
    }
}
