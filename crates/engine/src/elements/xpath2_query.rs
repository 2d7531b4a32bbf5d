//! Shared by XPath2 Extractor and XPath2 Assertion: the expression with its namespaces.

use std::rc::Rc;

use drumfire_expr::{Template, Text};
use drumfire_query::xpath::{Tree, XPathError};
use drumfire_query::xpath2::{XPath2, XPath2Fault};

use crate::decode::Decoder;
use crate::decode::compiled::{Compile, NoRules, Use, computed};
use crate::run::apart::ProvenQuick;
use crate::run::context::Context;
use crate::run::input::Input;
use crate::run::parsed::XmlMode;

/// An expression and the prefixes it uses, either of which may hold variables.
pub struct XPath2Query {
    text: Template,
    namespaces: Template,
    constant: Option<XPath2>,
    proven: ProvenQuick,
}

/// The results of an expression in a text.
pub struct XPath2Results {
    pub items: Result<Vec<String>, XPathError>,
    /// Whether Xalan, which JMeter's assertion asks too, considers the expression boolean; or its error.
    pub is_boolean: Result<bool, XPathError>,
}

/// Separates expression and namespaces in one text; neither can contain it.
const SEPARATOR: char = '\0';

impl Compile for XPath2 {
    type Rules = NoRules;
    fn compile(text: &str, _: NoRules) -> Result<Self, String> {
        let (text, namespaces) = text.split_once(SEPARATOR).unwrap_or((text, ""));
        XPath2::compile(text, namespaces).map_err(|fault| fault.to_string())
    }
}

impl XPath2Query {
    /// Why Java has to run a literal expression; `None` if it runs natively.
    pub fn beyond(d: &mut Decoder, text: &str, namespaces: &str) -> Option<String> {
        let (text, namespaces) = (d.template(text), d.template(namespaces));
        let (query, prefixes) = (text.literal()?, namespaces.literal()?);
        match XPath2::compile(query, prefixes) {
            Err(fault @ XPath2Fault::NotBuilt(_)) => Some(format!("for '{query}', {fault}")),
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
            proven: ProvenQuick::with_parsing(),
        }
    }

    /// Up to which size of text this expression has proved quick.
    pub fn proven(&self) -> &ProvenQuick {
        &self.proven
    }

    /// Evaluates the expression, of which this is the [text](Self::text), on a text, in place unless it `may_wait`. `None` if the expression is empty, which JMeter only
    /// logs, or if the run is told to stop meanwhile.
    ///
    /// # Errors
    /// If the text or the expression is malformed, with JMeter's message.
    pub async fn look(
        &self,
        cx: &mut Context,
        (query, input): (&str, &Input<'_>),
        fragment: bool,
        may_wait: bool,
    ) -> Result<Option<XPath2Results>, String> {
        let namespaces = self.namespaces.eval(cx).into_string();
        if query.is_empty() {
            tracing::warn!("Error : Empty XPath expression");
            return Ok(None);
        }
        if may_wait {
            let search = (query.to_owned(), namespaces);
            return self.look_apart(cx, search, input, fragment).await;
        }
        let query = self.get(query, &namespaces)?;
        let tree = cx.parsed.tree(input, XmlMode::Saxon);
        let tree = tree.as_ref().as_ref();
        let tree = tree.map_err(|error| error.message.clone())?;
        Ok(Some(found(&query, tree, fragment)))
    }

    async fn look_apart(
        &self,
        cx: &mut Context,
        (query, namespaces): (String, String),
        input: &Input<'_>,
        fragment: bool,
    ) -> Result<Option<XPath2Results>, String> {
        let text = cx.parsed.text(input).into_string();
        let bytes = text.len();
        let search = move || {
            let query = XPath2::compile(&query, &namespaces).map_err(|fault| fault.to_string())?;
            let tree = XmlMode::Saxon.read(&text).map_err(|error| error.message)?;
            Ok(found(&query, &tree, fragment))
        };
        let found = self.proven.search(cx, bytes, search).await;
        found.transpose()
    }

    pub fn text(&self, cx: &mut Context) -> Text<'_> {
        self.text.eval(cx)
    }

    fn get(&self, query: &str, namespaces: &str) -> Result<Use<'_, XPath2>, String> {
        if let Some(constant) = &self.constant {
            return Ok(Use::Constant(constant));
        }
        let compiled: Rc<XPath2> = computed(&format!("{query}{SEPARATOR}{namespaces}"), NoRules)?;
        Ok(Use::Computed(compiled))
    }
}

fn found(query: &XPath2, tree: &Tree, fragment: bool) -> XPath2Results {
    XPath2Results {
        items: query.evaluate(tree, fragment),
        is_boolean: query.is_boolean().map_err(XPathError::clone),
    }
}
