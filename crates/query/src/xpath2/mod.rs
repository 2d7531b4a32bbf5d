//! XPath as JMeter's XPath2 Extractor and XPath2 Assertion ask it: Saxon on a tree with namespaces.
//!
//! Built is what the grammar of XPath 1.0 can say, with the meaning XPath 3.1 gives it: typed numbers, errors where a
//! function gets several items, no conversions between strings and numbers. What only the grammar of XPath 2.0 has (`for`,
//! `if`, `eq`, sequences, functions as steps), functions that are in neither table, `id`, `lang`, the namespace axis and arithmetic on decimals are
//! refused when the expression is compiled. Messages of faults are Saxon's in the usual cases only.

mod arguments;
mod check;
mod eval;
mod function;
mod item;
mod newer;
mod serialize;

use std::borrow::Cow;

use xpath_eval::Expr;

use crate::xpath::{Tree, XPathError};
use eval::Evaluation;

/// A compiled expression; `Send + Sync`.
#[derive(Debug)]
pub struct XPath2 {
    expression: Expr,
    namespaces: Namespaces,
    is_boolean: bool,
    newer_function: Option<String>,
}

impl XPath2 {
    /// Compiles an expression. `namespaces` has lines `prefix=URI`; an empty prefix is the namespace of elements without one.
    ///
    /// # Errors
    /// If the expression is malformed, or beyond what is built.
    pub fn compile(text: &str, namespaces: &str) -> Result<XPath2, XPathError> {
        let text = &with_local_names(text);
        let expression = xpath_eval::parse(text).map_err(|error| {
            XPathError::new(format!(
                "it is malformed, or has syntax that XPath 1.0 lacks, which is not built ({error})"
            ))
        })?;
        let namespaces = Namespaces::parse(namespaces);
        check::expression(&expression, &namespaces)?;
        Ok(XPath2 {
            is_boolean: check::is_boolean(&expression),
            newer_function: check::newer_function(&expression),
            expression,
            namespaces,
        })
    }

    /// Whether Xalan, which JMeter asks too, takes the result for a boolean rather than for something that is there or not.
    pub fn is_boolean(&self) -> bool {
        self.is_boolean
    }

    /// The first function that XPath 1.0 lacks: Xalan, which JMeter's assertion asks too, cannot find it.
    pub fn newer_function(&self) -> Option<&str> {
        self.newer_function.as_deref()
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

/// `*:name`, an element or attribute of any namespace, in the words of XPath 1.0.
fn with_local_names(text: &str) -> Cow<'_, str> {
    if !text.contains("*:") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 32);
    let (mut rest, mut quote) = (text, None);
    while let Some(c) = rest.chars().next() {
        match quote {
            Some(mark) if mark == c => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        let name = rest.strip_prefix("*:").filter(|_| quote.is_none());
        let name = name.map(|name| {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            &name[..name.find(|c| !is_part(c)).unwrap_or(name.len())]
        });
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            out.push_str(&format!("*[local-name()='{name}']"));
            rest = &rest[2 + name.len()..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Cow::Owned(out)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_namespace_are_local_names() {
        assert_eq!(
            with_local_names("//*:n[@*:a='*:b']/c"),
            "//*[local-name()='n'][@*[local-name()='a']='*:b']/c"
        );
        assert_eq!(with_local_names("2 * //n"), "2 * //n");
    }
}
