//! Variables that an element sets each time it runs.

use drumfire_expr::Template;

use crate::run::context::Context;

/// Names and values, both as templates.
pub struct Assignments(pub Box<[(Template, Template)]>);

impl Assignments {
    /// All values are computed before the first variable is set.
    pub fn apply(&self, cx: &mut Context) {
        let computed: Vec<_> = self
            .0
            .iter()
            .map(|(name, value)| (name.eval(cx).into_string(), value.eval(cx).into_value()))
            .collect();
        for (name, value) in computed {
            cx.vars.set_named(&name, value);
        }
    }
}
