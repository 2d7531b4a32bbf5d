//! Finds names in a text: `${name}`, function arguments that name variables, and literal names in scripts.

use std::ops::Range;

use drumfire_expr::FunctionSpec;

/// Whether an occurrence sets a name or reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OccurrenceKind {
    /// The variable gets a value.
    Set,
    /// The value is used.
    Read,
}

/// The thing that a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A variable of a user.
    Variable,
    /// A JMeter property.
    Property,
    /// A function.
    Function,
    /// A Throughput Shaping Timer, by its element's name.
    Timer,
}

/// A name in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameUse {
    pub range: Range<usize>,
    pub subject: Subject,
    pub kind: OccurrenceKind,
    /// The name is computed, and the range covers only its literal beginning.
    pub is_computed: bool,
}

/// How deeply calls may be nested in arguments of others; the program refuses deeper ones.
const MOST_NESTED: usize = 100;

/// All names in a text, in no particular order.
pub(crate) fn scan(text: &str) -> Vec<NameUse> {
    let mut uses = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("${").map(|at| at + from) {
        from = if is_escaped(text, at) {
            at + 2
        } else {
            reference(text, at + 2, 0, &mut uses)
        };
    }
    if text.contains("vars") || text.contains("getVariables") {
        script_names(text, "vars", Subject::Variable, &mut uses);
        script_names(text, "getVariables()", Subject::Variable, &mut uses);
    }
    if text.contains("props") {
        script_names(text, "props", Subject::Property, &mut uses);
    }
    uses
}

/// Whether a character is escaped: an odd number of backslashes precedes it.
fn is_escaped(text: &str, at: usize) -> bool {
    let before = text[..at].bytes().rev();
    before.take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Reads a reference from behind its `${` and returns where to continue.
fn reference(text: &str, start: usize, depth: usize, found: &mut Vec<NameUse>) -> usize {
    if depth > MOST_NESTED {
        return text.len();
    }
    let rest = &text[start..];
    let end = rest.find(['}', '(', '$']).unwrap_or(rest.len());
    let name = rest[..end].trim();
    let is_call = name.starts_with("__") && rest[end..].starts_with('(');
    if !is_call {
        let mut ends = rest.match_indices(['}', '$']);
        let end =
            ends.find(|(at, _)| !rest[*at..].starts_with('$') || rest[*at..].starts_with("${"));
        let Some((close, end)) = end else {
            return text.len();
        };
        // The author of `${a${b}}` meant something else: JMeter takes the name literally.
        if end == "$" {
            return start + close;
        }
        let name = &rest[..close];
        if !name.trim().is_empty() {
            found.push(NameUse {
                range: trimmed(text, start..start + close),
                subject: if name.trim().starts_with("__") {
                    Subject::Function
                } else {
                    Subject::Variable
                },
                kind: OccurrenceKind::Read,
                is_computed: false,
            });
        }
        return start + close + 1;
    }
    found.push(NameUse {
        range: trimmed(text, start..start + end),
        subject: Subject::Function,
        kind: OccurrenceKind::Read,
        is_computed: false,
    });
    let (arguments, after) = arguments(text, start + end + 1, depth, found);
    note_arguments(text, name, &arguments, found);
    after
}

/// Reads the arguments of a call from behind its parenthesis, including references inside them, and returns where
/// to continue.
fn arguments(
    text: &str,
    start: usize,
    depth: usize,
    found: &mut Vec<NameUse>,
) -> (Vec<Range<usize>>, usize) {
    let mut arguments = Vec::new();
    let (mut at, mut from, mut open) = (start, start, 0);
    while let Some(sign) = text[at..].chars().next() {
        let next = at + sign.len_utf8();
        match sign {
            '\\' => at = next + text[next..].chars().next().map(char::len_utf8).unwrap_or(0),
            '$' if text[next..].starts_with('{') => {
                at = reference(text, next + 1, depth + 1, found)
            }
            '(' => {
                open += 1;
                at = next;
            }
            ')' if open > 0 => {
                open -= 1;
                at = next;
            }
            ')' => {
                arguments.push(from..at);
                let after = text[next..].trim_start();
                let closing = after.starts_with('}').then(|| text.len() - after.len() + 1);
                return (arguments, closing.unwrap_or(next));
            }
            ',' if open == 0 => {
                arguments.push(from..at);
                from = next;
                at = next;
            }
            _ => at = next,
        }
    }
    (arguments, text.len())
}

fn note_arguments(text: &str, call: &str, arguments: &[Range<usize>], found: &mut Vec<NameUse>) {
    let Some(spec) = drumfire_expr::function(call) else {
        return;
    };
    for (at, argument) in arguments.iter().enumerate() {
        let Some((subject, kind)) = named_by(spec, at, arguments.len()) else {
            continue;
        };
        let range = trimmed(text, argument.clone());
        let inside = &text[range.clone()];
        let computed = inside.find("${");
        let range = range.start..range.start + computed.unwrap_or(inside.len());
        if computed.is_some() || !range.is_empty() {
            found.push(NameUse {
                range,
                subject,
                kind,
                is_computed: computed.is_some(),
            });
        }
    }
}

/// The thing that the argument at an index names, by the function's description of its parameters.
fn named_by(spec: &FunctionSpec, at: usize, count: usize) -> Option<(Subject, OccurrenceKind)> {
    let parameter = match (spec.parameters.get(at), spec.max) {
        (_, None) if at + 1 == count && at + 1 >= spec.parameters.len() => {
            spec.parameters.last()?
        }
        (_, None) if at + 1 >= spec.parameters.len() => return None,
        (Some(parameter), _) => parameter,
        (None, _) => return None,
    };
    let about = parameter.name;
    if about.contains("Throughput Shaping Timer") {
        return Some((Subject::Timer, OccurrenceKind::Read));
    }
    if matches!(about, "name of the property" | "name of a property") {
        let kind = match spec.name {
            "__setProperty" => OccurrenceKind::Set,
            _ => OccurrenceKind::Read,
        };
        return Some((Subject::Property, kind));
    }
    if !about.contains("variable") || about.contains("environment") {
        return None;
    }
    let kind = match about {
        "name of a variable" | "variable to search in" => OccurrenceKind::Read,
        _ => OccurrenceKind::Set,
    };
    Some((Subject::Variable, kind))
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    start..(start + inside.trim().len())
}

/// Finds names in `vars.get("name")`, `vars.put('name', …)` and `vars["name"]`.
fn script_names(text: &str, object: &str, subject: Subject, found: &mut Vec<NameUse>) {
    for (at, _) in text.match_indices(object) {
        if text[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let mut rest = at + object.len();
        let skip = |from: usize| from + (text[from..].len() - text[from..].trim_start().len());
        rest = skip(rest);
        let kind = if text[rest..].starts_with('[') {
            rest += 1;
            OccurrenceKind::Read
        } else {
            let Some(call) = text[rest..].strip_prefix('.').map(str::trim_start) else {
                continue;
            };
            let start = text.len() - call.len();
            let end = call.find(|sign| !is_word(sign)).unwrap_or(call.len());
            let kind = match &call[..end] {
                "put" | "putObject" | "setProperty" => OccurrenceKind::Set,
                "get" | "getObject" | "remove" | "getProperty" | "containsKey" => {
                    OccurrenceKind::Read
                }
                _ => continue,
            };
            rest = skip(start + end);
            if !text[rest..].starts_with('(') {
                continue;
            }
            rest += 1;
            kind
        };
        rest = skip(rest);
        let Some(quote) = text[rest..]
            .chars()
            .next()
            .filter(|sign| matches!(sign, '"' | '\''))
        else {
            continue;
        };
        let start = rest + 1;
        let Some(length) = text[start..].find(quote) else {
            continue;
        };
        let name = &text[start..start + length];
        let after = text[start + length + 1..].trim_start();
        let is_whole = after.starts_with([',', ')', ']']);
        let is_computed = !is_whole || name.contains('$');
        let end = name.find('$').unwrap_or(length);
        found.push(NameUse {
            range: start..start + end,
            subject,
            kind,
            is_computed,
        });
    }
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// The suffix that extractors append to a variable's name: `_1`, `_matchNr`, `_g1`, `_1_g2`, `_ALL`, `_#`.
pub fn derived_suffix<'n>(name: &'n str, base: &str) -> Option<&'n str> {
    let suffix = name.strip_prefix(base)?;
    let parts = suffix.strip_prefix('_')?.split('_');
    let is_part = |part: &str| {
        matches!(part, "matchNr" | "ALL" | "#" | "g")
            || is_number(part)
            || part.strip_prefix('g').is_some_and(is_number)
    };
    parts.into_iter().all(is_part).then_some(suffix)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The name without the suffixes that extractors append.
pub fn base_name(name: &str) -> &str {
    let mut base = name;
    while let Some((shorter, _)) = base.rsplit_once('_')
        && !shorter.is_empty()
        && derived_suffix(base, shorter).is_some()
    {
        base = shorter;
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeply_nested_texts_end() {
        for part in ["${__eval(", "${a", "${__P(a)", "(", "${__P(a,${"] {
            scan(&part.repeat(50_000));
            scan(&format!("{}x{}", part.repeat(50_000), ")}".repeat(50_000)));
        }
    }

    fn names(text: &str) -> Vec<String> {
        let mut found = scan(text);
        found.retain(|one| one.subject != Subject::Function);
        found.sort_by_key(|one| one.range.start);
        let told = found.iter().map(|one| {
            let kind = match (one.subject, one.kind) {
                (Subject::Property, OccurrenceKind::Set) => "P=",
                (Subject::Property, OccurrenceKind::Read) => "P:",
                (Subject::Timer, _) => "T:",
                (_, OccurrenceKind::Set) => "=",
                (_, OccurrenceKind::Read) => "",
            };
            let more = if one.is_computed { "…" } else { "" };
            format!("{kind}{}{more}", &text[one.range.clone()])
        });
        told.collect()
    }

    #[test]
    fn references_and_arguments() {
        assert_eq!(names(r"a ${b} \${c} ${ d } ${open"), ["b", "d"]);
        assert_eq!(names("${__Random(1,${top},dice)}"), ["top", "=dice"]);
        assert_eq!(names("${__V(user_${n})}${__V(a)}"), ["user_…", "n", "a"]);
        assert_eq!(names("${__P(users,${__property(b)})}"), ["P:users", "P:b"]);
        assert_eq!(names("${__setProperty(p,${v})}"), ["P=p", "v"]);
        assert_eq!(names("${__split(${list},part)}"), ["list", "=part"]);
        assert_eq!(
            names(r#"${__groovy(vars.get("x") + f(1\,2),y)}"#),
            ["x", "=y"]
        );
        assert_eq!(names("${__intSum(1,${a},total)}"), ["a", "=total"]);
    }

    #[test]
    fn scripts_name_variables_by_texts() {
        let script = "vars.put( 'a' , x); def t = vars.get(\"b\"); vars['c']; myvars.get('no'); vars.get('d' + i);\n\
                      ctx.getVariables().getObject(\"e\"); props.put('p', '1')";
        assert_eq!(names(script), ["=a", "b", "c", "d…", "e", "P=p"]);
        assert_eq!(names("vars.get(\"f_${i}\")"), ["f_…", "i"]);
    }

    #[test]
    fn parts_of_a_name() {
        assert_eq!(derived_suffix("id_1", "id"), Some("_1"));
        assert_eq!(derived_suffix("id_2_g1", "id"), Some("_2_g1"));
        assert_eq!(derived_suffix("id_x", "id"), None);
        assert_eq!(derived_suffix("id", "id"), None);
        assert_eq!(base_name("id_matchNr"), "id");
        assert_eq!(base_name("user_id_1_g1"), "user_id");
    }
}
