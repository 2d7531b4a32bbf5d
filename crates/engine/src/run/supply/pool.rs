//! Users of an Arrivals Thread Group that wait for the next arrival, in one pool for all workers
//! (`ArrivalsThreadGroup#poolThreads`), since one limit holds for all.

use std::time::Instant;

use tokio::sync::oneshot;

/// Users of one group that wait for an arrival, whichever worker they are on.
#[derive(Default)]
pub struct Pool {
    waiting: Vec<oneshot::Sender<Instant>>,
    /// Users that have not ended, including those that wait.
    users: i64,
    /// Workers that have arrivals of the group.
    expected: usize,
    /// Those of them whose arrivals are over.
    closed: usize,
    is_closed: bool,
}

/// The fate of an arrival.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A waiting user takes it.
    Taken,
    /// A new user is needed.
    Starts,
    /// It is left out because the limit of users is reached.
    LeftOut,
}

impl Pool {
    /// Adds a user that waits; `None` once no more arrivals come.
    pub fn enter(&mut self) -> Option<oneshot::Receiver<Instant>> {
        if self.is_closed {
            return None;
        }
        let (release, released) = oneshot::channel();
        self.waiting.push(release);
        Some(released)
    }

    /// Records that a user has ended.
    pub fn leave(&mut self) {
        self.users -= 1;
    }

    /// Gives an arrival that is due at `due` to a waiting user, or else counts a new user, unless the limit is reached.
    pub fn arrive(&mut self, due: Instant, limit: Option<i64>) -> Arrival {
        while let Some(user) = self.waiting.pop() {
            if user.send(due).is_ok() {
                return Arrival::Taken;
            }
        }
        if limit.is_some_and(|limit| self.users >= limit) {
            return Arrival::LeftOut;
        }
        self.users += 1;
        Arrival::Starts
    }

    /// Announces that this many more workers have arrivals.
    pub fn expect(&mut self, workers: usize) {
        self.expected += workers;
    }

    /// Records that a worker has no more arrivals. After the last worker, all waiting users end, and users that come later,
    /// too.
    pub fn close(&mut self) {
        self.closed += 1;
        if self.closed >= self.expected {
            self.is_closed = true;
            self.waiting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_takes_a_user_that_waits() {
        let mut pool = Pool::default();
        let due = Instant::now();
        assert_eq!(pool.arrive(due, None), Arrival::Starts);
        let mut gone = pool.enter();
        let mut waits = pool.enter().expect("the pool is open");
        drop(gone.take());
        assert_eq!(pool.arrive(due, None), Arrival::Taken);
        assert_eq!(waits.try_recv(), Ok(due));
        assert_eq!(pool.arrive(due, None), Arrival::Starts);
    }

    #[test]
    fn one_limit_holds_for_users_that_work_and_users_that_wait() {
        let mut pool = Pool::default();
        let due = Instant::now();
        assert_eq!(pool.arrive(due, Some(2)), Arrival::Starts);
        assert_eq!(pool.arrive(due, Some(2)), Arrival::Starts);
        assert_eq!(pool.arrive(due, Some(2)), Arrival::LeftOut);
        let _waits = pool.enter().expect("the pool is open");
        assert_eq!(pool.arrive(due, Some(2)), Arrival::Taken);
        pool.leave();
        assert_eq!(pool.arrive(due, Some(2)), Arrival::Starts);
        assert_eq!(pool.arrive(due, Some(2)), Arrival::LeftOut);
    }

    #[test]
    fn a_closed_pool_ends_those_that_wait_and_those_that_come() {
        let mut pool = Pool::default();
        pool.expect(2);
        let mut waits = pool.enter().expect("the pool is open");
        pool.close();
        assert_eq!(waits.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        pool.close();
        assert_eq!(waits.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert!(pool.enter().is_none());
    }
}
