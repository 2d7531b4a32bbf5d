//! The functions that XPath 1.0 lacks.

use std::cmp::Ordering;
use std::collections::HashSet;

use bigdecimal::BigDecimal;
use xpath_eval::{Node, NodeKind};

use super::arguments::{at_most_one, numeric, place, string};
use super::arithmetic::{compute, quotient};
use super::ast::Operator;
use super::compare::order;
use super::item::{AtomicValue, Item, Items, Number, Outcome, cast, fail, trimmed};
use crate::regex::{Dialect, Pattern, RegexOptions};

/// Names, with the minimum and maximum number of arguments.
pub(super) const FUNCTIONS: [(&str, usize, usize); 35] = [
    ("abs", 1, 1),
    ("avg", 1, 1),
    ("codepoints-to-string", 1, 1),
    ("compare", 2, 2),
    ("contains-token", 2, 2),
    ("data", 0, 1),
    ("distinct-values", 1, 1),
    ("empty", 1, 1),
    ("encode-for-uri", 1, 1),
    ("ends-with", 2, 2),
    ("escape-html-uri", 1, 1),
    ("exactly-one", 1, 1),
    ("exists", 1, 1),
    ("has-children", 0, 1),
    ("head", 1, 1),
    ("index-of", 2, 2),
    ("insert-before", 3, 3),
    ("lower-case", 1, 1),
    ("matches", 2, 3),
    ("max", 1, 1),
    ("min", 1, 1),
    ("node-name", 0, 1),
    ("one-or-more", 1, 1),
    ("remove", 2, 2),
    ("replace", 3, 4),
    ("reverse", 1, 1),
    ("root", 0, 1),
    ("string-join", 1, 2),
    ("string-to-codepoints", 1, 1),
    ("subsequence", 2, 3),
    ("tail", 1, 1),
    ("tokenize", 1, 3),
    ("unordered", 1, 1),
    ("upper-case", 1, 1),
    ("zero-or-one", 1, 1),
];

/// Calls one of these functions.
pub(super) fn call<'t>(name: &'static str, mut given: Vec<Items<'t>>) -> Outcome<Items<'t>> {
    let text = |index: usize| string(&given[index], index, name);
    let item = match name {
        "empty" => Item::Bool(given[0].is_empty()),
        "exists" => Item::Bool(!given[0].is_empty()),
        "upper-case" => Item::Text(text(0)?.to_uppercase()),
        "lower-case" => Item::Text(text(0)?.to_lowercase()),
        "ends-with" => Item::Bool(text(0)?.ends_with(&text(1)?)),
        "string-join" => Item::Text(joined(&given)?),
        "encode-for-uri" => Item::Text(escaped(&text(0)?, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~')
        })),
        "escape-html-uri" => Item::Text(escaped(&text(0)?, |c| matches!(c, ' '..='~'))),
        "contains-token" => {
            let token = text(1)?;
            let token = trimmed(&token);
            Item::Bool(
                given[0]
                    .iter()
                    .any(|item| item.text().split_ascii_whitespace().any(|own| own == token)),
            )
        }
        "has-children" => match at_most_one(&given[0], &place(0, name), false)? {
            Some(Item::Node(node)) => Item::Bool(
                matches!(node.kind(), NodeKind::Root | NodeKind::Element)
                    && node.children().next().is_some(),
            ),
            _ => Item::Bool(false),
        },
        "matches" => Item::Bool(pattern(&given, 1, 2, name)?.is_match(&text(0)?)),
        "replace" => Item::Text(replaced(&given)?),
        "codepoints-to-string" => Item::Text(of_code_points(&given[0])?),
        "compare" if given.iter().any(Vec::is_empty) => return Ok(Vec::new()),
        "compare" => Item::Whole(text(0)?.cmp(&text(1)?) as i64),
        "abs" => return absolute(&given[0]),
        "max" => return extreme(&given[0], name, Ordering::Greater),
        "min" => return extreme(&given[0], name, Ordering::Less),
        "avg" => return average(&given[0]),
        "node-name" => return node_name(&given[0]),
        "root" => return root(&given[0]),
        "tokenize" => return tokens(&given),
        "string-to-codepoints" => {
            let text = text(0)?;
            let points = text.chars().map(|c| Item::Whole(i64::from(u32::from(c))));
            return Ok(points.collect());
        }
        "index-of" => return positions(&given),
        _ => return sequence(name, std::mem::take(&mut given)),
    };
    Ok(vec![item])
}

/// Functions that select or reorder items.
fn sequence<'t>(name: &'static str, mut given: Vec<Items<'t>>) -> Outcome<Items<'t>> {
    let bounds = given.split_off(1);
    let mut items = given.pop().unwrap_or_default();
    let place_of = |index: usize| whole(&bounds[index], index + 1, name);
    match name {
        "head" => items.truncate(1),
        "tail" => drop(items.drain(..items.len().min(1))),
        "reverse" => items.reverse(),
        "data" => items = items.iter().map(|item| item.atom().into()).collect(),
        "distinct-values" => return distinct(&items),
        "remove" => {
            let at = place_of(0)?;
            if at >= 1 && at as usize <= items.len() {
                items.remove(at as usize - 1);
            }
        }
        "insert-before" => {
            let at = place_of(0)?.max(1) as usize - 1;
            let at = at.min(items.len());
            let added = bounds.into_iter().nth(1).unwrap_or_default();
            items.splice(at..at, added);
        }
        "subsequence" => {
            let from = rounded(&bounds[0], 1, name)?;
            let end = match bounds.get(1) {
                Some(length) => from + rounded(length, 2, name)?,
                None => f64::INFINITY,
            };
            let mut position = 0.0;
            items.retain(|_| {
                position += 1.0;
                position >= from && position < end
            });
        }
        "zero-or-one" if items.len() > 1 => {
            return fail("fn:zero-or-one called with a sequence containing more than one item");
        }
        "one-or-more" if items.is_empty() => {
            return fail("fn:one-or-more called with a sequence containing no items");
        }
        "exactly-one" if items.len() != 1 => {
            return fail(
                "fn:exactly-one called with a sequence containing zero or more than one item",
            );
        }
        _ => {}
    }
    Ok(items)
}

/// The value of an item for a comparison without a declared type: untyped text is treated as a
/// string.
fn comparable(item: &Item<'_>) -> AtomicValue {
    match item.atom() {
        AtomicValue::Untyped(text) => AtomicValue::Text(text),
        atom => atom,
    }
}

/// Whether two values are equal; values of incomparable types are not.
fn are_equal(a: &AtomicValue, b: &AtomicValue) -> bool {
    matches!(order(a, b), Ok(Some(Ordering::Equal)))
}

fn distinct<'t>(items: &[Item<'t>]) -> Outcome<Items<'t>> {
    // Strings, the only content of nodes, are looked up in a set; they never equal values of
    // other types.
    let mut texts: HashSet<String> = HashSet::new();
    let mut atoms: Vec<AtomicValue> = Vec::new();
    let mut firsts = Vec::new();
    for item in items {
        let is_new = match comparable(item) {
            AtomicValue::Text(text) => texts.insert(text),
            atom if atoms.iter().any(|other| are_equal(other, &atom)) => false,
            atom => {
                atoms.push(atom);
                true
            }
        };
        if is_new {
            firsts.push(item.atom().into());
        }
    }
    Ok(firsts)
}

fn positions<'t>(given: &[Items<'t>]) -> Outcome<Items<'t>> {
    let Some(wanted) = at_most_one(&given[1], &place(1, "index-of"), true)? else {
        return Ok(Vec::new());
    };
    let sought = comparable(wanted);
    let matches = given[0]
        .iter()
        .enumerate()
        .filter(|(_, item)| are_equal(&comparable(item), &sought));
    Ok(matches
        .map(|(index, _)| Item::Whole(index as i64 + 1))
        .collect())
}

/// A mandatory numeric argument.
fn needed(items: &[Item<'_>], index: usize, name: &str) -> Outcome<Number> {
    let position = place(index, name);
    match at_most_one(items, &position, true)? {
        Some(item) => numeric(&item.atom(), name),
        None => fail(format!(
            "An empty sequence is not allowed as the {position}"
        )),
    }
}

fn whole(items: &[Item<'_>], index: usize, name: &str) -> Outcome<i64> {
    needed(items, index, name).map(|number| number.as_f64() as i64)
}

fn rounded(items: &[Item<'_>], index: usize, name: &str) -> Outcome<f64> {
    needed(items, index, name).map(|number| (number.as_f64() + 0.5).floor())
}

fn absolute<'t>(items: &[Item<'t>]) -> Outcome<Items<'t>> {
    let Some(item) = at_most_one(items, &place(0, "abs"), false)? else {
        return Ok(Vec::new());
    };
    Ok(vec![Item::from(match numeric(&item.atom(), "abs")? {
        Number::Whole(number) => Number::Whole(number.saturating_abs()),
        Number::Decimal(number) => Number::Decimal(number.abs()),
        Number::Double(number) => Number::Double(number.abs()),
    })])
}

/// The maximum or minimum of numbers, including untyped text, or of strings.
fn extreme<'t>(items: &[Item<'t>], name: &str, wanted: Ordering) -> Outcome<Items<'t>> {
    let mut best: Option<AtomicValue> = None;
    for item in items {
        let atom = match item.atom() {
            AtomicValue::Untyped(text) => AtomicValue::Number(Number::Double(cast(&text)?)),
            atom => atom,
        };
        if matches!(&atom, AtomicValue::Number(number) if number.as_f64().is_nan()) {
            return Ok(vec![Item::Double(f64::NAN)]);
        }
        let is_better = match &best {
            None => true,
            Some(best) => {
                order(&atom, best).or_else(|_| {
                    fail(format!(
                        "Input to {name}() contains values of types that cannot be compared"
                    ))
                })? == Some(wanted)
            }
        };
        if is_better {
            best = Some(atom);
        }
    }
    Ok(best.into_iter().map(Item::from).collect())
}

fn average<'t>(items: &[Item<'t>]) -> Outcome<Items<'t>> {
    let mut sum = Number::Whole(0);
    for item in items {
        sum = compute(&sum, Operator::Add, &numeric(&item.atom(), "avg")?)?;
    }
    if items.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![match sum.exact() {
        Some(sum) => Item::Decimal(quotient(&sum, &BigDecimal::from(items.len() as u64))),
        None => Item::Double(sum.as_f64() / items.len() as f64),
    }])
}

fn joined(given: &[Items<'_>]) -> Outcome<String> {
    let separator = match given.get(1) {
        Some(separator) => string(separator, 1, "string-join")?,
        None => String::new(),
    };
    let texts: Vec<String> = given[0].iter().map(Item::text).collect();
    Ok(texts.join(&separator))
}

/// Percent-encodes the UTF-8 bytes of all characters for which `stays` is false.
fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if stays(c) {
            out.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

fn of_code_points(items: &[Item<'_>]) -> Outcome<String> {
    let mut text = String::new();
    for item in items {
        let number = numeric(&item.atom(), "codepoints-to-string")?.as_f64();
        match char::from_u32(number as u32) {
            Some(c) => text.push(c),
            None => {
                return fail(format!(
                    "codepoints-to-string(): invalid XML character [x{:x}]",
                    number as u32
                ));
            }
        }
    }
    Ok(text)
}

fn node_name<'t>(items: &[Item<'t>]) -> Outcome<Items<'t>> {
    Ok(match at_most_one(items, &place(0, "node-name"), false)? {
        Some(Item::Node(node)) if !node.qualified_name().is_empty() => {
            vec![Item::Text(node.qualified_name().to_owned())]
        }
        _ => Vec::new(),
    })
}

fn root<'t>(items: &[Item<'t>]) -> Outcome<Items<'t>> {
    let Some(Item::Node(node)) = at_most_one(items, &place(0, "root"), false)? else {
        return Ok(Vec::new());
    };
    let mut top = *node;
    while let Some(parent) = top.parent() {
        top = parent;
    }
    Ok(vec![Item::Node(top)])
}

/// The pattern argument of a function, with its flags.
fn pattern(given: &[Items<'_>], at: usize, flags: usize, name: &str) -> Outcome<Pattern> {
    let mut options = RegexOptions::default();
    if let Some(letters) = given.get(flags) {
        for letter in string(letters, flags, name)?.chars() {
            match letter {
                'i' => options.case_insensitive = true,
                'm' => options.multiline = true,
                's' => options.single_line = true,
                'x' => options.extended = true,
                other => {
                    return fail(format!("Unrecognized flag '{other}' in regular expression"));
                }
            }
        }
    }
    let text = string(&given[at], at, name)?;
    Pattern::compile(&text, Dialect::Java, options).or_else(|error| {
        fail(format!(
            "Syntax error at char {} in regular expression: {}",
            error.offset, error.message
        ))
    })
}

fn refuse_empty_match(pattern: &Pattern, name: &str) -> Outcome<()> {
    if pattern.is_match("") {
        fail(format!(
            "The regular expression in {name}() must not be one that matches a zero-length string"
        ))
    } else {
        Ok(())
    }
}

fn replaced(given: &[Items<'_>]) -> Outcome<String> {
    let pattern = pattern(given, 1, 3, "replace")?;
    refuse_empty_match(&pattern, "replace")?;
    let (text, by) = (
        string(&given[0], 0, "replace")?,
        string(&given[2], 2, "replace")?,
    );
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for captures in pattern.captures_iter(&text) {
        let Some((start, end)) = captures.span(0) else {
            continue;
        };
        out.push_str(&text[from..start]);
        let mut letters = by.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some(escaped @ ('\\' | '$')) => out.push(escaped),
                    _ => {
                        return fail(
                            "Invalid replacement string in replace(): \\ must be followed by \\ or $",
                        );
                    }
                },
                '$' => match letters.next().and_then(|digit| digit.to_digit(10)) {
                    Some(digit) => {
                        let mut group = digit as usize;
                        while let Some(digit) = letters.peek().and_then(|c| c.to_digit(10))
                            && group * 10 + digit as usize <= pattern.group_count()
                        {
                            group = group * 10 + digit as usize;
                            letters.next();
                        }
                        out.push_str(captures.get(group).unwrap_or_default());
                    }
                    None => {
                        return fail(
                            "Invalid replacement string in replace(): $ must be followed by a digit",
                        );
                    }
                },
                letter => out.push(letter),
            }
        }
        from = end;
    }
    out.push_str(&text[from..]);
    Ok(out)
}

fn tokens<'t>(given: &[Items<'t>]) -> Outcome<Items<'t>> {
    let text = string(&given[0], 0, "tokenize")?;
    let item = |token: &str| Item::Text(token.to_owned());
    if given.len() == 1 {
        let words = text.split([' ', '\t', '\r', '\n']);
        return Ok(words.filter(|word| !word.is_empty()).map(item).collect());
    }
    let pattern = pattern(given, 1, 2, "tokenize")?;
    refuse_empty_match(&pattern, "tokenize")?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut tokens = Vec::new();
    let mut from = 0;
    for captures in pattern.captures_iter(&text) {
        if let Some((start, end)) = captures.span(0) {
            tokens.push(item(&text[from..start]));
            from = end;
        }
    }
    tokens.push(item(&text[from..]));
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use crate::xpath::Tree;
    use crate::xpath2::XPath2;

    const XML: &str =
        r#"<r xmlns:k="u"><i id="1">a</i><i id="2">b<s>c</s></i><k:n>ns</k:n><e/><t> sp </t></r>"#;

    fn ask(query: &str) -> String {
        let tree = Tree::parse_saxon(XML).unwrap();
        let compiled = XPath2::compile(query, "").unwrap();
        match compiled.evaluate(&tree, false) {
            Ok(items) => items.join("|"),
            Err(error) => format!("error: {}", error.message),
        }
    }

    #[test]
    fn results_are_saxons() {
        for (query, expected) in [
            ("//*:n", "ns"),
            (r#"//i[matches(.,"a|b")]"#, "a|bc"),
            (r#"matches("abc","^A.c$","i")"#, "true"),
            (r#"string-join(//i/@id,",")"#, "1,2"),
            (r#"tokenize("a,b",",")"#, "a|b"),
            (r#"replace(//t,"s","z")"#, " zp "),
            (r#"replace("a1b2","([a-z])(\d)","$2$1")"#, "1a2b"),
            ("upper-case(//i[1])", "A"),
            (r#"lower-case("AB")"#, "ab"),
            ("distinct-values(//i/@id)", "1|2"),
            ("max(//i/@id)", "2"),
            ("min(//i/@id)", "1"),
            ("avg(//i/@id)", "1.5"),
            ("abs(-2)", "2"),
            (r#"ends-with("ab","b")"#, "true"),
            ("exists(//i)", "true"),
            ("empty(//z)", "true"),
            ("node-name(/*)", "r"),
            ("data(//i)", "a|bc"),
            ("root(//i[1])", "abcns sp "),
            (r#"compare("a","b")"#, "-1"),
            ("reverse(//i)", "bc|a"),
            ("subsequence(//i,2,1)", "bc"),
            (r#"index-of(//i/@id,"2")"#, "2"),
            ("head(//i)", "a"),
            ("tail(//i)", "bc"),
            ("remove(//i,1)", "bc"),
            ("insert-before(//i,2,//e)", "a||bc"),
            (r#"string-to-codepoints("AB")"#, "65|66"),
            ("codepoints-to-string(string-length(//r/e) + 65)", "A"),
            ("fn:count(exactly-one(//e))", "1"),
        ] {
            assert_eq!(ask(query), expected, "{query}");
        }
    }

    #[test]
    fn patterns_that_match_nothing_are_refused() {
        assert_eq!(
            ask(r#"tokenize("a","x*")"#),
            "error: The regular expression in tokenize() must not be one that matches a zero-length string"
        );
    }
}
