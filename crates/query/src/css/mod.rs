//! CSS selectors as in JMeter's CSS Selector Extractor: jsoup 1.17 (`JSoupExtractor`) or Jodd's CSSelly (`JoddExtractor`).
//!
//! Known difference: Jodd's Lagarto builds its own tree of malformed HTML. Here both engines use the tree of the HTML
//! standard, with its implied `html`, `head`, `body` and `tbody`.

mod decided;
mod jodd;
mod jodd_parse;
mod jsoup;
mod jsoup_parse;
mod queue;
mod text;
mod tree;

pub use tree::Document;

use drumfire_java::text::trim;

use crate::cost;

/// The library whose rules a selector follows; the extractor's "CSS Selector Extractor Implementation".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// jsoup: the default.
    Jsoup,
    /// Jodd's CSSelly.
    Jodd,
}

/// Why a selector cannot be compiled, or finds too much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// The library's message, or ours.
    pub message: String,
}

impl SelectorError {
    fn new(message: impl Into<String>) -> SelectorError {
        SelectorError {
            message: message.into(),
        }
    }
}

/// A compiled selector; `Send + Sync`.
#[derive(Debug)]
pub struct Selector(SelectorKind);

#[derive(Debug)]
enum SelectorKind {
    Jsoup(jsoup::Test),
    Jodd(Vec<jodd::Chain>),
}

impl Selector {
    /// Compiles a selector.
    ///
    /// # Errors
    /// If the library refuses it.
    pub fn compile(text: &str, engine: Engine) -> Result<Selector, SelectorError> {
        match engine {
            Engine::Jsoup => jsoup_parse::parse(text).map(SelectorKind::Jsoup),
            Engine::Jodd => jodd_parse::parse(text).map(SelectorKind::Jodd),
        }
        .map(Selector)
    }

    /// The values that the extractor puts into variables, in document order, at most `most`: the attribute, or the text if
    /// no attribute (or a blank one) is requested. With jsoup, a missing attribute is empty and `abs:href` is resolved
    /// against `<base>`. With Jodd, a missing attribute is `None`.
    ///
    /// # Errors
    /// If the values are larger than 256 MiB: each element's text contains those of the elements within it.
    pub fn select(
        &self,
        document: &Document,
        attribute: Option<&str>,
        most: usize,
    ) -> Result<Vec<Option<String>>, SelectorError> {
        let attribute =
            attribute.filter(|name| !name.chars().all(drumfire_java::text::is_whitespace));
        let bytes = |value: &Option<String>| value.as_ref().map_or(0, String::len);
        let values = match &self.0 {
            SelectorKind::Jsoup(test) => {
                let search = jsoup::PageSearch::new(document.root());
                let matches = document
                    .elements()
                    .filter(|element| search.matches(test, *element));
                let values = matches.take(most).map(|element| match attribute {
                    Some(name) => Some(document.attr_or_abs(element, name)),
                    None => Some(trim(&text::text(element)).to_owned()),
                });
                cost::within_limit(values, bytes)
            }
            SelectorKind::Jodd(chains) => {
                let matches = jodd::select(chains, document.root()).into_iter();
                let values = matches.take(most).map(|element| match attribute {
                    Some(name) => tree::attr(element, name).map(str::to_owned),
                    None => Some(trim(&text::content(element)).to_owned()),
                });
                cost::within_limit(values, bytes)
            }
        };
        values.ok_or_else(|| SelectorError::new(cost::RESULT_TOO_LARGE))
    }
}

#[cfg(test)]
mod growth;
#[cfg(test)]
mod tests;
