//! Shared by XPath Extractor and XPath Assertion: evaluates an expression on a text.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use drumfire_expr::{Scope, Text};
use drumfire_query::xpath::{Namespaces, Tree, XPath, XPathError, XPathResult};

use crate::base::exception_text::ExceptionText;
use crate::decode::compiled::CompiledProperty;
use crate::decode::setting::Flag;
use crate::run::search::{Searches, XmlText};
use crate::run::view::View;

/// Why there is no answer, with the message of JMeter's library.
pub enum EvaluationError {
    /// The text is not well-formed.
    Text(String),
    /// The expression cannot be compiled or evaluated.
    Query(String),
}

impl EvaluationError {
    pub fn into_message(self) -> String {
        match self {
            EvaluationError::Text(message) | EvaluationError::Query(message) => message,
        }
    }
}

impl EvaluationError {
    fn of(tree: &Result<Tree, XPathError>) -> Option<EvaluationError> {
        let error = tree.as_ref().err()?;
        Some(EvaluationError::Text(error.message.clone()))
    }
}

/// Evaluates an expression on a text; it finds nothing if the run is told to stop meanwhile. On the worker, the expression and
/// `fragment` are evaluated once the text is parsed, as in JMeter. Also returns the expression's text.
pub async fn look<'q, R>(
    cx: &mut View<R>,
    searches: &Searches,
    text: XmlText<'_, '_>,
    query: &'q CompiledProperty<XPath>,
    fragment: &Flag,
) -> (Text<'q>, Result<XPathResult, EvaluationError>) {
    let xml = searches.open(cx, text);
    if let Some(fault) = xml.local().and_then(EvaluationError::of) {
        return (Text::Literal(""), Err(fault));
    }
    let ready = query.get(cx);
    let fragment = fragment.get(cx);
    let answer = match ready.outcome {
        Ok(query) => {
            let namespaces = query.has_prefixes().then(|| namespaces(cx));
            xml.search(cx, &*query, move |tree: &_, query: &Arc<XPath>| {
                answer(query, tree, fragment, namespaces.as_deref())
            })
            .await
        }
        Err(message) => {
            xml.search(cx, &message, |tree: &_, message: &ExceptionText| {
                Err(EvaluationError::of(tree)
                    .unwrap_or_else(|| EvaluationError::Query(message.clone().into())))
            })
            .await
        }
    };
    (
        ready.text,
        answer.unwrap_or_else(|| Ok(XPathResult::Nodes(Vec::new()))),
    )
}

/// The property that names a file of prefixes and their namespaces.
const CONFIG: &str = "xpath.namespace.config";

/// The namespaces of that file, read once per run.
#[derive(Default)]
struct Configured(OnceLock<Arc<Namespaces>>);

fn namespaces<R>(cx: &View<R>) -> Arc<Namespaces> {
    let configured = cx.statics().of::<Configured>();
    configured
        .0
        .get_or_init(|| {
            let file = cx.properties().get(CONFIG).filter(|file| !file.is_empty());
            Arc::new(file.map(|file| read(Path::new(&*file))).unwrap_or_default())
        })
        .clone()
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
    tree: &Result<Tree, XPathError>,
    fragment: bool,
    namespaces: Option<&Namespaces>,
) -> Result<XPathResult, EvaluationError> {
    let tree = match tree {
        Ok(tree) => tree,
        Err(error) => return Err(EvaluationError::Text(error.message.clone())),
    };
    let none = Namespaces::new();
    let answer = query.evaluate_in(tree, fragment, namespaces.unwrap_or(&none));
    answer.map_err(|error| EvaluationError::Query(error.message))
}
