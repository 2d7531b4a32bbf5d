//! Values that the server gave and the client sent back: each becomes a variable with the cheapest extractor that yields
//! exactly this value from the recorded response.
//!
//! Candidates come from everything that is sent: segments of paths, parameters, forms, JSON, header fields. Cookies are the
//! business of the Cookie Manager. A value counts if it looks like an identifier; a short one only if the response has
//! it under the name under which it is sent.
//!
//! A value that the client made itself becomes a function (UUIDs, times), and text that a user typed into a log-in becomes a column of a
//! CSV file.

mod search;
mod sent;

use serde_json::Value;

use crate::draft::{Draft, Step};
use crate::exchange::{Body, Part};
use crate::names;
use crate::plan::VariableNames;
use crate::text::Text;
use crate::url;
pub use search::Source;
use sent::Sent;

/// Takes a value from a response into a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extractor {
    pub variable: String,
    pub source: Source,
}

/// The findings on one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub variable: String,
    pub value: String,
    /// The step whose response has it, by its place.
    pub from: usize,
    /// The steps that send it.
    pub used_in: Vec<usize>,
}

/// The shortest value that is looked for wherever it stands.
const SHORTEST: usize = 6;

/// Names of fields that people type.
const TYPED: [&str; 16] = [
    "user", "username", "userid", "login", "loginid", "email", "mail", "password", "passwd",
    "pass", "pwd", "pin", "phone", "q", "query", "search",
];

/// Puts variables, extractors, functions and data columns into a draft. The given values stay as they were recorded.
pub fn correlate(draft: &mut Draft, constants: &[String]) -> Vec<Finding> {
    let mut names = VariableNames::default();
    for (name, _, _) in &draft.variables {
        names.take(name);
    }
    let mut steps: Vec<Step> = draft.steps().cloned().collect();
    let mut findings: Vec<Finding> = Vec::new();
    let mut place = 0;
    while place < steps.len() {
        for sent in sent::values(&steps[place].request) {
            if constants.contains(&sent.value) {
                continue;
            }
            handle(&sent, place, &mut steps, &mut names, &mut findings, draft);
        }
        place += 1;
    }
    for (own, step) in draft.steps_mut().zip(steps) {
        *own = step;
    }
    findings
}

fn handle(
    sent: &Sent,
    place: usize,
    steps: &mut [Step],
    names: &mut VariableNames,
    findings: &mut Vec<Finding>,
    draft: &mut Draft,
) {
    let found = (0..place).find_map(|from| {
        let response = steps[from].response.as_ref()?;
        search::source(response, &steps[from].request, sent).map(|source| (from, source))
    });
    if let Some((from, source)) = found {
        let variable = names.take(&sent.name);
        steps[from].extractors.push(Extractor {
            variable: variable.clone(),
            source,
        });
        let mut used_in = Vec::new();
        for (at, step) in steps.iter_mut().enumerate().skip(from + 1) {
            if put_variable(step, sent, &variable) {
                used_in.push(at);
            }
        }
        if used_in.is_empty() {
            steps[from].extractors.pop();
            return;
        }
        findings.push(Finding {
            variable,
            value: sent.value.clone(),
            from,
            used_in,
        });
        return;
    }
    if let Some(call) = client_made(sent, place, steps) {
        put_expression(&mut steps[place], sent, call);
    } else if is_typed(sent) && sent.is_field {
        let known = draft.data.rows.first().and_then(|row| {
            let at = row.iter().position(|value| *value == sent.value)?;
            draft.data.names.get(at).cloned()
        });
        let variable = known.unwrap_or_else(|| {
            let variable = names.take(&sent.name);
            draft.data.names.push(variable.clone());
            match draft.data.rows.first_mut() {
                Some(row) => row.push(sent.value.clone()),
                None => draft.data.rows.push(vec![sent.value.clone()]),
            }
            variable
        });
        put_expression(&mut steps[place], sent, &format!("${{{variable}}}"));
    }
}

fn is_typed(sent: &Sent) -> bool {
    let name: String = sent
        .name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    !sent.value.is_empty() && TYPED.contains(&name.to_ascii_lowercase().as_str())
}

/// A function for a value that no response gave: a UUID that is sent once, or the time of the request.
fn client_made(sent: &Sent, place: usize, steps: &[Step]) -> Option<&'static str> {
    let value = sent.value.as_str();
    let is_uuid = value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let senders = |(at, step): (usize, &Step)| {
        at != place
            && sent::values(&step.request)
                .iter()
                .any(|one| one.value == value)
    };
    if is_uuid && !steps.iter().enumerate().any(senders) {
        return Some("${__UUID}");
    }
    // from 2015 to 2040
    let number: i64 = value.parse().ok()?;
    match value.len() {
        13 if (1_420_000_000_000..2_209_000_000_000).contains(&number) => Some("${__time()}"),
        10 if (1_420_000_000..2_209_000_000).contains(&number) && sent.is_field => {
            Some("${__time(/1000)}")
        }
        _ => None,
    }
}

/// Whether a value is looked for wherever it stands.
pub(crate) fn is_telling(value: &str) -> bool {
    if value.len() < SHORTEST || value.contains(char::is_whitespace) {
        return false;
    }
    if names::is_identifier(value) {
        return true;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = value.bytes().filter(u8::is_ascii_lowercase).count();
    let is_word = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/=:|".contains(&byte));
    is_word
        && ((digits >= 2 && upper + lower >= 2) || (value.len() >= 12 && upper >= 3 && lower >= 3))
}

/// Puts the variable in the place of a telling value everywhere, and of a short one where it is sent under its name.
fn put_variable(step: &mut Step, sent: &Sent, variable: &str) -> bool {
    let expression = format!("${{{variable}}}");
    if !is_telling(&sent.value) {
        return put_expression(step, sent, &expression);
    }
    let value = sent.value.as_str();
    let encoded = url::encode(value);
    let request = &mut step.request;
    let mut put = false;
    if encoded != value {
        put |= request
            .address
            .path
            .replace(&encoded, &format!("${{__urlencode({expression})}}"));
    }
    put |= request.address.path.replace(value, &expression);
    for (_, field) in &mut request.headers {
        put |= field.replace(value, &expression);
    }
    match &mut request.body {
        Body::Raw(text) => {
            if encoded != value {
                put |= text.replace(&encoded, &format!("${{__urlencode({expression})}}"));
            }
            put |= text.replace(value, &expression);
        }
        Body::Form(fields) => {
            for (_, field) in fields {
                put |= field.replace(value, &expression);
            }
        }
        Body::Multipart(parts) => {
            for part in parts {
                if let Part::Field { value: field, .. } = part {
                    put |= field.replace(value, &expression);
                }
            }
        }
        Body::None | Body::File { .. } => {}
    }
    put
}

/// Puts an expression where a field of this name has exactly this value.
fn put_expression(step: &mut Step, sent: &Sent, expression: &str) -> bool {
    let request = &mut step.request;
    let mut put = false;
    put |= put_into_query(&mut request.address.path, sent, expression);
    match &mut request.body {
        Body::Form(fields) => {
            for (name, field) in fields {
                if name.literal() == Some(&sent.field) && field.literal() == Some(&sent.value) {
                    *field = Text::expression(expression);
                    put = true;
                }
            }
        }
        Body::Multipart(parts) => {
            for part in parts {
                if let Part::Field { name, value, .. } = part
                    && name.literal() == Some(&sent.field)
                    && value.literal() == Some(&sent.value)
                {
                    *value = Text::expression(expression);
                    put = true;
                }
            }
        }
        Body::Raw(text) => put |= put_into_json(text, sent, expression),
        Body::None | Body::File { .. } => {}
    }
    put
}

/// A character that no text holds, in the place of a value that is replaced.
const MARK: &str = "\u{1}";

/// `name=value` in the query of a path.
fn put_into_query(path: &mut Text, sent: &Sent, expression: &str) -> bool {
    let is_meant = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
        !sent.field.is_empty()
            && url::decode(name) == sent.field
            && url::decode(value) == sent.value
    };
    let marked = |literal: &str| {
        let mut out = String::new();
        for (place, parameter) in literal.split_inclusive(['?', '&']).enumerate() {
            let bare = parameter.trim_end_matches(['?', '&']);
            // what stands before the first separator is a path, or the rest of another parameter
            if (place > 0 || literal.starts_with('&')) && is_meant(bare) {
                let name = bare.split('=').next().unwrap_or("");
                out.push_str(&format!("{name}={MARK}{}", &parameter[bare.len()..]));
            } else {
                out.push_str(parameter);
            }
        }
        out
    };
    *path = path.map_literals(marked);
    path.replace(MARK, &encoded_call(&sent.value, expression))
}

/// Text that people type may need encoding in an address; tokens and numbers do not.
fn encoded_call(value: &str, expression: &str) -> String {
    match url::encode(value) == value && !expression.contains("__") && names::is_identifier(value) {
        true => expression.to_owned(),
        false if expression.starts_with("${__") => expression.to_owned(),
        false => format!("${{__urlencode({expression})}}"),
    }
}

/// `"name": "value"` or `"name": 5` in a body, however it is spaced.
fn put_into_json(text: &mut Text, sent: &Sent, expression: &str) -> bool {
    let key = Value::from(sent.field.as_str()).to_string();
    let value = Value::from(sent.value.as_str()).to_string();
    let mut put = false;
    for colon in [":", ": "] {
        let quoted = format!("{key}{colon}{value}");
        let inner = &value[1..value.len() - 1];
        let with = |target: &str, before: &str, after: &str, text: &mut Text| {
            let whole = format!("{before}{MARK}{after}");
            // only the value is replaced: the rest of the match is put back
            *text = text.map_literals(|literal| literal.replace(target, &whole));
            text.replace(MARK, expression)
        };
        put |= with(&quoted, &format!("{key}{colon}\""), "\"", text);
        if sent.is_number {
            for end in [",", "}", "\n", " "] {
                let plain = format!("{key}{colon}{inner}{end}");
                put |= with(&plain, &format!("{key}{colon}"), end, text);
            }
        }
    }
    put
}

#[cfg(test)]
mod tests;
