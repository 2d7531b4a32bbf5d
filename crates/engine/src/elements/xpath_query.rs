//! Shared by XPath Extractor and XPath Assertion: evaluates an expression on a text.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use drumfire_expr::Text;
use drumfire_query::xpath::{Namespaces, Tree, XPath, XPathResult};

use crate::decode::compiled::{Compile, CompiledProperty, NoRules};
use crate::decode::setting::Flag;
use crate::run::apart::ProvenQuick;
use crate::run::context::Context;
use crate::run::input::Input;
use crate::run::parsed::XmlMode;

/// Why there is no answer, with the message of JMeter's library.
pub enum XPathFault {
    /// The text is not well-formed.
    Text(String),
    /// The expression cannot be compiled or evaluated.
    Query(String),
}

impl XPathFault {
    pub fn into_message(self) -> String {
        match self {
            XPathFault::Text(message) | XPathFault::Query(message) => message,
        }
    }
}

/// Evaluates an expression on a text, in place. The expression and `fragment` are evaluated once the text is parsed. Also
/// returns the expression's text.
pub fn look<'q>(
    cx: &mut Context,
    input: &Input<'_>,
    reading: XmlMode,
    query: &'q CompiledProperty<XPath>,
    fragment: &Flag,
) -> (Text<'q>, Result<XPathResult, XPathFault>) {
    let tree = cx.parsed.tree(input, reading);
    let tree = match tree.as_ref() {
        Ok(tree) => tree,
        Err(error) => {
            let fault = XPathFault::Text(error.message.clone());
            return (Text::Literal(""), Err(fault));
        }
    };
    let ready = query.get(cx);
    let fragment = fragment.get(cx);
    let answer = ready.outcome.map_err(XPathFault::Query);
    let answer = answer.and_then(|query| evaluated(cx, &query, tree, fragment));
    (ready.text, answer)
}

fn evaluated(
    cx: &Context,
    query: &XPath,
    tree: &Tree,
    fragment: bool,
) -> Result<XPathResult, XPathFault> {
    if query.has_prefixes() {
        answer(query, tree, fragment, &namespaces(cx))
    } else {
        answer(query, tree, fragment, &Namespaces::new())
    }
}

/// Evaluates an expression on another thread. Finds nothing if the run is told to stop meanwhile.
pub async fn look_apart(
    cx: &mut Context,
    proven: &ProvenQuick,
    input: &Input<'_>,
    reading: XmlMode,
    query: Text<'_>,
    fragment: bool,
) -> Result<XPathResult, XPathFault> {
    let (text, query) = (cx.parsed.text(input).into_string(), query.into_string());
    let bytes = text.len();
    let namespaces = namespaces(cx);
    let search = move || {
        let tree = reading.read(&text);
        let tree = tree.map_err(|error| XPathFault::Text(error.message))?;
        let query = <XPath as Compile>::compile(&query, NoRules).map_err(XPathFault::Query)?;
        answer(&query, &tree, fragment, &namespaces)
    };
    let found = proven.search(cx, bytes, search).await;
    found.unwrap_or(Ok(XPathResult::Nodes(Vec::new())))
}

/// The property that names a file of prefixes and their namespaces.
const CONFIG: &str = "xpath.namespace.config";

/// The namespaces of that file, read once per run.
#[derive(Default)]
struct Configured(OnceLock<Arc<Namespaces>>);

fn namespaces(cx: &Context) -> Arc<Namespaces> {
    let configured = cx.shared.statics.of::<Configured>();
    let read = || {
        let file = cx.shared.properties.get(CONFIG);
        let file = file.filter(|file| !file.is_empty());
        Arc::new(file.map_or_else(Namespaces::new, |file| read(Path::new(&*file))))
    };
    configured.0.get_or_init(read).clone()
}

/// JMeter logs why a file cannot be read, and goes on without it.
fn read(file: &Path) -> Namespaces {
    match drumfire_jmx::load(file) {
        Ok(entries) => entries.into_iter().collect(),
        Err(fault) => {
            tracing::error!("`{CONFIG}` has no effect: {}", fault.message);
            Namespaces::new()
        }
    }
}

fn answer(
    query: &XPath,
    tree: &Tree,
    fragment: bool,
    namespaces: &Namespaces,
) -> Result<XPathResult, XPathFault> {
    let answer = query.evaluate_in(tree, fragment, namespaces);
    answer.map_err(|error| XPathFault::Query(error.message))
}
