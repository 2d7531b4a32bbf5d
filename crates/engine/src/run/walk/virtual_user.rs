//! The driver of users of Concurrency and Arrivals Thread Groups (`VirtualUserController`).

use super::{ControllerId, Extra, Flow, VirtualUser, Walker};
use crate::run::schedule::Shape;

impl Walker<'_> {
    /// The part of `VirtualUserController#next` before `GenericController`'s.
    pub(super) fn begin_virtual_user(&mut self, id: ControllerId, user: &VirtualUser) {
        if self.state(id).break_loop || self.cx.limit_reached() {
            self.set_done(id);
            return;
        }
        let Extra::VirtualUser { arrived } = &mut self.state(id).extra else {
            return;
        };
        if !std::mem::replace(arrived, true) {
            self.state(id).count += 1;
            self.write_index(id);
            if user.arrives {
                self.cx.supply().arrive();
            }
        }
    }

    /// `VirtualUserController#nextIsNull`.
    pub(super) fn end_virtual_user(&mut self, id: ControllerId, user: &VirtualUser) -> Flow {
        let limit = crate::base::number::long(&user.iterations.eval(self.cx));
        let over = self.cx.limit_reached()
            || (limit > 0 && i64::from(self.state(id).count) >= limit)
            || self.has_too_much_concurrency();
        if over {
            self.set_done(id);
            return Flow::Give(None);
        }
        self.reinitialize(id);
        if user.arrives {
            // The user waits for its next arrival outside the walk.
            return Flow::Give(None);
        }
        Flow::Again
    }

    /// `ConcurrencyThreadGroup#tooMuchConcurrency`, with the current target.
    fn has_too_much_concurrency(&mut self) -> bool {
        let shared = self.cx.shared.clone();
        let Shape::Concurrency(concurrency) = shared.shape(self.cx.group) else {
            return false;
        };
        let target = concurrency.level(self.cx).target;
        let (active, _) = self.cx.shared.active_users(self.cx.group);
        f64::from(active) > target
    }
}
