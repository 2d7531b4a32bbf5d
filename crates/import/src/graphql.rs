//! Imports GraphQL documents (`.graphql`): one request for each query and mutation, sent to the endpoint from the
//! options.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::draft::Draft;
use crate::exchange::{Request, RequestBody};
use crate::input::FormatError;
use crate::options::{ImportError, ImportOptions};
use crate::plan::VariableNames;
use crate::text::PlanText;
use crate::url::Address;

/// How deep selections may be nested.
const MAX_DEPTH: usize = 500;
/// Keywords that begin a schema definition.
const SCHEMA: [&str; 9] = [
    "schema",
    "type",
    "input",
    "enum",
    "interface",
    "union",
    "scalar",
    "directive",
    "extend",
];

/// Whether a text is a document or a schema.
pub fn is_graphql(text: &str) -> bool {
    let Ok(tokens) = tokens(text) else {
        return false;
    };
    match tokens.first() {
        Some(token) if token.text == "{" => {
            tokens
                .get(1)
                .is_some_and(|token| token.is_name() || token.text == "...")
                && document(text, &tokens).is_ok()
        }
        Some(token) => {
            let is_followed = tokens.get(1).is_some_and(|next| {
                next.text
                    .starts_with(|c: char| c.is_alphabetic() || "_{(@".contains(c))
            });
            let begins = ["query", "mutation", "subscription", "fragment"];
            let is_schema = SCHEMA.contains(&token.text) && text.contains('{');
            let is_kind = begins.contains(&token.text) || is_schema;
            is_kind && is_followed && document(text, &tokens).is_ok()
        }
        None => false,
    }
}

/// Makes one request of each operation of a document.
pub fn import(text: &str, options: &ImportOptions) -> Result<Draft, ImportError> {
    let document = tokens(text)
        .and_then(|tokens| document(text, &tokens))
        .map_err(|why| {
            ImportError::new(format!("the GraphQL is broken: {why}"))
                .hint("correct it there, or save the whole document again")
        })?;
    let mut draft = Draft::new("GraphQL");
    let mut steps = Vec::new();
    let mut names = VariableNames::default();
    let address = endpoint(options);
    for operation in &document.operations {
        if operation.kind == "subscription" {
            draft.leave_out("subscriptions, which need a WebSocket");
            continue;
        }
        let Some(address) = address.clone() else {
            return Err(ImportError::new("a GraphQL document names no endpoint")
                .hint("add it: `--server https://shop.example/graphql`"));
        };
        let body = body(operation, &document.fragments, &mut names, &mut draft);
        let label = if operation.name.is_empty() {
            operation.kind
        } else {
            operation.name
        };
        let mut request = Request::new("POST", address);
        request.name = Some(label.to_owned());
        request.default_header("Content-Type", "application/json");
        request.body = RequestBody::Raw(body);
        steps.push(request.into());
    }
    let nothing = if document.has_schema {
        "a GraphQL schema holds no operations"
    } else {
        "the GraphQL document holds no query and no mutation"
    };
    draft.with_steps(
        steps,
        (nothing, "Name a document with `query` or `mutation`"),
    )
}

/// The endpoint from the options. If they name only a server, the path is `/graphql`.
fn endpoint(options: &ImportOptions) -> Option<Address> {
    let mut address = Address::parse(options.server.as_deref()?)?;
    if address.bare_path() == "/" {
        address.path = PlanText::from("/graphql");
    }
    Some(address)
}

/// `{"query":…,"operationName":…,"variables":…}`. Required values become variables of the Test Plan.
fn body(
    operation: &Operation<'_>,
    fragments: &BTreeMap<&str, Definition<'_>>,
    names: &mut VariableNames,
    draft: &mut Draft,
) -> PlanText {
    let mut query = operation.definition.text.to_owned();
    for name in with_inner(&operation.definition, fragments) {
        query.push('\n');
        query.push_str(fragments[name].text);
    }
    let mut body = PlanText::from(format!("{{\"query\":{}", Value::from(query)));
    if !operation.name.is_empty() {
        body.push(&format!(
            ",\"operationName\":{}",
            Value::from(operation.name)
        ));
    }
    let required: Vec<&Variable> = operation
        .variables
        .iter()
        .filter(|one| one.is_required)
        .collect();
    for (place, variable) in required.iter().enumerate() {
        body.push(if place == 0 { ",\"variables\":{" } else { "," });
        let (sample, is_quoted) = sample(variable.kind);
        let name = names.take(variable.name);
        let about = format!(
            "${} of {}: {}",
            variable.name, operation.name, variable.kind
        );
        draft.variable(&name, sample, &about);
        let quote = if is_quoted { "\"" } else { "" };
        body.push(&format!("{}:{quote}", Value::from(variable.name)));
        body.append(PlanText::variable(&name));
        body.push(quote);
    }
    if !required.is_empty() {
        body.push("}");
        draft.warn(
            "values that the operations require are examples: set the variables of the Test Plan",
        );
    }
    body.push("}");
    body
}

/// The fragments that a definition needs, including those that other fragments use.
fn with_inner<'d>(
    definition: &Definition<'d>,
    fragments: &BTreeMap<&'d str, Definition<'d>>,
) -> BTreeSet<&'d str> {
    let mut needed = BTreeSet::new();
    let mut open: Vec<&str> = definition.spreads.clone();
    while let Some(name) = open.pop() {
        if let Some((name, fragment)) = fragments.get_key_value(name)
            && needed.insert(*name)
        {
            open.extend(&fragment.spreads);
        }
    }
    needed
}

/// A JSON example of a type, and whether it needs quotes.
fn sample(kind: &str) -> (&'static str, bool) {
    match kind.trim_end_matches('!') {
        "Int" => ("1", false),
        "Float" => ("1.5", false),
        "Boolean" => ("true", false),
        "ID" => ("1", true),
        list if list.starts_with('[') => ("[]", false),
        "String" => ("text", true),
        _ => ("{}", false),
    }
}

/// The definitions of a document.
#[derive(Default)]
struct GraphqlDocument<'d> {
    operations: Vec<Operation<'d>>,
    fragments: BTreeMap<&'d str, Definition<'d>>,
    has_schema: bool,
}

struct Operation<'d> {
    kind: &'d str,
    /// Empty for an anonymous operation.
    name: &'d str,
    variables: Vec<Variable<'d>>,
    definition: Definition<'d>,
}

struct Variable<'d> {
    name: &'d str,
    kind: &'d str,
    /// Whether it is non-null without a default.
    is_required: bool,
}

struct Definition<'d> {
    text: &'d str,
    /// The fragments that it spreads.
    spreads: Vec<&'d str>,
}

/// A token with its place in the text.
#[derive(Clone, Copy)]
struct GraphqlToken<'d> {
    text: &'d str,
    start: usize,
}

impl GraphqlToken<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is_name(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }
}

/// Splits the text into names, numbers, strings and signs; comments and commas are ignored.
fn tokens(text: &str) -> Result<Vec<GraphqlToken<'_>>, FormatError> {
    let mut all = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let length = match first {
            ',' | '\u{feff}' => 0,
            _ if first.is_whitespace() => 0,
            '#' => {
                start += rest.find(['\n', '\r']).unwrap_or(rest.len());
                continue;
            }
            '"' => string(rest)
                .ok_or_else(|| format!("line {}: a string is not closed", line(text, start)))?,
            '.' if rest.starts_with("...") => 3,
            '{' | '}' | '(' | ')' | '[' | ']' | ':' | '=' | '!' | '@' | '|' | '&' => 1,
            '$' => 1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1),
            '-' | '0'..='9' => rest.find(|c| !is_number_sign(c)).unwrap_or(rest.len()),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => {
                return Err(
                    format!("line {}: `{first}` is not allowed there", line(text, start)).into(),
                );
            }
        };
        if length == 0 {
            start += first.len_utf8();
            continue;
        }
        all.push(GraphqlToken {
            text: &rest[..length],
            start,
        });
        start += length;
    }
    Ok(all)
}

/// Whether a character continues a number or a word.
fn is_number_sign(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '+' | '-')
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of a string, with its quotes.
fn string(rest: &str) -> Option<usize> {
    if let Some(block) = rest.strip_prefix("\"\"\"") {
        let mut at = 0;
        loop {
            at += block[at..].find("\"\"\"")?;
            if !block[..at].ends_with('\\') {
                return Some(at + 6);
            }
            at += 3;
        }
    }
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' | '\r' => return None,
            '"' if !is_escaped => return Some(at + 1),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    None
}

fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn document<'d>(
    text: &'d str,
    tokens: &[GraphqlToken<'d>],
) -> Result<GraphqlDocument<'d>, FormatError> {
    let mut document = GraphqlDocument::default();
    let mut at = 0;
    while let Some(first) = tokens.get(at) {
        let end = definition_end(text, tokens, at)?;
        let inside = &tokens[at..end];
        let definition = Definition {
            text: &text[first.start..inside[inside.len() - 1].end()],
            spreads: spreads(inside),
        };
        let name = inside
            .get(1)
            .filter(|token| token.is_name())
            .map(|token| token.text)
            .unwrap_or("");
        match first.text {
            "{" | "query" | "mutation" | "subscription" => document.operations.push(Operation {
                kind: if first.text == "{" {
                    "query"
                } else {
                    first.text
                },
                name: if first.text == "{" { "" } else { name },
                variables: variables(text, inside),
                definition,
            }),
            "fragment" => drop(document.fragments.insert(name, definition)),
            word if SCHEMA.contains(&word) || word.starts_with('"') => document.has_schema = true,
            word => {
                return Err(format!(
                    "line {}: no definition begins with `{word}`",
                    line(text, first.start)
                )
                .into());
            }
        }
        at = end;
    }
    Ok(document)
}

/// The index of the token after a definition, which ends with its outermost braces. A schema definition may have no
/// braces; it ends where the next one begins.
fn definition_end(
    text: &str,
    tokens: &[GraphqlToken<'_>],
    start: usize,
) -> Result<usize, FormatError> {
    let is_schema = SCHEMA.contains(&tokens[start].text) || tokens[start].text.starts_with('"');
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        let is_new = at > start && depth == 0 && is_schema && SCHEMA.contains(&token.text);
        if is_new && tokens[start].text != "extend" && !tokens[start].text.starts_with('"') {
            return Ok(at);
        }
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.checked_sub(1).ok_or_else(|| {
                    format!(
                        "line {}: `{}` closes nothing",
                        line(text, token.start),
                        token.text
                    )
                })?;
                if depth == 0 && token.text == "}" {
                    return Ok(at + 1);
                }
            }
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(format!(
                "line {}: more than {MAX_DEPTH} levels",
                line(text, token.start)
            )
            .into());
        }
    }
    if is_schema && depth == 0 {
        Ok(tokens.len())
    } else {
        Err(format!(
            "the definition of line {} is not closed",
            line(text, tokens[start].start)
        )
        .into())
    }
}

/// The names after `...`. An inline fragment has no name.
fn spreads<'d>(tokens: &[GraphqlToken<'d>]) -> Vec<&'d str> {
    let pairs = tokens.windows(2).filter(|pair| pair[0].text == "...");
    pairs
        .filter(|pair| pair[1].is_name() && pair[1].text != "on")
        .map(|pair| pair[1].text)
        .collect()
}

/// The variables that an operation declares in its parentheses: `($id: ID!, $n: Int = 5)`.
fn variables<'d>(text: &'d str, tokens: &[GraphqlToken<'d>]) -> Vec<Variable<'d>> {
    let mut all = Vec::new();
    let head = tokens.iter().take(3).position(|token| token.text == "(");
    let Some(mut at) = head.map(|open| open + 1) else {
        return all;
    };
    while let Some(token) = tokens.get(at).filter(|token| token.text.starts_with('$')) {
        let rest = tokens.get(at + 2..).unwrap_or_default();
        let count = rest
            .iter()
            .take_while(|token| token.is_name() || matches!(token.text, "[" | "]" | "!"))
            .count();
        let (Some(first), Some(last)) = (rest.first(), count.checked_sub(1).map(|last| rest[last]))
        else {
            break;
        };
        let is_default = rest.get(count).is_some_and(|token| token.text == "=");
        all.push(Variable {
            name: &token.text[1..],
            kind: &text[first.start..last.end()],
            is_required: last.text == "!" && !is_default,
        });
        // A default value and directives extend to the next variable or to the parenthesis.
        let mut depth = 0_usize;
        at += 2 + count;
        while let Some(token) = tokens.get(at) {
            match token.text {
                "{" | "[" | "(" => depth += 1,
                ")" if depth == 0 => return all,
                "}" | "]" | ")" => depth = depth.saturating_sub(1),
                word if depth == 0 && word.starts_with('$') => break,
                _ => {}
            }
            at += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::DraftStep;

    const DOCUMENT: &str = r#"
# the cart
query GetCart($id: ID!, $first: Int = 5, $filter: [String!], $deep: CartFilter!) @live {
  cart(id: $id, filter: $filter, deep: $deep, note: "a } \" b") { ...Lines, total(first: $first) }
}
fragment Lines on Cart { lines { ...Line } }
fragment Line on CartLine { sku, text(format: """a " { b""") }
fragment Unused on Cart { id }
mutation { empty }
subscription Changes { changed }
"#;

    fn options(server: &str) -> ImportOptions {
        ImportOptions {
            server: Some(server.to_owned()),
            ..ImportOptions::default()
        }
    }

    fn bodies(draft: &Draft) -> Vec<String> {
        let body = |step: &DraftStep| match &step.request.body {
            RequestBody::Raw(text) => text.template(),
            other => panic!("{other:?}"),
        };
        draft.steps().map(body).collect()
    }

    #[test]
    fn operations_become_requests_with_their_fragments() {
        let draft = import(DOCUMENT, &options("https://h.example")).expect("it is whole");
        let steps: Vec<String> = draft.steps().map(|step| step.request.label()).collect();
        assert_eq!(steps, ["GetCart", "mutation"]);
        let bodies = bodies(&draft);
        assert!(
            bodies[0].contains("fragment Line on CartLine") && !bodies[0].contains("Unused"),
            "{}",
            bodies[0]
        );
        assert!(
            bodies[0].ends_with(
                r#","operationName":"GetCart","variables":{"id":"${id}","deep":${deep}}}"#
            ),
            "{}",
            bodies[0]
        );
        assert_eq!(bodies[1], r#"{"query":"mutation { empty }"}"#);
        let names: Vec<&str> = draft
            .variables
            .iter()
            .map(|(name, _, _)| name.as_str())
            .collect();
        assert_eq!(names, ["id", "deep"]);
        assert_eq!(draft.left_out.len(), 1);
        let first = draft.steps().next().expect("a step");
        assert_eq!(first.request.address.bare_path(), "/graphql");
        let own = import("{ a }", &options("http://h/api/graph?x=1")).expect("it is whole");
        assert_eq!(
            own.steps()
                .next()
                .expect("a step")
                .request
                .address
                .path
                .template(),
            "/api/graph?x=1"
        );
    }

    #[test]
    fn texts_that_are_no_document_are_refused_with_the_line() {
        let message = |text: &str| match import(text, &options("http://h/")) {
            Ok(_) => "a draft".to_owned(),
            Err(error) => error.message,
        };
        assert_eq!(
            message("type A { b: C }\nscalar D\n\"\"\"text\"\"\" enum E { F }"),
            "a GraphQL schema holds no operations"
        );
        assert_eq!(
            message("query A { b"),
            "the GraphQL is broken: the definition of line 1 is not closed"
        );
        assert_eq!(
            message("query A { b }\n}"),
            "the GraphQL is broken: line 2: `}` closes nothing"
        );
        assert_eq!(
            message("{ a(b: \"c) }"),
            "the GraphQL is broken: line 1: a string is not closed"
        );
        assert_eq!(
            message("select { a }"),
            "the GraphQL is broken: line 1: no definition begins with `select`"
        );
        let without = import("{ a }", &ImportOptions::default()).expect_err("there is no endpoint");
        assert!(without.hint.is_some_and(|hint| hint.contains("--server")));
    }

    #[test]
    fn documents_are_told_from_other_texts() {
        for text in [
            DOCUMENT,
            "{ a { b } }",
            "query{a}",
            "type A { b: C }",
            "# c\nfragment A on B { c } query D { ...A }",
        ] {
            assert!(is_graphql(text), "{text}");
        }
        for text in [
            "",
            "{\"a\": 1}",
            "{}x",
            "query",
            "type",
            "curl http://h/",
            "input x",
            "{a",
        ] {
            assert!(!is_graphql(text), "{text}");
        }
    }
}
