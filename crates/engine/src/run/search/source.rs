//! The forms of texts in which searches read them, and how a worker and the pool make them.

use std::ops::Deref;
use std::rc::Rc;

use drumfire_expr::Text;
use drumfire_query::css::Document;
use drumfire_query::xpath::{Tree, XPathError};
use drumfire_results::ResponseBody;

use crate::run::context::Context;
use crate::run::input::Input;
use crate::run::parsed::{JsonBody, JsonReader, LongJson, PageKey, SentText, XmlMode};

/// A text and the form that a search reads.
pub trait Source {
    type Form: ?Sized;
    /// The form as the worker has it.
    type Local: Deref<Target = Self::Form>;
    /// What the pool makes the form of.
    type Sent: Send + 'static;
    /// What the worker stores for later searches.
    type Parsed: Send + 'static;

    /// The approximate length of the text.
    fn bytes(&self) -> usize;
    /// The form, from the worker's caches if possible.
    fn local(&self, cx: &mut Context) -> Self::Local;
    /// The text for the pool. `None` if the worker has the form already.
    fn send(&self, cx: &mut Context) -> Option<Self::Sent>;
    /// Makes the form in the pool, and searches it.
    fn search_sent<T>(sent: Self::Sent, search: impl FnOnce(&Self::Form) -> T)
    -> (T, Self::Parsed);
    /// Stores what the pool has parsed.
    fn keep(&self, _cx: &mut Context, _parsed: Self::Parsed) {}
}

/// Texts as they are.
impl<'s> Source for &[Text<'s>] {
    type Form = [Text<'s>];
    type Local = Self;
    type Sent = Vec<String>;
    type Parsed = ();

    fn bytes(&self) -> usize {
        self.iter().map(|text| text.len()).sum()
    }

    fn local(&self, _: &mut Context) -> Self {
        self
    }

    fn send(&self, _: &mut Context) -> Option<Vec<String>> {
        Some(self.iter().map(|text| text.as_str().to_owned()).collect())
    }

    fn search_sent<T>(sent: Vec<String>, search: impl FnOnce(&[Text<'s>]) -> T) -> (T, ()) {
        let texts: Vec<_> = sent.into_iter().map(Text::Owned).collect();
        (search(&texts), ())
    }
}

/// The bytes of a body.
impl Source for &ResponseBody {
    type Form = ResponseBody;
    type Local = Self;
    type Sent = ResponseBody;
    type Parsed = ();

    fn bytes(&self) -> usize {
        self.len()
    }

    fn local(&self, _: &mut Context) -> Self {
        self
    }

    fn send(&self, _: &mut Context) -> Option<ResponseBody> {
        Some((*self).clone())
    }

    fn search_sent<T>(sent: ResponseBody, search: impl FnOnce(&ResponseBody) -> T) -> (T, ()) {
        (search(&sent), ())
    }
}

/// A text as JSON. A text that the pool has parsed is stored for all elements that read it.
pub struct JsonText<'i, 's> {
    pub input: &'i Input<'s>,
    pub reader: JsonReader,
}

/// JSON on its way to the pool.
pub enum SentJson {
    Parsed(LongJson),
    Text(SentText, JsonReader),
}

impl Source for JsonText<'_, '_> {
    type Form = JsonBody;
    type Local = Rc<JsonBody>;
    type Sent = SentJson;
    type Parsed = Option<LongJson>;

    fn bytes(&self) -> usize {
        self.input.bytes()
    }

    fn local(&self, cx: &mut Context) -> Rc<JsonBody> {
        cx.parsed.json(self.input, self.reader)
    }

    fn send(&self, cx: &mut Context) -> Option<SentJson> {
        let known = cx.parsed.known_json(self.input, self.reader);
        Some(match known.and_then(|body| body.long()) {
            Some(json) => SentJson::Parsed(json),
            None => SentJson::Text(cx.parsed.sent_text(self.input), self.reader),
        })
    }

    fn search_sent<T>(
        sent: SentJson,
        search: impl FnOnce(&JsonBody) -> T,
    ) -> (T, Option<LongJson>) {
        let (json, is_new) = match sent {
            SentJson::Parsed(json) => (json, false),
            SentJson::Text(text, reader) => (LongJson::parse(text, reader), true),
        };
        let found = search(&JsonBody::from(json.clone()));
        (found, is_new.then_some(json))
    }

    fn keep(&self, cx: &mut Context, parsed: Option<LongJson>) {
        if let Some(json) = parsed {
            cx.parsed.keep_json(self.input, self.reader, json);
        }
    }
}

/// A text as an HTML page; see [`Parsed::page`](crate::run::parsed::Parsed::page).
pub struct PageText<'i, 's> {
    pub input: &'i Input<'s>,
    pub key: Option<PageKey>,
}

impl Source for PageText<'_, '_> {
    type Form = Document;
    type Local = Rc<Document>;
    type Sent = String;
    type Parsed = ();

    fn bytes(&self) -> usize {
        self.input.bytes()
    }

    fn local(&self, cx: &mut Context) -> Rc<Document> {
        cx.parsed.page(self.input, self.key)
    }

    fn send(&self, cx: &mut Context) -> Option<String> {
        let text = cx.parsed.page_text(self.input, self.key)?;
        Some((*text).to_owned())
    }

    fn search_sent<T>(sent: String, search: impl FnOnce(&Document) -> T) -> (T, ()) {
        (search(&Document::parse(&sent)), ())
    }
}

/// A text as XML, or as XPath sees HTML.
pub struct XmlText<'i, 's> {
    pub input: &'i Input<'s>,
    pub mode: XmlMode,
}

impl Source for XmlText<'_, '_> {
    type Form = Result<Tree, XPathError>;
    type Local = Rc<Self::Form>;
    type Sent = (String, XmlMode);
    type Parsed = ();

    fn bytes(&self) -> usize {
        self.input.bytes()
    }

    fn local(&self, cx: &mut Context) -> Rc<Self::Form> {
        cx.parsed.tree(self.input, self.mode)
    }

    fn send(&self, cx: &mut Context) -> Option<(String, XmlMode)> {
        Some((cx.parsed.text(self.input).into_string(), self.mode))
    }

    fn search_sent<T>(
        (text, mode): (String, XmlMode),
        search: impl FnOnce(&Self::Form) -> T,
    ) -> (T, ()) {
        (search(&mode.read(&text)), ())
    }
}
