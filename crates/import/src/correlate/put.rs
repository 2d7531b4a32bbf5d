//! Replaces values of a request with variables and functions.

use super::form::{Expressions, ValueEncoding};
use super::json::{escaping_call, put_into_json};
use super::search::is_apart;
use super::sent::Sent;
use crate::exchange::{FormPart, Request, RequestBody};
use crate::names;
use crate::text::PlanText;
use crate::url;

/// Replaces a distinctive value everywhere, and a short one only where it is sent under its name.
pub fn value(request: &mut Request, sent: &Sent, expressions: &Expressions) -> bool {
    if let Some(number) = sent.segment {
        return put_into_segment(&mut request.address.path, number, sent, &expressions.plain);
    }
    if sent.is_telling() {
        return everywhere(request, sent, expressions);
    }
    if sent.is_header {
        return into_header(request, sent, &expressions.plain);
    }
    if sent.is_field && by_name(request, sent, &expressions.plain) {
        return true;
    }
    let mut is_put = false;
    each_text(request, |text, _| {
        is_put |= labelled(text, sent, &expressions.plain)
    });
    is_put
}

/// Puts an expression into the field of a value, escaped if its value needs it in JSON.
fn by_name(request: &mut Request, sent: &Sent, plain: &str) -> bool {
    let in_json = escaping_call(plain, &[&sent.value]);
    expression(request, sent, plain, in_json.as_deref().unwrap_or(plain))
}

/// Replaces a value within a text that the request holds in another form.
pub fn into_text(text: &mut PlanText, sent: &Sent, expressions: &Expressions) -> bool {
    if sent.is_telling() {
        words(text, &sent.value, &expressions.plain)
    } else {
        labelled(text, sent, &expressions.plain)
    }
}

/// The characters that clients encode in a path.
const IN_PATH: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// What a text of a request is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Path,
    Raw,
    /// A header or a field of a form, which the plan encodes if need be.
    Plain,
}

/// Calls `change` for each text of a request that may hold values.
fn each_text(request: &mut Request, mut change: impl FnMut(&mut PlanText, Kind)) {
    change(&mut request.address.path, Kind::Path);
    for (_, field) in &mut request.headers {
        change(field, Kind::Plain);
    }
    match &mut request.body {
        RequestBody::Raw(text) => change(text, Kind::Raw),
        RequestBody::Form(fields) => {
            for (_, field) in fields {
                change(field, Kind::Plain);
            }
        }
        RequestBody::Multipart(parts) => {
            for part in parts {
                if let FormPart::Field { value: field, .. } = part {
                    change(field, Kind::Plain);
                }
            }
        }
        RequestBody::None | RequestBody::File { .. } => {}
    }
}

/// Replaces a value in each of its spellings.
fn everywhere(request: &mut Request, sent: &Sent, expressions: &Expressions) -> bool {
    let value = sent.value.as_str();
    let encoded = ValueEncoding::Percent.written(value);
    let escaped = ValueEncoding::Script.written(value);
    let in_path = percent_encoding::utf8_percent_encode(value, IN_PATH).to_string();
    let call = if is_base64(value) {
        &expressions.encoded
    } else {
        &expressions.plain
    };
    let mut is_put = false;
    each_text(request, |text, kind| {
        if kind == Kind::Raw {
            for written in &escaped {
                is_put |= words(text, written, &expressions.plain);
            }
        }
        for written in &encoded {
            is_put |= words(text, written, &expressions.encoded);
        }
        if kind == Kind::Path && in_path != value {
            is_put |= words(text, &in_path, &expressions.encoded);
        }
        let whole = if kind == Kind::Path {
            call
        } else {
            &expressions.plain
        };
        is_put |= words(text, value, whole);
    });
    if sent.is_field && !is_put {
        return by_name(request, sent, &expressions.plain);
    }
    is_put
}

/// Whether a value may be base64, of which another one has characters that an address encodes.
fn is_base64(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 16
        && value.len().is_multiple_of(4)
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}

/// Replaces a value where it is not a part of a longer word.
fn words(text: &mut PlanText, value: &str, expression: &str) -> bool {
    text.replace_where(value, expression, |before, after| {
        is_apart(before, value, after)
    })
}

/// Replaces a value in the field of the header that has it.
fn into_header(request: &mut Request, sent: &Sent, expression: &str) -> bool {
    let mut is_put = false;
    for (name, field) in &mut request.headers {
        if name.literal() == Some(&sent.field) {
            is_put |= words(field, &sent.value, expression);
        }
    }
    is_put
}

/// Replaces a value that follows its label, whatever quotes, escapes and signs are between them: `"cartId":7`, `cartId%22%3A7`,
/// `cart:7`.
fn labelled(text: &mut PlanText, sent: &Sent, expression: &str) -> bool {
    let label = sent.label.as_ref().unwrap_or(&sent.field);
    if label.is_empty() {
        return false;
    }
    text.replace_where(&sent.value, expression, |before, after| {
        let bare = without_signs(before);
        is_apart(before, &sent.value, after)
            && bare.len() < before.len()
            && bare
                .strip_suffix(label.as_str())
                .is_some_and(|rest| is_apart(rest, label, ""))
    })
}

/// A text without the signs at its end, percent-encoded or not.
fn without_signs(text: &str) -> &str {
    let mut rest = text;
    loop {
        let bare = rest.trim_end_matches(|c: char| "\"'\\:=> ([/|.#?&,;+".contains(c));
        let code = bare.len().checked_sub(3).and_then(|at| bare.get(at..));
        let is_code = code.is_some_and(|code| {
            code.starts_with('%')
                && u8::from_str_radix(&code[1..], 16)
                    .is_ok_and(|byte| !byte.is_ascii_alphanumeric())
        });
        if !is_code && bare.len() == rest.len() {
            return bare;
        }
        rest = if is_code {
            &bare[..bare.len() - 3]
        } else {
            bare
        };
    }
}

/// Puts an expression into a field that has this name and exactly this value. `in_json` is the expression within JSON.
pub fn expression(request: &mut Request, sent: &Sent, expression: &str, in_json: &str) -> bool {
    let mut put = false;
    put |= put_into_query(&mut request.address.path, sent, expression);
    match &mut request.body {
        RequestBody::Form(fields) => {
            for (name, field) in fields {
                if name.literal() == Some(&sent.field) && field.literal() == Some(&sent.value) {
                    *field = PlanText::expression(expression);
                    put = true;
                }
            }
        }
        RequestBody::Multipart(parts) => {
            for part in parts {
                if let FormPart::Field { name, value, .. } = part
                    && name.literal() == Some(&sent.field)
                    && value.literal() == Some(&sent.value)
                {
                    *value = PlanText::expression(expression);
                    put = true;
                }
            }
        }
        RequestBody::Raw(text) => put |= put_into_json(text, sent, in_json),
        RequestBody::None | RequestBody::File { .. } => {}
    }
    put
}

/// Marks the position of a value that is being replaced. No recorded text contains this character.
pub const MARK: &str = "\u{1}";

/// Replaces the segment with this number in a path, if it equals the value.
fn put_into_segment(path: &mut PlanText, number: usize, sent: &Sent, expression: &str) -> bool {
    let template = path.template();
    let before = template.split('?').next().unwrap_or("");
    if before.split('/').nth(number) != Some(sent.value.as_str()) {
        return false;
    }
    // Earlier segments may already be variables, which contain no slash.
    let slashes = std::cell::Cell::new(0);
    let marked = path.map_literals(|literal| {
        let segments = literal.split('/').enumerate().map(|(at, segment)| {
            if at > 0 {
                slashes.set(slashes.get() + 1);
            }
            let (bare, rest) = segment.split_at(segment.find('?').unwrap_or(segment.len()));
            if slashes.get() == number && bare == sent.value {
                format!("{MARK}{rest}")
            } else {
                segment.to_owned()
            }
        });
        segments.collect::<Vec<_>>().join("/")
    });
    *path = marked;
    path.replace(MARK, expression)
}

/// `name=value` in the query of a path.
fn put_into_query(path: &mut PlanText, sent: &Sent, expression: &str) -> bool {
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
            // The text before the first separator is a path, or the rest of another parameter.
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

/// The expression for an address. Text that people type may need encoding there; tokens and numbers do not.
fn encoded_call(value: &str, expression: &str) -> String {
    match url::encode(value) == value && !expression.contains("__") && names::is_identifier(value) {
        true => expression.to_owned(),
        false if expression.starts_with("${__") => expression.to_owned(),
        false => format!("${{__urlencode({expression})}}"),
    }
}
