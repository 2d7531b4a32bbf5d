//! The queues of the Inter-Thread Communication plugin of jmeter-plugins: `FifoGet`, `FifoPop`,
//! `FifoPut`, `FifoSize` and `FifoMap`.
//!
//! In JMeter `__fifoPop` blocks the thread while the queue is empty. Here it returns at once, as if its time-out had passed:
//! blocking would stop all users of the worker. Queues have no limit (`kg.apc.jmeter.functions.FifoCapacity`).

use crate::call::{Args, CallResult, NULL};
use crate::scope::Scope;
use crate::text::Text;

/// `__fifoPut`: returns the value.
pub(super) fn put<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let queue = args.text(0, scope)?;
    let value = args.text(1, scope)?;
    scope.properties().fifos().put(&queue, value.as_str());
    Ok(value)
}

/// `__fifoGet`: empty if the queue is.
pub(super) fn get<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let queue = args.text(0, scope)?;
    let value = scope.properties().fifos().peek(&queue);
    let value = value.map_or(Text::Literal(""), Text::Property);
    args.store(1, &value, scope)?;
    Ok(value)
}

/// `__fifoPop`: `null`, and an undefined variable, if the queue is empty.
pub(super) fn pop<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let queue = args.text(0, scope)?;
    let Some(value) = scope.properties().fifos().pop(&queue) else {
        let variable = args.trimmed(1, scope)?;
        scope.vars_mut().remove_named(&variable);
        return Ok(NULL);
    };
    args.store(1, &value, scope)?;
    Ok(Text::Property(value))
}

/// `__fifoSize`.
pub(super) fn size<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let queue = args.text(0, scope)?;
    let size = scope.properties().fifos().len(&queue).to_string();
    args.store(1, &size, scope)?;
    Ok(Text::Owned(size))
}
