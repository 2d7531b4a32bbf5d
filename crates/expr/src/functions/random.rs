//! `Random`, `RandomString`, `RandomFromMultipleVars` and `Uuid`.

use drumfire_java::Exception;
use drumfire_java::values::{parse_int, parse_long};

use crate::call::{Args, CallResult, not_a_number, store};
use crate::scope::{Raised, Scope};
use crate::text::Text;

/// `__Random`: includes both bounds, which must be numbers and in order.
pub(super) fn random<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let low = args.trimmed(0, scope)?;
    let low = parse_long(&low).ok_or_else(|| not_a_number(&low))?;
    let high = args.trimmed(1, scope)?;
    let high = parse_long(&high).ok_or_else(|| not_a_number(&high))?;
    if high < low || high == i64::MAX {
        return Err(bound_not_greater().into());
    }
    let number = scope.random().between(low, high).to_string();
    args.store(2, &number, scope)?;
    Ok(Text::Owned(number))
}

/// The exception of `ThreadLocalRandom.nextLong(origin, bound)` for an empty range.
pub(super) fn bound_not_greater() -> Exception {
    Exception::new(
        "java.lang.IllegalArgumentException",
        "bound must be greater than origin",
    )
}

/// `__RandomString`: the requested number of UTF-16 units, from the given characters or from all
/// assigned ones.
pub(super) fn string<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let length = args.text(0, scope)?;
    let length = parse_int(&length).ok_or_else(|| not_a_number(&length))?;
    let choice = args.trimmed(1, scope)?;
    let variable = args.trimmed(2, scope)?;
    let length = usize::try_from(length).map_err(|_| {
        Raised::exception(format!(
            "java.lang.IllegalArgumentException: Requested random string length {length} is less than 0."
        ))
    })?;
    let result = if choice.is_empty() {
        any_characters(length, scope)
    } else if choice.is_ascii() {
        let bytes = choice.as_bytes();
        let random = scope.random();
        (0..length)
            .map(|_| char::from(bytes[random.index(bytes.len())]))
            .collect()
    } else {
        let chars: Vec<char> = choice.chars().collect();
        let random = scope.random();
        (0..length)
            .map(|_| chars[random.index(chars.len())])
            .collect()
    };
    store(&variable, &result, scope);
    Ok(Text::Owned(result))
}

/// `RandomStringUtils.random(count)`: code points that are not unassigned, private or surrogates.
fn any_characters(length: usize, scope: &mut dyn Scope) -> String {
    use unicode_general_category::{GeneralCategory, get_general_category};
    let random = scope.random();
    let mut out = String::with_capacity(length * 3);
    let mut left = length;
    while left > 0 {
        let Some(c) = char::from_u32(random.below(0x11_0000) as u32) else {
            continue;
        };
        let category = get_general_category(c);
        let usable = !matches!(
            category,
            GeneralCategory::Unassigned | GeneralCategory::PrivateUse | GeneralCategory::Surrogate
        );
        if usable && c.len_utf16() <= left {
            left -= c.len_utf16();
            out.push(c);
        }
    }
    out
}

/// `__RandomFromMultipleVars`: one of the values, or of the matches `name_1`, `name_2`, ….
pub(super) fn from_multiple_vars<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let names = args.trimmed(0, scope)?;
    let vars = scope.vars();
    let mut values = Vec::new();
    for name in names.split('|').filter(|name| !name.is_empty()) {
        let matches = match vars.get_named(&format!("{name}_matchNr")) {
            Some(number) if !number.is_empty() => {
                parse_int(number).ok_or_else(|| not_a_number(number))?
            }
            _ => 0,
        };
        if matches > 0 {
            values.extend((1..=matches).map(|n| vars.get_named(&format!("{name}_{n}")).cloned()));
        } else if let Some(value) = vars.get_named(name)
            && !value.is_empty()
        {
            values.push(Some(value.clone()));
        }
    }
    let chosen = match values.len() {
        0 => Some("".into()),
        len => values.swap_remove(scope.random().index(len)),
    };
    let variable = args.trimmed(1, scope)?;
    match chosen {
        Some(value) => {
            if !variable.is_empty() {
                scope.vars_mut().set_named(&variable, value.clone());
            }
            Ok(Text::Shared(value))
        }
        None => {
            scope.vars_mut().remove_named(&variable);
            Ok(crate::call::NULL)
        }
    }
}

/// `__UUID`: version 4.
pub(super) fn uuid<'a>(_: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let random = scope.random();
    let high = random.next_u64() & !0xF000 | 0x4000;
    let low = random.next_u64() & !(0b11 << 62) | (0b10 << 62);
    Ok(Text::Owned(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )))
}
