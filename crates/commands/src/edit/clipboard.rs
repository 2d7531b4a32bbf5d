//! Pasted texts as elements, by the importers of `drumfire import`.

use drumfire_edit::Refused;
use drumfire_elements::config::{header_manager, http_defaults, user_defined_variables};
use drumfire_elements::{Role, of_form};
use drumfire_import::{ImportError, ImportOptions};
use drumfire_jmx::Node;
use serde_json::{Value, json};

/// The property of a Test Plan with its variables.
const VARIABLES: &str = "TestPlan.user_defined_variables";
/// Methods with which a request that is written out begins.
const METHODS: [&str; 9] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY",
];

/// The elements of a cURL command, of an entry of a recording, of a request as it is sent, or of whatever else is imported.
///
/// # Errors
/// No importer reads the text.
pub fn elements(text: &str) -> Result<Vec<Node>, Refused> {
    let entry = har_entry(text).or_else(|| sent_request(text));
    let input = entry
        .map(|entry| json!({"log": {"entries": [entry]}}).to_string())
        .unwrap_or_else(|| text.to_owned());
    let options = ImportOptions {
        all_domains: true,
        keep_static: true,
        keep_redirects: true,
        no_think_time: true,
        ..ImportOptions::default()
    };
    let files = [("clipboard".to_owned(), input.into_bytes())];
    let draft = drumfire_import::import(&files, &options).map_err(refused)?;
    let tree = draft.tree("");
    let plan = tree.roots.first().cloned().unwrap_or_default();
    let nodes = requests(plan);
    if nodes.is_empty() {
        return Err(Refused::unfit("the text holds no request"));
    }
    Ok(nodes)
}

fn refused(error: ImportError) -> Refused {
    let message = error.message.replace("`clipboard`: ", "");
    Refused::unfit(format!("the text cannot be pasted: {message}"))
        .hint("paste elements of a plan, a cURL command, an entry of a HAR, a request as it is sent, or an API description")
}

/// An entry of a recording alone.
fn har_entry(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    value.get("request")?.get("url")?;
    Some(value)
}

/// A request as it is sent: a line with the method, header fields, an empty line, the body.
fn sent_request(text: &str) -> Option<Value> {
    let text = text.trim_start().replace("\r\n", "\n");
    let (head, body) = text.split_once("\n\n").unwrap_or((text.trim_end(), ""));
    let mut lines = head.lines();
    let mut words = lines.next()?.split_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    if !METHODS.contains(&method) || words.next().is_some_and(|word| !word.starts_with("HTTP/")) {
        return None;
    }
    let headers = lines
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect::<Option<Vec<_>>>()?;
    let field = |name: &str| {
        let mut headers = headers.iter();
        headers
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    };
    let url = if target.contains("://") {
        target.to_owned()
    } else {
        let host = field("host")?;
        let scheme = if host.ends_with(":80") || host.starts_with("localhost") {
            "http"
        } else {
            "https"
        };
        format!("{scheme}://{host}{target}")
    };
    let sent: Vec<Value> = headers
        .iter()
        .filter(|(name, _)| !["host", "content-length"].contains(&name.to_lowercase().as_str()))
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let mut request =
        json!({"method": method, "url": url, "httpVersion": "HTTP/1.1", "headers": sent});
    let body = body.trim_end_matches('\n');
    if !body.is_empty() {
        let kind = field("content-type").unwrap_or("text/plain");
        request["postData"] = json!({"mimeType": kind, "text": body});
    }
    Some(json!({"request": request, "response": {"status": 200, "headers": [], "content": {}}}))
}

fn role(node: &Node) -> Option<Role> {
    of_form(&node.class, &node.gui_class).map(|facts| facts.role)
}

/// The requests of an imported plan, each with its whole address.
fn requests(plan: Node) -> Vec<Node> {
    let variables = plan
        .props
        .element(VARIABLES)
        .map(|element| element.props.clone());
    let group = plan
        .children
        .into_iter()
        .find(|node| role(node) == Some(Role::ThreadGroup));
    let mut defaults = None;
    let mut nodes = Vec::new();
    for node in group.map(|group| group.children).unwrap_or_default() {
        let is_defaults = of_form(&node.class, &node.gui_class)
            .is_some_and(|facts| std::ptr::eq(facts, &raw const http_defaults::FACTS));
        match role(&node) {
            Some(Role::Sampler | Role::Controller) => nodes.push(node),
            _ if is_defaults => defaults = Some(node),
            _ if node.class == header_manager::CLASS => nodes.push(node),
            _ => {}
        }
    }
    if let Some(defaults) = defaults {
        nodes.iter_mut().for_each(|node| complete(node, &defaults));
    }
    // A single request needs no transaction around it.
    if let [only] = nodes.as_mut_slice()
        && role(only) == Some(Role::Controller)
        && only.children.len() == 1
    {
        nodes = std::mem::take(&mut only.children);
    }
    let list =
        variables.filter(|list| !list.list(user_defined_variables::VARIABLES.name).is_empty());
    if let Some(list) = list {
        let facts = &user_defined_variables::FACTS;
        let mut node = facts.node(facts.name);
        node.props = list;
        nodes.insert(0, node);
    }
    nodes
}

/// Gives the requests below a node what the defaults say.
fn complete(node: &mut Node, defaults: &Node) {
    if role(node) == Some(Role::Sampler) {
        let texts = defaults
            .props
            .iter()
            .filter(|prop| matches!(prop.value, drumfire_jmx::Value::Str(_)));
        for prop in texts {
            if node.props.str(&prop.name).is_empty() && !prop.value.as_str().is_empty() {
                node.props.set(prop.clone());
            }
        }
    }
    node.children
        .iter_mut()
        .for_each(|child| complete(child, defaults));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Node {
        let nodes = elements(text).unwrap_or_else(|refused| panic!("{refused:?}"));
        assert_eq!(nodes.len(), 1, "{nodes:?}");
        nodes.into_iter().next().expect("one")
    }

    #[test]
    fn a_request_is_one_sampler_with_its_whole_address() {
        let texts = [
            "curl -X POST 'https://shop.example/api/cart?x=1' -H 'X-Id: 7' -H 'Content-Type: application/json' -d '{\"a\":1}'",
            r#"{"request": {"method": "POST", "url": "https://shop.example/api/cart?x=1", "headers": [{"name": "X-Id", "value": "7"}, {"name": "Content-Type", "value": "application/json"}], "postData": {"mimeType": "application/json", "text": "{\"a\":1}"}}, "response": {"status": 200, "headers": [], "content": {}}}"#,
            "POST /api/cart?x=1 HTTP/1.1\r\nHost: shop.example\r\nX-Id: 7\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
        ];
        for text in texts {
            let node = one(text);
            assert_eq!(role(&node), Some(Role::Sampler), "{text}");
            let of = |name: &str| node.props.str(name).into_owned();
            assert_eq!(of("HTTPSampler.domain"), "shop.example", "{text}");
            assert_eq!(of("HTTPSampler.protocol"), "https", "{text}");
            assert_eq!(of("HTTPSampler.method"), "POST", "{text}");
            assert!(of("HTTPSampler.path").starts_with("/api/cart"), "{text}");
            let body = format!("{:?}", node.props);
            assert!(body.contains(r#"{\"a\":1}"#), "{text}: {body}");
            let manager = node
                .children
                .first()
                .unwrap_or_else(|| panic!("{text}: no header manager"));
            assert!(format!("{manager:?}").contains("X-Id"), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_what_can_be_pasted() {
        for text in ["", "hello", "{}", "GET"] {
            let refused = elements(text).expect_err(text);
            assert!(
                refused.hint.is_some_and(|hint| hint.contains("cURL")),
                "{text}"
            );
        }
    }
}
