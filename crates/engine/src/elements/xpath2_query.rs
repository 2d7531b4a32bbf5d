//! Shared by XPath2 Extractor and XPath2 Assertion: the expression with its namespaces.

use std::sync::Arc;

use drumfire_expr::{Scope, Template, Text};
use drumfire_query::xpath::{Tree, XPathError};
use drumfire_query::xpath2::{XPath2, XPath2Error};

use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::decode::compiled::{Compile, NoRules, Use, computed};
use crate::run::input::Input;
use crate::run::parsed::XmlMode;
use crate::run::search::{Searches, XmlText};
use crate::run::view::View;

/// An expression and the prefixes it uses, either of which may hold variables.
pub struct XPath2Query {
    text: Template,
    namespaces: Template,
    constant: Option<Arc<XPath2>>,
    searches: Searches,
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
    fn compile(text: &str, _: NoRules) -> Result<Self, ExceptionText> {
        let (text, namespaces) = text.split_once(SEPARATOR).unwrap_or((text, ""));
        XPath2::compile(text, namespaces).map_err(|fault| fault.to_string().into())
    }
}

impl XPath2Query {
    /// Why Java has to run a literal expression; `None` if it runs natively.
    pub fn beyond(d: &mut Decoder, text: &str, namespaces: &str) -> Option<String> {
        let (text, namespaces) = (d.template(text), d.template(namespaces));
        let (query, prefixes) = (text.literal()?, namespaces.literal()?);
        match XPath2::compile(query, prefixes) {
            Err(fault @ XPath2Error::NotBuilt(_)) => Some(format!("for '{query}', {fault}")),
            _ => None,
        }
    }

    pub fn decode(d: &mut Decoder, text: Template, namespaces: &str) -> XPath2Query {
        let namespaces = d.template(namespaces);
        let mut constant = None;
        if let (Some(query), Some(prefixes)) = (text.literal(), namespaces.literal())
            && !query.is_empty()
        {
            constant = XPath2::compile(query, prefixes).ok().map(Arc::new);
        }
        XPath2Query {
            text,
            namespaces,
            constant,
            searches: Searches::with_parsing(),
        }
    }

    pub fn searches(&self) -> &Searches {
        &self.searches
    }

    /// Evaluates the expression, of which `query` is the [text](Self::text). `None` if it is empty, which JMeter only logs, or if
    /// the run is told to stop meanwhile.
    ///
    /// # Errors
    /// If the text or the expression is malformed, with JMeter's message.
    pub async fn look<R>(
        &self,
        cx: &mut View<R>,
        (query, input): (&str, &Input<'_>),
        fragment: bool,
    ) -> Result<Option<XPath2Results>, ExceptionText> {
        let namespaces = self.namespaces.eval(cx);
        if query.is_empty() {
            tracing::warn!("Error : Empty XPath expression");
            return Ok(None);
        }
        let query = self.get(query, &namespaces)?;
        let mode = XmlMode::Saxon;
        let search = move |tree: &Result<Tree, XPathError>, query: &Arc<XPath2>| {
            let tree = tree.as_ref().map_err(|error| error.message.clone())?;
            Ok(XPath2Results {
                items: query.evaluate(tree, fragment),
                is_boolean: query.is_boolean().map_err(XPathError::clone),
            })
        };
        let text = XmlText { input, mode };
        let results = self.searches.search(cx, text, &*query, search).await;
        results.transpose()
    }

    pub fn text(&self, cx: &mut dyn Scope) -> Text<'_> {
        self.text.eval(cx)
    }

    fn get(&self, query: &str, namespaces: &str) -> Result<Use<'_, XPath2>, ExceptionText> {
        if let Some(constant) = &self.constant {
            return Ok(Use::Borrowed(constant));
        }
        computed(&format!("{query}{SEPARATOR}{namespaces}"), NoRules).map(Use::Owned)
    }
}
