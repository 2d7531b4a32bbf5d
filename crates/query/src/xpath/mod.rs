//! XPath 1.0 as in JMeter's XPath Extractor and XPath Assertion: Xalan on a DOM of Xerces, or of JTidy for arbitrary HTML.
//!
//! Known differences: external entities and document types are not read. For arbitrary HTML, the tree is that of the HTML standard without implied
//! `tbody`s, and lacks the `meta` and `type` that JTidy adds. Names that only Xalan accepts (`a?`) are errors. XSLT functions
//! that Xalan finds (`current`, `generate-id`, …) are unknown.

mod encoding;
mod entities;
mod error;
mod html;
pub(crate) mod serialize;
mod tree;
mod wellformed;
mod xalan;
mod xml;

use xpath_eval::{EvalError, EvaluationContext, Expr, NodeKind, Value, evaluate};

use crate::cost;

pub use encoding::decode;
pub use entities::{DEFAULT_MAX_ENTITY_BYTES, MAX_ENTITY_BYTES, doctype, limit_entities};
pub use error::XPathError;
pub(crate) use tree::NodeRef;
pub use tree::Tree;

/// Namespaces by prefix.
pub type Namespaces = std::collections::HashMap<String, String>;

/// A compiled expression; `Send + Sync`.
#[derive(Debug)]
pub struct XPath {
    expression: Result<Expr, XPathError>,
    prefixes: Vec<String>,
}

/// The result of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum XPathResult {
    /// The nodes in document order, in the form that the extractor stores. An element is represented by its first child's
    /// value, which is `None` if that is an element or missing; or, as a fragment, by its XML. Other nodes are represented by
    /// their value.
    Nodes(Vec<Option<String>>),
    /// A boolean; the assertion passes if it is true.
    Bool(bool),
    /// A number or string as text (`XObject.toString`).
    Text(String),
}

impl XPath {
    /// Compiles an expression.
    ///
    /// # Errors
    /// If it is malformed, with Xalan's message. An error after a prefix is only reported if the prefix is known.
    pub fn compile(text: &str) -> Result<XPath, XPathError> {
        let reading = xalan::read(text);
        let expression = match reading.fault {
            Some(fault) => Err(XPathError::new(fault)),
            None => xpath_eval::parse(text).map_err(|error| XPathError::new(error.to_string())),
        };
        match expression {
            Err(fault) if reading.prefixes.is_empty() => Err(fault),
            expression => Ok(XPath {
                expression,
                prefixes: reading.prefixes,
            }),
        }
    }

    /// Evaluates the expression from the root of the document (`XPathUtil.putValuesForXPathInList`).
    ///
    /// # Errors
    /// If a prefix, variable or function is unknown, or the result is too large.
    pub fn evaluate(&self, tree: &Tree, fragment: bool) -> Result<XPathResult, XPathError> {
        self.evaluate_in(tree, fragment, &Namespaces::new())
    }

    /// Whether any name in the expression has a prefix.
    pub fn has_prefixes(&self) -> bool {
        !self.prefixes.is_empty()
    }

    /// Evaluates the expression with namespaces that take precedence over the document's (`PropertiesBasedPrefixResolver`).
    ///
    /// # Errors
    /// If a prefix, variable or function is unknown, or the result is too large.
    pub fn evaluate_in(
        &self,
        tree: &Tree,
        fragment: bool,
        namespaces: &Namespaces,
    ) -> Result<XPathResult, XPathError> {
        self.evaluate_with(tree, fragment, |prefix| {
            namespaces
                .get(prefix)
                .cloned()
                .or_else(|| tree.namespace_at_root(prefix))
        })
    }

    /// Evaluates the expression with the prefixes in `namespaces`.
    pub(crate) fn evaluate_with(
        &self,
        tree: &Tree,
        fragment: bool,
        namespaces: impl Fn(&str) -> Option<String>,
    ) -> Result<XPathResult, XPathError> {
        if let Some(prefix) = self
            .prefixes
            .iter()
            .find(|prefix| namespaces(prefix).is_none_or(|uri| uri.is_empty()))
        {
            return Err(XPathError::new(format!(
                "Prefix must resolve to a namespace: {prefix}"
            )));
        }
        let expression = self.expression.as_ref().map_err(XPathError::clone)?;
        let mut context = EvaluationContext::new(tree.root());
        context.namespaces = Some(&namespaces);
        Ok(
            match evaluate(expression, &context).map_err(|error| eval_error(&error))? {
                Value::NodeSet(nodes) => {
                    let texts = nodes.into_iter().map(|node| node_text(node, fragment));
                    let texts = cost::within_limit(texts, bytes)
                        .ok_or_else(|| XPathError::new(cost::RESULT_TOO_LARGE))?;
                    XPathResult::Nodes(texts)
                }
                Value::Boolean(value) => XPathResult::Bool(value),
                other => {
                    // Without namespace support nodes have no namespace URI; the tree contains a made-up one.
                    let text = other.to_xpath_string();
                    XPathResult::Text(if text.starts_with('\0') {
                        String::new()
                    } else {
                        text
                    })
                }
            },
        )
    }
}

fn bytes(text: &Option<String>) -> usize {
    text.as_ref().map(String::len).unwrap_or(0)
}

impl XPathResult {
    /// All values as text, as the extractor stores them under `name_1`, `name_2`, …
    pub fn into_values(self) -> Vec<Option<String>> {
        match self {
            XPathResult::Nodes(values) => values,
            XPathResult::Bool(value) => vec![Some(value.to_string())],
            XPathResult::Text(text) => vec![Some(text)],
        }
    }
}

fn eval_error(error: &EvalError) -> XPathError {
    XPathError::new(match error {
        EvalError::UnboundVariable(name) => format!("Variable not resolvable: {}", name.local),
        EvalError::UnknownFunction(name) => format!("Could not find function: {}", name.local),
        other => other.to_string(),
    })
}

/// `XPathUtil.getValueForNode`, or `getNodeContent` for a fragment.
fn node_text(node: NodeRef<'_>, fragment: bool) -> Option<String> {
    use xpath_eval::Node;
    match node.kind() {
        NodeKind::Element if fragment => Some(serialize::fragment(node)),
        NodeKind::Element => {
            let first = node.children().next()?;
            (first.kind() != NodeKind::Element).then(|| first.string_value())
        }
        NodeKind::Root => None,
        _ => Some(node.string_value()),
    }
}
