//! XPath 1.0 as JMeter's XPath Extractor and XPath Assertion ask it: Xalan on a DOM of Xerces, or of JTidy for tag soup.
//!
//! Known differences: messages of malformed expressions are not Xalan's; a prefix that cannot be resolved is noticed
//! only when something is compared with it; entities of a DTD are errors; the tree of tag soup is that of the HTML
//! standard without the `tbody`s it implies, and JTidy's own `meta` and `type` additions are missing.

mod html;
mod serialize;
mod tree;
mod wellformed;
mod xml;

use std::cell::RefCell;

use xpath_eval::{EvalError, EvaluationContext, Expr, NodeKind, Value, evaluate};

pub(crate) use tree::NodeRef;
pub use tree::Tree;

/// A body that is not well-formed, or an expression that cannot be compiled or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct XPathError {
    /// `getLocalizedMessage()` of the exception where it is known.
    pub message: String,
}

impl XPathError {
    pub(crate) fn new(message: impl Into<String>) -> XPathError {
        XPathError {
            message: message.into(),
        }
    }
}

/// A compiled expression; `Send + Sync`.
#[derive(Debug)]
pub struct XPath {
    expression: Expr,
}

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The nodes in the order of the document, each as the extractor stores it: an element as its first child's value,
    /// which is `None` if that is an element or missing, or, as a fragment, as XML; other nodes as their value.
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
    /// If it is malformed.
    pub fn compile(text: &str) -> Result<XPath, XPathError> {
        match xpath_eval::parse(text) {
            Ok(expression) => Ok(XPath { expression }),
            Err(error) => Err(XPathError::new(error.to_string())),
        }
    }

    /// Evaluates the expression from the root of the document (`XPathUtil.putValuesForXPathInList`).
    ///
    /// # Errors
    /// If a prefix, variable or function is unknown.
    pub fn evaluate(&self, tree: &Tree, fragment: bool) -> Result<Answer, XPathError> {
        let unresolved = RefCell::new(None);
        let namespaces = |prefix: &str| {
            let uri = tree.namespace_at_root(prefix);
            if uri.is_none() {
                unresolved.borrow_mut().get_or_insert(prefix.to_owned());
            }
            uri
        };
        let mut context = EvaluationContext::new(tree.root());
        context.namespaces = Some(&namespaces);
        let answer = evaluate(&self.expression, &context);
        if let Some(prefix) = unresolved.borrow().as_ref() {
            return Err(XPathError::new(format!(
                "Prefix must resolve to a namespace: {prefix}"
            )));
        }
        Ok(match answer.map_err(|error| eval_error(&error))? {
            Value::NodeSet(nodes) => Answer::Nodes(
                nodes
                    .into_iter()
                    .map(|node| node_text(node, fragment))
                    .collect(),
            ),
            Value::Boolean(value) => Answer::Bool(value),
            other => {
                // Without namespaces nothing has a namespace's URI; the tree holds a made-up one.
                let text = other.to_xpath_string();
                Answer::Text(if text.starts_with('\0') {
                    String::new()
                } else {
                    text
                })
            }
        })
    }
}

impl Answer {
    /// All values as text: what the extractor stores under `name_1`, `name_2`, …
    pub fn into_values(self) -> Vec<Option<String>> {
        match self {
            Answer::Nodes(values) => values,
            Answer::Bool(value) => vec![Some(value.to_string())],
            Answer::Text(text) => vec![Some(text)],
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
