//! Connections that carry several exchanges at once: those of HTTP/2 and HTTP/3.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Instant;

use tokio::sync::Mutex;

use crate::target::Target;
use crate::worker::{Counters, add};

/// Where a connection leads, and since when and until when.
pub(crate) struct ConnectionLifetime {
    pub target: Target,
    pub opened: Instant,
    pub idle_since: Cell<Instant>,
    pub expires: Cell<Option<Instant>>,
}

impl ConnectionLifetime {
    pub fn new(target: Target, opened: Instant) -> Self {
        Self {
            target,
            opened,
            idle_since: Cell::new(opened),
            expires: Cell::new(None),
        }
    }
}

/// A connection for several exchanges.
pub(crate) trait Carrier {
    fn lifetime(&self) -> &ConnectionLifetime;

    /// No exchange is under way.
    fn is_idle(&self) -> bool;

    /// No exchange can go on.
    fn is_over(&self) -> bool;

    /// Takes in what came while nobody was waiting, and says whether new exchanges are welcome.
    fn is_fit(&self) -> bool;

    /// Takes no new exchanges; says good-bye if none is under way.
    fn close(&self);
}

/// A user's connections of one kind, in use or not.
pub(crate) struct Carriers<C> {
    open: Vec<Rc<C>>,
    /// Where connections are being opened.
    opening: Vec<(Target, Weak<Mutex<()>>)>,
}

impl<C> Default for Carriers<C> {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            opening: Vec::new(),
        }
    }
}

impl<C: Carrier> Carriers<C> {
    /// The connection to `target`, if there is one that takes more exchanges. Others met on the way are let go.
    pub fn find(&mut self, target: &Target, counts: &Counters) -> Option<Rc<C>> {
        let mut at = self.open.len();
        while at > 0 {
            at -= 1;
            let carrier = &self.open[at];
            let lifetime = carrier.lifetime();
            if lifetime.target != *target {
                continue;
            }
            let expired = lifetime
                .expires
                .get()
                .is_some_and(|at| Instant::now() >= at);
            if !expired && carrier.is_fit() {
                return Some(carrier.clone());
            }
            let why = match expired {
                true => &counts.expired,
                false => &counts.stale,
            };
            add(why, 1);
            counts.closed(!expired);
            self.open.remove(at).close();
        }
        None
    }

    pub fn add(&mut self, carrier: Rc<C>) {
        self.open.push(carrier);
    }

    /// The connection takes no more exchanges.
    pub fn drop(&mut self, carrier: &Rc<C>, by_peer: bool, counts: &Counters) {
        let at = self.open.iter().position(|own| Rc::ptr_eq(own, carrier));
        if let Some(at) = at {
            counts.closed(by_peer);
            self.open.remove(at).close();
        }
    }

    pub fn close_all(&mut self, counts: &Counters) {
        for carrier in std::mem::take(&mut self.open) {
            counts.closed(false);
            carrier.close();
        }
    }

    pub fn idle_count(&self) -> usize {
        self.open.iter().filter(|carrier| carrier.is_idle()).count()
    }

    /// Held by whoever opens a connection to `target`.
    pub fn turn_to_open(&mut self, target: &Target) -> Rc<Mutex<()>> {
        let opening = &mut self.opening;
        opening.retain(|(_, turn)| turn.strong_count() > 0);
        let known = opening.iter().find(|(own, _)| own == target);
        if let Some(turn) = known.and_then(|(_, turn)| turn.upgrade()) {
            return turn;
        }
        let turn = Rc::new(Mutex::new(()));
        opening.push((target.clone(), Rc::downgrade(&turn)));
        turn
    }
}
