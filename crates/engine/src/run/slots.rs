//! Slots for the state of samplers in a run, its workers and its users. Their content is opaque to the run. HTTP stores its
//! connections, caches and credentials in them.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::Properties;
use drumfire_health::Segments;
use drumfire_platform::message_error;
use drumfire_results::Connections;

message_error! {
    /// Why servers cannot be verified: the certificates that the user names cannot be used.
    pub struct TrustError;
}

/// Opens the slot of a run.
///
/// # Errors
/// Why nothing can be sent.
pub type OpenSlot = fn(&Properties) -> Result<Arc<dyn RunSlot>, TrustError>;

/// The samplers' state of a run.
pub trait RunSlot: Any + Send + Sync {
    fn worker(self: Arc<Self>) -> Rc<dyn WorkerSlot>;
    /// Takes the new hints about failures of this machine or of the targets.
    fn take_news(&self) -> Vec<String>;
    /// Whether local ports have run out.
    fn ports_ran_out(&self) -> bool;
}

/// The samplers' state of a worker.
pub trait WorkerSlot: Any {
    fn user(&self) -> Box<dyn UserSlot>;
    /// The traffic of connections so far.
    fn traffic(&self) -> Traffic;
    /// Targets that requests went to since the last call, each with its port.
    fn targets(&self) -> Vec<String>;
    /// Ports of this machine that requests went to.
    fn local_ports(&self) -> Vec<u16>;
}

/// The traffic of a worker's connections so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    pub connections: Connections,
    /// Their TCP segments.
    pub segments: Segments,
}

/// The samplers' state of a user.
pub trait UserSlot: Any {
    /// Called when a sampler's turn begins; `is_request` says whether pre-processors may change it.
    fn begin_sample(&mut self, is_request: bool);
    /// Called when an iteration of the thread group begins.
    fn begin_iteration(&mut self, is_same_user: bool, resets_state: bool);
    /// The slot of a user that runs a child of a Parallel Controller.
    fn branch(&self) -> Box<dyn UserSlot>;
    /// Takes over the state of such a user when it has ended.
    fn rejoin(&mut self, branch: &dyn UserSlot);
    /// Whether JMeter would have the user's token among the variables now.
    fn has_token(&self) -> bool;
}
