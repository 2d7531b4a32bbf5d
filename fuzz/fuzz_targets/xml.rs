//! Any path on any document, by the rules of XPath 1 and 2: the first line is the path, the rest the document.
#![no_main]

use drumfire_query::xpath::{Tree, XPath, decode};
use drumfire_query::xpath2::XPath2;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = decode(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (path, document) = text.split_once('\n').unwrap_or((text, "<a>text</a>"));
    let (first, second) = (XPath::compile(path), XPath2::compile(path, "p=urn:p"));
    let trees = [
        Tree::parse_xml(document, false),
        Tree::parse_xml(document, true),
        Tree::parse_saxon(document),
        Ok(Tree::parse_tolerant(document)),
    ];
    for tree in trees.iter().flatten() {
        for fragment in [false, true] {
            if let Ok(path) = &first {
                let _ = path.evaluate(tree, fragment);
            }
            if let Ok(path) = &second {
                let _ = path.evaluate(tree, fragment);
            }
        }
    }
});
