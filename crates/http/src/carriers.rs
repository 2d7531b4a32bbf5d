//! Connections that carry several exchanges at once: those of HTTP/2 and HTTP/3.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Instant;

use tokio::sync::Mutex;

use crate::target::Target;
use crate::worker::{Counters, add};

/// The target of a connection, when it was opened and last used, and when it expires.
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

/// A connection that can carry several exchanges at once.
pub(crate) trait Carrier {
    fn lifetime(&self) -> &ConnectionLifetime;

    /// Whether no exchange is under way.
    fn is_idle(&self) -> bool;

    /// Whether the connection is over, so that no exchange can continue.
    fn is_over(&self) -> bool;

    /// Processes what arrived while no exchange was waiting, and returns whether the connection accepts new
    /// exchanges.
    fn is_fit(&self) -> bool;

    /// Refuses new exchanges; says good-bye to the server if none is under way.
    fn close(&self);
}

/// A user's connections of one HTTP version, idle or busy.
pub(crate) struct Carriers<C> {
    open: Vec<Rc<C>>,
    /// Locks of the targets to which connections are being opened.
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
    /// Finds a connection to `target` that accepts more exchanges. Removes expired and stale ones that it
    /// meets.
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
            let why = if expired {
                &counts.expired
            } else {
                &counts.stale
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

    /// Removes a connection, which accepts no more exchanges.
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

    /// The lock to hold while opening a connection to `target`.
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
