//! Coordination with the other machines of a run: when groups start, which rows of shared data belong to this machine, and how
//! many users run in total.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// A change of the users, arrivals and places that this machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub slots: Slots,
    /// From when on, in milliseconds since the Unix epoch on the run's clock.
    pub from_ms: i64,
    pub kind: MoveKind,
}

/// The effect of a move on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// It takes over from a machine that is gone, and starts all users of that one.
    Inherit,
    /// It takes over from machines that go on. Those keep users that have begun a fixed number of loops.
    Receive,
    /// Another machine takes over. This one keeps users that have begun a fixed number of loops.
    Release,
    /// Other machines take over because this one ends. They start all users, so this one keeps none; users that came for one
    /// arrival end their iteration.
    Leave,
}

impl MoveKind {
    /// Whether this machine gives slots away.
    pub fn is_loss(self) -> bool {
        matches!(self, MoveKind::Release | MoveKind::Leave)
    }
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

/// A request for rows of a file that another machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsRequest<'a> {
    /// The name under which the machines share the rows.
    pub element: &'a str,
    /// The file as this machine names it.
    pub file: &'a Path,
    pub reading: RowReading,
}

/// How rows are taken from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowReading {
    /// The name of the charset; blank for the usual one.
    pub encoding: String,
    /// Whether line ends inside quotes belong to a row.
    pub is_quoted: bool,
    /// The first line is not a row.
    pub skips_first_line: bool,
    /// Another pass follows the last row.
    pub is_recycled: bool,
}

/// The run's coordination with other machines.
pub trait Fleet: Send + Sync + fmt::Debug {
    /// Whether a phase may start. The run polls this until the gate opens, with the current properties.
    fn gate(&self, phase: GroupPhase, properties: &Properties) -> StartGate;

    /// Takes places of something shared. May block on the network, for some seconds at most.
    ///
    /// # Errors
    /// Why there are none.
    fn lease(&self, request: &LeaseRequest<'_>) -> Result<Lease, LeaseError>;

    /// Whether this machine runs the tearDown thread groups; it `leads` if it ran the setUp thread groups.
    fn tears_down(&self, leads: bool) -> bool {
        leads
    }

    /// Whether another machine has the rows of this file, of which this one has only the first.
    fn has_rows_of(&self, file: &Path) -> bool {
        let _ = file;
        false
    }

    /// Takes whole rows of a file that another machine has; none at the end. May block on the network, for some seconds at most.
    ///
    /// # Errors
    /// Why there are none.
    fn rows(&self, request: &RowsRequest<'_>) -> Result<String, LeaseError> {
        Err(LeaseError {
            element: request.element.to_owned(),
            tried: None,
        })
    }

    /// Users that run on all machines: those of a thread group, or all; `None` if that is not known.
    fn active_users(&self, group: Option<usize>) -> Option<u32>;

    /// Reports that users of this machine begin, `late` after the moment at which all machines start.
    fn begun(&self, late: Duration);

    /// When this machine gives all of its users away because it was told to end, in milliseconds since the Unix epoch on the run's
    /// clock. It is known here at once, before the move itself.
    fn leaves_ms(&self) -> Option<i64> {
        None
    }

    /// The moves that have become known since the last call. They may lie in the future.
    fn take_moves(&self) -> Vec<Move>;
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
    /// The slots that this machine has now.
    slots: RwLock<Slots>,
    /// All moves that are known, in the order in which they take effect.
    moves: RwLock<Vec<Move>>,
    /// How many of them have been carried out.
    carried_out: AtomicUsize,
}

impl MachinePart {
    pub fn new(share: Share, fleet: Option<Arc<dyn Fleet>>) -> MachinePart {
        MachinePart {
            slots: RwLock::new(share.slots.clone()),
            share,
            fleet,
            counts: LeasedCounts::default(),
            moves: RwLock::default(),
            carried_out: AtomicUsize::new(0),
        }
    }

    /// Those of a crew's slots that this machine has kept since it got them. If one comes back, it belongs to another crew.
    pub fn kept_of(&self, slots: &Slots, since_ms: i64) -> Slots {
        let moves = self.moves.read().unwrap_or_else(PoisonError::into_inner);
        let carried_out = moves.iter().take(self.carried_out());
        carried_out
            .filter(|change| change.kind.is_loss() && change.from_ms >= since_ms)
            .fold(slots.clone(), |kept, change| kept.without(&change.slots))
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

    /// Notes a move, which [`MachinePart::carry_out`] carries out when it is due.
    pub fn announce(&self, change: Move) {
        let mut moves = self.moves.write().unwrap_or_else(PoisonError::into_inner);
        let place = moves.partition_point(|known| known.from_ms <= change.from_ms);
        moves.insert(place, change);
    }

    /// Changes the users and rates that this machine has now.
    pub fn carry_out(&self, change: &Move) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        *slots = match change.kind {
            MoveKind::Release | MoveKind::Leave => slots.without(&change.slots),
            MoveKind::Inherit | MoveKind::Receive => slots.with(&change.slots),
        };
        self.carried_out.fetch_add(1, Ordering::AcqRel);
    }

    /// How many moves have been carried out.
    pub fn carried_out(&self) -> usize {
        self.carried_out.load(Ordering::Acquire)
    }

    /// Whether another machine has taken a number over after `since_ms`, at `due_ms` or before.
    pub fn is_released(&self, number: u64, since_ms: i64, due_ms: i64) -> bool {
        let moves = self.moves.read().unwrap_or_else(PoisonError::into_inner);
        moves.iter().any(|change| {
            change.kind.is_loss()
                && (since_ms..=due_ms).contains(&change.from_ms)
                && change.slots.rank(number).is_some()
        })
    }

    /// Which of these numbers, each with the time at which it is due, are those of this machine.
    pub fn count_of(&self, due: impl Iterator<Item = (u64, i64)>) -> u64 {
        let moves = self.moves.read().unwrap_or_else(PoisonError::into_inner);
        due.filter(|(number, due_ms)| {
            let first = self.share.slots.rank(*number).is_some();
            let due = moves.iter().take_while(|change| change.from_ms <= *due_ms);
            due.filter(|change| change.slots.rank(*number).is_some())
                .fold(first, |_, change| !change.kind.is_loss())
        })
        .count() as u64
    }

    /// Whether this machine has announced a move.
    pub fn has_moves(&self) -> bool {
        let moves = self.moves.read().unwrap_or_else(PoisonError::into_inner);
        !moves.is_empty()
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
