//! The queues of the Inter-Thread Communication plugin of jmeter-plugins: `FifoGet`, `FifoPop`,
//! `FifoPut`, `FifoSize` and `FifoMap`.
//!
//! Queues have no limit (`kg.apc.jmeter.functions.FifoCapacity`).

use crate::call::{Args, CallError, CallResult, NULL, Stateful, next_instance};
use crate::scope::Scope;
use crate::shared::fifos::PopRequest;
use crate::text::Text;

/// `__fifoPut`: returns the value.
pub(super) fn put<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let queue = args.text(0, scope)?;
    let value = args.text(1, scope)?;
    scope.properties().fifos().put(&queue, value.as_str());
    Ok(value)
}

/// `__fifoGet`: an empty text if the queue is empty.
pub(super) fn get<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let queue = args.text(0, scope)?;
    let value = scope
        .properties()
        .fifos()
        .peek(&queue)
        .map(Text::Property)
        .unwrap_or(Text::Literal(""));
    args.store(1, &value, scope)?;
    Ok(value)
}

/// `__fifoPop`: waits while the queue is empty. After a timeout it returns `null` and undefines the variable. Only one user at
/// a time can be in a call of the plan, because users share the function's object and `FifoPop#execute` is synchronized.
#[derive(Debug)]
pub(super) struct Pop {
    instance: u32,
    timeout_s: i64,
}

/// `FifoMap#TIMEOUT_PROP`.
const TIMEOUT: &str = "kg.apc.jmeter.functions.FifoTimeout";

impl Pop {
    pub(super) fn prepare(
        _: Args<'_>,
        scope: &mut dyn Scope,
    ) -> Result<Box<dyn Stateful>, CallError> {
        Ok(Box::new(Pop {
            instance: next_instance(),
            timeout_s: scope.properties().get_long(TIMEOUT, i64::MAX),
        }))
    }
}

impl Stateful for Pop {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let queue = args.text(0, scope)?;
        let request = PopRequest {
            queue: &queue,
            instance: self.instance,
            timeout_s: self.timeout_s,
        };
        let Some(value) = scope.pop(&request) else {
            let variable = args.trimmed(1, scope)?;
            scope.vars_mut().remove_named(&variable);
            return Ok(NULL);
        };
        args.store(1, &value, scope)?;
        Ok(Text::Property(value))
    }
}

/// `__fifoSize`.
pub(super) fn size<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let queue = args.text(0, scope)?;
    let size = scope.properties().fifos().len(&queue).to_string();
    args.store(1, &size, scope)?;
    Ok(Text::Owned(size))
}
