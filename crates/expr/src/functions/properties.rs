//! `Property`, `Property2`, `SetProperty`, `IsPropDefined`, and `Env` of jmeter-plugins.

use crate::call::{Args, CallError, CallResult, NULL, Stateful, next_instance, store};
use crate::scope::Scope;
use crate::text::Text;

/// `__P`. If all arguments are constant, each thread caches the value until a property is set, because plans often use
/// it in the addresses of requests.
#[derive(Debug)]
pub(super) struct P {
    /// The cache key of a call with constant arguments.
    place: Option<u32>,
}

impl P {
    pub(super) fn prepare(
        args: Args<'_>,
        _: &mut dyn Scope,
    ) -> Result<Box<dyn Stateful>, CallError> {
        let is_constant = args.templates().iter().all(|arg| arg.literal().is_some());
        Ok(Box::new(P {
            place: is_constant.then(next_instance),
        }))
    }
}

impl Stateful for P {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let Some(slot) = self.place else {
            return p(args, scope);
        };
        match scope.properties().derived(slot) {
            Ok(known) => Ok(Text::Shared(known)),
            Err(version) => {
                let value = p(args, scope)?.into_value();
                scope.properties().keep_derived(version, slot, &value);
                Ok(Text::Shared(value))
            }
        }
    }

    fn reads_only_properties(&self) -> bool {
        self.place.is_some()
    }
}

/// The default value is `1`.
fn p<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let default = args.given(1, scope)?;
    let value = scope.properties().seen(&name).map(Text::Shared);
    Ok(trimmed(value.or(default).unwrap_or(Text::Literal("1"))))
}

/// `JMeterUtils.getPropDefault` also trims the default.
fn trimmed(text: Text<'_>) -> Text<'_> {
    let short = drumfire_java::text::trim(&text);
    if short.len() == text.len() {
        text
    } else {
        Text::Owned(short.to_owned())
    }
}

/// `__property`: the default value is the name.
pub(super) fn property<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let default = args.given(2, scope)?;
    let value = scope.properties().seen(&name).map(Text::Shared);
    let value = trimmed(value.or(default).unwrap_or(name));
    let variable = args.text(1, scope)?;
    store(&variable, &value, scope);
    Ok(value)
}

/// `__setProperty`: returns the former value only if the third argument is `true`.
pub(super) fn set_property<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let value = args.text(1, scope)?;
    let wants_former = args.text(2, scope)?.eq_ignore_ascii_case("true");
    let former = scope.properties().set(&name, value.as_str());
    match former {
        _ if !wants_former => Ok(Text::Literal("")),
        Some(former) => Ok(Text::Property(former)),
        None => Ok(NULL),
    }
}

/// `__isPropDefined`.
pub(super) fn is_prop_defined<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let defined = scope.properties().get(&name).is_some();
    Ok(Text::Literal(if defined { "true" } else { "false" }))
}

/// `__env`: the default value is the name.
pub(super) fn env<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let default = args.given(2, scope)?;
    let value = match std::env::var(&*name) {
        Ok(value) => Text::Owned(value),
        Err(_) => default.unwrap_or(name),
    };
    let variable = args.text(1, scope)?;
    store(&variable, &value, scope);
    Ok(value)
}
