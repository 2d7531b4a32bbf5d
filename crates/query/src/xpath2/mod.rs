//! XPath as JMeter's XPath2 Extractor and XPath2 Assertion ask it: Saxon on a tree with namespaces.
//!
//! Built is what the grammar of XPath 1.0 can say, with the meaning XPath 3.1 gives it: typed numbers, errors where a
//! function gets several items, no conversions between strings and numbers. What only the grammar of XPath 2.0 has (`for`,
//! `if`, `eq`, sequences, functions as steps), newer functions, `id`, `lang`, the namespace axis and arithmetic on decimals are
//! refused when the expression is compiled. Messages of faults are Saxon's in the usual cases only.

mod arguments;
mod check;
mod eval;
mod function;
mod item;
mod serialize;

use xpath_eval::Expr;

use crate::xpath::{Tree, XPathError};
use eval::Evaluation;

/// A compiled expression; `Send + Sync`.
#[derive(Debug)]
pub struct XPath2 {
    expression: Expr,
    namespaces: Namespaces,
    is_boolean: bool,
}

impl XPath2 {
    /// Compiles an expression. `namespaces` has lines `prefix=URI`; an empty prefix is the namespace of elements without one.
    ///
    /// # Errors
    /// If the expression is malformed, or beyond what is built.
    pub fn compile(text: &str, namespaces: &str) -> Result<XPath2, XPathError> {
        let expression = xpath_eval::parse(text).map_err(|error| {
            XPathError::new(format!(
                "it is malformed, or has syntax that XPath 1.0 lacks, which is not built ({error})"
            ))
        })?;
        let namespaces = Namespaces::parse(namespaces);
        check::expression(&expression, &namespaces)?;
        Ok(XPath2 {
            is_boolean: check::is_boolean(&expression),
            expression,
            namespaces,
        })
    }

    /// Whether Xalan, which JMeter asks too, takes the result for a boolean rather than for something that is there or not.
    pub fn is_boolean(&self) -> bool {
        self.is_boolean
    }

    /// All items of the result as text (`XdmItem#getStringValue`), or, as `fragment`, nodes as XML (`XdmItem#toString`).
    ///
    /// # Errors
    /// If types do not fit, with Saxon's message in the usual cases.
    pub fn evaluate(&self, tree: &Tree, fragment: bool) -> Result<Vec<String>, XPathError> {
        let items = Evaluation::new(&self.namespaces).run(&self.expression, tree.root())?;
        let text = |item: item::Item<'_>| match item {
            item::Item::Node(node) if fragment => serialize::node(node),
            item => item.text(),
        };
        Ok(items.into_iter().map(text).collect())
    }
}

/// The prefixes that an expression may use.
#[derive(Debug, Default)]
struct Namespaces(Vec<(String, String)>);

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

    fn uri(&self, prefix: &str) -> Option<&str> {
        let declared = self.0.iter().rev().find(|(known, _)| known == prefix);
        match declared {
            Some((_, uri)) => Some(uri),
            None if prefix == "xml" => Some("http://www.w3.org/XML/1998/namespace"),
            None => None,
        }
    }
}
