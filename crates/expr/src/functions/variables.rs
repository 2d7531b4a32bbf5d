//! `Variable`, `EvalFunction`, `EvalVarFunction`, `IsVarDefined`, `SplitFunction`, and `IsDefined` of
//! jmeter-plugins.

use crate::call::{Args, CallResult};
use crate::scope::Scope;
use crate::template::Template;
use crate::text::Text;
use crate::vars::Value;

/// `__V`: the variable's value, or the default, or the variable's name.
pub(super) fn v<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let default = args.given(1, scope)?;
    match scope.variable(&name) {
        Some(value) => Ok(Text::Shared(value)),
        None => Ok(default.unwrap_or(name)),
    }
}

/// `__eval`.
pub(super) fn eval<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    if !text.contains(['$', '\\']) {
        return Ok(text);
    }
    Template::eval_text(&text, scope).map(Text::Owned)
}

/// `__evalVar`: an empty text for an undefined variable.
pub(super) fn eval_var<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let Some(value) = scope.variable(&name) else {
        return Ok(Text::Literal(""));
    };
    if !value.contains(['$', '\\']) {
        return Ok(Text::Shared(value));
    }
    Template::eval_text(&value, scope).map(Text::Owned)
}

/// `__isVarDefined`.
pub(super) fn is_var_defined<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let defined = scope.variable(&name).is_some();
    Ok(Text::Literal(if defined { "true" } else { "false" }))
}

/// `__isDefined` of jmeter-plugins.
pub(super) fn is_defined<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let name = args.text(0, scope)?;
    let defined = scope.variable(&name).is_some();
    Ok(Text::Literal(if defined { "1" } else { "0" }))
}

/// `__split`: sets `name`, `name_n`, `name_1`, …; an empty piece becomes `?`.
pub(super) fn split<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let prefix = args.trimmed(1, scope)?;
    let delimiters = args.text(2, scope)?;
    let delimiters = if delimiters.is_empty() {
        ","
    } else {
        &*delimiters
    };
    let pieces = pieces(&text, delimiters);
    let vars = scope.vars_mut();
    vars.set_named(&prefix, Value::from(&*text));
    vars.set_named(
        &format!("{prefix}_n"),
        Value::from(pieces.len().to_string()),
    );
    for (index, piece) in pieces.iter().enumerate() {
        vars.set_named(&format!("{prefix}_{}", index + 1), Value::from(*piece));
    }
    vars.remove_named(&format!("{prefix}_{}", pieces.len() + 1));
    Ok(text)
}

/// `JOrphanUtils.split(text, delimiters, "?")`: a delimiter at the start gives no piece; one at the end
/// or after another delimiter gives `?`.
fn pieces<'t>(text: &'t str, delimiters: &str) -> Vec<&'t str> {
    let mut pieces = Vec::new();
    let mut after_delimiter = false;
    for run in text.split_inclusive(|c| delimiters.contains(c)) {
        let piece = run.trim_end_matches(|c| delimiters.contains(c));
        if piece.is_empty() {
            if after_delimiter {
                pieces.push("?");
            }
        } else {
            pieces.push(piece);
        }
        after_delimiter = piece.len() < run.len();
    }
    if after_delimiter {
        pieces.push("?");
    }
    pieces
}
