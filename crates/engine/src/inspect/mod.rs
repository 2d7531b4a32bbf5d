//! The reports of `drumfire check`, `plan` and `doctor` on a plan.

pub mod advice;
pub mod demand;
pub mod describe;
pub mod java_runs;
pub mod labels;
pub mod plan_files;
pub mod preflight;
pub mod split;
pub mod survey;
