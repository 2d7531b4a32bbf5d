//! XPath as in JMeter's XPath2 Extractor and XPath2 Assertion: Saxon on a tree with namespaces.
//!
//! Implemented are the grammar of XPath 2.0 with `let`, `||`, `!` and `=>`, the types string, boolean, integer, decimal and
//! double, and the usual functions. Compilation rejects everything else: dates, durations and other types, functions as
//! values, maps, arrays, the namespace axis, and functions that are in neither table. Saxon's messages are only reproduced
//! in the usual cases.

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
mod steps;
mod types;

use crate::cost;
use crate::xpath::{Tree, XPath, XPathError, XPathResult};
use ast::Expr;
use eval::Evaluation;

/// Why an expression cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XPath2Error {
    /// It is invalid; contains `getMessage()` of the exception in JMeter.
    #[error("{0}")]
    Malformed(String),
    /// It uses something that is not implemented here.
    #[error("Drumfire does not support {0}")]
    NotBuilt(String),
}

impl XPath2Error {
    fn malformed(message: impl AsRef<str>) -> XPath2Error {
        let message = message.as_ref();
        XPath2Error::Malformed(format!("net.sf.saxon.s9api.SaxonApiException: {message}"))
    }

    fn not_built(what: &str) -> XPath2Error {
        XPath2Error::NotBuilt(what.to_owned())
    }
}

/// A compiled expression; `Send + Sync`.
#[derive(Debug)]
pub struct XPath2 {
    expression: Expr,
    /// Whether Xalan treats the result as a boolean, or Xalan's error for the expression.
    is_boolean: Result<bool, XPathError>,
}

impl XPath2 {
    /// Compiles an expression. `namespaces` has lines `prefix=URI`; an empty prefix sets the namespace of unprefixed elements.
    ///
    /// # Errors
    /// If the expression is malformed or uses something that is not implemented.
    pub fn compile(text: &str, namespaces: &str) -> Result<XPath2, XPath2Error> {
        let namespaces = Namespaces::parse(namespaces);
        Ok(XPath2 {
            expression: parse::parse(text, &namespaces)?,
            is_boolean: asked_of_xalan(text, &namespaces),
        })
    }

    /// Whether Xalan, which JMeter's assertion also uses, treats the result as a boolean. Otherwise the assertion only
    /// checks whether there is a result.
    ///
    /// # Errors
    /// If Xalan cannot evaluate the expression, with its message.
    pub fn is_boolean(&self) -> Result<bool, &XPathError> {
        self.is_boolean.as_ref().copied()
    }

    /// All items of the result as text (`XdmItem#getStringValue`), or with `fragment` nodes as XML (`XdmItem#toString`).
    ///
    /// # Errors
    /// If the result is too large, or types do not match; with Saxon's message in the usual cases.
    pub fn evaluate(&self, tree: &Tree, fragment: bool) -> Result<Vec<String>, XPathError> {
        let items = Evaluation::default().run(&self.expression, tree.root())?;
        cost::within_limit(
            items.into_iter().map(|item| match item {
                item::Item::Node(node) if fragment => serialize::node(node),
                item => item.text(),
            }),
            String::len,
        )
        .ok_or_else(|| XPathError::new(cost::RESULT_TOO_LARGE))
    }
}

/// `XPathUtil#computeAssertionResultUsingSaxon`: Xalan evaluates the expression on an empty document.
fn asked_of_xalan(text: &str, namespaces: &Namespaces) -> Result<bool, XPathError> {
    let answer = XPath::compile(text).and_then(|query| {
        query.evaluate_with(&Tree::empty(), false, |prefix: &str| {
            namespaces.own(prefix).map(str::to_owned)
        })
    });
    Ok(matches!(answer?, XPathResult::Bool(_)))
}

/// The prefixes that an expression may use.
#[derive(Debug, Default)]
struct Namespaces(Vec<(String, String)>);

/// The namespaces that Saxon predeclares (`IndependentContext#clearNamespaces`).
const PREDECLARED: [(&str, &str); 4] = [
    ("xml", "http://www.w3.org/XML/1998/namespace"),
    ("xs", "http://www.w3.org/2001/XMLSchema"),
    ("fn", "http://www.w3.org/2005/xpath-functions"),
    ("saxon", "http://saxon.sf.net/"),
];

impl Namespaces {
    /// `XPathUtil#namespacesParse`: ignores lines without a `=`.
    fn parse(text: &str) -> Namespaces {
        let lines = text.split('\n').filter_map(|line| line.split_once('='));
        Namespaces(
            lines
                .map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned()))
                .collect(),
        )
    }

    /// The user's namespace for a prefix.
    fn own(&self, prefix: &str) -> Option<&str> {
        self.0
            .iter()
            .rev()
            .find(|(known, _)| known == prefix)
            .map(|(_, uri)| uri.as_str())
    }

    fn uri(&self, prefix: &str) -> Option<&str> {
        let predeclared = || PREDECLARED.iter().find(|(known, _)| *known == prefix);
        self.own(prefix)
            .or_else(|| predeclared().map(|(_, uri)| *uri))
    }

    /// The namespace of a prefix.
    ///
    /// # Errors
    /// If there is none, with Saxon's message.
    fn uri_of(&self, prefix: &str) -> Result<&str, XPath2Error> {
        self.uri(prefix).ok_or_else(|| {
            XPath2Error::malformed(format!("Namespace prefix '{prefix}' has not been declared"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(query: &str, tree: &Tree) -> Vec<String> {
        XPath2::compile(query, "")
            .unwrap()
            .evaluate(tree, false)
            .unwrap()
    }

    /// Parses two megabytes of XML with each kind of nesting or width that used to be quadratic. Each then took a minute, so a
    /// regression is hard to overlook.
    #[test]
    fn deep_and_wide_documents_take_linear_time() {
        let deep = 50_000;
        let nested = format!(
            "<r xmlns:p='u'>{}x{}</r>",
            "<a>".repeat(deep),
            "</a>".repeat(deep)
        );
        let tree = Tree::parse_saxon(&nested).unwrap();
        for (query, expected) in [
            ("count(//a)", "50000"),
            ("count(//a//a)", "49999"),
            ("count(//a/ancestor::*)", "50000"),
            ("count(//a/ancestor-or-self::a)", "50000"),
            ("count(//a[. = 'x'])", "50000"),
            ("count(//a intersect //a[1])", "50000"),
            ("string-length(string-join(//a, ''))", "50000"),
        ] {
            assert_eq!(items(query, &tree), [expected], "{query}");
        }
        let wide = format!("<r>{}</r>", "<a/>".repeat(deep));
        let tree = Tree::parse_saxon(&wide).unwrap();
        for (query, expected) in [
            ("count(//a/following-sibling::a)", "49999"),
            ("count(//a/preceding-sibling::a)", "49999"),
            ("count(//a/following-sibling::a[1])", "49999"),
        ] {
            assert_eq!(items(query, &tree), [expected], "{query}");
        }
        let prefixes: String = (0..20_000)
            .map(|n| format!("<p{n}:a xmlns:p{n}='u{n}' k{n}=''>"))
            .collect();
        let names = prefixes.replace(" k", " l") + "<z";
        assert!(Tree::parse_saxon(&names).is_err());
        let attributes: String = (0..100_000).map(|n| format!(" k{n}=''")).collect();
        let tree = Tree::parse_saxon(&format!("<r{attributes}/>")).unwrap();
        assert_eq!(items("count(/r/@*)", &tree), ["100000"]);
    }

    #[test]
    fn starts_that_share_what_they_reach_lose_nothing() {
        let tree =
            Tree::parse_saxon("<r><a k='1'><b/><c><b/></c></a><a k='2'><b/></a></r>").unwrap();
        for (query, expected) in [
            ("(//a | //a/@k)/descendant-or-self::node()", 8),
            ("(//a/@k | //a/b)/following-sibling::*", 1),
            ("(//c, //b)/preceding-sibling::*", 1),
            ("reverse(//a)/following-sibling::a", 1),
            ("(//b, //c)/ancestor-or-self::*", 7),
            ("(//a/@k)/ancestor::*", 3),
            ("//a/descendant::b", 3),
            ("//*[2]", 2),
        ] {
            assert_eq!(items(query, &tree).len(), expected, "{query}");
        }
    }
}
