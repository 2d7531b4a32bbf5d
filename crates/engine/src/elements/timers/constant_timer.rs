//! Constant Timer (`ConstantTimer`): the same delay before each sampler in its scope.
//!
//! Property: `ConstantTimer.delay` in milliseconds; 0 if it is not a whole number. `timer.factor` does not apply.

use drumfire_elements::timers::constant_timer as facts;
use drumfire_expr::{Scope, Template};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::roles::Timer;

struct ConstantTimer {
    delay: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::timer(ConstantTimer {
        delay: d.template(facts::DELAY.name),
    })
}

impl Timer for ConstantTimer {
    fn delay_ms(&self, cx: &mut dyn Scope) -> i64 {
        crate::base::number::long(&self.delay.eval(cx))
    }
}
