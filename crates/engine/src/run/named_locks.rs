//! The locks of Critical Section Controllers (`CriticalSectionController#LOCK_MAP`): one for each name, shared by all users of
//! the run. Like Java's `ReentrantLock`, a lock counts how often its user has taken it. Waiting users are woken in turn, but
//! lose against a user that takes the free lock without waiting.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The owner of a lock: a thread group and the number of a user in it.
pub type LockUser = (u32, u32);

/// All locks of a run.
#[derive(Default)]
pub struct NamedLocks(Mutex<HashMap<String, Arc<NamedLock>>>);

impl NamedLocks {
    /// The lock of that name, created on first use.
    pub fn get(&self, name: &str) -> Arc<NamedLock> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match locks.get(name) {
            Some(lock) => lock.clone(),
            None => locks.entry(name.to_owned()).or_default().clone(),
        }
    }
}

/// One lock.
#[derive(Default)]
pub struct NamedLock(Mutex<LockState>);

#[derive(Default)]
struct LockState {
    owner: Option<LockUser>,
    holds: u32,
    queue: VecDeque<Arc<Notify>>,
}

impl LockState {
    fn take(&mut self, user: LockUser) -> bool {
        if self.owner.is_some_and(|owner| owner != user) {
            return false;
        }
        self.owner = Some(user);
        self.holds += 1;
        true
    }

    fn wake_first(&self) {
        if self.owner.is_none()
            && let Some(first) = self.queue.front()
        {
            first.notify_one();
        }
    }
}

impl NamedLock {
    fn state(&self) -> MutexGuard<'_, LockState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if it is free or the user holds it already.
    pub fn try_take(&self, user: LockUser) -> bool {
        self.state().take(user)
    }

    /// Waits until the user has the lock. A user that stops waiting loses the place in the queue.
    pub async fn take(&self, user: LockUser) {
        let mut place = None;
        loop {
            let turn = {
                let mut state = self.state();
                if state.take(user) {
                    return;
                }
                place
                    .get_or_insert_with(|| QueuePlace::join(self, &mut state))
                    .turn
                    .clone()
            };
            turn.notified().await;
        }
    }

    pub fn is_held_by(&self, user: LockUser) -> bool {
        self.state().owner == Some(user)
    }

    fn give_back(&self, user: LockUser) {
        let mut state = self.state();
        if state.owner != Some(user) {
            return;
        }
        state.holds -= 1;
        if state.holds == 0 {
            state.owner = None;
            state.wake_first();
        }
    }
}

/// A place in the queue of a lock, until it is dropped.
struct QueuePlace<'l> {
    lock: &'l NamedLock,
    turn: Arc<Notify>,
}

impl<'l> QueuePlace<'l> {
    fn join(lock: &'l NamedLock, state: &mut LockState) -> QueuePlace<'l> {
        let turn = Arc::new(Notify::new());
        state.queue.push_back(turn.clone());
        QueuePlace { lock, turn }
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut state = self.lock.state();
        state.queue.retain(|turn| !Arc::ptr_eq(turn, &self.turn));
        state.wake_first();
    }
}

/// A controller's hold of a lock that its user took (`CriticalSectionController#currentLock`). Dropping it gives back
/// one of the user's holds.
pub struct Held {
    lock: Arc<NamedLock>,
    user: LockUser,
}

impl Held {
    /// For a lock that the user has just taken, or is about to take.
    pub fn new(lock: Arc<NamedLock>, user: LockUser) -> Held {
        Held { lock, user }
    }

    pub fn lock(&self) -> &Arc<NamedLock> {
        &self.lock
    }

    /// Whether the user still has the lock.
    pub fn is_locked(&self) -> bool {
        self.lock.is_held_by(self.user)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.lock.give_back(self.user);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const ONE: LockUser = (0, 1);
    const TWO: LockUser = (0, 2);
    const THREE: LockUser = (1, 1);

    fn is_ready(future: std::pin::Pin<&mut impl Future<Output = ()>>) -> bool {
        future.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    #[test]
    fn a_lock_is_its_users_as_often_as_taken() {
        let locks = NamedLocks::default();
        let lock = locks.get("a");
        assert!(lock.try_take(ONE) && lock.try_take(ONE));
        let (outer, inner) = (
            Held::new(locks.get("a"), ONE),
            Held::new(locks.get("a"), ONE),
        );
        drop(inner);
        assert!(outer.is_locked() && !lock.try_take(TWO));
        drop(outer);
        assert!(lock.try_take(TWO));
        assert!(locks.get("b").try_take(ONE), "another name is another lock");
    }

    #[test]
    fn waiting_users_get_the_lock_in_turn() {
        let lock = NamedLock::default();
        assert!(lock.try_take(ONE));
        let (mut second, mut third) = (pin!(lock.take(TWO)), pin!(lock.take(THREE)));
        assert!(!is_ready(second.as_mut()) && !is_ready(third.as_mut()));
        lock.give_back(ONE);
        assert!(!is_ready(third.as_mut()));
        assert!(is_ready(second.as_mut()));
        lock.give_back(TWO);
        assert!(is_ready(third.as_mut()));
    }

    #[test]
    fn a_user_that_comes_back_at_once_is_faster_than_one_that_waits() {
        let lock = NamedLock::default();
        assert!(lock.try_take(ONE));
        let mut second = pin!(lock.take(TWO));
        assert!(!is_ready(second.as_mut()));
        lock.give_back(ONE);
        assert!(lock.try_take(ONE));
        assert!(!is_ready(second.as_mut()));
        lock.give_back(ONE);
        assert!(is_ready(second.as_mut()));
    }

    #[test]
    fn users_that_give_up_let_the_next_one_in() {
        let lock = NamedLock::default();
        assert!(lock.try_take(ONE));
        let mut third = {
            let mut second = Box::pin(lock.take(TWO));
            let mut third = Box::pin(lock.take(THREE));
            assert!(!is_ready(second.as_mut()) && !is_ready(third.as_mut()));
            lock.give_back(ONE);
            third
        };
        assert!(is_ready(third.as_mut()));
    }

    #[test]
    fn giving_back_what_another_holds_does_nothing() {
        let lock = Arc::new(NamedLock::default());
        assert!(lock.try_take(ONE));
        drop(Held::new(lock.clone(), TWO));
        assert!(lock.is_held_by(ONE));
    }
}
