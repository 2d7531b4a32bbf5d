//! The numbers of a run without its warm-up, if the user wants them.

use drumfire_results::Recording;

use crate::findings::WarmUp;

/// The property that leaves the warm-up out of statistics.
pub const WITHOUT_WARM_UP: &str = "drumfire.without_warm_up";

/// The statistics that outputs show instead of those of the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledPart {
    /// The samples after the warm-up.
    pub recording: Recording,
    /// What was left out, in one sentence without its end.
    pub told: String,
}

impl SettledPart {
    /// The part after the warm-up; without one, all of the run.
    pub fn of(recording: &Recording) -> SettledPart {
        match WarmUp::of(recording) {
            None => SettledPart {
                recording: recording.clone(),
                told: "no warm-up was found, so the numbers are those of the whole run".to_owned(),
            },
            Some(warm_up) => SettledPart {
                recording: recording.since(warm_up.span_ms.1),
                told: format!(
                    "the warm-up is left out of these numbers. {}; failures by kind are those of the whole run",
                    warm_up.text()
                ),
            },
        }
    }
}
