//! The extractors that would find a text which somebody points at in a response.

use std::mem::discriminant;

use drumfire_jmx::Node;

use super::form::ValueEncoding;
use super::held::{self, Place};
use super::search::{Reader, escaped};
use crate::draft::DraftStep;
use crate::exchange::{Request, Response};
use crate::extractor::{Extractor, ExtractorSource};
use crate::plan::{self, VariableNames};

/// The most extractors of a kind.
const MOST_OF_A_KIND: usize = 3;

/// An extractor that yields exactly the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    source: ExtractorSource,
    /// How many texts it finds in the response.
    pub matches: usize,
    /// A name for its variable.
    pub name: String,
}

impl Proposal {
    /// The name that users know for the kind of extractor.
    pub fn kind(&self) -> &'static str {
        match self.source {
            ExtractorSource::Json(_) => "JSON",
            ExtractorSource::Css { .. } => "CSS selector",
            ExtractorSource::Boundary { .. } => "boundaries",
            ExtractorSource::Body { .. } => "regular expression",
            ExtractorSource::Header { .. } => "regular expression, headers",
            ExtractorSource::Address(_) => "regular expression, address",
        }
    }

    /// The expression that it evaluates. The notation of boundaries is `LEFT...RIGHT`, that of a selector `SELECTOR@ATTRIBUTE`.
    pub fn expression(&self) -> String {
        match &self.source {
            ExtractorSource::Json(path) => path.clone(),
            ExtractorSource::Css {
                selector,
                attribute,
                ..
            } => format!("{selector}@{attribute}"),
            ExtractorSource::Boundary { left, right, .. } => format!("{left}...{right}"),
            ExtractorSource::Body { pattern, .. }
            | ExtractorSource::Header { pattern, .. }
            | ExtractorSource::Address(pattern) => pattern.clone(),
        }
    }

    /// Which of the texts that it finds it yields, from 1.
    pub fn number(&self) -> usize {
        match self.source {
            ExtractorSource::Json(_) | ExtractorSource::Address(_) => 1,
            ExtractorSource::Css { number, .. }
            | ExtractorSource::Boundary { number, .. }
            | ExtractorSource::Body { number, .. }
            | ExtractorSource::Header { number, .. } => number,
        }
    }

    /// The text that it yields from a response.
    pub fn yielded(&self, response: &Response) -> Option<String> {
        Reader::of(response, &Request::default()).yielded(&self.source)
    }

    /// Its element, which sets a variable.
    pub fn element(&self, variable: &str) -> Node {
        plan::extractor(&Extractor {
            variable: variable.to_owned(),
            source: self.source.clone(),
        })
    }
}

/// The extractors that yield exactly a text of a response, by kind, the cheapest kinds first. `at` is where the text stands in the
/// body, in bytes, if it was chosen there.
pub fn proposals(response: &Response, text: &str, at: Option<usize>) -> Vec<Proposal> {
    if text.is_empty() {
        return Vec::new();
    }
    let request = Request::default();
    let reader = Reader::of(response, &request);
    let mut proposals = Found {
        reader: &reader,
        text,
        all: Vec::new(),
    };
    held::each(response, &request, &mut |held| {
        let has_extractor = matches!(
            held.place,
            Place::Json(_) | Place::Attribute { .. } | Place::Header(_)
        );
        if held.text == text && has_extractor {
            let source = reader.extractor(&held, &ValueEncoding::Plain);
            let name = held.key();
            proposals.add(source.map(|(source, _)| source), name);
        }
        false
    });
    let body = response.body.as_deref().unwrap_or_default();
    let stands_there = |at: &usize| body.get(*at..).is_some_and(|rest| rest.starts_with(text));
    let places = match at.filter(stands_there) {
        Some(at) => vec![at],
        None => reader.occurrences(text),
    };
    for at in places {
        if let Some((source, _)) = reader.around(at, text) {
            let name = last_word(&body[..at]);
            proposals.add(as_pattern(&source), name);
            proposals.add(Some(source), name);
        }
    }
    if proposals.all.is_empty() {
        proposals.add(reader.within_header(text), "");
    }
    proposals.all.sort_by_key(|proposal| rank(&proposal.source));
    proposals.all
}

/// The extractor of a variable that a step's response gives, as a proposal.
pub fn used(step: &DraftStep, variable: &str) -> Option<Proposal> {
    let mut extractors = step.extractors.iter();
    let extractor = extractors.find(|extractor| extractor.variable == variable)?;
    let reader = Reader::of(step.response.as_ref()?, &step.request);
    Some(Proposal {
        matches: reader.matches(&extractor.source).len(),
        name: variable.to_owned(),
        source: extractor.source.clone(),
    })
}

/// The proposals so far.
struct Found<'f> {
    reader: &'f Reader<'f>,
    text: &'f str,
    all: Vec<Proposal>,
}

impl Found<'_> {
    /// Adds an extractor if it yields the text, and is not there yet.
    fn add(&mut self, source: Option<ExtractorSource>, name: &str) {
        let Some(source) = source else { return };
        let kind = discriminant(&source);
        let of_kind = self
            .all
            .iter()
            .filter(|known| discriminant(&known.source) == kind);
        let is_known = self.all.iter().any(|known| known.source == source);
        if is_known
            || of_kind.count() >= MOST_OF_A_KIND
            || self.reader.yielded(&source).as_deref() != Some(self.text)
        {
            return;
        }
        self.all.push(Proposal {
            matches: self.reader.matches(&source).len(),
            name: VariableNames::default().take(name),
            source,
        });
    }
}

/// The cheapest search first.
fn rank(source: &ExtractorSource) -> usize {
    match source {
        ExtractorSource::Json(_) => 0,
        ExtractorSource::Boundary { .. } => 1,
        ExtractorSource::Body { .. } => 2,
        ExtractorSource::Header { .. } | ExtractorSource::Address(_) => 3,
        ExtractorSource::Css { .. } => 4,
    }
}

/// Boundaries as a regular expression.
fn as_pattern(source: &ExtractorSource) -> Option<ExtractorSource> {
    let ExtractorSource::Boundary {
        left,
        right,
        number,
    } = source
    else {
        return None;
    };
    let pattern = format!(
        "{}([^{right}]+){right}",
        escaped(left),
        right = escaped(right)
    );
    Some(ExtractorSource::Body {
        pattern,
        number: *number,
    })
}

/// The last word of a text, which usually names what follows.
fn last_word(text: &str) -> &str {
    let end = text.trim_end_matches(|sign| !is_word_sign(sign));
    let start = end
        .rfind(|sign| !is_word_sign(sign))
        .map(|at| at + end[at..].chars().next().map(char::len_utf8).unwrap_or(0))
        .unwrap_or(0);
    &end[start..]
}

/// Whether a character belongs to a word.
fn is_word_sign(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(mime: &str, body: &str) -> Response {
        Response {
            status: 200,
            headers: vec![("X-Session".to_owned(), "k3y-77".to_owned())],
            body: Some(body.to_owned()),
            mime: mime.to_owned(),
            ..Response::default()
        }
    }

    fn told(response: &Response, text: &str, at: Option<usize>) -> Vec<(String, String, usize)> {
        let all = proposals(response, text, at);
        for proposal in &all {
            assert_eq!(proposal.yielded(response).as_deref(), Some(text));
        }
        let all = all.iter();
        all.map(|one| (one.kind().to_owned(), one.expression(), one.matches))
            .collect()
    }

    #[test]
    fn each_kind_that_finds_the_text_is_proposed() {
        let json = response("application/json", r#"{"user": {"token": "t0p"}, "id": 7}"#);
        let kinds = told(&json, "t0p", None);
        assert_eq!(
            kinds[0],
            ("JSON".to_owned(), "$.user.token".to_owned(), 1),
            "{kinds:?}"
        );
        let names: Vec<&str> = kinds.iter().map(|(kind, ..)| kind.as_str()).collect();
        assert_eq!(names, ["JSON", "boundaries", "regular expression"]);
        assert_eq!(proposals(&json, "t0p", None)[1].name, "token");
        let page = response(
            "text/html",
            r#"<form><input type="hidden" name="csrf" value="abc"></form>"#,
        );
        let kinds = told(&page, "abc", None);
        assert!(
            kinds
                .iter()
                .any(|(kind, expression, _)| kind == "CSS selector"
                    && expression == "input[name=\"csrf\"][value]@value"),
            "{kinds:?}"
        );
        assert_eq!(proposals(&page, "abc", None)[0].name, "value");
        let headers = told(&page, "k3y-77", None);
        assert_eq!(headers[0].0, "regular expression, headers", "{headers:?}");
        assert_eq!(told(&page, "nowhere", None), []);
        assert_eq!(told(&page, "", None), []);
    }

    #[test]
    fn the_place_of_the_text_decides_which_of_equal_ones_is_meant() {
        let body = "first: 7; second: 7;";
        let plain = response("text/plain", body);
        let at = body.rfind('7');
        let kinds = told(&plain, "7", at);
        assert_eq!(kinds[0].1, "second: ...;", "{kinds:?}");
        // An offset at which the text does not stand counts for nothing.
        assert!(!told(&plain, "7", Some(1_000)).is_empty());
        assert_eq!(told(&plain, "é", Some(1)), []);
    }

    #[test]
    fn an_expression_names_the_match_that_it_yields() {
        let body = r#"<a data-id="x1">A</a><a data-id="x2">B</a>"#;
        let page = response("text/html", body);
        let all = proposals(&page, "x2", None);
        let css = all.iter().find(|one| one.kind() == "CSS selector");
        let css = css.unwrap_or_else(|| panic!("{all:?}"));
        assert_eq!((css.number(), css.matches), (2, 2));
        let node = css.element("row");
        assert_eq!(node.props.str("HtmlExtractor.match_number"), "2");
    }
}
