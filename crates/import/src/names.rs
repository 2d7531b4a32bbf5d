//! Makes names that a person would choose.

use serde_json::Value;

use crate::exchange::{Request, RequestBody};

/// The label of a request: its method and path, with `{id}` for parts that differ from visit to visit, so that the results
/// of one page share a label.
pub fn label(request: &Request) -> String {
    let path = request.address.bare_path();
    let segments: Vec<&str> = path.split('/').map(segment).collect();
    let path = segments.join("/");
    format!(
        "{} {}",
        request.method,
        if path.is_empty() { "/" } else { &path }
    )
}

/// The names of the operations of a GraphQL request: `GetCart`, or `GetCart, GetUser` for a batch. All operations use the
/// same address, so without the name their results would share one label.
pub fn graphql_operation(body: &RequestBody) -> Option<String> {
    let RequestBody::Raw(text) = body else {
        return None;
    };
    let literal = text.literal()?;
    if !literal.contains("\"query\"") {
        return None;
    }
    let value: Value = serde_json::from_str(literal).ok()?;
    let calls = match &value {
        Value::Array(calls) => calls.as_slice(),
        single => std::slice::from_ref(single),
    };
    let names: Vec<String> = calls.iter().map(operation).collect::<Option<_>>()?;
    (!names.is_empty()).then(|| one_line(&names.join(", ")))
}

/// The name that the call chooses, or else that of the first operation in its document.
fn operation(call: &Value) -> Option<String> {
    let query = call["query"].as_str()?;
    let named = call["operationName"].as_str().unwrap_or("").trim();
    if !named.is_empty() {
        return Some(named.to_owned());
    }
    let query = query.trim_start();
    let kinds = ["query", "mutation", "subscription"];
    let rest = kinds.iter().find_map(|kind| query.strip_prefix(kind));
    match rest {
        Some(rest) => {
            let name: String = rest
                .trim_start()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            (!name.is_empty()).then_some(name)
        }
        // Name an anonymous document after its first field.
        None => {
            let inside = query.strip_prefix('{')?.trim_start();
            let field: String = inside
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            (!field.is_empty()).then_some(field)
        }
    }
}

fn segment(segment: &str) -> &str {
    if segment.contains("${") || is_identifier(segment) {
        "{id}"
    } else {
        segment
    }
}

/// Whether a text is a number, a UUID, or a long hexadecimal or mixed token.
pub fn is_identifier(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_number = !text.is_empty() && digits == text.len();
    let is_hexadecimal = text.len() >= 12
        && digits >= 2
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_mixed = text.len() >= 16
        && digits >= 3
        && letters >= 3
        && !text.contains('.')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~' | b'='));
    is_number || is_hexadecimal || is_mixed
}

/// A title as one line of limited length.
pub fn one_line(text: &str) -> String {
    const LONGEST: usize = 80;
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    match joined.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &joined[..end]),
        None => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Address;

    #[test]
    fn graphql_requests_are_told_apart_by_their_operation() {
        let name = |body: &str| graphql_operation(&RequestBody::Raw(body.into()));
        for (body, expected) in [
            (
                r#"{"operationName":"GetCart","query":"query GetCart { cart { id } }"}"#,
                Some("GetCart"),
            ),
            (
                r#"{"query":"mutation  Buy($a: Int) { buy }","variables":{}}"#,
                Some("Buy"),
            ),
            (r#"{"query":"{ products { id } }"}"#, Some("products")),
            (
                r#"[{"query":"query A {a}"},{"query":"query B {b}"}]"#,
                Some("A, B"),
            ),
            (r#"{"query":"shoes"}"#, None),
            (r#"{"query":5}"#, None),
            (r#"{"q":"query A {a}"}"#, None),
            ("query A", None),
        ] {
            assert_eq!(name(body).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn labels_group_what_belongs_together() {
        let label_of = |url| {
            let address = Address::parse(url).expect("an address");
            label(&Request::new("GET", address))
        };
        assert_eq!(label_of("http://h/"), "GET /");
        assert_eq!(label_of("http://h/product/17?x=1"), "GET /product/{id}");
        assert_eq!(
            label_of("http://h/c/9f86d081-884c-4d65-9a2f-eaa0c55ad015/x"),
            "GET /c/{id}/x"
        );
        assert_eq!(label_of("http://h/api/v2/products"), "GET /api/v2/products");
        assert_eq!(
            label_of("http://h/static/jquery-3.7.1.min.js"),
            "GET /static/jquery-3.7.1.min.js"
        );
    }
}
