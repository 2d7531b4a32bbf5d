//! Calls of functions as texts of a plan: found at a place of a text, taken apart, and written with the escapes that
//! `FunctionParser` resolves.

use std::borrow::Cow;
use std::ops::Range;

use drumfire_java::text::{is_space_char, trim};

use crate::catalogue;

/// A call of a function in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallText {
    /// From `${` to the closing brace, in bytes.
    pub range: Range<usize>,
    /// The function, with its underscores.
    pub name: String,
    /// The arguments as a user means them: no escapes, and references as they stand.
    pub arguments: Vec<String>,
    /// Whether it stands in an argument of another call.
    pub is_nested: bool,
}

/// The innermost call around a place of a text.
pub fn call_at(text: &str, offset: usize) -> Option<CallText> {
    let mut innermost = None;
    find_calls(text, 0, false, &mut |call: CallText| {
        if call.range.start < offset && offset <= call.range.end {
            innermost = Some(call);
        }
    });
    innermost
}

/// Whether a place of a text is within the arguments of a call, where a new call would be nested.
pub fn is_in_arguments(text: &str, offset: usize) -> bool {
    let mut is_in = false;
    find_calls(text, 0, false, &mut |call| {
        is_in |= call.range.start < offset && offset < call.range.end;
    });
    is_in
}

/// Writes a call whose arguments are as [`CallText`] has them. `is_nested` says that it goes into an argument of another call.
/// `None` if no text has these arguments, because one of them refers to something with a name that the parser cannot read.
pub fn write_call(name: &str, arguments: &[String], is_nested: bool) -> Option<String> {
    let written: Vec<String> = arguments
        .iter()
        .map(|argument| escape(argument, true, is_nested))
        .collect();
    let text = if written.is_empty() {
        format!("${{{name}}}")
    } else {
        format!("${{{name}({})}}", written.join(","))
    };
    let read = call_at(&text, "${".len())?;
    let meant = |arguments: &[String]| -> Vec<String> {
        let bare = arguments
            .iter()
            .map(|argument| argument.replace(DOLLAR, "$"));
        bare.collect()
    };
    let is_whole = read.range.end == text.len();
    let is_same = meant(&read.arguments) == meant(plain(arguments));
    (is_whole && is_same).then_some(text)
}

/// Writes a text as an argument of a call that is in no other call. Nothing in it is a reference.
pub fn literal_argument(text: &str) -> String {
    escape(text, false, false)
}

/// A call without any argument and one with a single empty argument are the same text.
fn plain(arguments: &[String]) -> &[String] {
    match arguments {
        [only] if only.is_empty() => &[],
        all => all,
    }
}

/// Tells of each call in a text, those around before those within.
fn find_calls(text: &str, base: usize, is_nested: bool, tell: &mut dyn FnMut(CallText)) {
    let mut at = 0;
    while let Some(next) = next_reference(text, at) {
        let Some(reference) = Reference::read(text, next) else {
            return;
        };
        if let Some((name, arguments)) = &reference.call {
            tell(CallText {
                range: base + next..base + reference.end,
                name: name.clone(),
                arguments: arguments
                    .iter()
                    .map(|range| unescape(&text[range.clone()]))
                    .collect(),
                is_nested,
            });
            for range in arguments {
                find_calls(&text[range.clone()], base + range.start, true, tell);
            }
        }
        at = reference.end;
    }
}

/// Where the next `${` begins that is not escaped.
fn next_reference(text: &str, from: usize) -> Option<usize> {
    let mut chars = text[from..].char_indices();
    let mut previous = ' ';
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
                previous = ' ';
            }
            '{' if previous == '$' => return Some(from + at - 1),
            _ => previous = c,
        }
    }
    None
}

/// A reference: `${name}` or `${__function(…)}`.
struct Reference {
    /// Behind its closing brace.
    end: usize,
    /// The function and the places of its arguments, if it is a call.
    call: Option<(String, Vec<Range<usize>>)>,
}

impl Reference {
    /// Reads the reference at `start`; `None` if it has no end.
    fn read(text: &str, start: usize) -> Option<Reference> {
        let mut name = String::new();
        let mut previous = ' ';
        let mut chars = text[start + 2..].char_indices();
        while let Some((at, c)) = chars.next() {
            let at = start + 2 + at;
            match c {
                '\\' => {
                    name.push(chars.next()?.1);
                    previous = ' ';
                    continue;
                }
                '(' if previous != ' ' && catalogue::function(trim(&name)).is_some() => {
                    let (arguments, after) = arguments(text, at + 1)?;
                    let rest = text[after..].trim_start_matches(is_space_char);
                    rest.strip_prefix('}')?;
                    return Some(Reference {
                        end: text.len() - rest.len() + 1,
                        call: Some((trim(&name).to_owned(), arguments)),
                    });
                }
                '}' => {
                    let is_call = catalogue::function(&name).is_some();
                    return Some(Reference {
                        end: at + 1,
                        call: is_call.then(|| (name, Vec::new())),
                    });
                }
                _ => {
                    name.push(c);
                    previous = c;
                }
            }
        }
        None
    }
}

/// The places of the arguments from `start` on, and the place behind the closing parenthesis.
fn arguments(text: &str, start: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let mut ranges = Vec::new();
    let mut begin = start;
    let mut previous = ' ';
    let (mut references, mut parentheses) = (0, 0);
    let mut chars = text[start..].char_indices();
    while let Some((at, c)) = chars.next() {
        let at = start + at;
        match c {
            '\\' => {
                chars.next();
                previous = ' ';
                continue;
            }
            ',' if references == 0 => {
                ranges.push(begin..at);
                begin = at + 1;
                continue;
            }
            ')' if references == 0 && parentheses == 0 => {
                if !(at == begin && ranges.is_empty()) {
                    ranges.push(begin..at);
                }
                return Some((ranges, at + 1));
            }
            '{' if previous == '$' => references += 1,
            '}' if references > 0 => references -= 1,
            ')' if references == 0 => parentheses -= 1,
            '(' if references == 0 => parentheses += 1,
            _ => {}
        }
        previous = c;
    }
    None
}

/// The texts that `FunctionParser` cannot read in an argument as they are, and calls that yield them.
const MADE: [(char, &str); 3] = [
    ('(', "${__char(40)}"),
    (')', "${__char(41)}"),
    ('}', "${__char(125)}"),
];
/// A `$` before a brace.
const DOLLAR: &str = "${__char(36)}";

/// An argument as a user means it.
fn unescape(argument: &str) -> String {
    let mut out = String::with_capacity(argument.len());
    let mut at = 0;
    while let Some(c) = argument[at..].chars().next() {
        let rest = &argument[at..];
        if rest.starts_with("${") {
            let made = MADE.iter().find(|(_, call)| rest.starts_with(call));
            let end = Reference::read(argument, at).map(|reference| reference.end);
            match (made, end) {
                (Some((c, call)), _) => {
                    out.push(*c);
                    at += call.len();
                }
                (None, Some(end)) => {
                    out.push_str(&argument[at..end]);
                    at = end;
                }
                // JMeter drops the `${` of a reference without an end; the text cannot be written again, and stays.
                (None, None) => return out + rest,
            }
            continue;
        }
        at += c.len_utf8();
        let next = argument[at..].chars().next();
        match next {
            Some(escaped @ ('$' | ',' | '\\')) if c == '\\' => {
                at += escaped.len_utf8();
                if escaped == '$' && argument[at..].starts_with('{') {
                    out.push_str(DOLLAR)
                } else {
                    out.push(escaped)
                }
            }
            Some(escaped) if c == '\\' => {
                at += escaped.len_utf8();
                out.extend([c, escaped]);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A piece of an argument.
enum Part<'t> {
    Reference(&'t str),
    Literal(char),
}

/// Writes an argument. References in it stay, unless `keeps` is `false`.
fn escape(argument: &str, keeps: bool, is_nested: bool) -> String {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(c) = argument[at..].chars().next() {
        let is_reference = keeps && argument[at..].starts_with("${");
        let end = is_reference.then(|| Reference::read(argument, at));
        if let Some(Reference { end, .. }) = end.flatten() {
            parts.push(Part::Reference(&argument[at..end]));
            at = end;
        } else {
            parts.push(Part::Literal(c));
            at += c.len_utf8();
        }
    }
    let lone = lone_parentheses(&parts);
    let mut out = String::with_capacity(argument.len() + 8);
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        let next = match parts.get(at + 1) {
            Some(Part::Literal(c)) => Some(*c),
            _ => None,
        };
        at += 1;
        match part {
            Part::Reference(text) => out.push_str(text),
            Part::Literal('\\') => match next {
                Some(c) if !matches!(c, '$' | ',' | '\\' | '}') => {
                    out.extend(['\\', c]);
                    at += 1;
                }
                _ => out.push_str("\\\\"),
            },
            Part::Literal(',') => out.push_str("\\,"),
            Part::Literal('$') if next == Some('{') => out.push_str("\\$"),
            Part::Literal(c) => out.push_str(&written(*c, lone.contains(&(at - 1)), is_nested)),
        }
    }
    out
}

fn written(c: char, is_lone: bool, is_nested: bool) -> Cow<'static, str> {
    let is_made = match c {
        '(' | ')' => is_lone,
        '}' => is_nested,
        _ => false,
    };
    let made = MADE.iter().find(|(made, _)| is_made && *made == c);
    made.map(|(_, call)| (*call).into())
        .unwrap_or_else(|| c.to_string().into())
}

/// The places of parentheses without a partner. Those behind a backslash do not count.
fn lone_parentheses(parts: &[Part<'_>]) -> Vec<usize> {
    let mut open = Vec::new();
    let mut lone = Vec::new();
    let mut previous = ' ';
    for (at, part) in parts.iter().enumerate() {
        let c = match part {
            Part::Literal(c) => *c,
            Part::Reference(_) => ' ',
        };
        match c {
            _ if previous == '\\' => {}
            '(' => open.push(at),
            ')' if open.pop().is_none() => lone.push(at),
            _ => {}
        }
        previous = c;
    }
    lone.extend(open);
    lone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiler, Properties, Template};

    /// The value of a text in which `a` is `A`.
    fn value(text: &str) -> String {
        let mut compiler = Compiler::new(Properties::new());
        compiler.define("a", "A");
        let template = Template::compile(text, &mut compiler).unwrap();
        template.eval(compiler.scope_mut()).to_string()
    }

    #[test]
    fn an_argument_is_what_was_typed() {
        let typed = [
            "a,b",
            r"\d+\.\d",
            r"\\",
            r"a\",
            r"\,",
            r"\(",
            r"\)",
            "(a,b)",
            "(",
            ")",
            ")(",
            "((a)",
            "$",
            "$1$",
            "a$",
            "{}",
            "}",
            r"\}",
            r"\$",
            " a ",
            "é😀",
            r#"{"a":"(b"}"#,
            "a\nb",
            r"(\()",
            r"\\(",
            r"(\\))",
            "$${",
            "x${y",
        ];
        for typed in typed {
            for is_nested in [false, true] {
                let call = write_call("__urldecode", &[typed.to_owned()], is_nested).unwrap();
                let text = match is_nested {
                    true => format!("${{__urldecode(<{call}>)}}"),
                    false => format!("<{call}>"),
                };
                // Decoding leaves everything but `+` and `%`.
                assert_eq!(
                    value(&text),
                    format!("<{}>", typed.replace('+', " ")),
                    "{call}"
                );
                let read = call_at(&text, text.rfind("__urldecode").unwrap()).unwrap();
                let same = typed.replace("${", "${__char(36)}{");
                assert_eq!(
                    (read.arguments, read.is_nested),
                    (vec![same], is_nested),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn references_in_arguments_are_evaluated() {
        let all = ["${a}", "$${a}", r"\${a}", "(${a}", "a${a}"];
        let values = ["A", "$A", r"\A", "(A", "aA"];
        for (typed, expected) in all.iter().zip(values) {
            let call = write_call("__urldecode", &[(*typed).to_owned()], false).unwrap();
            assert_eq!(value(&call), expected, "{call}");
            assert_eq!(call_at(&call, 4).unwrap().arguments, [*typed]);
        }
        let nested = "${__urldecode(${__changeCase(a\\,${a}b,UPPER)})}";
        let read = call_at(nested, 4).unwrap();
        assert_eq!(read.arguments, ["${__changeCase(a\\,${a}b,UPPER)}"]);
        assert_eq!(
            write_call(&read.name, &read.arguments, false).unwrap(),
            nested
        );
    }

    #[test]
    fn the_innermost_call_is_found() {
        let text = r"x ${v} \${__P(no)} ${__P(a,${__Random(1,2)})} ${__UUID} ${open(";
        let names = |offset| call_at(text, offset).map(|call| call.name);
        assert_eq!(names(4), None);
        assert_eq!(names(10), None);
        assert_eq!(names(text.find("a,").unwrap()), Some("__P".to_owned()));
        assert_eq!(
            names(text.find("1,2").unwrap()),
            Some("__Random".to_owned())
        );
        assert_eq!(names(text.find("UUID").unwrap()), Some("__UUID".to_owned()));
        assert_eq!(names(text.len()), None);
        let end = text.find(" ${__UUID").unwrap();
        assert!(call_at(text, end).is_some() && !is_in_arguments(text, end));
        assert!(is_in_arguments(text, end - 2));
    }

    #[test]
    fn empty_arguments_stay_where_they_stand() {
        let written = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
            write_call("__RandomDate", &arguments, false).unwrap()
        };
        assert_eq!(written(&[]), "${__RandomDate}");
        assert_eq!(
            written(&["", "", "2030-01-01", "", ""]),
            "${__RandomDate(,,2030-01-01,,)}"
        );
        assert_eq!(call_at("${__P(x,)}", 3).unwrap().arguments, ["x", ""]);
    }
}
