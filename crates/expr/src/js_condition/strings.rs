//! The methods of Rhino's strings (`NativeString`), including `equals` and `equalsIgnoreCase`.

use super::ConditionError;
use super::numbers::is_space;
use super::value::JsValue;

/// The methods of strings that are implemented here.
pub(super) const METHODS: &str = "length indexOf lastIndexOf charAt charCodeAt substring substr slice concat equals \
    equalsIgnoreCase includes startsWith endsWith toLowerCase toUpperCase trim toString valueOf";

/// Calls one of [`METHODS`].
pub(super) fn call(this: &str, method: &str, args: &[JsValue]) -> Result<JsValue, ConditionError> {
    let text = |index: usize| args.get(index).unwrap_or(&JsValue::Undefined).to_text();
    let first = || text(0);
    Ok(match method {
        "indexOf" | "lastIndexOf" | "includes" | "startsWith" | "endsWith" => {
            search(this, method, args)
        }
        "charAt" | "charCodeAt" | "substring" | "substr" | "slice" => {
            return piece(this, method, args);
        }
        "concat" => JsValue::text(
            args.iter()
                .fold(this.to_owned(), |all, arg| all + &arg.to_text()),
        ),
        "equals" => JsValue::Bool(this == first()),
        "equalsIgnoreCase" => JsValue::Bool(equals_ignore_case(this, &first())),
        "toLowerCase" => JsValue::text(this.to_lowercase()),
        "toUpperCase" => JsValue::text(this.to_uppercase()),
        "trim" => JsValue::text(this.trim_matches(is_space)),
        "toString" | "valueOf" => JsValue::text(this),
        _ => return Err(ConditionError::Unsupported(format!("the method {method}"))),
    })
}

/// `String.equalsIgnoreCase`: compares character by character; folding never changes the length.
fn equals_ignore_case(left: &str, right: &str) -> bool {
    left.chars().map(fold).eq(right.chars().map(fold))
}

fn fold(c: char) -> char {
    let single = |mut all: Vec<char>| if all.len() == 1 { all.pop() } else { None };
    let upper = single(c.to_uppercase().collect()).unwrap_or(c);
    single(upper.to_lowercase().collect()).unwrap_or(upper)
}

/// The argument as a position, unless it is missing or `undefined`.
fn position(args: &[JsValue], index: usize) -> Option<f64> {
    args.get(index)
        .filter(|arg| **arg != JsValue::Undefined)
        .map(JsValue::to_integer)
}

fn search(this: &str, method: &str, args: &[JsValue]) -> JsValue {
    let (units, size) = units(this);
    let wanted: Vec<u16> = args
        .first()
        .unwrap_or(&JsValue::Undefined)
        .to_text()
        .encode_utf16()
        .collect();
    let matches_at = |at: usize| units[at..].starts_with(&wanted);
    let clamp = |at: f64| at.clamp(0.0, size as f64) as usize;
    let from = clamp(position(args, 1).unwrap_or(0.0));
    match method {
        // NativeString.js_indexOf does not search for an empty text, but returns the start position.
        "indexOf" | "includes" if wanted.is_empty() => {
            let at = position(args, 1).unwrap_or(0.0).min(size as f64);
            if method == "indexOf" {
                JsValue::Number(at)
            } else {
                JsValue::Bool(at != -1.0)
            }
        }
        "indexOf" => index_or_minus_one((from..=size).find(|at| matches_at(*at))),
        "includes" => JsValue::Bool((from..=size).any(matches_at)),
        "startsWith" => JsValue::Bool(matches_at(from)),
        "endsWith" => {
            // An undefined end counts as 0 if there is a third argument.
            let end = if args.len() > 2 {
                args[1].to_integer()
            } else {
                position(args, 1).unwrap_or(size as f64)
            };
            JsValue::Bool(units[..clamp(end)].ends_with(&wanted))
        }
        _ => {
            // Only lastIndexOf treats NaN as the end.
            let last = args
                .get(1)
                .map(JsValue::to_number)
                .filter(|at| !at.is_nan())
                .map(clamp)
                .unwrap_or(size);
            index_or_minus_one((0..=last).rev().find(|at| matches_at(*at)))
        }
    }
}

fn index_or_minus_one(at: Option<usize>) -> JsValue {
    JsValue::Number(at.map(|at| at as f64).unwrap_or(-1.0))
}

fn piece(this: &str, method: &str, args: &[JsValue]) -> Result<JsValue, ConditionError> {
    let (units, size) = units(this);
    let end = size as f64;
    let start = position(args, 0).unwrap_or(0.0);
    let from_end = |at: f64| {
        if at < 0.0 {
            (end + at).max(0.0)
        } else {
            at.min(end)
        }
    };
    let (start, stop) = match method {
        "charCodeAt" => {
            let unit = (start >= 0.0 && start < end).then(|| f64::from(units[start as usize]));
            return Ok(JsValue::Number(unit.unwrap_or(f64::NAN)));
        }
        "charAt" if start < 0.0 || start >= end => return Ok(JsValue::text("")),
        "charAt" => (start, start + 1.0),
        "substring" => {
            let (one, other) = (
                start.clamp(0.0, end),
                position(args, 1).unwrap_or(end).clamp(0.0, end),
            );
            (one.min(other), one.max(other))
        }
        "substr" => {
            let start = from_end(start);
            (start, (start + position(args, 1).unwrap_or(end)).min(end))
        }
        _ => (from_end(start), from_end(position(args, 1).unwrap_or(end))),
    };
    let units = if start < stop {
        &units[start as usize..stop as usize]
    } else {
        &[]
    };
    String::from_utf16(units)
        .map(JsValue::text)
        .map_err(|_| ConditionError::Unsupported("half of a surrogate pair".to_owned()))
}

fn units(text: &str) -> (Vec<u16>, usize) {
    let units: Vec<u16> = text.encode_utf16().collect();
    let size = units.len();
    (units, size)
}
