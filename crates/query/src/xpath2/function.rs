//! The functions.

use xpath_eval::{Expr, Node};

use super::arguments::{at_most_one, place, string};
use super::eval::{Evaluation, Focus, Items, Outcome, fail, truth};
use super::item::{Atom, Item, Number, cast, number};
use super::newer;

/// A function by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    name: &'static str,
    /// XPath 1.0 has it not.
    is_newer: bool,
}

/// Names with their least and most numbers of arguments.
const FUNCTIONS: [(&str, usize, usize); 25] = [
    ("boolean", 1, 1),
    ("ceiling", 1, 1),
    ("concat", 2, usize::MAX),
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
    ("sum", 1, 1),
    ("translate", 3, 3),
    ("true", 0, 0),
];

impl Function {
    pub(super) fn find(name: &str, arguments: usize) -> Option<Function> {
        let name = name.strip_prefix("fn:").unwrap_or(name);
        let find = |table: &[(&'static str, usize, usize)]| {
            let row = table.iter().find(|(known, ..)| *known == name);
            row.filter(|(_, least, most)| (*least..=*most).contains(&arguments))
                .map(|(name, ..)| *name)
        };
        let known = |name, is_newer| Function { name, is_newer };
        find(&FUNCTIONS)
            .map(|name| known(name, false))
            .or_else(|| find(&newer::FUNCTIONS).map(|name| known(name, true)))
    }

    /// Whether XPath 1.0, and with it Xalan, has no such function.
    pub(super) fn is_newer(self) -> bool {
        self.is_newer
    }
}

impl Evaluation<'_> {
    pub(super) fn call<'t>(
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
                Item::Double(item.map_or(f64::NAN, |item| number(&item.atom())))
            }
            "sum" => Item::from(sum(&given[0])?),
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
                let words = text.split([' ', '\t', '\r', '\n']);
                let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
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
            other => return fail(format!("the function {other} is not built")),
        };
        Ok(vec![item])
    }
}

/// The argument, or, where it is left out, the text of the context item.
fn self_text(given: &[Items<'_>], arguments: &[Expr], name: &str) -> Outcome<String> {
    match (arguments, &given[0][..]) {
        ([], [item]) => Ok(item.text()),
        _ => string(&given[0], 0, name),
    }
}

pub(super) fn numeric(atom: &Atom, name: &str) -> Outcome<Number> {
    match atom {
        Atom::Number(number) => Ok(*number),
        Atom::Untyped(text) => cast(text).map(Number::Double),
        other => fail(format!(
            "The required item type of the {} is xs:numeric. The required type is a union type allowing any of (xs:double, xs:float, xs:decimal), but the supplied type {} is not any of these",
            place(0, name),
            other.type_name()
        )),
    }
}

/// Whole numbers as long as all items are such.
fn sum(items: &[Item<'_>]) -> Outcome<Number> {
    let mut total = Number::Whole(0);
    for item in items {
        let atom = item.atom();
        if matches!(atom, Atom::Text(_) | Atom::Bool(_)) {
            return fail(format!(
                "Input to sum() contains a value of type {} which is neither numeric, nor a duration",
                atom.type_name()
            ));
        }
        total = match (total, numeric(&atom, "sum")?) {
            (Number::Whole(a), Number::Whole(b)) => Number::Whole(a.saturating_add(b)),
            (a, b) => Number::Double(a.as_f64() + b.as_f64()),
        };
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
        Number::Decimal(number) => Number::Decimal(round(number)),
        Number::Double(number) => Number::Double(round(number)),
    })])
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

fn concat(given: &[Items<'_>]) -> Outcome<String> {
    let mut out = String::new();
    for (index, items) in given.iter().enumerate() {
        if let Some(item) = at_most_one(items, &place(index, "concat"), false)? {
            out.push_str(&item.text());
        }
    }
    Ok(out)
}

/// The characters whose positions are between the rounded start and end.
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
    let map = |c: char| match from.chars().position(|known| known == c) {
        Some(index) => to.get(index).copied(),
        None => Some(c),
    };
    text.chars().filter_map(map).collect()
}
