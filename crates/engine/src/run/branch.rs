//! A user that runs a child of a Parallel Controller (`JMeterThreadParallel`): one with the variables, connections and cookies
//! of the user that it belongs to.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use drumfire_expr::Vars;
use drumfire_results::Sample;

use crate::run::step::ControllerId;

/// The link to its user.
pub struct Branch {
    /// The loop around the child.
    pub root: ControllerId,
    /// How many children of the controller run now.
    pub live: Rc<Cell<u32>>,
    /// The user ends with it.
    pub stops_user: bool,
    /// The user's variables as all children change them.
    pub board: Rc<RefCell<Vars>>,
    /// Samples that become part of the controller's own, if it makes one.
    pub collected: Option<Vec<Sample>>,
    /// Open transactions of the user.
    pub above: Vec<ControllerId>,
    /// The sums to be made.
    pub noted: Vec<(ControllerId, Sample)>,
}

impl Branch {
    /// Whether its samples become part of another one.
    pub fn collects(&self) -> bool {
        self.collected.is_some()
    }

    /// Keeps a sample that becomes part of another one (`ParallelListenerNotifier`); false if it does not.
    pub fn collect(&mut self, sample: &Sample) -> bool {
        match &mut self.collected {
            Some(collected) => collected.push(sample.clone()),
            None => return false,
        }
        true
    }

    /// Keeps a sample for the transactions around the controller that hear it.
    pub fn note_above(&mut self, sample: &Sample, hears: impl Fn(ControllerId) -> bool) {
        for id in self.above.iter().copied().filter(|id| hears(*id)) {
            self.noted.push((id, sample.clone()));
        }
    }
}
