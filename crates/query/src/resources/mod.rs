//! The resources that JMeter downloads with a page ("Retrieve All Embedded Resources").
//!
//! Makes one pass over the text, like JMeter's default parser (`LagartoBasedHtmlParser` on Jodd's Lagarto). There is no tree,
//! the first of several equal attributes counts, and the content of `noscript`, `iframe`, `style`, `title` and similar
//! elements is ignored.

mod conditional;
mod css;
mod scan;

use std::collections::HashSet;
use std::sync::LazyLock;

use drumfire_java::text::{is_blank, trim};
use drumfire_java::url::{Url, make_relative};

use crate::regex::{Dialect, Pattern, RegexOptions};
use conditional::Browser;
use scan::{Event, Scanner, Tag};

pub use css::css_urls;

/// Why a page or style sheet could not be parsed completely; JMeter then adds an error as a sub-result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub String);

/// The URLs of the resources of a page, without duplicates, in document order (`LinkedHashSet` of `URLString`).
///
/// `user_agent` controls conditional comments: they only count for Internet Explorer before version 10.
///
/// # Errors
/// If `<base>` is malformed, or effective conditional comments are unbalanced.
pub fn embedded(html: &str, base: &Url, user_agent: Option<&str>) -> Result<Vec<Url>, ParseError> {
    let browser = Browser::of_user_agent(user_agent.unwrap_or(""));
    let mut resources = ResourceUrls {
        base: base.clone(),
        urls: Vec::new(),
        known: HashSet::new(),
    };
    let mut enabled = vec![true];
    let mut scanner = Scanner::new(html, browser.is_some());
    while let Some(event) = scanner.next() {
        match event {
            Event::Tag(tag) => {
                let Some(enabled) = enabled.last() else {
                    return Err(ParseError(EMPTY_STACK.to_owned()));
                };
                if *enabled {
                    resources.tag(tag)?;
                }
            }
            Event::Condition(condition) => {
                enabled.push(browser.is_some_and(|browser| browser.fulfils(condition)));
            }
            Event::Fault => {
                return Err(ParseError("java.lang.IndexOutOfBoundsException".to_owned()));
            }
            Event::EndCondition => {
                if enabled.pop().is_none() {
                    return Err(ParseError("java.util.NoSuchElementException".to_owned()));
                }
            }
        }
    }
    Ok(resources.urls)
}

/// The exception of `JMeterTagVisitor` for the end of a condition that never started.
const EMPTY_STACK: &str = "java.lang.NullPointerException: Cannot invoke \"java.lang.Boolean.booleanValue()\" \
     because the return value of \"java.util.Deque.peek()\" is null";

/// `URLCollection` and the state of `JMeterTagVisitor`.
struct ResourceUrls {
    base: Url,
    urls: Vec<Url>,
    known: HashSet<String>,
}

impl ResourceUrls {
    fn tag(&mut self, tag: &Tag<'_>) -> Result<(), ParseError> {
        let name = tag.name.to_ascii_lowercase();
        match name.as_str() {
            "base" => self.change_base(tag)?,
            "img" | "script" | "frame" | "iframe" | "embed" | "bgsound" => {
                self.attribute(tag, "src")
            }
            "applet" => self.applet(tag),
            "object" => {
                self.attribute(tag, "codebase");
                self.attribute(tag, "data");
            }
            "input" => {
                if tag
                    .attribute("type")
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("image"))
                {
                    self.attribute(tag, "src");
                }
            }
            "link" => {
                let relations = ["stylesheet", "icon", "shortcut icon", "preload"];
                let relation = tag.attribute("rel").unwrap_or_default();
                if relations
                    .iter()
                    .any(|wanted| relation.eq_ignore_ascii_case(wanted))
                {
                    self.attribute(tag, "href");
                }
            }
            _ => self.attribute(tag, "background"),
        }
        // Lagarto reports scripts separately, with their text, so JMeter ignores their style.
        if name != "script" {
            self.style(tag);
        }
        Ok(())
    }

    fn change_base(&mut self, tag: &Tag<'_>) -> Result<(), ParseError> {
        let Some(href) = tag.attribute("href").filter(|href| !href.is_empty()) else {
            return Ok(());
        };
        match make_relative(&self.base, &href) {
            Ok(base) => {
                self.base = base;
                Ok(())
            }
            Err(_) => Err(ParseError(format!(
                "java.lang.IllegalArgumentException: Error creating relative url from {href}"
            ))),
        }
    }

    fn attribute(&mut self, tag: &Tag<'_>, name: &str) {
        if let Some(value) = tag.attribute(name) {
            self.add(&normal(&value));
        }
    }

    fn applet(&mut self, tag: &Tag<'_>) {
        let is_there = |value: &Option<_>| {
            value
                .as_ref()
                .is_some_and(|value: &std::borrow::Cow<'_, str>| !is_blank(value))
        };
        let codebase = tag.attribute("codebase");
        if !is_there(&codebase) {
            return self.attribute(tag, "code");
        }
        let archive = Some(tag.attribute("archive")).filter(is_there).flatten();
        let file = archive.or_else(|| tag.attribute("code"));
        // A missing `code` attribute becomes the text "null".
        let url = format!(
            "{}/{}",
            codebase.unwrap_or_default(),
            file.as_deref().unwrap_or("null")
        );
        self.add(&normal(&url));
    }

    /// `HtmlParsingUtils.extractStyleURLs`: finds only quoted URLs, from the first quote to the last.
    fn style(&mut self, tag: &Tag<'_>) {
        static STYLE_URL: LazyLock<Pattern> = LazyLock::new(|| {
            let options = RegexOptions {
                case_insensitive: true,
                single_line: true,
                ..RegexOptions::default()
            };
            Pattern::compile(r#"URL\(\s*('|")(.*)('|")\s*\)"#, Dialect::Oro, options)
                .expect("the pattern is well-formed")
        });
        let Some(style) = tag.attribute("style") else {
            return;
        };
        for found in STYLE_URL.captures_iter(&style) {
            self.add(found.get(2).unwrap_or(""));
        }
    }

    /// `URLCollection.addURL`: drops malformed URLs.
    fn add(&mut self, url: &str) {
        if url.is_empty() {
            return;
        }
        if let Ok(url) = make_relative(&self.base, &unescape_xml(url))
            && self.known.insert(url.to_string())
        {
            self.urls.push(url);
        }
    }
}

/// `HTMLParser.normalizeUrlValue`
fn normal(url: &str) -> String {
    trim(url).replace(['\n', '\r', '\x08', '\x0C'], "")
}

/// `StringEscapeUtils.unescapeXml`: the five entities of XML, and numbers; all require a semicolon.
fn unescape_xml(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('&') {
        return std::borrow::Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let decoded = rest[1..]
            .split_once(';')
            .and_then(|(name, behind)| Some((xml_entity(name)?, behind)));
        match decoded {
            Some((c, behind)) => {
                out.push(c);
                rest = behind;
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    std::borrow::Cow::Owned(out)
}

fn xml_entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => scan::number(name.strip_prefix('#')?),
    }
}

#[cfg(test)]
mod tests;
