//! Free-Form Arrivals Thread Group (`com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup`): an Arrivals
//! Thread Group whose rate is a table.
//!
//! Properties: `Schedule`, rows of a rate at the beginning, a rate at the end and a length (numbers, per `Unit` and in
//! units), evaluated before the run; the rest as in the Arrivals Thread Group.

use super::GroupLoad;
use super::arrivals_thread_group::{free_form_rate, load};
use crate::decode::Decoder;

pub fn decode(d: &mut Decoder) -> GroupLoad {
    let rate = free_form_rate(d);
    load(d, rate)
}
