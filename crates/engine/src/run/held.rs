//! Counts of users that end before their time or after it. `early.rs` and `overruns.rs` interpret them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Mutex, OnceLock};

use crate::run::step::SamplerId;

/// Users that ended before the plan would have them end.
#[derive(Default)]
pub struct EarlyEnds {
    /// Users of the main thread groups that started.
    pub(super) started: AtomicU64,
    /// Those of them that ended before their first sampler.
    pub(super) without_sample: AtomicU64,
    /// Why the first user ended early.
    pub(super) first: OnceLock<String>,
    /// Whether any user's first sampler had its turn.
    pub(super) is_reached: AtomicBool,
    /// The wait of a user that ended because it would have outlasted its duration.
    pub(super) too_long: OnceLock<String>,
}

/// Where a user was when its thread group should have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldAt {
    /// Index of the thread group in the program.
    pub group: usize,
    /// The sampler at hand.
    pub sampler: SamplerId,
    /// Whether it was the timers before the sampler that held the user.
    pub is_in_timers: bool,
}

/// The users that were held at one place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldUsers {
    pub(super) count: u32,
    pub(super) longest_ms: i64,
}

/// Users that went on after the planned end of their thread group.
pub struct Overruns {
    /// The planned end of each group, in milliseconds since the epoch.
    pub(super) ends_ms: Box<[AtomicI64]>,
    pub(super) held: Mutex<BTreeMap<HeldAt, HeldUsers>>,
}
