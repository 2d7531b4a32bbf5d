//! The numbers of a run without its warm-up, if the user wants them.

use drumfire_results::Recording;

/// The property that leaves the warm-up out of statistics.
pub const WITHOUT_WARM_UP: &str = "drumfire.without_warm_up";

/// The statistics that outputs show instead of those of the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledPart {
    /// The samples after the warm-up.
    pub recording: Recording,
    /// The part that was left out, in one sentence without its end.
    pub told: String,
}
