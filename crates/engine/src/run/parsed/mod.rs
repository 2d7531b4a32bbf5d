//! The parsed bodies of one result. Text, JSON, page and tree are made once for all elements that read them, and are cached
//! for when the same text comes again.

mod json;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use drumfire_expr::Text;
use drumfire_http::SparePool;
use drumfire_java::charset::Charset;
use drumfire_query::css::{Document, Engine};
use drumfire_query::xpath::{self, Tree, XPathError};
use drumfire_results::{ResponseBody, Sample};

use self::json::RecentJson;
use crate::run::input::Input;

pub use self::json::{JsonBody, JsonReader, LongJson, SentText};

/// How XML is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlMode {
    /// As HTML, whatever the text is.
    Tolerant,
    /// From the bytes of the text in UTF-8, whose declaration may name another encoding.
    Xml { namespaces: bool },
    /// From the text itself.
    Decoded { namespaces: bool },
    /// As Saxon does it.
    Saxon,
}

impl XmlMode {
    /// The tree of a text.
    ///
    /// # Errors
    /// If it is not well-formed.
    pub fn read(self, text: &str) -> Result<Tree, XPathError> {
        match self {
            XmlMode::Tolerant => Ok(Tree::parse_tolerant(text)),
            XmlMode::Xml { namespaces } => {
                Tree::parse_xml(&xpath::decode(text.as_bytes())?, namespaces)
            }
            XmlMode::Decoded { namespaces } => Tree::parse_xml(text, namespaces),
            XmlMode::Saxon => Tree::parse_saxon(text),
        }
    }
}

/// How many pages, trees and JSON texts each thread caches.
const MOST_RECENT: usize = 4;
/// Longer texts are not cached, since a tree takes several times as much memory.
const LONGEST_RECENT_BYTES: usize = 128 * 1024;

/// This many searches of a JSON text take about as long as parsing it.
pub const MOST_SEARCHES: usize = 4;

thread_local! {
    static SPARE_FORMS: SparePool<Box<Forms>> = SparePool::default();
    static PAGES: Recent<(), Document> = const { Recent::new() };
    static TREES: Recent<XmlMode, Result<Tree, XPathError>> = const { Recent::new() };
    static SMART_JSON: RecentJson = const { RecentJson::new() };
    static STRICT_JSON: RecentJson = const { RecentJson::new() };
}

/// A cache of the texts that were parsed lately. A server often sends the same page again, and parsing is most of an
/// extractor's cost.
struct Recent<K, T>(RefCell<VecDeque<Kept<K, T>>>);

struct Kept<K, T> {
    key: K,
    text: Box<str>,
    made: Rc<T>,
}

/// Whether the texts are equal. Compares their ends first, where pages often differ.
fn is_same(known: &str, text: &str) -> bool {
    known.len() == text.len()
        && (std::ptr::eq(known, text) || (end(known) == end(text) && known == text))
}

fn end(text: &str) -> Option<[u8; 32]> {
    text.as_bytes().last_chunk::<32>().copied()
}

/// Adds an entry, and evicts the oldest one if the cache is full.
fn push<T>(recent: &mut VecDeque<T>, one: T) {
    if recent.len() == MOST_RECENT {
        recent.pop_front();
    }
    recent.push_back(one);
}

impl<K: PartialEq, T> Recent<K, T> {
    const fn new() -> Self {
        Recent(RefCell::new(VecDeque::new()))
    }

    fn get(&self, key: K, text: &str, make: impl FnOnce() -> T) -> Rc<T> {
        let is_it = |kept: &&Kept<K, T>| kept.key == key && is_same(&kept.text, text);
        if let Some(kept) = self.0.borrow().iter().find(is_it) {
            return kept.made.clone();
        }
        let made = Rc::new(make());
        if text.len() <= LONGEST_RECENT_BYTES {
            let parsed = Kept {
                key,
                text: text.into(),
                made: made.clone(),
            };
            push(&mut self.0.borrow_mut(), parsed);
        }
        made
    }
}

/// The parsed forms of the bodies of the result at hand.
#[derive(Default)]
pub struct Parsed {
    /// For bodies whose response names no charset (`sampleresult.default.encoding`); `None` is UTF-8.
    pub default_charset: Option<Rc<Charset>>,
    /// Taken from the thread's spares for the first body, and put back by [`clear`](Parsed::clear), so that a user that thinks
    /// holds no memory for it.
    forms: Option<Box<Forms>>,
}

#[derive(Default)]
struct Forms {
    bodies: Vec<ParsedBody>,
    /// Values of variables that were searched without being parsed, and how often.
    searched_values: Vec<(Rc<str>, usize)>,
    /// Values of variables that were parsed.
    parsed_values: Vec<(Rc<str>, JsonReader, Rc<JsonBody>)>,
    pages: Vec<(PageKey, CachedPage)>,
}

/// A page that JMeter has in its cache.
#[derive(Clone)]
enum CachedPage {
    Parsed(Rc<Document>),
    /// Another thread has parsed it.
    Text(Rc<str>),
}

/// Where JMeter keeps a page for further CSS extractors of a sample (`JSoupExtractor`, `JoddExtractor`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKey {
    /// The first result of the scope.
    First(Engine),
    /// Any variable.
    Variable(Engine),
}

struct ParsedBody {
    data: ResponseBody,
    /// The decoded text, unless the bytes already are that text in UTF-8.
    text: Option<Rc<str>>,
    smart_json: Option<Rc<JsonBody>>,
    /// How often its text was searched without being parsed.
    json_searches: usize,
    strict_json: Option<Rc<JsonBody>>,
    page: Option<Rc<Document>>,
    trees: Vec<(XmlMode, Rc<Result<Tree, XPathError>>)>,
}

impl ParsedBody {
    fn json(&mut self, reader: JsonReader) -> &mut Option<Rc<JsonBody>> {
        match reader {
            JsonReader::Smart => &mut self.smart_json,
            JsonReader::Strict => &mut self.strict_json,
        }
    }
}

impl Parsed {
    /// Nothing parsed yet, with the charset of bodies that name none.
    pub fn new(default_charset: Option<Rc<Charset>>) -> Parsed {
        Parsed {
            default_charset,
            ..Parsed::default()
        }
    }

    /// Forgets everything, once the result at hand is finished.
    pub fn clear(&mut self) {
        let Some(mut forms) = self.forms.take() else {
            return;
        };
        forms.bodies.clear();
        forms.searched_values.clear();
        forms.parsed_values.clear();
        forms.pages.clear();
        SPARE_FORMS.with(|spare| spare.take_back(forms));
    }

    fn forms(&mut self) -> &mut Forms {
        let take = || SPARE_FORMS.with(SparePool::take).unwrap_or_default();
        self.forms.get_or_insert_with(take)
    }

    /// The text of an input.
    pub fn text<'s>(&mut self, input: &Input<'s>) -> Text<'s> {
        match input {
            Input::Result(sample) => self.body_text(sample),
            Input::Variable(value) => Text::Shared(value.clone()),
        }
    }

    /// Whether the body of a result is empty as text. Does not decode long bodies.
    pub fn has_no_text(&mut self, sample: &Sample) -> bool {
        /// A byte order mark is not text, and no charset needs more bytes than this for an empty text.
        const MARK_BYTES: usize = 4;
        let bytes = sample.response_data.as_deref().map_or(0, <[u8]>::len);
        bytes <= MARK_BYTES && self.body_text(sample).is_empty()
    }

    /// The body of a result as text (`SampleResult#getResponseDataAsString`).
    pub fn body_text<'s>(&mut self, sample: &'s Sample) -> Text<'s> {
        let Some(data) = &sample.response_data else {
            return Text::Literal("");
        };
        if let Some(text) = self
            .forms
            .iter()
            .flat_map(|forms| &forms.bodies)
            .find(|body| body.data.is_shared_with(data))
            .and_then(|body| body.text.clone())
        {
            return Text::Shared(text);
        }
        match crate::base::body::text(sample, self.default_charset.as_deref()) {
            std::borrow::Cow::Borrowed(text) => Text::Literal(text),
            std::borrow::Cow::Owned(text) => {
                let text: Rc<str> = text.into();
                self.body(data).text = Some(text.clone());
                Text::Shared(text)
            }
        }
    }

    /// An input for another thread to read. The bytes of a result are shared and decoded there.
    pub fn sent_text(&self, input: &Input<'_>) -> SentText {
        match input {
            Input::Variable(value) => SentText::of_text(value.to_string()),
            Input::Result(sample) => match &sample.response_data {
                Some(data) => SentText::of_body(
                    data.clone(),
                    sample.encoding.as_deref().unwrap_or_default(),
                    self.default_charset.as_deref().cloned(),
                ),
                None => SentText::of_text(String::new()),
            },
        }
    }

    /// Whether an input has nothing but white space.
    pub fn is_blank(&mut self, input: &Input<'_>) -> bool {
        /// JSON begins with one of these bytes, and no charset has them at the start of white space.
        const BEGINNINGS: &[u8] = b"{[\"";
        if let Input::Result(sample) = input {
            let first = sample.response_data.as_ref().and_then(|data| data.first());
            if first.is_some_and(|first| BEGINNINGS.contains(first)) {
                return false;
            }
        }
        drumfire_java::text::is_blank(&self.text(input))
    }

    /// An input as JSON.
    pub fn json(&mut self, input: &Input<'_>, reader: JsonReader) -> Rc<JsonBody> {
        if let Some(body) = self.parsed_value(input, reader) {
            return body;
        }
        let recent = match reader {
            JsonReader::Smart => &SMART_JSON,
            JsonReader::Strict => &STRICT_JSON,
        };
        let body = self.make(
            input,
            |text, data| recent.with(|recent| recent.get(text, data, reader)),
            |body| body.json(reader),
        );
        if let Input::Variable(value) = input {
            let parsed = (value.clone(), reader, body.clone());
            self.forms().parsed_values.push(parsed);
        }
        body
    }

    /// An input as JSON, if it was already parsed for the result at hand.
    pub fn known_json(&mut self, input: &Input<'_>, reader: JsonReader) -> Option<Rc<JsonBody>> {
        match input {
            Input::Result(sample) => {
                let data = sample.response_data.as_ref()?;
                self.body(data).json(reader).clone()
            }
            Input::Variable(_) => self.parsed_value(input, reader),
        }
    }

    /// Stores an input that another thread has parsed.
    pub fn keep_json(&mut self, input: &Input<'_>, reader: JsonReader, json: LongJson) {
        let body = Rc::new(JsonBody::from(json));
        match input {
            Input::Result(Sample {
                response_data: Some(data),
                ..
            }) => *self.body(data).json(reader) = Some(body),
            Input::Result(_) => {}
            Input::Variable(value) => {
                let parsed = (value.clone(), reader, body);
                self.forms().parsed_values.push(parsed);
            }
        }
    }

    fn parsed_value(&self, input: &Input<'_>, reader: JsonReader) -> Option<Rc<JsonBody>> {
        let Input::Variable(value) = input else {
            return None;
        };
        let mut values = self.forms.as_ref()?.parsed_values.iter();
        let (_, _, json) = values.find(|(text, by, _)| Rc::ptr_eq(text, value) && *by == reader)?;
        Some(json.clone())
    }

    /// Whether to search the text of an input rather than to parse it: it is not parsed yet, and its searches so far took less
    /// time than parsing. After that it is parsed once for all later searches.
    pub fn may_search_json(&mut self, input: &Input<'_>) -> bool {
        if self.parsed_value(input, JsonReader::Smart).is_some() {
            return false;
        }
        let text = self.text(input);
        let searches = match input {
            Input::Result(sample) => {
                let Some(data) = &sample.response_data else {
                    return false;
                };
                let body = self.body(data);
                if body.smart_json.is_some() {
                    return false;
                }
                &mut body.json_searches
            }
            Input::Variable(value) => self.searches_of(value),
        };
        if *searches == MOST_SEARCHES {
            return false;
        }
        *searches += 1;
        // The cache is asked once for each result whether the text recurs.
        if *searches == 1 && SMART_JSON.with(|recent| recent.comes_again(&text)) {
            *searches = MOST_SEARCHES;
            return false;
        }
        true
    }

    /// How often the value of a variable was searched for the result at hand.
    fn searches_of(&mut self, value: &Rc<str>) -> &mut usize {
        let values = &mut self.forms().searched_values;
        let index = values.iter().position(|(text, _)| Rc::ptr_eq(text, value));
        let at = index.unwrap_or_else(|| {
            values.push((value.clone(), 0));
            values.len() - 1
        });
        &mut values[at].1
    }

    /// An input as an HTML page. With a key, the page that JMeter has in its cache under it takes precedence.
    pub fn page(&mut self, input: &Input<'_>, key: Option<PageKey>) -> Rc<Document> {
        let page = match self.known_page(key) {
            Some(CachedPage::Parsed(page)) => return page,
            Some(CachedPage::Text(text)) => {
                PAGES.with(|pages| pages.get((), &text, || Document::parse(&text)))
            }
            None => self.make(
                input,
                |text, _| PAGES.with(|pages| pages.get((), text, || Document::parse(text))),
                |body| &mut body.page,
            ),
        };
        self.keep_page(key, CachedPage::Parsed(page.clone()));
        page
    }

    /// The text of the page that [`Parsed::page`] returns, for another thread to parse. `None` if it is parsed already.
    pub fn page_text(&mut self, input: &Input<'_>, key: Option<PageKey>) -> Option<Rc<str>> {
        match self.known_page(key) {
            Some(CachedPage::Parsed(_)) => None,
            Some(CachedPage::Text(text)) => Some(text),
            None => {
                let text = self.text(input).into_value();
                self.keep_page(key, CachedPage::Text(text.clone()));
                Some(text)
            }
        }
    }

    fn known_page(&self, key: Option<PageKey>) -> Option<CachedPage> {
        let mut pages = self.forms.as_ref()?.pages.iter();
        let cached = pages.find(|(page_key, _)| Some(*page_key) == key);
        cached.map(|(_, page)| page.clone())
    }

    fn keep_page(&mut self, key: Option<PageKey>, page: CachedPage) {
        let Some(key) = key else { return };
        let pages = &mut self.forms().pages;
        pages.retain(|(known, _)| *known != key);
        pages.push((key, page));
    }

    /// An input as XPath sees it.
    pub fn tree(&mut self, input: &Input<'_>, reading: XmlMode) -> Rc<Result<Tree, XPathError>> {
        let text = self.text(input);
        let parse = || TREES.with(|trees| trees.get(reading, &text, || reading.read(&text)));
        let Input::Result(Sample {
            response_data: Some(data),
            ..
        }) = input
        else {
            return parse();
        };
        let body = self.body(data);
        if let Some((_, tree)) = body.trees.iter().find(|(known, _)| *known == reading) {
            return tree.clone();
        }
        let tree = parse();
        body.trees.push((reading, tree.clone()));
        tree
    }

    /// Calls `make` on the text of an input and, for a result, on its bytes. Each body is made once.
    fn make<T>(
        &mut self,
        input: &Input<'_>,
        make: impl Fn(&Text<'_>, Option<&ResponseBody>) -> Rc<T>,
        place: impl Fn(&mut ParsedBody) -> &mut Option<Rc<T>>,
    ) -> Rc<T> {
        let text = self.text(input);
        let Input::Result(Sample {
            response_data: Some(data),
            ..
        }) = input
        else {
            return make(&text, None);
        };
        let slot = place(self.body(data));
        let made = slot.get_or_insert_with(|| make(&text, Some(data)));
        made.clone()
    }

    fn body(&mut self, data: &ResponseBody) -> &mut ParsedBody {
        let bodies = &mut self.forms().bodies;
        let index = bodies
            .iter()
            .position(|body| body.data.is_shared_with(data));
        let at = index.unwrap_or_else(|| {
            bodies.push(ParsedBody {
                data: data.clone(),
                text: None,
                smart_json: None,
                json_searches: 0,
                strict_json: None,
                page: None,
                trees: Vec::new(),
            });
            bodies.len() - 1
        });
        &mut bodies[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(body: &[u8], encoding: Option<&'static str>) -> Sample {
        Sample {
            response_data: Some(body.into()),
            encoding: encoding.map(Into::into),
            ..Sample::default()
        }
    }

    #[test]
    fn utf8_is_borrowed_and_other_charsets_are_decoded_once() {
        let mut parsed = Parsed::default();
        let utf8 = sample("é".as_bytes(), None);
        assert!(matches!(parsed.body_text(&utf8), Text::Literal("é")));
        let latin = sample(b"\xe9", Some("ISO-8859-1"));
        let (Text::Shared(first), Text::Shared(second)) =
            (parsed.body_text(&latin), parsed.body_text(&latin))
        else {
            panic!("decoded")
        };
        assert!(Rc::ptr_eq(&first, &second));
        assert_eq!(&*first, "é");
        assert_eq!(&*parsed.body_text(&Sample::default()), "");
    }

    #[test]
    fn a_mark_of_byte_order_is_no_text() {
        let mut parsed = Parsed::default();
        for (body, encoding, expected) in [
            (&b""[..], None, true),
            (b"[]", None, false),
            (b"\xfe\xff", Some("UTF-16"), true),
            (b"\xfe\xff\0a", Some("UTF-16"), false),
            (b"words", None, false),
        ] {
            let sample = sample(body, encoding);
            assert_eq!(parsed.has_no_text(&sample), expected, "{body:?}");
            parsed.clear();
        }
        assert!(parsed.has_no_text(&Sample::default()));
    }

    #[test]
    fn a_body_is_parsed_once() {
        let mut parsed = Parsed::default();
        let sample = sample(b"{\"a\":[1]}", None);
        let input = Input::Result(&sample);
        let json = parsed.json(&input, JsonReader::Smart);
        assert!(Rc::ptr_eq(&json, &parsed.json(&input, JsonReader::Smart)));
        assert!(json.get().is_ok_and(|json| json.root().get("a").is_some()));
        assert!(Rc::ptr_eq(
            &parsed.page(&input, None),
            &parsed.page(&input, None)
        ));
        let plain = XmlMode::Xml { namespaces: false };
        assert!(Rc::ptr_eq(
            &parsed.tree(&input, plain),
            &parsed.tree(&input, plain)
        ));
        assert!(parsed.tree(&input, plain).is_err());
        parsed.clear();
        assert!(parsed.forms.is_none());
    }

    #[test]
    fn the_first_looks_into_a_body_may_do_without_parsing() {
        let mut parsed = Parsed::default();
        let sample = sample(b"{}", None);
        let looks = |parsed: &mut Parsed, input: &Input<'_>| {
            [(); MOST_SEARCHES + 2].map(|()| parsed.may_search_json(input))
        };
        let mut first = [true; MOST_SEARCHES + 2];
        first[MOST_SEARCHES..].fill(false);
        let input = Input::Result(&sample);
        assert_eq!(looks(&mut parsed, &input), first);
        parsed.clear();
        parsed.json(&input, JsonReader::Smart);
        assert!(!parsed.may_search_json(&input));
        let variable = Input::Variable(format!("[{}]", "1, ".repeat(20)).into());
        assert_eq!(looks(&mut parsed, &variable), first);
        parsed.clear();
        assert!(!parsed.may_search_json(&variable), "it comes again");
    }

    #[test]
    fn repeated_texts_are_parsed_once() {
        let page = |text: &str| {
            let sample = sample(text.as_bytes(), None);
            let input = Input::Result(&sample);
            let mut parsed = Parsed::default();
            let plain = parsed.tree(&input, XmlMode::Xml { namespaces: false });
            (parsed.page(&input, None), plain)
        };
        let first = page("<p>1</p>");
        let again = page("<p>1</p>");
        assert!(Rc::ptr_eq(&first.0, &again.0) && Rc::ptr_eq(&first.1, &again.1));
        let other = page("<p>2</p>");
        assert!(!Rc::ptr_eq(&first.0, &other.0));
        let json =
            || Parsed::default().json(&Input::Result(&sample(b"[1]", None)), JsonReader::Smart);
        assert!(Rc::ptr_eq(&json(), &json()));
        let saxon = sample(b"<p>1</p>", None);
        let saxon = Parsed::default().tree(&Input::Result(&saxon), XmlMode::Saxon);
        assert!(!Rc::ptr_eq(&first.1, &saxon));
        (0..MOST_RECENT).for_each(|number| drop(page(&format!("<b>{number}</b>"))));
        assert!(!Rc::ptr_eq(&first.0, &page("<p>1</p>").0));
        let long = "<p>".repeat(LONGEST_RECENT_BYTES);
        assert!(!Rc::ptr_eq(&page(&long).0, &page(&long).0));
    }

    #[test]
    fn a_variable_is_parsed_as_it_is() {
        let mut parsed = Parsed::default();
        let input = Input::Variable("[1".into());
        assert!(parsed.json(&input, JsonReader::Smart).get().is_err());
        assert!(parsed.forms.is_some_and(|forms| forms.bodies.is_empty()));
    }
}
