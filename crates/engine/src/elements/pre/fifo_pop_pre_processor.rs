//! Inter-Thread Communication PreProcessor (`kg.apc.jmeter.modifiers.FifoPopPreProcessor`): takes the first value of a
//! queue into a variable, and waits while the queue is empty.
//!
//! Properties: `FifoName`, `Variable`, `Timeout` (seconds; no limit if empty; the property
//! `kg.apc.jmeter.functions.FifoTimeout` if the element has none). After the timeout the variable is removed.

use drumfire_elements::pre::fifo_pop as facts;
use drumfire_expr::{Raised, Template};
use drumfire_java::values::parse_long;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::roles::{Act, PreProcessorRole};
use crate::run::view::PreProcessorView;

/// `FifoMap#TIMEOUT_PROP`.
const TIMEOUT: &str = "kg.apc.jmeter.functions.FifoTimeout";

pub struct FifoPop {
    queue: Template,
    variable: Template,
    timeout: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let variable = d.template(facts::VARIABLE.name);
    if let Some(name) = variable.literal() {
        d.decoding.compiler.intern(name);
    }
    let timeout = d.optional(facts::TIMEOUT.name).unwrap_or_else(|| {
        let seconds = d.decoding.settings.properties.get_long(TIMEOUT, i64::MAX);
        Template::raw(&seconds.to_string())
    });
    Roles::pre(FifoPop {
        queue: d.template(facts::QUEUE.name),
        variable,
        timeout,
    })
}

impl PreProcessorRole for FifoPop {
    fn turn<'a>(&'a self, cx: &'a mut PreProcessorView) -> Act<'a> {
        Act::wait(self.take(cx))
    }
}

impl FifoPop {
    /// `FifoPopPreProcessor#process`.
    async fn take(&self, cx: &mut PreProcessorView) {
        let queue = self.queue.eval(cx).into_string();
        let timeout = self.timeout.eval(cx).into_string();
        let seconds = match &*timeout {
            "" => i64::MAX,
            text => match parse_long(text) {
                Some(seconds) => seconds,
                None => {
                    return cx.raise(Raised::exception(format!(
                        "java.lang.NumberFormatException: For input string: \"{text}\""
                    )));
                }
            },
        };
        let value = cx.first_value(&queue, seconds).await;
        let variable = self.variable.eval(cx).into_string();
        match value {
            Some(value) => cx.vars_mut().set_named(&variable, (&*value).into()),
            None => drop(cx.vars_mut().remove_named(&variable)),
        }
    }
}
