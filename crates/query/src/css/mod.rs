//! CSS selectors as in JMeter's CSS Selector Extractor: jsoup 1.17 (`JSoupExtractor`) or Jodd's CSSelly (`JoddExtractor`).
//!
//! Known difference: Jodd's Lagarto builds its own tree of malformed HTML. Here both engines use the tree of the HTML
//! standard, with its implied `html`, `head`, `body` and `tbody`.

mod jodd;
mod jsoup;
mod jsoup_parse;
mod queue;
mod text;
mod tree;

pub use tree::Document;

use drumfire_java::text::trim;

/// The library whose rules a selector follows; the extractor's "CSS Selector Extractor Implementation".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// jsoup: the default.
    Jsoup,
    /// Jodd's CSSelly.
    Jodd,
}

/// Why a selector cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// The library's message.
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
            Engine::Jodd => jodd::parse(text).map(SelectorKind::Jodd),
        }
        .map(Selector)
    }

    /// The values that the extractor puts into variables, in document order, at most `most`: the attribute, or the text if
    /// no attribute (or a blank one) is requested. With jsoup, a missing attribute is empty and `abs:href` is resolved
    /// against `<base>`. With Jodd, a missing attribute is `None`.
    pub fn select(
        &self,
        document: &Document,
        attribute: Option<&str>,
        most: usize,
    ) -> Vec<Option<String>> {
        let attribute =
            attribute.filter(|name| !name.chars().all(drumfire_java::text::is_whitespace));
        match &self.0 {
            SelectorKind::Jsoup(test) => {
                let matches = document
                    .elements()
                    .filter(|element| test.matches(document.root(), *element));
                matches
                    .take(most)
                    .map(|element| match attribute {
                        Some(name) => document.attr_or_abs(element, name),
                        None => trim(&text::text(element)).to_owned(),
                    })
                    .map(Some)
                    .collect()
            }
            SelectorKind::Jodd(chains) => jodd::select(chains, document.root())
                .into_iter()
                .take(most)
                .map(|element| match attribute {
                    Some(name) => tree::attr(element, name).map(str::to_owned),
                    None => Some(trim(&text::content(element)).to_owned()),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
