//! Bodies parsed as JSON, and each thread's cache of those that recur.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::Text;
use drumfire_java::charset::Charset;
use drumfire_query::jmespath::parse_strict;
use drumfire_query::json::{Json, JsonError};
use drumfire_results::ResponseBody;
use self_cell::self_cell;

use super::{LONGEST_RECENT_BYTES, is_same, push};
use crate::base::body;

type Outcome<'t> = Result<Json<'t>, JsonError>;

self_cell!(
    /// JSON with the text it borrows from, parsed by the worker.
    struct OwnJson {
        owner: JsonSource,
        #[covariant]
        dependent: Outcome,
    }
);

self_cell!(
    /// JSON with the text it borrows from, parsed by another thread.
    struct SentJson {
        owner: SentText,
        #[covariant]
        dependent: Outcome,
    }
);

/// The library whose rules apply to JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonReader {
    /// json-smart's, of the JSONPath elements.
    Smart,
    /// Jackson's, of the JMESPath elements.
    Strict,
}

impl JsonReader {
    fn parse(self, text: &str) -> Outcome<'_> {
        match self {
            JsonReader::Smart => Json::parse(text),
            JsonReader::Strict => parse_strict(text),
        }
    }
}

/// A text on its way to another thread, which decodes it if it is a body.
pub struct SentText(Sent);

enum Sent {
    Text(String),
    /// With the name of its own charset, and the charset of bodies that name none.
    Body(ResponseBody, String, Option<Charset>),
    /// Bytes that are known to be UTF-8.
    Utf8(ResponseBody),
}

impl SentText {
    pub fn of_text(text: String) -> SentText {
        SentText(Sent::Text(text))
    }

    pub fn of_body(data: ResponseBody, encoding: &str, default: Option<Charset>) -> SentText {
        SentText(Sent::Body(data, encoding.to_owned(), default))
    }

    fn decoded(self) -> SentText {
        let Sent::Body(data, encoding, default) = self.0 else {
            return self;
        };
        let text = match body::decoded(&data, Some(&encoding), default.as_ref()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        };
        SentText(match text {
            Some(text) => Sent::Text(text),
            None => Sent::Utf8(data),
        })
    }

    fn as_str(&self) -> &str {
        match &self.0 {
            Sent::Text(text) => text,
            Sent::Utf8(data) | Sent::Body(data, ..) => {
                std::str::from_utf8(data).expect("it was decoded without a change")
            }
        }
    }

    fn len(&self) -> usize {
        match &self.0 {
            Sent::Text(text) => text.len(),
            Sent::Utf8(data) | Sent::Body(data, ..) => data.len(),
        }
    }
}

/// A body parsed as JSON.
pub struct JsonBody(JsonParser);

enum JsonParser {
    Worker(OwnJson),
    Thread(LongJson),
}

impl JsonBody {
    /// The JSON, or why there is none.
    pub fn get(&self) -> Result<&Json<'_>, &JsonError> {
        match &self.0 {
            JsonParser::Worker(json) => json.borrow_dependent().as_ref(),
            JsonParser::Thread(json) => json.get(),
        }
    }

    /// A handle for another thread to search it; `None` if the worker parsed it.
    pub fn long(&self) -> Option<LongJson> {
        match &self.0 {
            JsonParser::Worker(_) => None,
            JsonParser::Thread(json) => Some(json.clone()),
        }
    }
}

/// JSON that any thread may search. If it is large, its last owner has a separate thread free it, since freeing millions of
/// values takes long.
#[derive(Clone)]
pub struct LongJson(Option<Arc<SentJson>>);

impl LongJson {
    /// The JSON of longer texts is freed by a separate thread.
    const LARGE_BYTES: usize = 256 << 10;

    pub fn parse(text: SentText, reader: JsonReader) -> LongJson {
        let json = SentJson::new(text.decoded(), |text| reader.parse(text.as_str()));
        LongJson(Some(Arc::new(json)))
    }

    /// The JSON, or why there is none.
    pub fn get(&self) -> Result<&Json<'_>, &JsonError> {
        let json = self.0.as_ref().expect("only `drop` takes it");
        json.borrow_dependent().as_ref()
    }
}

impl From<LongJson> for JsonBody {
    fn from(json: LongJson) -> JsonBody {
        JsonBody(JsonParser::Thread(json))
    }
}

impl Drop for LongJson {
    fn drop(&mut self) {
        let Some(json) = self.0.take().and_then(Arc::into_inner) else {
            return;
        };
        if json.borrow_owner().len() > LongJson::LARGE_BYTES {
            // If no thread starts, it is freed here.
            let _ = std::thread::Builder::new()
                .name("give back".to_owned())
                .spawn(move || drop(json));
        }
    }
}

/// A text that the parsed JSON owns or shares.
pub enum JsonSource {
    /// Bytes that are known to be UTF-8.
    Bytes(ResponseBody),
    Text(Rc<str>),
}

impl JsonSource {
    fn as_str(&self) -> &str {
        match self {
            JsonSource::Bytes(bytes) => std::str::from_utf8(bytes)
                .expect("only bytes that were decoded without a change come here"),
            JsonSource::Text(text) => text,
        }
    }
}

/// A cache of the texts that were parsed lately, and of those that were searched without being parsed. A text that recurs is
/// parsed once and cached; one that occurs once is not.
pub(super) struct RecentJson {
    kept: RefCell<VecDeque<Kept>>,
    searched: RefCell<VecDeque<Searched>>,
}

struct Kept {
    text: Rc<str>,
    body: Rc<JsonBody>,
}

/// A text that was searched. A body's text is copied only when another one with the same [`Look`] is searched.
struct Searched {
    look: Look,
    text: Option<Rc<str>>,
}

/// A cheap fingerprint, which equal texts share and most unequal ones do not.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    length: usize,
    begins: [u8; Look::SPAN],
    ends: [u8; Look::SPAN],
}

impl Look {
    const SPAN: usize = 32;

    /// `None` for a text that is too short to be worth it.
    fn of(text: &str) -> Option<Look> {
        Some(Look {
            length: text.len(),
            begins: *text.as_bytes().first_chunk()?,
            ends: *text.as_bytes().last_chunk()?,
        })
    }
}

impl RecentJson {
    pub(super) const fn new() -> RecentJson {
        RecentJson {
            kept: RefCell::new(VecDeque::new()),
            searched: RefCell::new(VecDeque::new()),
        }
    }

    fn parsed_before(&self, text: &str) -> Option<Rc<JsonBody>> {
        let kept = self.kept.borrow();
        let kept = kept.iter().find(|kept| is_same(&kept.text, text))?;
        Some(kept.body.clone())
    }

    /// The text parsed, from the cache if possible. `data` are its bytes, if they are known to be UTF-8.
    pub(super) fn get(
        &self,
        text: &Text<'_>,
        data: Option<&ResponseBody>,
        reader: JsonReader,
    ) -> Rc<JsonBody> {
        if let Some(body) = self.parsed_before(text) {
            return body;
        }
        let is_long = text.len() > LONGEST_RECENT_BYTES;
        let source = match (text, data) {
            (Text::Shared(text), _) => JsonSource::Text(text.clone()),
            (_, Some(data)) if is_long => JsonSource::Bytes(data.clone()),
            // Copied: a cached body would hold on to its buffer, which the next response can reuse.
            (text, _) => JsonSource::Text(text.as_str().into()),
        };
        let shared = match &source {
            JsonSource::Text(text) if !is_long => Some(text.clone()),
            _ => None,
        };
        let json = OwnJson::new(source, |source| reader.parse(source.as_str()));
        let body = Rc::new(JsonBody(JsonParser::Worker(json)));
        if let Some(text) = shared {
            let body = body.clone();
            push(&mut self.kept.borrow_mut(), Kept { text, body });
        }
        body
    }

    /// Whether the text should be parsed rather than searched: it is in the cache, or was searched before and is worth caching.
    pub(super) fn comes_again(&self, text: &Text<'_>) -> bool {
        if text.len() > LONGEST_RECENT_BYTES {
            return false;
        }
        let Some(look) = Look::of(text) else {
            return false;
        };
        if self.parsed_before(text).is_some() {
            return true;
        }
        let shared = match text {
            Text::Shared(text) => Some(text.clone()),
            _ => None,
        };
        let mut searched = self.searched.borrow_mut();
        match searched.iter_mut().find(|searched| searched.look == look) {
            None => {
                let text = shared;
                push(&mut searched, Searched { look, text });
                false
            }
            Some(Searched {
                text: Some(known), ..
            }) if is_same(known, text) => true,
            Some(searched) => {
                searched.text = Some(shared.unwrap_or_else(|| text.as_str().into()));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MOST_RECENT;
    use super::*;

    fn document(id: usize) -> String {
        let words = "as a document is worth it only if it is long enough";
        format!(r#"{{"words":"{words}","id":{id:05},"more":"{words}"}}"#)
    }

    fn get(recent: &RecentJson, text: &str) -> Rc<JsonBody> {
        recent.get(&Text::Literal(text), None, JsonReader::Smart)
    }

    fn source(body: &JsonBody) -> &JsonSource {
        match &body.0 {
            JsonParser::Worker(json) => json.borrow_owner(),
            JsonParser::Thread(_) => panic!("the worker parsed it"),
        }
    }

    #[test]
    fn a_body_is_searched_twice_and_then_parsed() {
        let recent = RecentJson::new();
        let (one, other) = (document(1), document(2));
        // The second text with the same look is copied, since only its equality with the next one counts.
        let again = |text: &str| recent.comes_again(&Text::Literal(text));
        assert!(
            ![&one, &other, &one, &other]
                .map(|text| again(text))
                .contains(&true)
        );
        assert!(again(&other) && !again(&one) && again(&one));
        let parsed = get(&recent, &other);
        assert!(again(&other));
        assert!(Rc::ptr_eq(&parsed, &get(&recent, &other)));
        assert!(!Rc::ptr_eq(&parsed, &get(&recent, &one)));
    }

    #[test]
    fn a_variable_is_known_at_once() {
        let recent = RecentJson::new();
        let text = Text::Shared(document(1).into());
        assert!(!recent.comes_again(&text) && recent.comes_again(&text));
        let body = recent.get(&text, None, JsonReader::Smart);
        let Text::Shared(text) = text else {
            panic!("it is shared")
        };
        assert!(std::ptr::eq(source(&body).as_str(), &*text));
    }

    #[test]
    fn short_and_long_texts_are_not_watched() {
        let recent = RecentJson::new();
        let long = format!("[{}]", "1,".repeat(LONGEST_RECENT_BYTES));
        for text in ["{}", "[1]", &long] {
            let text = Text::Shared(text.into());
            assert!(!recent.comes_again(&text) && !recent.comes_again(&text));
        }
        assert!(!Rc::ptr_eq(&get(&recent, &long), &get(&recent, &long)));
        let data: ResponseBody = long.as_bytes().into();
        let body = recent.get(&Text::Literal(&long), Some(&data), JsonReader::Smart);
        assert!(matches!(source(&body), JsonSource::Bytes(_)));
    }

    #[test]
    fn broken_json_is_kept_and_old_ones_are_forgotten() {
        let recent = RecentJson::new();
        let broken = format!("{} x", &document(1)[..40]);
        let first = get(&recent, &broken);
        assert!(first.get().is_err() && Rc::ptr_eq(&first, &get(&recent, &broken)));
        for id in 0..MOST_RECENT {
            get(&recent, &document(id));
        }
        assert!(!Rc::ptr_eq(&first, &get(&recent, &broken)));
    }
}
