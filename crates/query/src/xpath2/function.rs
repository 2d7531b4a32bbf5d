//! The functions of XPath 1.0, and the lookup of all functions.

use bigdecimal::{BigDecimal, RoundingMode};
use xpath_eval::Node;

use super::arguments::{at_most_one, numeric, place, string};
use super::arithmetic::compute;
use super::ast::{Expr, Function, Operator};
use super::compare::truth;
use super::eval::{Evaluation, Focus};
use super::item::{AtomicValue, Item, Items, Number, Outcome, fail, number};
use super::{Namespaces, XPath2Error, newer};

/// The namespace of functions without a prefix.
const FUNCTION_NAMESPACE: &str = "http://www.w3.org/2005/xpath-functions";

/// Saxon's functions that are not implemented here.
const NOT_BUILT: &str = " adjust-date-to-timezone adjust-dateTime-to-timezone adjust-time-to-timezone analyze-string apply \
    available-environment-variables base-uri codepoint-equal collation-key collection current-date current-dateTime \
    current-time dateTime day-from-date day-from-dateTime days-from-duration deep-equal default-collation default-language \
    doc doc-available document-uri element-with-id environment-variable error filter fold-left fold-right for-each \
    for-each-pair format-date format-dateTime format-integer format-number format-time function-arity function-lookup \
    function-name generate-id hours-from-dateTime hours-from-duration hours-from-time id idref implicit-timezone \
    in-scope-prefixes innermost iri-to-uri json-doc json-to-xml lang load-xquery-module local-name-from-QName \
    minutes-from-dateTime minutes-from-duration minutes-from-time month-from-date month-from-dateTime \
    months-from-duration namespace-uri-for-prefix namespace-uri-from-QName nilled normalize-unicode outermost parse-ietf-date \
    parse-json parse-xml parse-xml-fragment path prefix-from-QName QName random-number-generator resolve-QName resolve-uri \
    round-half-to-even seconds-from-dateTime seconds-from-duration seconds-from-time serialize sort \
    static-base-uri timezone-from-date timezone-from-dateTime timezone-from-time trace transform unparsed-text \
    unparsed-text-available unparsed-text-lines uri-collection xml-to-json year-from-date year-from-dateTime \
    years-from-duration ";

/// Functions that accept more arguments than implemented here, such as a collation.
const TAKES_MORE: [&str; 13] = [
    "compare",
    "contains",
    "contains-token",
    "distinct-values",
    "ends-with",
    "index-of",
    "max",
    "min",
    "round",
    "starts-with",
    "string-join",
    "substring-after",
    "substring-before",
];

/// Names, with the minimum and maximum number of arguments.
const FUNCTIONS: [(&str, usize, usize); 25] = [
    ("boolean", 1, 1),
    ("ceiling", 1, 1),
    ("concat", 2, usize::MAX - 1),
    ("contains", 2, 2),
    ("count", 1, 1),
    ("false", 0, 0),
    ("floor", 1, 1),
    ("last", 0, 0),
    ("local-name", 0, 1),
    ("name", 0, 1),
    ("namespace-uri", 0, 1),
    ("normalize-space", 0, 1),
    ("not", 1, 1),
    ("number", 0, 1),
    ("position", 0, 0),
    ("round", 1, 1),
    ("starts-with", 2, 2),
    ("string", 0, 1),
    ("string-length", 0, 1),
    ("substring", 2, 3),
    ("substring-after", 2, 2),
    ("substring-before", 2, 2),
    ("sum", 1, 2),
    ("translate", 3, 3),
    ("true", 0, 0),
];

impl Function {
    /// Finds a function by name and number of arguments.
    ///
    /// # Errors
    /// If there is none, with Saxon's message, or if it is not implemented.
    pub(super) fn find(
        prefix: Option<&str>,
        name: &str,
        arguments: usize,
        namespaces: &Namespaces,
    ) -> Result<Function, XPath2Error> {
        let uri = prefix.map_or(Ok(FUNCTION_NAMESPACE), |prefix| namespaces.uri_of(prefix))?;
        let unknown = |why: &str| {
            Err(XPath2Error::malformed(format!(
                "Cannot find a {arguments}-argument function named Q{{{uri}}}{name}(){why}"
            )))
        };
        if uri != FUNCTION_NAMESPACE {
            return if uri.contains("w3.org") {
                Err(XPath2Error::not_built(&format!(
                    "the function {name} of {uri}"
                )))
            } else {
                unknown("")
            };
        }
        let old = FUNCTIONS.iter().map(|row| (row, false));
        let mut rows = old
            .chain(newer::FUNCTIONS.iter().map(|row| (row, true)))
            .filter(|((known, ..), _)| *known == name);
        let Some(((name, least, most), is_newer)) = rows.next() else {
            return if NOT_BUILT.contains(&format!(" {name} ")) {
                Err(XPath2Error::not_built(&format!("the function {name}")))
            } else {
                unknown("")
            };
        };
        if arguments == most + 1 && TAKES_MORE.contains(name) {
            return Err(XPath2Error::not_built(&format!(
                "the function {name} with {arguments} arguments"
            )));
        }
        if (*least..=*most).contains(&arguments) {
            Ok(Function { name, is_newer })
        } else {
            unknown(
                ". The namespace URI and local name are recognized, but the number of arguments is wrong",
            )
        }
    }
}

impl<'t> Evaluation<'t> {
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &[Expr],
        focus: &Focus<'t>,
    ) -> Outcome<Items<'t>> {
        let mut given: Vec<Items<'t>> = Vec::with_capacity(arguments.len());
        for argument in arguments {
            given.push(self.items(argument, focus)?);
        }
        if given.is_empty() {
            given.push(vec![focus.item.clone()]);
        }
        let name = function.name;
        if function.is_newer {
            return newer::call(name, given);
        }
        let text = |index: usize| string(&given[index], index, name);
        let item = match name {
            "true" => Item::Bool(true),
            "false" => Item::Bool(false),
            "position" => Item::Whole(focus.position as i64),
            "last" => Item::Whole(focus.size as i64),
            "count" => Item::Whole(given[0].len() as i64),
            "boolean" => Item::Bool(truth(&given[0])?),
            "not" => Item::Bool(!truth(&given[0])?),
            "number" => {
                let item = at_most_one(&given[0], &place(0, name), false)?;
                Item::Double(item.map(|item| number(&item.atom())).unwrap_or(f64::NAN))
            }
            "sum" => match (&given[0][..], given.get(1)) {
                ([], Some(zero)) => return Ok(zero.clone()),
                (items, _) => Item::from(sum(items)?),
            },
            "floor" | "ceiling" | "round" => return rounded(&given[0], name),
            "string" => {
                let item = at_most_one(&given[0], &place(0, name), false)?;
                Item::Text(item.map(Item::text).unwrap_or_default())
            }
            "name" | "local-name" | "namespace-uri" => Item::Text(named(&given[0], name)?),
            "concat" => Item::Text(concat(&given)?),
            "contains" => Item::Bool(text(0)?.contains(&text(1)?)),
            "starts-with" => Item::Bool(text(0)?.starts_with(&text(1)?)),
            "string-length" => {
                Item::Whole(self_text(&given, arguments, name)?.chars().count() as i64)
            }
            "normalize-space" => {
                let text = self_text(&given, arguments, name)?;
                let words: Vec<&str> = text
                    .split([' ', '\t', '\r', '\n'])
                    .filter(|word| !word.is_empty())
                    .collect();
                Item::Text(words.join(" "))
            }
            "substring" => Item::Text(substring(&text(0)?, &given[1..])?),
            "substring-before" | "substring-after" => {
                let (text, mark) = (text(0)?, text(1)?);
                let (before, after) = text.split_once(&mark).unwrap_or_default();
                let part = if name == "substring-before" {
                    before
                } else {
                    after
                };
                Item::Text(part.to_owned())
            }
            "translate" => Item::Text(translate(&text(0)?, &text(1)?, &text(2)?)),
            other => return fail(format!("Drumfire does not support the function {other}")),
        };
        Ok(vec![item])
    }
}

/// The argument or, if it is omitted, the text of the context item.
fn self_text(given: &[Items<'_>], arguments: &[Expr], name: &str) -> Outcome<String> {
    match (arguments, &given[0][..]) {
        ([], [item]) => Ok(item.text()),
        _ => string(&given[0], 0, name),
    }
}

fn sum(items: &[Item<'_>]) -> Outcome<Number> {
    let mut total = Number::Whole(0);
    for item in items {
        let atom = item.atom();
        if matches!(atom, AtomicValue::Text(_) | AtomicValue::Bool(_)) {
            return fail(format!(
                "Input to sum() contains a value of type {} which is neither numeric, nor a duration",
                atom.type_name()
            ));
        }
        total = compute(&total, Operator::Add, &numeric(&atom, "sum")?)?;
    }
    Ok(total)
}

fn rounded<'t>(items: &[Item<'t>], name: &str) -> Outcome<Items<'t>> {
    let Some(item) = at_most_one(items, &place(0, name), false)? else {
        return Ok(Vec::new());
    };
    let round = |number: f64| match name {
        "floor" => number.floor(),
        "ceiling" => number.ceil(),
        _ => (number + 0.5).floor(),
    };
    Ok(vec![Item::from(match numeric(&item.atom(), name)? {
        Number::Whole(number) => Number::Whole(number),
        Number::Decimal(number) => Number::Decimal(round_decimal(number, name)),
        Number::Double(number) => Number::Double(round(number)),
    })])
}

fn round_decimal(number: BigDecimal, name: &str) -> BigDecimal {
    let (number, mode) = match name {
        "floor" => (number, RoundingMode::Floor),
        "ceiling" => (number, RoundingMode::Ceiling),
        _ => (number + BigDecimal::new(5.into(), 1), RoundingMode::Floor),
    };
    number.with_scale_round(0, mode)
}

fn named(items: &[Item<'_>], name: &str) -> Outcome<String> {
    let node = match at_most_one(items, &place(0, name), false)? {
        None => return Ok(String::new()),
        Some(Item::Node(node)) => *node,
        Some(_) => return fail(format!("The {} is not a node", place(0, name))),
    };
    let expanded = node.expanded_name();
    Ok(match name {
        "name" => node.qualified_name().to_owned(),
        "local-name" => expanded.map(|name| name.local_name).unwrap_or_default(),
        _ => expanded
            .and_then(|name| name.namespace_uri)
            .unwrap_or_default(),
    })
}

pub(super) fn concat(given: &[Items<'_>]) -> Outcome<String> {
    let mut out = String::new();
    for (index, items) in given.iter().enumerate() {
        if let Some(item) = at_most_one(items, &place(index, "concat"), false)? {
            out.push_str(&item.text());
        }
    }
    Ok(out)
}

/// The characters whose positions lie between the rounded start and end.
fn substring(text: &str, bounds: &[Items<'_>]) -> Outcome<String> {
    let bound =
        |items: &Items<'_>| match at_most_one(items, "second argument of fn:substring()", true)? {
            Some(item) => {
                numeric(&item.atom(), "substring").map(|number| (number.as_f64() + 0.5).floor())
            }
            None => Ok(f64::NAN),
        };
    let start = bound(&bounds[0])?;
    let end = match bounds.get(1) {
        Some(length) => start + bound(length)?,
        None => f64::INFINITY,
    };
    let is_inside = |index: usize| {
        let position = (index + 1) as f64;
        position >= start && position < end
    };
    let chars = text.chars().enumerate();
    Ok(chars
        .filter(|(index, _)| is_inside(*index))
        .map(|(_, c)| c)
        .collect())
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    text.chars()
        .filter_map(|c| match from.chars().position(|known| known == c) {
            Some(index) => to.get(index).copied(),
            None => Some(c),
        })
        .collect()
}
