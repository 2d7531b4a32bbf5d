//! Coordination with the other machines of a run: when groups start, which rows of shared data belong to this machine, and how
//! many users run in total.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use drumfire_expr::Properties;

use crate::run::share::{Share, Slots};

/// The thread groups of a run that start together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupPhase {
    Main,
    TearDown,
}

/// Whether thread groups may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartGate {
    /// Not yet.
    Closed,
    /// At this time, in milliseconds since the Unix epoch on the run's clock.
    OpensAt(i64),
}

/// The users of a lost machine that this one takes over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    pub slots: Slots,
    /// From when on, in milliseconds since the Unix epoch on the run's clock.
    pub from_ms: i64,
}

/// A request for places of something that all machines of a run count or read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest<'a> {
    /// Its name in the run.
    pub element: &'a str,
    /// How many places one pass has; `None` if it is endless.
    pub length: Option<u64>,
    /// Another pass follows the last place.
    pub is_recycled: bool,
}

/// Places that belong to this machine alone, counted over all passes; empty at the end.
pub type Lease = Range<u64>;

/// The run's coordination with other machines.
pub trait Fleet: Send + Sync + fmt::Debug {
    /// Whether a phase may start. The run polls this until the gate opens, with the current properties.
    fn gate(&self, phase: GroupPhase, properties: &Properties) -> StartGate;

    /// Takes places of something shared. May block on the network, for some seconds at most.
    ///
    /// # Errors
    /// Why there are none.
    fn lease(&self, request: &LeaseRequest<'_>) -> Result<Lease, LeaseError>;

    /// Users that run on all machines: those of a thread group, or all; `None` if that is not known.
    fn active_users(&self, group: Option<usize>) -> Option<u32>;

    /// Reports that users of this machine begin, `late` after the moment at which all machines start.
    fn begun(&self, late: Duration);

    /// Users of lost machines to take over, since the last call.
    fn take_adoptions(&self) -> Vec<Adoption>;
}

/// Why a machine got no places of something shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseError {
    /// [`LeaseRequest::element`].
    pub element: String,
    /// How long this machine tried, and why it failed; `None` if nothing answered.
    pub tried: Option<(Duration, String)>,
}

impl fmt::Display for LeaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "got no row of `{}`", self.element)?;
        match &self.tried {
            Some((time, why)) => write!(f, " for {} s: {why}", time.as_secs()),
            None => f.write_str(": nothing answered"),
        }
    }
}

impl std::error::Error for LeaseError {}

/// Places of something shared that this process takes one after the other.
#[derive(Debug, Default)]
pub struct Leased(Mutex<Lease>);

impl Leased {
    /// The next place that belongs to this machine, counted over all passes; `None` at the end.
    ///
    /// # Errors
    /// Why there is none.
    pub fn next(
        &self,
        fleet: &dyn Fleet,
        request: &LeaseRequest<'_>,
    ) -> Result<Option<u64>, LeaseError> {
        let mut lease = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lease.is_empty() {
            *lease = fleet.lease(request)?;
        }
        Ok(lease.next())
    }
}

/// The counters that function calls of a plan share, by the number of the call.
#[derive(Debug, Default)]
pub struct LeasedCounts(Mutex<HashMap<u32, Arc<Leased>>>);

impl LeasedCounts {
    /// The counter of a call.
    pub fn of(&self, instance: u32) -> Arc<Leased> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.entry(instance).or_default().clone()
    }
}

/// This machine's part of the run.
#[derive(Default)]
pub struct MachinePart {
    pub share: Share,
    pub fleet: Option<Arc<dyn Fleet>>,
    /// Counts of `__counter`.
    pub counts: LeasedCounts,
    /// The share's slots and those that were taken over.
    slots: RwLock<Slots>,
}

impl MachinePart {
    pub fn new(share: Share, fleet: Option<Arc<dyn Fleet>>) -> MachinePart {
        MachinePart {
            slots: RwLock::new(share.slots.clone()),
            share,
            fleet,
            counts: LeasedCounts::default(),
        }
    }

    /// The slots that belong to this machine now.
    pub fn slots(&self) -> Slots {
        self.slots
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// This machine's part of a rate.
    pub fn fraction(&self) -> f64 {
        if !self.share.is_part() {
            return 1.0;
        }
        let slots = self.slots.read();
        slots.unwrap_or_else(PoisonError::into_inner).fraction()
    }

    /// Takes over the users and rates of these slots.
    pub fn adopt(&self, more: &Slots) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        *slots = slots.with(more);
    }

    /// The other machines, if shared data and counters must be leased from them.
    pub fn shared_with(&self) -> Option<&dyn Fleet> {
        self.fleet.as_deref().filter(|_| self.share.is_part())
    }

    /// The other machines, as [`MachinePart::shared_with`] returns them, in an owned handle.
    pub fn sharing(&self) -> Option<Arc<dyn Fleet>> {
        self.fleet.clone().filter(|_| self.share.is_part())
    }

    /// Users that run on all machines, where they are known.
    pub fn active_users(&self, group: Option<usize>) -> Option<u32> {
        self.shared_with()?.active_users(group)
    }
}
