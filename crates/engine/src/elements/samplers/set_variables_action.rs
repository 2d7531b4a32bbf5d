//! Set Variables Action (`kg.apc.jmeter.control.sampler.SetVariablesAction`): sets variables and has no sample.
//!
//! Property: `SetVariablesAction`, a table of names and values.

use crate::decode::Decoder;
use crate::elements::assignments;
use crate::run::assignments::Assignments;

pub fn decode(d: &mut Decoder) -> Assignments {
    assignments(d, "SetVariablesAction")
}
