//! The parsed page, and navigation between its elements.

use drumfire_java::url::Url;

use crate::html::{HtmlNode, HtmlNodeKind, Page};

/// A node of the tree. The document itself counts as an element, as in jsoup.
pub(super) type Element<'a> = HtmlNode<'a>;

/// A parsed page.
#[derive(Debug)]
pub struct Document {
    page: Page,
}

impl Document {
    /// Parses as the HTML standard defines, for a browser without scripts.
    pub fn parse(html: &str) -> Document {
        Document {
            page: Page::parse(html),
        }
    }

    pub(super) fn root(&self) -> Element<'_> {
        self.page.root()
    }

    /// The document and all elements in order.
    pub(super) fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        let root = self.root();
        std::iter::once(root).chain(root.descendants().filter(is_element))
    }

    /// `Node.attr`: empty if the attribute is missing; `abs:name` is the attribute as an absolute URL.
    pub(super) fn attr_or_abs(&self, element: Element<'_>, name: &str) -> String {
        match attr(element, name) {
            Some(value) if !value.is_empty() => value.to_owned(),
            _ => match name
                .strip_prefix("abs:")
                .and_then(|name| attr(element, name))
            {
                Some(value) => resolve(self.base(), value),
                None => String::new(),
            },
        }
    }

    /// The first absolute `<base href>`; JMeter does not tell jsoup the page's address.
    fn base(&self) -> Option<Url> {
        let bases = self.elements().filter(|element| name(*element) == "base");
        bases
            .filter_map(|base| Url::parse(attr(base, "href")?).ok())
            .next()
    }
}

/// `StringUtil.resolve`.
fn resolve(base: Option<Url>, relative: &str) -> String {
    let Some(base) = base else {
        return Url::parse(relative)
            .map(|url| url.to_string())
            .unwrap_or_else(|_| {
                if has_scheme(relative) {
                    relative.to_owned()
                } else {
                    String::new()
                }
            });
    };
    match base.join(relative) {
        Ok(url) => url.to_string(),
        Err(_) if has_scheme(relative) => relative.to_owned(),
        Err(_) => String::new(),
    }
}

/// `^[a-zA-Z][a-zA-Z0-9+-.]*:`
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+'..='.'))
}

pub(super) fn is_element(node: &Element<'_>) -> bool {
    matches!(node.kind(), HtmlNodeKind::Element | HtmlNodeKind::Document)
}

/// The name in lower case; `#root` for the document.
pub(super) fn name<'a>(element: Element<'a>) -> &'a str {
    match element.kind() {
        HtmlNodeKind::Element => element.name(),
        _ => "#root",
    }
}

/// The value of an attribute, ignoring case.
pub(super) fn attr<'a>(element: Element<'a>, name: &str) -> Option<&'a str> {
    element
        .attributes()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

pub(super) fn has_class(element: Element<'_>, class: &str) -> bool {
    let classes = attr(element, "class").unwrap_or("");
    classes
        .split_ascii_whitespace()
        .any(|name| name.eq_ignore_ascii_case(class))
}

pub(super) fn parent(element: Element<'_>) -> Option<Element<'_>> {
    element.parent()
}

pub(super) fn is_document(element: Element<'_>) -> bool {
    element.kind() == HtmlNodeKind::Document
}

pub(super) fn children(element: Element<'_>) -> impl Iterator<Item = Element<'_>> {
    element.children().filter(is_element)
}

pub(super) fn previous(element: Element<'_>) -> Option<Element<'_>> {
    element.preceding().find(is_element)
}

pub(super) fn following(element: Element<'_>) -> impl Iterator<Item = Element<'_>> {
    element.following().filter(is_element)
}

pub(super) fn preceding(element: Element<'_>) -> impl Iterator<Item = Element<'_>> {
    element.preceding().filter(is_element)
}

/// The elements below an element, in document order.
pub(super) fn descendants(element: Element<'_>) -> impl DoubleEndedIterator<Item = Element<'_>> {
    element.descendants().filter(is_element)
}
