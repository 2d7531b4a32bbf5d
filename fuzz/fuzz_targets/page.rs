//! Any page: the first line is a selector, the rest the page, which is also searched for resources and tags.
#![no_main]

use drumfire_java::url::Url;
use drumfire_query::css::{Document, Engine, Selector};
use drumfire_query::{page, resources};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (selector, html) = text.split_once('\n').unwrap_or((text, "<p>text</p>"));
    let document = Document::parse(html);
    for engine in [Engine::Jsoup, Engine::Jodd] {
        if let Ok(selector) = Selector::compile(selector, engine) {
            for attribute in [None, Some("href"), Some("abs:href")] {
                let _ = selector.select(&document, attribute, 100);
            }
        }
    }
    let _ = page::tags(html);
    let base = Url::parse("http://host/folder/").expect("it is an address");
    for agent in [None, Some("MSIE 7.0")] {
        let _ = resources::embedded(html, &base, agent);
    }
});
