//! A user that runs one child of a Parallel Controller (`JMeterThreadParallel`), with the variables, connections and cookies
//! of the user that it belongs to.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use drumfire_expr::Vars;
use drumfire_results::Sample;

use crate::run::step::ControllerId;

/// Links the user of a child to the user that it belongs to.
pub struct Branch {
    /// The loop around the child.
    pub root: ControllerId,
    /// How many children of the controller run now.
    pub live: Rc<Cell<u32>>,
    /// The user that it belongs to ends with it.
    pub stops_user: bool,
    /// The user's variables, which all children change.
    pub board: Rc<RefCell<Vars>>,
    /// Samples that become part of the controller's own, if it makes one.
    pub collected: Option<Vec<Sample>>,
    /// Open transactions of the user.
    pub above: Vec<ControllerId>,
    /// Samples to add to those transactions.
    pub noted: Vec<(ControllerId, Sample)>,
}

impl Branch {
    /// Whether its samples become part of the controller's own.
    pub fn collects(&self) -> bool {
        self.collected.is_some()
    }

    /// Collects a sample that becomes part of the controller's own (`ParallelListenerNotifier`). Returns false if the
    /// controller makes none.
    pub fn collect(&mut self, sample: &Sample) -> bool {
        match &mut self.collected {
            Some(collected) => collected.push(sample.clone()),
            None => return false,
        }
        true
    }

    /// Records a sample for each transaction around the controller that receives it.
    pub fn note_above(&mut self, sample: &Sample, hears: impl Fn(ControllerId) -> bool) {
        for id in self.above.iter().copied().filter(|id| hears(*id)) {
            self.noted.push((id, sample.clone()));
        }
    }
}
