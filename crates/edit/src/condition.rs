//! Conditions of If and While Controllers as rows of a variable, an operator and a value. They are written as a call of
//! `__jexl3` that yields `true` or `false` whatever the variables hold, and also if they were never set.

use drumfire_expr::{call_at, literal_argument};

use crate::protocol::function_messages::{Condition, ConditionRow};
use crate::refused::{PARAMETERS, Refused};

/// The variable in which JMeter keeps whether the last sample succeeded (`JMeterThread.LAST_SAMPLE_OK`).
pub const LAST_SAMPLE: &str = "JMeterThread.last_sample_ok";

/// The texts that are numbers. A text that is none would make the expression fail, which a While Controller takes for `true`.
macro_rules! is_number {
    ($of:literal) => {
        concat!(
            $of,
            " != null && ",
            $of,
            r#".matches("[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?")"#
        )
    };
}

/// The pattern of a comparison of numbers, with a number and with a variable.
macro_rules! compared {
    ($sign:literal) => {
        [
            concat!(is_number!("{v}"), " && {v} * 1.0 ", $sign, " {x}"),
            concat!(
                is_number!("{v}"),
                " && ",
                is_number!("{x}"),
                " && {v} * 1.0 ",
                $sign,
                " {x} * 1.0"
            ),
        ]
    };
}

/// The kind of value that an operator compares with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    None,
    Text,
    Number,
}

/// An operator and its expressions, in which `{v}` is the variable and `{x}` is the value: with a constant value, and with a
/// variable.
struct Operator {
    name: &'static str,
    operand: Operand,
    patterns: [&'static str; 2],
}

const fn operator(name: &'static str, operand: Operand, patterns: [&'static str; 2]) -> Operator {
    Operator {
        name,
        operand,
        patterns,
    }
}

/// Those of the last sample come before the general ones, which would read them too.
static OPERATORS: [Operator; 12] = [
    operator("last_ok", Operand::None, [r#"{last} == "true""#; 2]),
    operator("last_failed", Operand::None, [r#"{last} == "false""#; 2]),
    operator("equals", Operand::Text, ["{v} == {x}"; 2]),
    operator("differs", Operand::Text, ["{v} != {x}"; 2]),
    operator(
        "contains",
        Operand::Text,
        [
            "{v} != null && {v}.contains({x})",
            "{v} != null && {x} != null && {v}.contains({x})",
        ],
    ),
    operator(
        "matches",
        Operand::Text,
        [
            "{v} != null && {v}.matches({x})",
            "{v} != null && {x} != null && {v}.matches({x})",
        ],
    ),
    operator("empty", Operand::None, ["empty({v})"; 2]),
    operator("not_empty", Operand::None, ["!empty({v})"; 2]),
    operator("less", Operand::Number, compared!("<")),
    operator("at_most", Operand::Number, compared!("<=")),
    operator("more", Operand::Number, compared!(">")),
    operator("at_least", Operand::Number, compared!(">=")),
];

/// Writes a condition.
///
/// # Errors
/// A row has no variable, an operator that does not exist, or a value that cannot be compared.
pub fn write(condition: &Condition) -> Result<String, Refused> {
    let rows: Vec<String> = condition
        .rows
        .iter()
        .map(written)
        .collect::<Result<_, _>>()?;
    let joined = match &rows[..] {
        [] => return Err(Refused::new(PARAMETERS, "the condition has no rows")),
        [only] => only.clone(),
        all => {
            let within: Vec<String> = all.iter().map(|row| in_parentheses(row)).collect();
            within.join(joint(condition.all))
        }
    };
    Ok(format!("${{__jexl3({})}}", literal_argument(&joined)))
}

const fn joint(all: bool) -> &'static str {
    if all { " && " } else { " || " }
}

fn in_parentheses(row: &str) -> String {
    if row.contains(" && ") {
        format!("({row})")
    } else {
        row.to_owned()
    }
}

fn written(row: &ConditionRow) -> Result<String, Refused> {
    let operator = OPERATORS
        .iter()
        .find(|one| one.name == row.operator)
        .ok_or_else(|| {
            let message = format!("there is no operator `{}`", row.operator);
            Refused::new(PARAMETERS, message)
        })?;
    let variable = row.variable.trim();
    let variable = referred(variable).unwrap_or(variable);
    let needs_variable = operator.patterns[0].contains("{v}");
    if needs_variable && (variable.is_empty() || variable.contains("${")) {
        return Err(Refused::new(PARAMETERS, "a row has no variable").hint("give its name"));
    }
    let other = referred(&row.value);
    let value = match (operator.operand, other) {
        (Operand::None, _) => String::new(),
        (_, Some(other)) => of_variable(other),
        (Operand::Number, None) => number(&row.value)?,
        (Operand::Text, None) if row.value.contains("${") => {
            let message = format!("`{}` is neither a text nor a single variable", row.value);
            return Err(Refused::new(PARAMETERS, message)
                .hint("put it into a variable, or write the condition as a text"));
        }
        (Operand::Text, None) => quoted(&row.value),
    };
    let pattern = operator.patterns[usize::from(other.is_some())]
        .replace("{last}", &of_variable(LAST_SAMPLE));
    // The value comes last: it may have braces.
    let pieces: Vec<String> = pattern
        .split("{x}")
        .map(|piece| piece.replace("{v}", &of_variable(variable)))
        .collect();
    Ok(pieces.join(&value))
}

/// The variable of a text that is a single reference.
fn referred(value: &str) -> Option<&str> {
    let name = value.trim().strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.is_empty() && !name.contains(['$', '{', '}', '(', ',', '\\']);
    is_name.then_some(name)
}

fn of_variable(name: &str) -> String {
    format!("vars.get({})", quoted(name))
}

/// A number as JEXL reads it: zeros in front would make it octal.
fn number(value: &str) -> Result<String, Refused> {
    let text = value.trim();
    let parsed: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
    let Some(parsed) = parsed else {
        let message = format!("`{value}` is neither a number nor a single variable");
        return Err(Refused::new(PARAMETERS, message));
    };
    /// Longer ones may not fit into `long`.
    const MOST_DIGITS: usize = 15;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.len() <= MOST_DIGITS
        && digits
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()))
        && (digits == "0" || digits.starts_with("0.") || !digits.starts_with('0'));
    Ok(if is_plain {
        text.to_owned()
    } else {
        format!("{parsed:?}").replace("e", "E")
    })
}

/// A text as a constant of JEXL.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The variables that a condition compares.
pub fn variables(condition: &Condition) -> Vec<String> {
    condition
        .rows
        .iter()
        .flat_map(|row| {
            let other = referred(&row.value).map(str::to_owned);
            let variable = if row.operator.starts_with("last_") {
                LAST_SAMPLE.to_owned()
            } else {
                row.variable.clone()
            };
            [variable].into_iter().chain(other)
        })
        .collect()
}

/// Reads a condition that [`write`] wrote; `None` for any other text.
pub fn read(text: &str) -> Option<Condition> {
    let text = text.trim();
    let call = call_at(text, "${".len())?;
    let is_whole = call.range == (0..text.len()) && call.name == "__jexl3";
    let [expression] = &call.arguments[..] else {
        return None;
    };
    if !is_whole || expression.contains("${") {
        return None;
    }
    if let Some((row, "")) = row(expression) {
        return Some(Condition {
            all: true,
            rows: vec![row],
        });
    }
    let joints = [true, false];
    joints.into_iter().find_map(|all| joined(expression, all))
}

fn joined(expression: &str, all: bool) -> Option<Condition> {
    let mut rows = Vec::new();
    let mut rest = expression;
    loop {
        let (row, after) = match rest.strip_prefix('(') {
            Some(within) => {
                let (row, after) = row(within)?;
                (row, after.strip_prefix(')')?)
            }
            None => row(rest)?,
        };
        rows.push(row);
        if after.is_empty() {
            return Some(Condition { all, rows });
        }
        rest = after.strip_prefix(joint(all))?;
    }
}

/// Reads a row, and returns what follows it. Of several readings the longest is meant.
fn row(text: &str) -> Option<(ConditionRow, &str)> {
    let matches = OPERATORS.iter().flat_map(|operator| {
        let [constant, variable] = operator.patterns;
        let patterns = [(constant, false), (variable, true)].into_iter();
        patterns.filter_map(|(pattern, is_variable)| matched(operator, pattern, is_variable, text))
    });
    // The first of equals counts.
    matches.reduce(|best, next| {
        if next.1.len() < best.1.len() {
            next
        } else {
            best
        }
    })
}

fn matched<'t>(
    operator: &Operator,
    pattern: &str,
    is_variable: bool,
    text: &'t str,
) -> Option<(ConditionRow, &'t str)> {
    let (mut name, mut value): (Option<String>, Option<String>) = (None, None);
    let pattern = pattern.replace("{last}", &of_variable(LAST_SAMPLE));
    let mut pieces = pattern.as_str();
    let mut rest = text;
    while !pieces.is_empty() {
        let (slot, text_found, after) = if let Some(after) = pieces.strip_prefix("{v}") {
            pieces = after;
            let (text_found, after) = variable(rest)?;
            (&mut name, text_found, after)
        } else if let Some(after) = pieces.strip_prefix("{x}") {
            pieces = after;
            let (text_found, after) = match (is_variable, operator.operand) {
                (true, _) => variable(rest).map(|(name, after)| (format!("${{{name}}}"), after))?,
                (false, Operand::Number) => digits(rest)?,
                (false, _) => constant(rest)?,
            };
            (&mut value, text_found, after)
        } else {
            let end = ["{v}", "{x}"]
                .iter()
                .filter_map(|mark| pieces.find(mark))
                .min();
            let (piece, after) = pieces.split_at(end.unwrap_or(pieces.len()));
            pieces = after;
            rest = rest.strip_prefix(piece)?;
            continue;
        };
        if slot.get_or_insert_with(|| text_found.clone()) != &text_found {
            return None;
        }
        rest = after;
    }
    let row = ConditionRow {
        variable: name.unwrap_or_default(),
        operator: operator.name.to_owned(),
        value: value.unwrap_or_default(),
    };
    // A text such as `${` has another meaning as a value.
    (written(&row).ok()? == text[..text.len() - rest.len()]).then_some((row, rest))
}

/// Reads `vars.get("…")`.
fn variable(text: &str) -> Option<(String, &str)> {
    let (name, rest) = constant(text.strip_prefix("vars.get(")?)?;
    Some((name, rest.strip_prefix(')')?))
}

/// Reads a number.
fn digits(text: &str) -> Option<(String, &str)> {
    let end = text.find(|c| !is_number_sign(c)).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

/// Whether a character may stand in a number.
fn is_number_sign(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'E')
}

/// Reads a constant text.
fn constant(text: &str) -> Option<(String, &str)> {
    let within = text.strip_prefix('"')?;
    let mut out = String::new();
    let mut chars = within.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &within[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                escaped @ ('"' | '\\') => out.push(escaped),
                _ => return None,
            },
            _ => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use drumfire_expr::{Compiler, Properties, Template};

    use super::*;

    fn one(variable: &str, operator: &str, value: &str) -> ConditionRow {
        ConditionRow {
            variable: variable.to_owned(),
            operator: operator.to_owned(),
            value: value.to_owned(),
        }
    }

    /// Texts that are odd in a plan, in JEXL or in a regular expression.
    const ODD: [&str; 18] = [
        "",
        "x",
        "a,b",
        "it's",
        r#"say "hi""#,
        r"C:\dir\",
        ")",
        "(",
        "f(x)",
        "{}",
        "}",
        "$",
        "$1",
        "é😀",
        "a\nb",
        "true",
        "1.0",
        "null",
    ];

    #[test]
    fn what_is_written_is_read_again() {
        for operator in &OPERATORS {
            let values: Vec<&str> = match operator.operand {
                Operand::None => vec![""],
                Operand::Text => ODD.iter().copied().chain(["${other}"]).collect(),
                Operand::Number => vec!["5", "-5", "0.5", "100", "${other}"],
            };
            let has_variable = operator.patterns[0].contains("{v}");
            let names = if has_variable {
                vec!["x", "a,b", r#"q"\)"#]
            } else {
                vec![""]
            };
            for (value, name) in values
                .iter()
                .flat_map(|value| names.iter().map(move |name| (value, name)))
            {
                let row = one(name, operator.name, value);
                for (all, count) in [(true, 1), (true, 2), (false, 3)] {
                    let condition = Condition {
                        all,
                        rows: vec![row.clone(); count],
                    };
                    let text = write(&condition).unwrap();
                    assert_eq!(read(&text), Some(condition), "{text}");
                }
            }
        }
        let mixed = Condition {
            all: false,
            rows: vec![
                one("a", "contains", " || "),
                one("", "last_ok", ""),
                one("n", "less", "7"),
            ],
        };
        assert_eq!(read(&write(&mixed).unwrap()), Some(mixed));
    }

    #[test]
    fn other_conditions_stay_texts() {
        let others = [
            "",
            "true",
            "LAST",
            "${x}",
            r#"${__jexl3("${x}" == "y")}"#,
            r#"${__jexl3(vars.get("x") == "y",z)}"#,
            r#"${__jexl3(vars.get("x") == "y")} "#.trim_end().strip_suffix('}').unwrap(),
            r#"${__jexl2(vars.get("x") == "y")}"#,
            r#"${__jexl3(vars.get("x") == "y" && vars.get("z") == "y" || true)}"#,
            r#"${__jexl3(vars.get("x")=="y")}"#,
            r#"x ${__jexl3(vars.get("x") == "y")}"#,
            r#"${__jexl3(vars.get("x") == "\${y}")}"#,
        ];
        for other in others {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let refused = [
            one("", "equals", "x"),
            one("${a}${b}", "equals", "x"),
            one("x", "equals", "a${b}"),
            one("x", "less", "many"),
            one("x", "like", "y"),
        ];
        for row in refused {
            assert!(
                write(&Condition {
                    all: true,
                    rows: vec![row.clone()]
                })
                .is_err(),
                "{row:?}"
            );
        }
        assert!(write(&Condition::default()).is_err());
        let written = |value: &str| written(&one("${x}", "less", value)).unwrap();
        assert!(
            written("007").ends_with("* 1.0 < 7.0"),
            "{}",
            written("007")
        );
        assert!(
            written("12345678901234567890").contains("E"),
            "{}",
            written("12345678901234567890")
        );
    }

    #[test]
    fn a_condition_is_true_exactly_if_it_says_so() {
        let value = |condition: &str, set: Option<&str>| {
            let mut compiler = Compiler::new(Properties::new());
            compiler.define("other", "5");
            if let Some(set) = set {
                compiler.define("x", set);
            }
            let template = Template::compile(condition, &mut compiler).unwrap();
            template.eval(compiler.scope_mut()).to_string()
        };
        let check = |operator: &str, operand: &str, set: Option<&str>, expected: bool| {
            let rows = vec![one("x", operator, operand)];
            let text = write(&Condition { all: true, rows }).unwrap();
            assert_eq!(
                value(&text, set),
                expected.to_string(),
                "{text} with {set:?}"
            );
        };
        for set in ODD.iter().copied().map(Some).chain([None]) {
            for operand in ODD {
                check("equals", operand, set, set == Some(operand));
                check("differs", operand, set, set != Some(operand));
                check(
                    "contains",
                    operand,
                    set,
                    set.is_some_and(|set| set.contains(operand)),
                );
            }
            check("empty", "", set, set.is_none_or(str::is_empty));
            check("not_empty", "", set, set.is_some_and(|set| !set.is_empty()));
            check("less", "5", set, set == Some("1.0"));
            check("at_least", "${other}", set, false);
            check("less", "${unset}", set, false);
            check("contains", "${unset}", set, false);
            check("equals", "${unset}", set, set.is_none());
        }
        for (set, expected) in [
            ("5", "at_most"),
            ("5.0", "at_least"),
            ("4e0", "less"),
            ("10", "more"),
            (".5", "less"),
            ("-7", "less"),
        ] {
            check(expected, "${other}", Some(set), true);
            check(expected, "5", Some(set), true);
        }
        check("more", "9", Some("10"), true);
        check("matches", r"\d+\(a,b\)", Some("12(a,b)"), true);
        check("matches", r"\d+", Some("12x"), false);
        check("matches", r"\d+", None, false);
    }
}
