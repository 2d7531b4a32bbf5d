//! Shared by XPath Extractor and XPath Assertion: an expression looks into a text.

use drumfire_expr::Text;
use drumfire_query::xpath::{Answer, Tree, XPath};

use crate::decode::compiled::{Compile, Only, Use};
use crate::run::apart::ProvenQuick;
use crate::run::context::Context;
use crate::run::input::Input;
use crate::run::parsed::Reading;

/// Why there is no answer, with the message of JMeter's library.
pub enum Fault {
    /// The text is not well-formed.
    Text(String),
    /// The expression cannot be compiled or evaluated.
    Query(String),
}

impl Fault {
    pub fn into_message(self) -> String {
        match self {
            Fault::Text(message) | Fault::Query(message) => message,
        }
    }
}

/// Looks into a text in place.
pub fn look(
    cx: &mut Context,
    input: &Input<'_>,
    reading: Reading,
    query: Result<Use<'_, XPath>, String>,
    fragment: bool,
) -> Result<Answer, Fault> {
    let tree = cx.parsed.tree(input, reading);
    let tree = tree.as_ref().as_ref();
    let tree = tree.map_err(|error| Fault::Text(error.message.clone()))?;
    let query = query.map_err(Fault::Query)?;
    answer(&query, tree, fragment)
}

/// Does the same on a thread of its own. A run that is told to stop meanwhile finds nothing.
pub async fn look_apart(
    cx: &mut Context,
    proven: &ProvenQuick,
    input: &Input<'_>,
    reading: Reading,
    query: Text<'_>,
    fragment: bool,
) -> Result<Answer, Fault> {
    let (text, query) = (cx.parsed.text(input).into_string(), query.into_string());
    let bytes = text.len();
    let search = move || {
        let tree = reading.read(&text);
        let tree = tree.map_err(|error| Fault::Text(error.message))?;
        let query = <XPath as Compile>::compile(&query, Only).map_err(Fault::Query)?;
        answer(&query, &tree, fragment)
    };
    let found = proven.search(cx, bytes, search).await;
    found.unwrap_or(Ok(Answer::Nodes(Vec::new())))
}

fn answer(query: &XPath, tree: &Tree, fragment: bool) -> Result<Answer, Fault> {
    let answer = query.evaluate(tree, fragment);
    answer.map_err(|error| Fault::Query(error.message))
}
