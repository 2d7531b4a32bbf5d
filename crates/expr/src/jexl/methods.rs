//! The methods of `String`, `Number`, and of the objects that JMeter puts into the context.

use std::io::{self, Write};

use drumfire_java::text::{hash_code, trim};
use drumfire_query::regex::{self, Pattern};

use super::JexlError;
use super::arithmetic::{Host, JexlValue};
use crate::regexes;
use crate::scope::{Level, Scope};
use crate::text::Text;
use crate::vars::Value as Shared;

fn unknown(method: &str) -> JexlError {
    JexlError::Unsupported(format!(
        "The method {method} cannot be called without a JVM"
    ))
}

fn out_of_bounds(index: i64) -> JexlError {
    JexlError::Jexl(format!(
        "java.lang.StringIndexOutOfBoundsException: index {index}"
    ))
}

/// A text as UTF-16 units, in which Java counts.
struct Units(Vec<u16>);

impl Units {
    fn new(text: &str) -> Units {
        Units(text.encode_utf16().collect())
    }

    fn slice<'e>(&self, from: i64, to: i64) -> Result<JexlValue<'e>, JexlError> {
        let range = usize::try_from(from)
            .ok()
            .zip(usize::try_from(to).ok())
            .and_then(|(from, to)| self.0.get(from..to));
        match range {
            Some(units) => Ok(JexlValue::from(String::from_utf16_lossy(units))),
            None => Err(out_of_bounds(from)),
        }
    }

    fn find(&self, part: &Units, from: i64) -> i64 {
        let from = (from.max(0) as usize).min(self.0.len());
        if part.0.is_empty() {
            return from as i64;
        }
        let position = self.0[from..]
            .windows(part.0.len())
            .position(|w| w == part.0);
        position.map(|at| (at + from) as i64).unwrap_or(-1)
    }

    fn find_last(&self, part: &Units) -> i64 {
        if part.0.is_empty() {
            return self.0.len() as i64;
        }
        let position = self.0.windows(part.0.len()).rposition(|w| w == part.0);
        position.map(|at| at as i64).unwrap_or(-1)
    }
}

/// A method of `String`.
pub(super) fn text<'e>(
    text: &Text<'e>,
    method: &str,
    args: &[JexlValue<'e>],
) -> Result<JexlValue<'e>, JexlError> {
    Ok(match (method, args) {
        ("length" | "size", []) => JexlValue::Int(text.encode_utf16().count() as i64),
        ("isEmpty", []) => JexlValue::Bool(text.is_empty()),
        ("isBlank", []) => JexlValue::Bool(text.trim().is_empty()),
        ("trim", []) => JexlValue::from(trim(text).to_owned()),
        ("strip", []) => JexlValue::from(text.trim().to_owned()),
        ("toUpperCase", []) => JexlValue::from(text.to_uppercase()),
        ("toLowerCase", []) => JexlValue::from(text.to_lowercase()),
        ("toString" | "intern", []) => JexlValue::Text(text.clone()),
        ("hashCode", []) => JexlValue::Int(hash_code(text).into()),
        ("equals", [other]) => {
            JexlValue::Bool(matches!(other, JexlValue::Text(other) if **other == **text))
        }
        ("charAt", [JexlValue::Int(at)]) => {
            let unit = usize::try_from(*at)
                .ok()
                .and_then(|at| text.encode_utf16().nth(at));
            JexlValue::Char(unit.ok_or_else(|| out_of_bounds(*at))?)
        }
        ("substring", [JexlValue::Int(from)]) => {
            let units = Units::new(text);
            units.slice(*from, units.0.len() as i64)?
        }
        ("substring" | "subSequence", [JexlValue::Int(from), JexlValue::Int(to)]) => {
            Units::new(text).slice(*from, *to)?
        }
        ("repeat", [JexlValue::Int(count)]) => {
            let count = usize::try_from(*count).map_err(|_| out_of_bounds(*count))?;
            JexlValue::from(text.repeat(count))
        }
        ("split", [JexlValue::Text(by)]) => split(text, by)?,
        (_, [JexlValue::Text(other)]) => with_text(text, method, other)?,
        (_, [JexlValue::Char(other)]) => {
            with_text(text, method, &String::from_utf16_lossy(&[*other]))?
        }
        ("indexOf", [JexlValue::Text(part), JexlValue::Int(from)]) => {
            JexlValue::Int(Units::new(text).find(&Units::new(part), *from))
        }
        (_, [JexlValue::Text(from), JexlValue::Text(to)]) => with_texts(text, method, from, to)?,
        _ => return Err(unknown(method)),
    })
}

fn with_text<'e>(text: &str, method: &str, other: &str) -> Result<JexlValue<'e>, JexlError> {
    Ok(match method {
        "contains" => JexlValue::Bool(text.contains(other)),
        "startsWith" => JexlValue::Bool(text.starts_with(other)),
        "endsWith" => JexlValue::Bool(text.ends_with(other)),
        "equalsIgnoreCase" => JexlValue::Bool(folded(text).eq(folded(other))),
        "contentEquals" => JexlValue::Bool(text == other),
        "indexOf" => JexlValue::Int(Units::new(text).find(&Units::new(other), 0)),
        "lastIndexOf" => JexlValue::Int(Units::new(text).find_last(&Units::new(other))),
        "concat" => JexlValue::from(format!("{text}{other}")),
        "matches" => JexlValue::Bool(pattern(other).map_err(thrown)?.full_match(text)),
        "compareTo" => JexlValue::Int(compare(text.encode_utf16(), other.encode_utf16())),
        "compareToIgnoreCase" => {
            JexlValue::Int(compare(units(text).into_iter(), units(other).into_iter()))
        }
        _ => return Err(unknown(method)),
    })
}

fn units(text: &str) -> Vec<u32> {
    folded(text).map(u32::from).collect::<Vec<_>>()
}

fn with_texts<'e>(
    text: &str,
    method: &str,
    from: &str,
    to: &str,
) -> Result<JexlValue<'e>, JexlError> {
    Ok(match method {
        "replace" => JexlValue::from(text.replace(from, to)),
        "replaceAll" => JexlValue::from(replaced(text, from, to, usize::MAX)?),
        "replaceFirst" => JexlValue::from(replaced(text, from, to, 1)?),
        _ => return Err(unknown(method)),
    })
}

/// `String.equalsIgnoreCase` compares upper-case and then lower-case characters.
fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}

/// `String.compareTo`: the difference of the first differing units, or else of the lengths.
fn compare<T: Into<i64> + PartialEq>(
    mut left: impl Iterator<Item = T>,
    mut right: impl Iterator<Item = T>,
) -> i64 {
    loop {
        match (left.next(), right.next()) {
            (Some(l), Some(r)) if l == r => {}
            (Some(l), Some(r)) => return l.into() - r.into(),
            (Some(_), None) => return 1 + left.count() as i64,
            (None, Some(_)) => return -1 - right.count() as i64,
            (None, None) => return 0,
        }
    }
}

fn pattern(text: &str) -> Result<std::sync::Arc<Pattern>, JexlError> {
    regexes::compiled(text, regex::Dialect::Java).map_err(|error| {
        JexlError::Java(format!("java.util.regex.PatternSyntaxException: {error}"))
    })
}

/// An exception inside of a method is wrapped into a `JexlException`.
fn thrown(failure: JexlError) -> JexlError {
    JexlError::Jexl(failure.to_string())
}

/// `=~` with a text on its right side: `String.matches`.
pub(super) fn full_match(text: &str, regex: &str) -> Result<bool, JexlError> {
    Ok(pattern(regex)?.full_match(text))
}

fn replaced(text: &str, regex: &str, to: &str, limit: usize) -> Result<String, JexlError> {
    let pattern = pattern(regex).map_err(thrown)?;
    let mut out = String::new();
    let mut last = 0;
    for captures in pattern.captures_iter(text).take(limit) {
        let (start, end) = captures.span(0).unwrap_or((last, last));
        out.push_str(&text[last..start]);
        expand(to, &captures, &mut out)?;
        last = end;
    }
    out.push_str(&text[last..]);
    Ok(out)
}

/// `Matcher.appendReplacement`: `$1` inserts a group, and a backslash escapes the next character.
fn expand(to: &str, captures: &regex::Captures<'_>, out: &mut String) -> Result<(), JexlError> {
    let mut chars = to.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '$' => {
                let mut group = chars.next().and_then(|c| c.to_digit(10)).ok_or_else(|| {
                    JexlError::Jexl(
                        "java.lang.IllegalArgumentException: Illegal group reference".to_owned(),
                    )
                })? as usize;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= captures.len() {
                        break;
                    }
                    group = longer;
                    chars.next();
                }
                if group >= captures.len() {
                    return Err(JexlError::Jexl(format!(
                        "java.lang.IndexOutOfBoundsException: No group {group}"
                    )));
                }
                out.push_str(captures.get(group).unwrap_or_default());
            }
            _ => out.push(c),
        }
    }
    Ok(())
}

/// `String.split` by a text without special characters of regular expressions: drops empty texts at
/// the end.
fn split<'e>(text: &str, by: &str) -> Result<JexlValue<'e>, JexlError> {
    if by.is_empty() || by.contains(|c: char| r"\.[]{}()*+-?^$|".contains(c)) {
        return Err(unknown("split"));
    }
    let mut parts: Vec<&str> = text.split(by).collect();
    while parts.len() > 1 && parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    if parts == [""] && !text.is_empty() {
        parts.clear();
    }
    let parts = parts
        .into_iter()
        .map(|part| JexlValue::from(part.to_owned()));
    Ok(JexlValue::List(parts.collect()))
}

/// The value of a map under a key.
pub(super) fn entry<'e>(
    entry: Option<&(JexlValue<'e>, JexlValue<'e>)>,
    key: &JexlValue<'_>,
) -> Result<JexlValue<'e>, JexlError> {
    let is_key = |own: &JexlValue<'_>| match (own, key) {
        (JexlValue::Text(own), JexlValue::Text(key)) => **own == **key,
        (JexlValue::Int(own), JexlValue::Int(key)) => own == key,
        _ => false,
    };
    match entry {
        Some((own, value)) if is_key(own) => Ok(value.clone()),
        _ => Err(JexlError::Unsupported("A missing entry".to_owned())),
    }
}

/// A method of a map.
pub(super) fn map<'e>(
    own: Option<&(JexlValue<'e>, JexlValue<'e>)>,
    method: &str,
    args: &[JexlValue<'e>],
) -> Result<JexlValue<'e>, JexlError> {
    match (method, args) {
        ("size", []) => Ok(JexlValue::Int(i64::from(own.is_some()))),
        ("isEmpty", []) => Ok(JexlValue::Bool(own.is_none())),
        ("get", [key]) => entry(own, key),
        ("containsKey", [key]) => Ok(JexlValue::Bool(entry(own, key).is_ok())),
        _ => Err(unknown(method)),
    }
}

/// A method of a number, boolean or character.
pub(super) fn scalar<'e>(
    value: &JexlValue<'e>,
    method: &str,
    args: &[JexlValue<'e>],
) -> Result<JexlValue<'e>, JexlError> {
    Ok(match (method, args, value) {
        ("toString", [], _) => JexlValue::from(value.print()?.unwrap_or_default()),
        ("intValue", [], JexlValue::Int(number)) => JexlValue::Int(i64::from(*number as i32)),
        ("intValue", [], JexlValue::Double(number)) => JexlValue::Int(i64::from(*number as i32)),
        ("longValue", [], JexlValue::Int(_) | JexlValue::Double(_)) => {
            JexlValue::Int(value.to_long()?)
        }
        ("doubleValue", [], JexlValue::Int(_) | JexlValue::Double(_)) => {
            JexlValue::Double(value.to_double()?)
        }
        ("booleanValue", [], JexlValue::Bool(_)) => value.clone(),
        _ => return Err(unknown(method)),
    })
}

/// A method of an object that JMeter puts into the context.
pub(super) fn host<'e>(
    host: Host,
    method: &str,
    args: &[JexlValue<'e>],
    scope: &mut dyn Scope,
) -> Result<JexlValue<'e>, JexlError> {
    match host {
        Host::Vars => vars(method, args, scope),
        Host::Props => props(method, args, scope),
        Host::Log => log(method, args, scope),
        Host::Context => match (method, args) {
            ("getThreadNum", []) => Ok(JexlValue::Int(i64::from(scope.thread_number()))),
            ("getVariables", []) => Ok(JexlValue::Host(Host::Vars)),
            _ => Err(unknown(method)),
        },
        Host::Sampler => match (method, args) {
            ("getName", []) => {
                let name = scope.sampler_name().unwrap_or_default();
                Ok(JexlValue::from(name.to_string()))
            }
            _ => Err(unknown(method)),
        },
        Host::SampleResult => match (method, args) {
            ("getResponseDataAsString", []) => {
                let text = scope.previous_response().unwrap_or_default().into_owned();
                Ok(JexlValue::from(text))
            }
            _ => Err(unknown(method)),
        },
        Host::Out => match (method, args) {
            ("println", [value]) => {
                let line = value.print()?.unwrap_or_else(|| "null".to_owned());
                // As in JMeter, a closed output stream does not stop a user.
                let _ = writeln!(io::stdout(), "{line}");
                Ok(JexlValue::Null)
            }
            _ => Err(unknown(method)),
        },
    }
}

/// `JMeterVariables`.
fn vars<'e>(
    method: &str,
    args: &[JexlValue<'e>],
    scope: &mut dyn Scope,
) -> Result<JexlValue<'e>, JexlError> {
    Ok(match (method, args) {
        ("get" | "getObject", [JexlValue::Text(name)]) => value(scope.variable(name)),
        ("put" | "putObject", [JexlValue::Text(name), JexlValue::Text(text)]) => {
            scope.vars_mut().set_named(name, text.clone().into_value());
            JexlValue::Null
        }
        ("put", [JexlValue::Text(name), JexlValue::Null]) => {
            scope.vars_mut().remove_named(name);
            JexlValue::Null
        }
        ("remove", [JexlValue::Text(name)]) => value(scope.vars_mut().remove_named(name)),
        ("getIteration", []) => JexlValue::Int(scope.iteration().into()),
        ("getThreadName", []) => JexlValue::from(scope.thread_name().to_owned()),
        _ => return Err(unknown(method)),
    })
}

fn value(found: Option<Shared>) -> JexlValue<'static> {
    found.map_or(JexlValue::Null, |v| JexlValue::Text(Text::Shared(v)))
}

/// `java.util.Properties`.
fn props<'e>(
    method: &str,
    args: &[JexlValue<'e>],
    scope: &mut dyn Scope,
) -> Result<JexlValue<'e>, JexlError> {
    let properties = scope.properties();
    let value = |found: Option<std::sync::Arc<str>>| {
        found
            .map(|v| JexlValue::Text(Text::Property(v)))
            .unwrap_or(JexlValue::Null)
    };
    Ok(match (method, args) {
        ("get" | "getProperty", [JexlValue::Text(name)]) => value(properties.get(name)),
        ("getProperty", [JexlValue::Text(name), default]) => match properties.get(name) {
            Some(found) => JexlValue::Text(Text::Property(found)),
            None => default.clone(),
        },
        ("put" | "setProperty", [JexlValue::Text(name), JexlValue::Text(text)]) => {
            value(properties.set(name, text.as_str()))
        }
        ("containsKey", [JexlValue::Text(name)]) => JexlValue::Bool(properties.get(name).is_some()),
        ("remove", [JexlValue::Text(name)]) => value(properties.remove(name)),
        _ => return Err(unknown(method)),
    })
}

/// `org.slf4j.Logger`.
fn log<'e>(
    method: &str,
    args: &[JexlValue<'e>],
    scope: &mut dyn Scope,
) -> Result<JexlValue<'e>, JexlError> {
    let level = match method {
        "trace" => Level::Trace,
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => return Err(unknown(method)),
    };
    let [JexlValue::Text(message)] = args else {
        return Err(unknown(method));
    };
    scope.log(level, message);
    Ok(JexlValue::Null)
}
