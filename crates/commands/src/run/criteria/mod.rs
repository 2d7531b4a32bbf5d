//! The criteria that decide whether a run was good: thresholds, an earlier run, and judges that may end it.

pub mod baseline;
pub mod guards;
pub mod judge;
pub mod thresholds;
pub mod until;
