//! XPath as JMeter's XPath2 Extractor and XPath2 Assertion ask it: Saxon on a tree with namespaces.
//!
//! Built are the grammar of XPath 2.0 with `let`, `||`, `!` and `=>`, the types string, boolean, integer, decimal and double, and the
//! usual functions. Dates, durations and other types, functions as values, maps, arrays, the namespace axis and functions that
//! are in neither table are refused when the expression is compiled. Messages of faults are Saxon's in the usual cases only.

mod arguments;
mod arithmetic;
mod ast;
mod cast;
mod compare;
mod eval;
mod function;
mod item;
mod lex;
mod newer;
mod node_test;
mod parse;
mod serialize;
mod types;

use crate::xpath::{Answer, Tree, XPath, XPathError};
use ast::Expr;
use eval::Evaluation;

/// Why an expression cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is wrong: `getMessage()` of the exception that JMeter meets.
    #[error("{0}")]
    Malformed(String),
    /// It holds what is not built here.
    #[error("{0} is not built")]
    NotBuilt(String),
}

impl Fault {
    fn malformed(message: impl AsRef<str>) -> Fault {
        let message = message.as_ref();
        Fault::Malformed(format!("net.sf.saxon.s9api.SaxonApiException: {message}"))
    }

    fn not_built(what: &str) -> Fault {
        Fault::NotBuilt(what.to_owned())
    }
}

/// A compiled expression; `Send + Sync`.
#[derive(Debug)]
pub struct XPath2 {
    expression: Expr,
    /// Whether Xalan takes the result for a boolean, or what it says of the expression.
    is_boolean: Result<bool, String>,
}

impl XPath2 {
    /// Compiles an expression. `namespaces` has lines `prefix=URI`; an empty prefix is the namespace of elements without one.
    ///
    /// # Errors
    /// If the expression is malformed, or beyond what is built.
    pub fn compile(text: &str, namespaces: &str) -> Result<XPath2, Fault> {
        let namespaces = Namespaces::parse(namespaces);
        Ok(XPath2 {
            expression: parse::parse(text, &namespaces)?,
            is_boolean: asked_of_xalan(text, &namespaces),
        })
    }

    /// Whether Xalan, which JMeter's assertion asks too, takes the result for a boolean rather than for something that is
    /// there or not.
    ///
    /// # Errors
    /// If Xalan cannot evaluate the expression, with its message.
    pub fn is_boolean(&self) -> Result<bool, &str> {
        self.is_boolean.as_ref().copied().map_err(String::as_str)
    }

    /// All items of the result as text (`XdmItem#getStringValue`), or, as `fragment`, nodes as XML (`XdmItem#toString`).
    ///
    /// # Errors
    /// If types do not fit, with Saxon's message in the usual cases.
    pub fn evaluate(&self, tree: &Tree, fragment: bool) -> Result<Vec<String>, XPathError> {
        let items = Evaluation::default().run(&self.expression, tree.root())?;
        let text = |item: item::Item<'_>| match item {
            item::Item::Node(node) if fragment => serialize::node(node),
            item => item.text(),
        };
        Ok(items.into_iter().map(text).collect())
    }
}

/// `XPathUtil#computeAssertionResultUsingSaxon`: Xalan evaluates the expression on a document that holds nothing.
fn asked_of_xalan(text: &str, namespaces: &Namespaces) -> Result<bool, String> {
    let known = |prefix: &str| namespaces.own(prefix).map(str::to_owned);
    let answer =
        XPath::compile(text).and_then(|query| query.evaluate_with(&Tree::empty(), false, known));
    match answer {
        Ok(answer) => Ok(matches!(answer, Answer::Bool(_))),
        Err(error) => Err(error.message),
    }
}

/// The prefixes that an expression may use.
#[derive(Debug, Default)]
struct Namespaces(Vec<(String, String)>);

/// What Saxon declares itself (`IndependentContext#clearNamespaces`).
const PREDECLARED: [(&str, &str); 4] = [
    ("xml", "http://www.w3.org/XML/1998/namespace"),
    ("xs", "http://www.w3.org/2001/XMLSchema"),
    ("fn", "http://www.w3.org/2005/xpath-functions"),
    ("saxon", "http://saxon.sf.net/"),
];

impl Namespaces {
    /// `XPathUtil#namespacesParse`: what stands in a line before any `=` is lost, and so are lines without one.
    fn parse(text: &str) -> Namespaces {
        let lines = text.split('\n').filter_map(|line| line.split_once('='));
        Namespaces(
            lines
                .map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned()))
                .collect(),
        )
    }

    /// What the user declared.
    fn own(&self, prefix: &str) -> Option<&str> {
        let own = self.0.iter().rev().find(|(known, _)| known == prefix);
        own.map(|(_, uri)| uri.as_str())
    }

    fn uri(&self, prefix: &str) -> Option<&str> {
        let known = || PREDECLARED.iter().find(|(known, _)| *known == prefix);
        self.own(prefix).or_else(|| known().map(|(_, uri)| *uri))
    }

    /// The namespace of a prefix.
    ///
    /// # Errors
    /// If there is none, in Saxon's words.
    fn known(&self, prefix: &str) -> Result<&str, Fault> {
        self.uri(prefix).ok_or_else(|| {
            Fault::malformed(format!("Namespace prefix '{prefix}' has not been declared"))
        })
    }
}
