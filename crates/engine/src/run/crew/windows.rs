//! Starts users whose windows are known beforehand, and carries out orders for more or fewer users.

use std::time::Duration;

use super::{BATCH, Crew, Terms};
use crate::run::fleet::MoveKind;
use crate::run::schedule::{Shape, Window};

impl Crew {
    /// Starts each user when it is due. `windows` are sorted by their starts. An order for a number of users ends this
    /// schedule.
    pub(super) async fn windows(&mut self, windows: impl Iterator<Item = (u32, Window)>) {
        let (moved, at_ms) = (self.start.moved, self.start.at_ms);
        let group = &self.shared.program.groups[self.start.group];
        let keeps_users = moved.is_some_and(|(_, kind)| !group.moves_users(kind));
        // Another machine has run these to their end, or goes on with them.
        let is_over = |window: &Window| match (window.stop_ms, moved) {
            (_, Some((from_ms, MoveKind::Receive))) if keeps_users => {
                at_ms + window.start_ms < from_ms
            }
            (Some(stop_ms), Some((from_ms, _))) => at_ms + stop_ms <= from_ms,
            _ => false,
        };
        for (number, window) in windows.filter(|(_, window)| !is_over(window)) {
            let start_ms = at_ms + window.start_ms;
            let due_ms = moved.map_or(start_ms, |(from_ms, _)| start_ms.max(from_ms));
            if self.is_released(number, due_ms) {
                continue;
            }
            if !self.wait_for_start(due_ms).await {
                return;
            }
            // Another machine may have taken it over in the meantime.
            if self.is_released(number, due_ms) {
                continue;
            }
            let terms = Terms {
                end_ms: window.stop_ms.map(|stop_ms| self.start.at_ms + stop_ms),
                ..Terms::default()
            };
            self.start_user(number, terms);
        }
    }

    /// Waits until a user is due; false if no further user is to start.
    async fn wait_for_start(&self, due_ms: i64) -> bool {
        loop {
            let ordered = self.worker.orders.notified();
            if self.supply().order().is_some() {
                return false;
            }
            tokio::select! {
                go = self.wait_until(due_ms) => return go,
                () = ordered => {}
            }
        }
    }

    /// Waits until no worker has users of the group, and carries out orders meanwhile.
    pub(super) async fn attend(&mut self, shape: &Shape) {
        let (shared, worker) = (self.shared.clone(), self.worker.clone());
        let supply = &shared.supplies[self.start.group];
        let mut is_busy = true;
        loop {
            let (ordered, idle) = (worker.orders.notified(), supply.idle.notified());
            let stop = worker.stop.notified();
            self.obey(shape);
            let hold_ms = self.hold_ms(shape);
            let has_users = !self.running.is_empty() || self.missing > 0 || hold_ms.is_some();
            if is_busy && !has_users && supply.leave() {
                return;
            }
            if !is_busy && has_users {
                supply.enter();
            }
            is_busy = has_users;
            if self.missing > 0 {
                tokio::task::yield_now().await;
                continue;
            }
            if !has_users && (supply.is_idle() || self.is_stopping()) {
                return;
            }
            let hold = Duration::from_millis(hold_ms.unwrap_or_default());
            tokio::select! {
                Some(ended) = self.running.join_next() => self.report(ended),
                () = tokio::time::sleep(hold), if hold_ms.is_some() => {}
                () = ordered => {}
                () = idle => {}
                () = stop => {}
            }
        }
    }

    /// How long, in milliseconds, a group that was ordered to have no users waits for another order: until its time is over.
    fn hold_ms(&self, shape: &Shape) -> Option<u64> {
        let (_, 0) = self.supply().order()? else {
            return None;
        };
        let end_ms = self.start.at_ms + shape.end_ms()?;
        let left_ms = end_ms - self.shared.clock.now_ms();
        u64::try_from(left_ms)
            .ok()
            .filter(|left_ms| *left_ms > 0 && !self.is_stopping())
    }

    /// Starts users that an order asks for, or ends the surplus. It starts a few at a time, so that another order can replace this
    /// one at once; those that remain are [missing](Crew::missing).
    fn obey(&mut self, shape: &Shape) {
        let Some((number, users)) = self.supply().order() else {
            return;
        };
        let orders = (number, self.shared.part.carried_out());
        let is_new = std::mem::replace(&mut self.obeyed, orders) != orders;
        if self.is_stopping() {
            self.missing = 0;
            return;
        }
        let end_ms = shape.end_ms().map(|end_ms| self.start.at_ms + end_ms);
        let is_over = end_ms.is_some_and(|end_ms| end_ms <= self.shared.clock.now_ms());
        if is_new {
            self.begin_order(users);
        }
        if is_over {
            self.missing = 0;
        }
        let batch = self.missing.min(BATCH);
        self.missing -= batch;
        for _ in 0..batch {
            let number = shape.users() + self.take_number();
            let terms = Terms {
                end_ms,
                ..Terms::default()
            };
            self.start_user(number, terms);
        }
    }

    /// Counts the users that an order has to start or to end.
    fn begin_order(&mut self, users: u32) {
        while let Some(ended) = self.running.try_join_next() {
            self.report(ended);
        }
        let wanted = self.part_of(users);
        let surplus = self.running.len().saturating_sub(wanted);
        self.worker.set_surplus(self.start.group, surplus);
        self.missing = wanted.saturating_sub(self.running.len());
    }
}
