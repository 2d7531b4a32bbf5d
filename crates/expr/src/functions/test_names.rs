//! `SamplerName`, `TestPlanName`, `ThreadGroupName`, `ThreadNumber`, and `IterationNum` of
//! jmeter-plugins.

use crate::call::{Args, CallResult};
use crate::scope::Scope;
use crate::text::Text;

/// `__samplerName`: empty outside a sampler.
pub(super) fn sampler_name<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = scope.sampler_name().unwrap_or_default();
    args.store(0, &name, scope)?;
    Ok(Text::Shared(name))
}

/// `__TestPlanName`.
pub(super) fn test_plan_name<'a>(_: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    Ok(Text::Owned(scope.test_plan_name().to_owned()))
}

/// `__threadGroupName`.
pub(super) fn thread_group_name<'a>(_: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    Ok(Text::Owned(scope.thread_group_name().to_owned()))
}

/// `__threadNum`: the part of the thread's name after the last hyphen.
pub(super) fn thread_num<'a>(_: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = scope.thread_name();
    let number = name
        .rsplit_once('-')
        .map(|(_, number)| number)
        .unwrap_or(name);
    Ok(Text::Owned(number.to_owned()))
}

/// `__iterationNum`.
pub(super) fn iteration_num<'a>(_: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    Ok(Text::Owned(scope.iteration().to_string()))
}
