//! What XPath2 Extractor and XPath2 Assertion have in common: the expression with its namespaces.

use std::rc::Rc;

use drumfire_expr::{Template, Text};
use drumfire_query::xpath2::{XPath2, XPath2Fault};

use crate::decode::Decoder;
use crate::decode::compiled::{Compile, Only, Use, computed};
use crate::run::context::Context;

/// An expression and the prefixes it uses, either of which may hold variables.
pub struct XPath2Query {
    text: Template,
    namespaces: Template,
    constant: Option<XPath2>,
}

/// Between expression and namespaces where both are one text; neither can hold it.
const SEPARATOR: char = '\0';

impl Compile for XPath2 {
    type Rules = Only;
    fn compile(text: &str, _: Only) -> Result<Self, String> {
        let (text, namespaces) = text.split_once(SEPARATOR).unwrap_or((text, ""));
        XPath2::compile(text, namespaces).map_err(|fault| fault.to_string())
    }
}

impl XPath2Query {
    /// Why an expression that the plan spells out is for Java to run.
    pub fn beyond(d: &mut Decoder, text: &str, namespaces: &str) -> Option<String> {
        let (text, namespaces) = (d.template(text), d.template(namespaces));
        let (query, prefixes) = (text.literal()?, namespaces.literal()?);
        match XPath2::compile(query, prefixes) {
            Err(fault @ XPath2Fault::NotBuilt(_)) => Some(format!("of '{query}' {fault}")),
            _ => None,
        }
    }

    pub fn decode(d: &mut Decoder, text: Template, namespaces: &str) -> XPath2Query {
        let namespaces = d.template(namespaces);
        let mut constant = None;
        if let (Some(query), Some(prefixes)) = (text.literal(), namespaces.literal())
            && !query.is_empty()
        {
            constant = XPath2::compile(query, prefixes).ok();
        }
        XPath2Query {
            text,
            namespaces,
            constant,
        }
    }

    pub fn text(&self, cx: &mut Context) -> Text<'_> {
        self.text.eval(cx)
    }

    /// The expression; nothing if it is empty, which JMeter only logs.
    ///
    /// # Errors
    /// If a text put together at run time cannot be compiled.
    pub fn get(&self, cx: &mut Context) -> Result<Option<Use<'_, XPath2>>, String> {
        if let Some(constant) = &self.constant {
            return Ok(Some(Use::Constant(constant)));
        }
        let query = self.text.eval(cx);
        if query.is_empty() {
            tracing::warn!("Error : Empty XPath expression");
            return Ok(None);
        }
        let namespaces = self.namespaces.eval(cx);
        let compiled: Rc<XPath2> = computed(&format!("{query}{SEPARATOR}{namespaces}"), Only)?;
        Ok(Some(Use::Computed(compiled)))
    }
}
