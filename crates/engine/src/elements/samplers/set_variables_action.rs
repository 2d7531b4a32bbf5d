//! Set Variables Action (`kg.apc.jmeter.control.sampler.SetVariablesAction`): sets variables and makes no
//! sample.
//!
//! Property: `SetVariablesAction`, a table of names and values.

use drumfire_elements::samplers::set_variables_action as facts;
use drumfire_expr::Template;

use crate::decode::Decoder;
use crate::elements::arguments::assignments;
use crate::run::assignments::Assignments;
use crate::run::context::Context;
use crate::run::sampler::{Sampler, SamplerTurn};

pub struct SetVariablesAction(Assignments);

pub fn decode(d: &mut Decoder) -> SetVariablesAction {
    SetVariablesAction(assignments(d, facts::VARIABLES.name))
}

impl Sampler for SetVariablesAction {
    fn turn<'a>(&'a self, cx: &'a mut Context, _: &'a Template) -> SamplerTurn<'a> {
        self.0.apply(cx);
        SamplerTurn::Done(None)
    }
}
